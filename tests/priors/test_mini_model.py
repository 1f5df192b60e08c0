import math

import pytest
import torch

from akd_sdk.priors.mini.model import FRAMES, Condition, MiniModel, ModelConfig, TokenFeatures, alpha_sigma
from akd_sdk.priors.mini.vocabulary import CANONICAL
from akd_sdk.views.camera import Cameras


def _random_model(seed: int = 0) -> MiniModel:
    """A network whose zero-initialised layers are random, so that every part has an effect."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = MiniModel(ModelConfig(width=32, depth=2, heads=2)).double()
        for name, weights in model.named_parameters():
            if float(weights.detach().abs().max()) == 0:
                torch.nn.init.normal_(weights, std=0.2 if "offset" not in name else 0.1)
    return model.eval().requires_grad_(False)


def _features(batch: int, tokens: int, generator: torch.Generator) -> TokenFeatures:
    return TokenFeatures(
        static=torch.randn(batch, tokens, 6, generator=generator, dtype=torch.float64),
        groups=torch.randint(0, 10, (batch, tokens), generator=generator),
        sides=torch.randint(0, 3, (batch, tokens), generator=generator),
        chain=torch.rand(batch, tokens, generator=generator, dtype=torch.float64),
        mask=torch.ones(batch, tokens, dtype=torch.bool),
    )


def _condition(batch: int, generator: torch.Generator) -> Condition:
    turn = torch.rand(batch, generator=generator, dtype=torch.float64) * 6
    cameras = Cameras(turn, turn * 0.1)
    return Condition(torch.randint(0, len(CANONICAL), (batch, 3), generator=generator), cameras.rows, cameras.params)


def test_signal_is_exactly_nothing_at_the_end_and_everything_at_the_start():
    alpha, sigma = alpha_sigma(torch.tensor([0.0, 1.0, 0.5], dtype=torch.float64))
    assert alpha[1].item() == 0.0
    assert sigma[1].item() == 1.0
    assert (alpha[0].item(), sigma[0].item()) == (1.0, 0.0)
    assert torch.allclose(alpha**2 + sigma**2, torch.ones(3, dtype=torch.float64))


def test_answer_has_the_shape_of_the_tracks_for_any_number_of_tokens():
    generator = torch.Generator().manual_seed(0)
    model = _random_model()
    for tokens in (1, 14, 34):
        latents = torch.randn(3, tokens, FRAMES, 2, 2, generator=generator, dtype=torch.float64)
        answer = model(latents, torch.full((3,), 0.5).double(), _features(3, tokens, generator), _condition(3, generator))
        assert answer.shape == latents.shape


def test_clean_tracks_at_no_noise_come_back_unchanged():
    generator = torch.Generator().manual_seed(1)
    latents = torch.randn(2, 9, FRAMES, 2, 2, generator=generator, dtype=torch.float64)
    answer = _random_model()(latents, torch.zeros(2).double(), _features(2, 9, generator), _condition(2, generator))
    assert torch.allclose(answer, latents, atol=1e-12)


def test_tracks_count_only_through_their_lift():
    """Lift and project: the answer turns with the image plane when tracks and rows turn, whatever the network's weights."""
    generator = torch.Generator().manual_seed(2)
    features, condition = _features(2, 11, generator), _condition(2, generator)
    latents = torch.randn(2, 11, FRAMES, 2, 2, generator=generator, dtype=torch.float64)
    angle = torch.tensor(0.7, dtype=torch.float64)
    roll = torch.stack([torch.stack([angle.cos(), -angle.sin()]), torch.stack([angle.sin(), angle.cos()])])
    rows = condition.rows.clone()
    rows[:, :2] = roll @ rows[:, :2]
    t = torch.full((2,), 0.6).double()
    model = _random_model()
    straight = model(latents, t, features, condition)
    rolled = model(latents @ roll.T, t, features, Condition(condition.words, rows, condition.params))
    assert torch.allclose(rolled, straight @ roll.T, atol=1e-10)
    assert not torch.allclose(rolled, straight, atol=1e-2)


def test_order_of_tokens_does_not_matter():
    generator = torch.Generator().manual_seed(3)
    features, condition = _features(1, 8, generator), _condition(1, generator)
    latents = torch.randn(1, 8, FRAMES, 2, 2, generator=generator, dtype=torch.float64)
    order = torch.randperm(8, generator=generator)
    shuffled = TokenFeatures(*(getattr(features, name)[:, order] for name in TokenFeatures.__dataclass_fields__))
    model, t = _random_model(), torch.full((1,), 0.4).double()
    assert torch.allclose(model(latents[:, order], t, shuffled, condition), model(latents, t, features, condition)[:, order], atol=1e-10)


def test_masked_tokens_do_not_touch_the_others():
    generator = torch.Generator().manual_seed(4)
    features, condition = _features(1, 8, generator), _condition(1, generator)
    features.mask[:, 6:] = False
    latents = torch.randn(1, 8, FRAMES, 2, 2, generator=generator, dtype=torch.float64)
    other = latents.clone()
    other[:, 6:] += 5.0
    model, t = _random_model(), torch.full((1,), 0.4).double()
    assert torch.allclose(model(latents, t, features, condition)[:, :6], model(other, t, features, condition)[:, :6], atol=1e-12)


def test_no_word_adds_nothing_and_a_word_does():
    generator = torch.Generator().manual_seed(5)
    features, condition = _features(1, 8, generator), _condition(1, generator)
    latents = torch.randn(1, 8, FRAMES, 2, 2, generator=generator, dtype=torch.float64)
    model, t = _random_model(), torch.full((1,), 0.9).double()

    def said(*words: int) -> torch.Tensor:
        return model(latents, t, features, Condition(torch.tensor([words]), condition.rows, condition.params))

    assert torch.equal(said(0), said(0, 0, 0))
    assert torch.allclose(said(1, 4), said(4, 0, 1), atol=1e-12)
    assert float((said(1, 4) - said(1, 5)).abs().max()) > 1e-3


@pytest.mark.parametrize("t", [0.2, 0.7, 0.98])
def test_preconditioning_keeps_the_scale_of_the_data(t):
    """With an ideal answer of unit scale the estimate of data of deviation 0.4 has an error below the data's own."""
    alpha, sigma = math.cos(t * math.pi / 2), math.sin(t * math.pi / 2)
    variance = alpha**2 * 0.16 + sigma**2
    assert (alpha * 0.16 / variance) * alpha <= 1.0
    generator = torch.Generator().manual_seed(6)
    clean = 0.4 * torch.randn(2, 30, FRAMES, 2, 2, generator=generator, dtype=torch.float64)
    noisy = alpha * clean + sigma * torch.randn(clean.shape, generator=generator, dtype=torch.float64)
    silent = MiniModel(ModelConfig(width=32, depth=1, heads=2)).double().requires_grad_(False)
    answer = silent(noisy, torch.full((2,), t).double(), _features(2, 30, generator), _condition(2, generator))
    # A network that answers nothing leaves the best linear (Wiener) estimate.
    assert torch.allclose(answer, (alpha * 0.16 / variance) * noisy, atol=1e-12)
    assert float((answer - clean).square().mean()) < 0.17

import numpy as np
import pytest
import torch

from akd_sdk.gait.coherence import analyse, coherences
from akd_sdk.priors.mini.model import MiniModel
from akd_sdk.priors.mini.prior import MiniPrior
from akd_sdk.priors.prompt import Prompt
from akd_sdk.training.bodies import draw_body
from akd_sdk.training.judge import Sampling, judge, sample_positions

CASES = [("quadruped", "walk"), ("quadruped", "trot"), ("quadruped", "pace"), ("quadruped", "gallop"), ("biped", "run"), ("bird", "walk")]


def _coherence(prior: MiniPrior, kind: str, gait: str, seed: int) -> float:
    tokens = draw_body(np.random.default_rng([77, seed]), kind).tokens()
    positions = sample_positions(prior, tokens, Prompt("", kind, gait), seed)
    return coherences(analyse(positions, tokens.feet, prior.fps))[gait]


@pytest.fixture(scope="module")
def untrained() -> MiniPrior:
    """A network of the right shape whose zero-initialised layers are random too."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = MiniModel()
        torch.nn.init.normal_(model.track_out.weight, std=0.3)
        torch.nn.init.normal_(model.modulation.weight, std=0.02)
    return MiniPrior(model.eval().requires_grad_(False), {})


@pytest.mark.parametrize(("kind", "gait"), CASES)
def test_shipped_weights_make_the_gait_on_a_body_never_seen(kind, gait):
    assert _coherence(MiniPrior.load(), kind, gait, 1) > 0.85


@pytest.mark.parametrize(("kind", "gait"), CASES)
def test_untrained_weights_make_no_gait(untrained, kind, gait):
    assert _coherence(untrained, kind, gait, 1) < 0.5


def test_same_seed_samples_the_same_and_another_does_not():
    prior, tokens = MiniPrior.load(), draw_body(np.random.default_rng(0), "biped").tokens()
    prompt, short = Prompt("", "biped", "walk"), Sampling(levels=6)
    first, again, other = (sample_positions(prior, tokens, prompt, seed, short) for seed in (4, 4, 5))
    assert np.array_equal(first, again)
    assert first.shape == (32, tokens.count, 3)
    assert np.abs(first - other).max() > 0.05


def test_judgement_covers_every_gait_of_every_kind(untrained):
    found = {(j.kind, j.gait) for j in judge(untrained, bodies=1)}
    assert len(found) == 8

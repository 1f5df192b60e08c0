import json

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from akd_sdk.errors import PriorError
from akd_sdk.priors import Prior, load_prior, prior_names
from akd_sdk.priors.mini.model import MiniModel, ModelConfig
from akd_sdk.priors.mini.prior import WEIGHTS, MiniPrior, load_model, save_model
from akd_sdk.training.bodies import draw_body
from akd_sdk.views.camera import Cameras


@pytest.fixture(scope="module")
def prior():
    return load_prior("mini")


def test_shipped_weights_are_small_and_say_how_they_were_made(prior):
    assert WEIGHTS.stat().st_size < 4_000_000
    made = json.loads(prior.metadata["training"])
    assert int(prior.metadata["steps"]) == made["steps"]
    assert {"version", "config", "training", "steps", "minutes", "loss"} <= prior.metadata.keys()


def test_shipped_weights_are_half_precision_only():
    with safe_open(WEIGHTS, framework="pt") as file:
        assert {file.get_tensor(name).dtype for name in file.keys()} == {torch.float16}  # noqa: SIM118


def test_default_training_is_the_one_that_made_the_shipped_weights(prior):
    from dataclasses import asdict

    from akd_sdk.training.train import TrainOptions

    made, default = json.loads(prior.metadata["training"]), asdict(TrainOptions())
    assert json.loads(prior.metadata["config"]) == default.pop("config")
    for name in ("threads", "processes"):
        made.pop(name), default.pop(name)
    assert made == default


def test_embedded_prior_fulfils_the_protocol(prior):
    assert isinstance(prior, Prior)
    assert (prior.name, prior.observes, prior.frames, prior.fps) == ("mini", "tracks", 32, 16.0)
    assert prior_names()[0] == "mini"


def test_estimate_is_repeatable_has_the_latents_shape_and_no_gradient(prior):
    tokens = draw_body(np.random.default_rng(0), "quadruped").tokens()
    cameras = Cameras(torch.tensor([0.1, 1.7, 3.0]), torch.tensor([0.0, 0.2, 0.4]))
    latents = torch.randn(3, tokens.count, 32, 2, 2, generator=torch.Generator().manual_seed(0))
    prompt = prior.parse("a dog trotting", "quadruped")
    first = prior.estimate(latents, 0.9, prompt, tokens, cameras)
    assert first.shape == latents.shape
    assert first.dtype == torch.float32
    assert not first.requires_grad
    assert torch.equal(first, prior.estimate(latents, 0.9, prompt, tokens, cameras))


def test_guidance_moves_the_estimate_along_the_prompts_direction(prior):
    from dataclasses import replace

    tokens = draw_body(np.random.default_rng(1), "biped").tokens()
    cameras = Cameras(torch.tensor([1.0]), torch.tensor([0.1]))
    latents = torch.randn(1, tokens.count, 32, 2, 2, generator=torch.Generator().manual_seed(0))
    prompt = prior.parse("a man running", "biped")
    none, one, three = (prior.estimate(latents, 0.95, replace(prompt, guidance=w), tokens, cameras) for w in (0.0, 1.0, 3.0))
    assert float((one - none).abs().max()) > 1e-2
    assert torch.allclose(three, none + 3 * (one - none), atol=1e-4)


def test_no_signal_is_left_at_the_last_time(prior):
    assert prior.alpha_sigma(1.0) == (0.0, 1.0)
    assert prior.alpha_sigma(0.0) == (1.0, 0.0)


def test_unknown_prior_is_refused_with_the_known_ones():
    with pytest.raises(PriorError, match=r"'nonesuch'.*mini"):
        load_prior("nonesuch")


@pytest.fixture
def weights(tmp_path):
    """Weights of a small network and their file."""
    path, config = tmp_path / "own.safetensors", ModelConfig(width=32, depth=1, heads=2)
    model = MiniModel(config)
    save_model(model.state_dict(), config, path, {"steps": "0"})
    return path, model, config


def test_saved_weights_load_as_they_were_but_for_half_precision(weights):
    path, model, config = weights
    loaded, metadata = load_model(path)
    assert loaded.config == config
    assert metadata["steps"] == "0"
    for name, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value.half().float()), name
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def _rewritten(path, change):
    """The weight file with its tensors and metadata changed by `change(tensors, metadata)`."""
    with safe_open(path, framework="pt") as file:
        tensors, metadata = {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata())  # noqa: SIM118
    change(tensors, metadata)
    save_file(tensors, path, metadata=metadata)
    return path


def _truncate_tensor(tensors, metadata):
    tensors["track_in.weight"] = tensors["track_in.weight"][:, :-1].contiguous()


def _drop_tensor(tensors, metadata):
    del tensors["track_out.bias"]


def _spoil_tensor(tensors, metadata):
    tensors["track_out.bias"][0] = float("nan")


def _other_frames(tensors, metadata):
    metadata["config"] = json.dumps({"width": 32, "depth": 1, "heads": 2, "frames": 16, "words": 13})


def _huge(tensors, metadata):
    metadata["config"] = json.dumps({"width": 10**9, "depth": 1, "heads": 2, "frames": 32, "words": 13})


def _no_config(tensors, metadata):
    metadata["config"] = "{"


def _unknown_config(tensors, metadata):
    metadata["config"] = json.dumps({"wings": 2})


def _other_format(tensors, metadata):
    metadata["format"] = "somebody-else-3"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (_truncate_tensor, "track_in.weight"),
        (_drop_tensor, "track_out.bias"),
        (_spoil_tensor, "not finite"),
        (_other_frames, "16 frames"),
        (_huge, "out of range"),
        (_no_config, "cannot be read"),
        (_unknown_config, "cannot be read"),
        (_other_format, "somebody-else-3"),
    ],
)
def test_weights_that_do_not_fit_are_refused_by_file_and_fault(weights, change, fault):
    path = _rewritten(weights[0], change)
    with pytest.raises(PriorError, match=fault) as caught:
        MiniPrior.load(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"not weights", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_files_that_are_no_weights_are_refused(tmp_path, content):
    path = tmp_path / "odd.safetensors"
    path.write_bytes(content)
    with pytest.raises(PriorError, match=r"odd\.safetensors"):
        load_prior("mini", path)


def test_missing_weights_and_folders_are_refused(tmp_path):
    for path in (tmp_path / "none.safetensors", tmp_path):
        with pytest.raises(PriorError, match="no weights"):
            load_prior("mini", path)

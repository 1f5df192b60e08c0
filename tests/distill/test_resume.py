"""An interrupted distillation goes on to the same curves as one that was not interrupted."""

from __future__ import annotations

import copy
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from akd_sdk.distill import DistillOptions, distill
from akd_sdk.distill.checkpoint import checkpoint_path
from akd_sdk.errors import PriorError
from akd_sdk.priors import Prior, load_prior
from akd_sdk.priors.mini.prior import MiniPrior
from akd_sdk.progress import Progress, ProgressCallback

sys.path.insert(0, str(Path(__file__).parent))

from bodies import drawn_rig

from tests.support.oracle import OraclePrior

FILMED = [(9, 8.0, (32, 48)), (13, 8.0, (32, 48)), (9, 16.0, (32, 48)), (9, 8.0, (48, 48))]
"""Frames, frames a second and size of what priors look at."""

OPTIONS = {
    "mas": DistillOptions(loop=True, steps=5, inner=3),
    "annealed": DistillOptions(loop=True, mode="annealed", steps=12),
    "random-t": DistillOptions(mode="random-t", steps=12),
}


@pytest.fixture(scope="module")
def prior() -> Prior:
    loaded = load_prior("mini")
    assert isinstance(loaded, Prior)
    return loaded


def stop_after(calls: int) -> ProgressCallback:
    left = [calls]

    def told(_: Progress) -> None:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    return told


@pytest.mark.parametrize("mode", OPTIONS)
@pytest.mark.parametrize("calls", [1, 7, 14])
def test_a_resumed_run_equals_an_uninterrupted_one(mode: str, calls: int, prior: Prior, tmp_path: Path) -> None:
    rig, tokens = drawn_rig(12, "quadruped")
    prompt = prior.parse("an animal trots", "quadruped")
    whole = distill(rig, tokens, prior, prompt, OPTIONS[mode], seed=5)
    file = tmp_path / "kept.pt"
    if calls == 14 and mode == "random-t":
        calls = 11
    with pytest.raises(KeyboardInterrupt):
        distill(rig, tokens, prior, prompt, OPTIONS[mode], seed=5, progress=stop_after(calls), checkpoint=file)
    assert file.is_file()
    torch.randn(3)  # whatever else draws from the global generator in between
    resumed = distill(rig, tokens, prior, prompt, OPTIONS[mode], seed=5, checkpoint=file, resume=True)
    np.testing.assert_array_equal(resumed.curves.angles, whole.curves.angles)
    np.testing.assert_array_equal(resumed.curves.root, whole.curves.root)
    assert (resumed.stride_hz, resumed.strides, resumed.notes) == (whole.stride_hz, whole.strides, whole.notes)
    assert not file.exists()


def test_a_checkpoint_belongs_to_one_character_sentence_options_and_seed(prior: Prior) -> None:
    rig, _ = drawn_rig(12, "quadruped")
    other, _ = drawn_rig(13, "quadruped")
    walk, trot = (prior.parse(f"an animal {verb}", "quadruped") for verb in ("walks", "trots"))
    options = OPTIONS["annealed"]
    paths = {
        checkpoint_path(rig, prior, trot, options, 1),
        checkpoint_path(other, prior, trot, options, 1),
        checkpoint_path(rig, prior, walk, options, 1),
        checkpoint_path(rig, prior, trot, OPTIONS["mas"], 1),
        checkpoint_path(rig, prior, trot, options, 2),
    }
    assert len(paths) == 5
    assert isinstance(prior, MiniPrior)
    other_weights = copy.deepcopy(prior.model)
    next(other_weights.parameters()).data += 1e-3
    assert checkpoint_path(rig, replace(prior, model=other_weights), trot, options, 1) not in paths
    filmed = {checkpoint_path(rig, OraclePrior(None, None, *sees), trot, options, 1) for sees in FILMED}  # type: ignore[arg-type]  # not asked
    assert len(filmed | paths) == 5 + len(FILMED)
    assert checkpoint_path(rig, prior, trot, options, 1) in paths


def test_resuming_what_is_not_there_or_is_broken_is_refused_in_one_line(prior: Prior, tmp_path: Path) -> None:
    rig, tokens = drawn_rig(12, "quadruped")
    prompt = prior.parse("an animal trots", "quadruped")
    file = tmp_path / "kept.pt"
    with pytest.raises(PriorError, match="no interrupted run"):
        distill(rig, tokens, prior, prompt, OPTIONS["mas"], checkpoint=file, resume=True)
    for content in (b"", b"not a checkpoint", b"PK\x03\x04 cut off"):
        file.write_bytes(content)
        with pytest.raises(PriorError, match="checkpoint cannot be read") as refused:
            distill(rig, tokens, prior, prompt, OPTIONS["mas"], checkpoint=file, resume=True)
        assert "\n" not in str(refused.value)
        assert refused.value.path == str(file)
    torch.save({"format": "another"}, file)
    with pytest.raises(PriorError, match="another version"):
        distill(rig, tokens, prior, prompt, OPTIONS["mas"], checkpoint=file, resume=True)


def test_a_checkpoint_of_another_distillation_is_refused_in_one_line(prior: Prior, tmp_path: Path) -> None:
    rig, tokens = drawn_rig(12, "quadruped")
    prompt, file = prior.parse("an animal trots", "quadruped"), tmp_path / "kept.pt"
    with pytest.raises(KeyboardInterrupt):
        distill(rig, tokens, prior, prompt, OPTIONS["random-t"], progress=stop_after(2), checkpoint=file)
    with pytest.raises(PriorError, match="of another distillation"):
        distill(rig, tokens, prior, prompt, replace(OPTIONS["random-t"], bandwidth_hz=2.0), checkpoint=file, resume=True)
    state = torch.load(file, weights_only=True)
    torch.save({name: value for name, value in state.items() if name != "moments"}, file)
    with pytest.raises(PriorError, match="of another distillation"):
        distill(rig, tokens, prior, prompt, OPTIONS["random-t"], checkpoint=file, resume=True)


def test_a_cache_that_cannot_be_written_stops_no_work(prior: Prior, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rig, tokens = drawn_rig(12, "quadruped")
    prompt = prior.parse("an animal trots", "quadruped")
    blocker = tmp_path / "a file"
    blocker.write_bytes(b"")
    with pytest.raises(KeyboardInterrupt):
        distill(rig, tokens, prior, prompt, OPTIONS["annealed"], progress=stop_after(2), checkpoint=blocker / "kept.pt")
    assert "no checkpoint could be written" in caplog.text


def test_a_finished_run_that_is_kept_gives_its_result_at_once(prior: Prior, tmp_path: Path) -> None:
    rig, tokens = drawn_rig(12, "quadruped")
    prompt = prior.parse("an animal trots", "quadruped")
    file = tmp_path / "kept.pt"
    whole = distill(rig, tokens, prior, prompt, OPTIONS["mas"], seed=5, checkpoint=file, keep=True)
    assert whole.checkpoint == file
    assert file.is_file()
    told: list[Progress] = []
    again = distill(rig, tokens, prior, prompt, OPTIONS["mas"], seed=5, checkpoint=file, resume=True, progress=told.append)
    np.testing.assert_array_equal(again.curves.angles, whole.curves.angles)
    assert not told
    assert not file.exists()

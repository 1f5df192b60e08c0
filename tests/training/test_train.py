import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from akd_sdk.errors import PriorError
from akd_sdk.priors.mini.model import MiniModel, ModelConfig
from akd_sdk.priors.mini.prior import MiniPrior
from akd_sdk.training.dataset import ClipSet, batch_rows, batch_times, make_batch, make_clips, make_shard
from akd_sdk.training.train import TrainOptions, checkpoint_path, train_mini, weighted_loss

TINY = ModelConfig(width=64, depth=2, heads=2)
SMALL = TrainOptions(seed=3, steps=40, batch=8, clips=60, rate=0.005, config=TINY, threads=1, processes=1)


@pytest.fixture(scope="module")
def clips():
    return make_shard(1, 0, 120)


def test_clips_depend_on_the_seed_alone(clips):
    again, other = make_shard(1, 0, 120), make_shard(2, 0, 120)
    assert all(torch.equal(getattr(clips, name), getattr(again, name)) for name in ClipSet.__dataclass_fields__)
    assert not torch.equal(clips.positions, other.positions)


def test_clips_do_not_depend_on_how_many_processes_make_them():
    one, two = make_clips(520, 5, processes=1), make_clips(520, 5, processes=2)
    assert len(one) == 520
    assert all(torch.equal(getattr(one, name), getattr(two, name)) for name in ClipSet.__dataclass_fields__)


def test_batch_mixes_noise_and_tracks_as_its_times_say(clips):
    batch = make_batch(clips, torch.arange(24), torch.Generator().manual_seed(0))
    assert batch.noisy.shape == batch.clean.shape
    noise = batch.noisy - torch.cos(batch.t * math.pi / 2)[:, None, None, None, None] * batch.clean
    ratio = noise.flatten(1).std(1) / torch.sin(batch.t * math.pi / 2)
    assert ratio.median().item() == pytest.approx(1, abs=0.05)
    assert 0.25 < batch.clean[batch.features.mask].square().mean().sqrt() < 0.75


def test_batch_leaves_words_out_now_and_then(clips):
    rows = torch.randint(0, len(clips), (2000,), generator=torch.Generator().manual_seed(0))
    words = make_batch(clips, rows, torch.Generator().manual_seed(1)).condition.words
    assert (words == 0).all(1).float().mean().item() == pytest.approx(0.12, abs=0.03)
    assert (words[:, 0] == 0).float().mean().item() == pytest.approx(0.30, abs=0.04)


def test_times_are_stratified_and_some_are_pure_noise():
    t = batch_times(4000, torch.Generator().manual_seed(0))
    assert (t == 1).float().mean().item() == pytest.approx(0.08, abs=0.02)
    assert 0 <= t.min() < 0.01
    assert (t > 0.8).float().mean() > 0.3


def test_quadruped_walks_are_drawn_more_often():
    clips = make_shard(1, 0, 200)
    walks = (clips.words[:, 0] == 1) & (clips.words[:, 1] == 4)
    rows = batch_rows(clips, 50, {"walk": 3}, torch.Generator().manual_seed(0))
    drawn = torch.cat([next(rows) for _ in range(60)])
    share = walks.float().mean().item()
    assert walks[drawn].float().mean().item() == pytest.approx(3 * share / (1 + 2 * share), abs=0.06)


def test_short_training_lowers_the_loss_and_writes_loadable_weights(tmp_path):
    seen = []
    result = train_mini(tmp_path / "mini.safetensors", replace(SMALL, steps=150, batch=16, clips=300), seen.append, tmp_path / "state.pt")
    assert result.steps == 150
    steps = [p for p in seen if p.stage == "steps"]
    assert steps[-1].fraction == 1.0
    assert steps[-1].left_s == 0
    prior = MiniPrior.load(result.path)
    assert prior.metadata["steps"] == "150"
    shard = make_shard(9, 0, 64)
    batch = make_batch(shard, torch.arange(64), torch.Generator().manual_seed(0))
    silent = MiniModel(SMALL.config).requires_grad_(False)
    before, after = (
        weighted_loss(model(batch.noisy, batch.t, batch.features, batch.condition), batch).item() for model in (silent, prior.model)
    )
    assert after < 0.9 * before
    assert [file.name for file in tmp_path.iterdir()] == ["mini.safetensors"]


def test_interrupted_training_goes_on_to_the_same_weights(tmp_path):
    """Ctrl-C in the middle, then the same call: equal to a training that was left alone."""
    whole = train_mini(tmp_path / "whole.safetensors", SMALL, checkpoint=tmp_path / "whole.pt")

    def interrupt(progress):
        if progress.stage == "steps" and progress.step == 20:
            raise KeyboardInterrupt

    output, state = tmp_path / "parts.safetensors", tmp_path / "parts.pt"
    with pytest.raises(KeyboardInterrupt):
        train_mini(output, SMALL, interrupt, state)
    assert state.is_file()
    assert not output.exists()
    resumed = []
    train_mini(output, SMALL, resumed.append, state)
    assert min(p.step for p in resumed) == 20
    ours, theirs = MiniPrior.load(output).model.state_dict(), MiniPrior.load(whole.path).model.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert not state.exists()


def test_checkpoint_lies_in_the_cache_and_tells_trainings_apart(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = checkpoint_path(SMALL)
    assert path.parent == tmp_path / "akd-sdk"
    assert checkpoint_path(replace(SMALL, threads=2)) == path
    assert checkpoint_path(replace(SMALL, seed=4)) != path


def test_training_refuses_what_it_cannot_do(tmp_path):
    with pytest.raises(PriorError, match="at least one"):
        train_mini(tmp_path / "mini.safetensors", TrainOptions(steps=0))
    with pytest.raises(PriorError, match="cannot be written"):
        train_mini(tmp_path / "none" / "mini.safetensors", SMALL)
    with pytest.raises(PriorError, match="cannot be written"):
        train_mini(Path(tmp_path), SMALL)


def test_global_random_state_is_left_alone(tmp_path):
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    train_mini(tmp_path / "mini.safetensors", TrainOptions(seed=1, steps=2, batch=4, clips=4, config=SMALL.config, threads=1, processes=1))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads

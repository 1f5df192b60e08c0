"""The plan of memory: quickest way that fits, least budget that is named, and figures counted again on the meta device."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn

from akd_sdk.errors import BackendError, PriorError
from akd_sdk.priors.video.families import FAMILIES
from akd_sdk.priors.video.memory import ENCODERS, WORK, is_out_of_memory, load_of, out_of_memory_told, plan
from akd_sdk.priors.video.recompute import Residence
from tests.bench import video_memory

MODELS = [name for family in FAMILIES.values() for name in family.published]
SIZE = (480, 704)


def least(model: str, frames: int = 53) -> float:
    with pytest.raises(BackendError) as refused:
        plan(model, SIZE, frames, 1.0)
    named = re.search(r"give --memory ([\d.]+) ", str(refused.value))
    assert named is not None
    return float(named[1])


@pytest.mark.parametrize("model", MODELS)
def test_least_budget_that_is_named_fits_and_less_does_not(model: str) -> None:
    budget = least(model)
    assert plan(model, SIZE, 53, budget).estimate_gib <= budget
    with pytest.raises(BackendError, match=f"needs {budget:.1f} GiB for 53 frames of 704 x 480"):
        plan(model, SIZE, 53, budget - 0.15)


@pytest.mark.parametrize("model", MODELS)
def test_larger_budgets_never_take_a_slower_way(model: str) -> None:
    budgets = [least(model) + extra for extra in (0, 2, 4, 8, 16, 32, 64, 128, 256)]
    plans = [plan(model, SIZE, 53, budget) for budget in budgets]
    costs = [(p.spill, p.two_pass, p.checkpointing, not p.batched) for p in plans]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == (False, False, False, False), "in the end everything is kept"
    assert costs[0][2], "the least budget recomputes"
    for budget, made in zip(budgets, plans):
        assert made.estimate_gib <= budget
        assert made.leaner_gib is None or made.leaner_gib < made.estimate_gib
        assert f"{made.estimate_gib:.1f} of {budget:g} GiB" in made.lines[1]


def test_cogvideox_fits_a_card_of_24_gib_by_two_passes() -> None:
    made = plan("cogvideox", (480, 720), 49, 24.0)
    assert (made.two_pass, made.offload, made.checkpointing, made.spill) == (True, True, True, False)
    assert "two passes" in made.lines[0]
    assert "not measured" in made.lines[1]


def test_unknown_models_are_refused() -> None:
    with pytest.raises(PriorError, match="known are cogvideox, ltx, wan"):
        plan("sora", SIZE, 49, 24.0)


@pytest.mark.parametrize(
    ("model", "frames", "also"),
    [("cogvideox", 25, ""), ("cogvideox", 29, "spilled"), ("ltx", 33, "whole"), ("wan", 21, ""), ("wan-2.2-5b", 21, "spilled")],
)
def test_figures_of_encoders_agree_with_a_count_at_another_length_and_size(model: str, frames: int, also: str) -> None:
    """Full size of the published encoders, on the meta device, which holds no numbers; a plan may say too much, hardly too little."""
    size = (256, 384)
    shape = (1, 3, frames, *size)
    load = load_of(model, size, frames)
    name = next(name for name, figures in ENCODERS.items() if figures is load.encoder)
    forgetful = video_memory.encoding(name, checkpointing=True)
    peak, held = video_memory.gradient_peak(forgetful, shape)
    assert 0.97 * peak <= load.recomputed_gib(load.encoder.recomputed) <= 1.1 * peak
    assert held - 0.05 <= load.gib(load.encoder.held) <= held + 0.3
    if also == "spilled":
        peak, _ = video_memory.gradient_peak(forgetful, shape, spill=True)
        assert 0.97 * peak <= load.recomputed_gib(load.encoder.spilled) <= 1.1 * peak
    if also == "whole":
        peak, _ = video_memory.gradient_peak(video_memory.encoding(name, checkpointing=False), shape)
        assert 0.97 * peak <= load.gib(load.encoder.whole) <= 1.1 * peak


def test_figures_of_transformers_agree_with_a_count() -> None:
    weights, factor = video_memory.transformer_figures("ltx-2b")
    assert FAMILIES["ltx"].published["ltx-2b"].transformer_gib == pytest.approx(weights, abs=0.01)
    assert WORK["ltx"] == pytest.approx(factor, rel=0.02)


def test_running_out_of_memory_is_told_and_other_faults_are_not() -> None:
    made = plan("ltx", SIZE, 49, 24.0)
    with (
        pytest.raises(BackendError, match=r"memory: out of memory while working; give --memory [\d.]+, which takes a leaner way"),
        out_of_memory_told(made, "working"),
    ):
        raise torch.OutOfMemoryError("CUDA out of memory")
    with pytest.raises(RuntimeError, match="shapes differ"), out_of_memory_told(made, "working"):
        raise RuntimeError("shapes differ")
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"))
    assert not is_out_of_memory(ValueError("out of memory"))


def test_a_model_that_leaves_its_device_is_at_home_unchanged() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).requires_grad_(False)
    before = {name: (value.clone(), value.data_ptr()) for name, value in model.state_dict().items()}
    residence = Residence(model, torch.device("meta"))  # a device that every machine has beside its CPU
    assert not residence.present
    residence.enter()
    assert {value.device.type for value in model.state_dict().values()} == {"meta"}
    residence.leave()
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name][0])
        assert value.data_ptr() == before[name][1], "home is kept, not copied back"

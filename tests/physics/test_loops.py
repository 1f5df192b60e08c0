"""Loops: the cycle that closes best is found, and made to close exactly."""

from __future__ import annotations

import numpy as np
import pytest

from akd_sdk.physics.loops import Cycle, best_cycle, closed
from akd_sdk.physics.simulate import Run
from akd_sdk.physics.track import Prepared

pytestmark = pytest.mark.xdist_group("physics")


def run_of(values: np.ndarray, rates: np.ndarray) -> Run:
    none = np.zeros((len(values) - 1, 3))
    return Run(values, rates, none, none, (0.0, 0.0))


def drifting(ready: Prepared, size: float = 0.05) -> Run:
    """The reference with a drift of its own, not periodic, in every coordinate."""
    reference = ready.reference
    count = len(reference.values)
    waves = np.random.default_rng(4).normal(0.0, size, (6, reference.values.shape[1]))
    angles = np.outer(np.linspace(0.0, 1.0, count), np.arange(1, 7)) * 2.7
    return run_of(reference.values + np.sin(angles) @ waves, reference.rates)


def test_what_repeats_exactly_closes_exactly(stepping_ready: Prepared) -> None:
    reference = stepping_ready.reference
    cycle = best_cycle(reference, run_of(reference.values, reference.rates))
    assert cycle.pose_deg < 1e-9
    assert cycle.speed < 1e-9
    assert cycle.closes
    assert cycle.first >= reference.lead


def test_the_cycle_that_closes_best_is_found(stepping_ready: Prepared) -> None:
    reference = stepping_ready.reference
    values = reference.values.copy()
    settle = reference.lead + 150
    values[:, 8] += 0.3 * np.exp(-np.arange(len(values)) / 200.0)
    values[settle + reference.cycle + 5 :, 9] += 0.5
    cycle = best_cycle(reference, run_of(values, reference.rates))
    assert settle - 10 <= cycle.first <= settle + 5


@pytest.mark.parametrize("skip", [0, 1, 137, 500])
@pytest.mark.parametrize("ready", ["stepping_ready", "circle_ready"])
def test_closed_cycles_are_exact(ready: str, skip: int, request: pytest.FixtureRequest) -> None:
    prepared: Prepared = request.getfixturevalue(ready)
    reference = prepared.reference
    made = closed(reference, drifting(prepared), Cycle(reference.lead + skip, 0.0, 0.0))
    assert len(made) == reference.cycle + 1
    keep = [k for k in range(made.shape[1]) if k not in (0, 2, 3)]
    assert np.abs(made[-1, keep] - made[0, keep]).max() < 1e-9
    turn = reference.course.step[2]
    assert made[-1, 3] - made[0, 3] == pytest.approx(turn, abs=1e-9)
    assert np.allclose(made[0, [0, 2]], reference.course.values[0, [0, 2]])


def test_a_straight_reference_stays_straight(stepping_ready: Prepared) -> None:
    reference = stepping_ready.reference
    made = closed(reference, drifting(stepping_ready), Cycle(reference.lead + 40, 0.0, 0.0))
    wanted = reference.course.values
    assert made[-1, 3] == pytest.approx(made[0, 3], abs=1e-9)
    assert made[:, 3].mean() == pytest.approx(wanted[:, 3].mean(), abs=1e-3)


def test_the_cycle_begins_in_phase_with_the_motion(stepping_ready: Prepared) -> None:
    reference = stepping_ready.reference
    made = closed(reference, run_of(reference.values, reference.rates), Cycle(reference.lead + 321, 0.0, 0.0))
    assert np.abs(made - reference.course.values).max() < 1e-6

"""Loops: the cycle that closes best is found, and made to close exactly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from akd_sdk.physics.course import moved_on
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


def going_on(made: np.ndarray) -> np.ndarray:
    """A closed cycle twice, the second time from where the first ends."""
    return np.concatenate([made[:-1], moved_on(made, made, 1)])


@pytest.mark.parametrize("skip", [40, 137])
@pytest.mark.parametrize("ready", ["stepping_ready", "circle_ready"])
def test_rates_go_on_over_the_seam(ready: str, skip: int, request: pytest.FixtureRequest) -> None:
    """What drifts closes without a kink: from step to step its rates change there as the reference's do."""
    prepared: Prepared = request.getfixturevalue(ready)
    reference = prepared.reference
    drift = drifting(prepared)
    run = run_of(drift.values, np.gradient(drift.values, reference.dt, axis=0))
    first = reference.lead + skip
    gap = np.abs(run.rates[first + reference.cycle, 3:] - run.rates[first, 3:]).max()
    assert gap > 0.1, "there is something to bring together"
    twice = going_on(closed(reference, run, Cycle(first, 0.0, 0.0)))
    seam = skip % reference.cycle
    wanted = going_on(reference.course.values)
    kinks = np.diff(twice - wanted, 2, axis=0)[[seam - 1, seam + reference.cycle - 1]] / reference.dt
    assert np.abs(kinks).max() < 0.1 * gap
    assert np.abs(twice - wanted)[:, 4:].max() < 0.5, "and is bent little"


def test_what_closes_is_not_bent(stepping_ready: Prepared) -> None:
    reference = stepping_ready.reference
    made = closed(reference, run_of(reference.values, reference.rates), Cycle(reference.lead + 40, 0.0, 0.0))
    assert np.abs(made - reference.course.values).max() < 1e-9


def test_recorded_feet_stay_where_they_were(stepping_ready: Prepared) -> None:
    """Bringing rates together at the seam moves soles of a simulated cycle by less than a millimetre."""
    simulation, reference = stepping_ready.simulation, stepping_ready.reference
    simulation.set_stiffness(1.0)
    run = simulation.run((0.1, 0.06))
    cycle = best_cycle(reference, run)
    bodies = reference.coordinates.articulation.bodies
    feet = [i for i, body in enumerate(bodies) if body.foot]
    heights = []
    for rates in (run.rates, np.repeat(run.rates[:1], len(run.rates), axis=0)):
        turns, origins = reference.coordinates.bodies(closed(reference, replace(run, rates=rates), cycle))
        heights.append(np.stack([bodies[i].shape.lowest(turns[:, i], origins[:, i]) for i in feet]))
    assert np.abs(heights[0] - heights[1]).max() < 1e-3
    assert np.abs(heights[0] - heights[1]).max() > 0.0

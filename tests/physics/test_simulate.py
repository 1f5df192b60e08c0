"""Simulations: when a run has fallen, and what happens when one explodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from akd_sdk.errors import PhysicsError
from akd_sdk.physics.simulate import FASTEST, Run, check_finite, first_fall
from akd_sdk.physics.track import Prepared

pytestmark = pytest.mark.xdist_group("physics")


def followed(ready: Prepared) -> np.ndarray:
    return ready.reference.values.copy()


def run_of(ready: Prepared, values: np.ndarray, rates: np.ndarray) -> Run:
    none = np.zeros((len(values) - 1, 3))
    return Run(values, rates, none, none, (0.0, 0.0))


def test_what_follows_its_reference_has_not_fallen(stepping_ready: Prepared) -> None:
    assert first_fall(stepping_ready.reference, followed(stepping_ready)) is None


@pytest.mark.parametrize("axis", [4, 5])
def test_a_trunk_that_leans_by_more_than_half_a_right_angle_has_fallen(stepping_ready: Prepared, axis: int) -> None:
    values = followed(stepping_ready)
    values[300:, axis] += np.radians(60.0)
    values[100:200, axis] += np.radians(30.0)
    assert first_fall(stepping_ready.reference, values) == 300


def test_a_root_that_sinks_has_fallen(stepping_ready: Prepared) -> None:
    values = followed(stepping_ready)
    height = stepping_ready.articulation.root_height
    values[250:, 1] -= 0.45 * height
    values[50:100, 1] -= 0.3 * height
    assert first_fall(stepping_ready.reference, values) == 250


def test_jumping_less_high_is_no_fall(stepping_ready: Prepared) -> None:
    height = stepping_ready.articulation.root_height
    wanted = followed(stepping_ready)
    wanted[200:300, 1] += 0.8 * height
    reference = replace(stepping_ready.reference, values=wanted)
    assert first_fall(reference, followed(stepping_ready)) is None
    sunken = followed(stepping_ready)
    sunken[250:, 1] -= 0.45 * height
    assert first_fall(reference, sunken) == 250


def test_a_fall_is_counted_from_the_beginning_of_the_reference(stepping_ready: Prepared) -> None:
    values = followed(stepping_ready)[200:]
    values[30:, 4] += 1.2
    assert first_fall(stepping_ready.reference, values, 200) == 230


def test_turning_round_is_no_fall(stepping_ready: Prepared) -> None:
    values = followed(stepping_ready)
    values[:, 3] += 3.0
    assert first_fall(stepping_ready.reference, values) is None


def test_an_explosion_is_told_with_time_and_body(stepping_ready: Prepared) -> None:
    reference, values = stepping_ready.reference, followed(stepping_ready)
    rates = reference.rates.copy()
    check_finite(reference, run_of(stepping_ready, values, rates))
    rates[240, reference.coordinates.slot(3).start + 1] = 2.0 * FASTEST
    with pytest.raises(PhysicsError, match=rf"after 0\.50 s at {reference.coordinates.articulation.bodies[3].name}\b"):
        check_finite(reference, run_of(stepping_ready, values, rates))
    values[48, 1] = np.nan
    with pytest.raises(PhysicsError) as caught:
        check_finite(reference, run_of(stepping_ready, values, rates))
    assert "0.10 s" in str(caught.value)
    assert reference.coordinates.articulation.bodies[0].name in str(caught.value)


def test_runs_repeat_themselves(stepping_ready: Prepared) -> None:
    first, second = (stepping_ready.simulation.run((0.05, 0.03)) for _ in range(2))
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.force, second.force)


def test_offsets_move_what_is_followed(standing_ready: Prepared) -> None:
    simulation = standing_ready.simulation
    offsets = np.zeros((len(simulation.controls), simulation.plant.coordinates.count - 6))
    plain, same = simulation.run((0.0, 0.0)), simulation.run((0.0, 0.0), offsets)
    assert np.array_equal(plain.values, same.values)
    arm = next(i for i, body in enumerate(standing_ready.articulation.bodies) if "arm" in body.name)
    slot = simulation.plant.coordinates.slot(arm).start
    offsets[:, slot - 6] = 0.2
    moved = simulation.run((0.0, 0.0), offsets)
    assert moved.values[-1, slot] - plain.values[-1, slot] == pytest.approx(0.2, abs=0.05)


def test_a_run_ends_soon_after_its_fall(stepping_ready: Prepared) -> None:
    simulation = stepping_ready.simulation
    simulation.set_stiffness(1e-3)
    run = simulation.run((0.0, 0.0))
    simulation.set_stiffness(1.0)
    fall = first_fall(stepping_ready.reference, run.values)
    assert fall is not None
    assert fall < len(run.values) <= fall + 241
    assert len(run.force) == len(run.values) - 1

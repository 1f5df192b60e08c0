"""Touch: soles in the air are seen by the colliders' own geometry, and what flies gets no help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from akd_sdk.physics.simulate import Simulation
from akd_sdk.physics.touch import Soles, flown
from akd_sdk.physics.track import Prepared

pytestmark = pytest.mark.xdist_group("physics")


def _states(ready: Prepared) -> np.ndarray:
    reference = ready.reference
    return np.concatenate([np.zeros((len(reference.values), 1)), reference.values, reference.rates], axis=1)


def test_soles_touch_where_the_lowest_point_of_their_colliders_is_down(stepping_ready: Prepared) -> None:
    states = _states(stepping_ready)[::40]
    raised = np.array([0.0, 0.004, 0.02, 0.3])
    soles, bodies = Soles(stepping_ready.plant), stepping_ready.articulation.bodies
    for lift in raised:
        lifted = states.copy()
        lifted[:, 2] += lift * stepping_ready.plant.height
        turns, origins = stepping_ready.reference.coordinates.bodies(lifted[:, 1 : 1 + stepping_ready.reference.coordinates.count])
        lowest = np.min([body.shape.lowest(turns[:, i], origins[:, i]) for i, body in enumerate(bodies) if body.foot], axis=0)
        assert np.array_equal(soles.touch(lifted), lowest < 0.006 * stepping_ready.plant.height)


def test_runs_in_the_air_are_not_helped_while_others_are(standing_ready: Prepared) -> None:
    simulation = standing_ready.simulation
    states = _states(standing_ready)[[0, 0]]
    states[1, 2] += 0.2
    controls = np.repeat(simulation.controls[None, :30], 2, axis=0)
    made, allowed = simulation.helped(states, controls, 0, (0.1, 0.06))
    assert np.array_equal(allowed[0], np.tile([0.1, 0.06], (30, 1)))
    assert np.array_equal(allowed[1], np.zeros((30, 2)))
    alone, _ = simulation.helped(states[1:], controls[1:], 0, (0.0, 0.0))
    assert made[1] == pytest.approx(alone[0], abs=1e-9)


def test_what_is_thrown_up_falls_as_free_as_without_help_until_it_lands(standing_ready: Prepared) -> None:
    simulation = standing_ready.simulation
    state = _states(standing_ready)[:1]
    count = simulation.reference.coordinates.count
    state[0, 2] += 0.3
    state[0, 1 + count + 1] = 1.0
    controls = simulation.controls[None, :400]
    made, allowed = simulation.helped(state, controls, 0, (0.2886, 0.17))
    landed = int(np.argmax(allowed[0, :, 0] > 0.0))
    assert 0.2 < landed * simulation.reference.dt < 0.6
    touched = Soles(simulation.plant).touch(made[0])
    assert landed - 10 <= int(np.argmax(touched)) <= landed


def test_no_step_that_begins_or_ends_in_a_planned_flight_is_helped(stepping_ready: Prepared) -> None:
    simulation = stepping_ready.simulation
    steps = len(simulation.controls)
    flight = np.zeros(steps + 1, dtype=np.bool_)
    flight[100:151] = flight[300:320] = True
    reference = replace(stepping_ready.reference, flight=flight)
    planned = Simulation(stepping_ready.plant, reference, np.zeros((steps + 1, reference.coordinates.count)))
    state = _states(stepping_ready)[:1]
    _, allowed = planned.helped(state, planned.controls[None, :400], 0, (0.05, 0.03))
    helped = allowed[0, :, 0] > 0.0
    assert not helped[99:151].any()
    assert not helped[299:320].any()
    assert helped[:99].any()


def test_feet_that_stay_on_the_ground_in_a_planned_flight_have_not_flown(standing_ready: Prepared) -> None:
    reference = standing_ready.reference
    flight = np.zeros(len(reference.values), dtype=np.bool_)
    flight[100:300] = True
    planned = replace(reference, flight=flight)
    values = reference.values.copy()
    assert flown(reference, values) == 1.0
    assert flown(planned, values) == 0.0
    values[150:300, 1] += 0.1
    assert flown(planned, values) == pytest.approx(0.75, abs=0.03)

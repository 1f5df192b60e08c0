"""Loads: what the ground is asked for, and joint torques that go with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from akd_sdk.bodies.coordinates import ROOT
from akd_sdk.physics.loads import carried, corners, loads_of, torques
from akd_sdk.physics.simulate import Simulation
from akd_sdk.physics.track import Prepared
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")

FRICTION = 0.8


def test_a_standing_pose_asks_for_its_weight_and_the_feet_carry_it(standing_ready: Prepared, biped: Rig) -> None:
    plant = standing_ready.plant
    loads = loads_of(plant, standing_ready.reference.course, biped.leg_length, FRICTION)
    _, missing = carried(loads, loads.needed[:, :ROOT])
    assert np.allclose(loads.needed[:, 1], plant.weight, rtol=1e-3)
    assert np.abs(missing).max() < 0.01


def test_torques_of_a_standing_pose_ask_nothing_of_the_root(standing_ready: Prepared, biped: Rig) -> None:
    plant = standing_ready.plant
    loads = loads_of(plant, standing_ready.reference.course, biped.leg_length, FRICTION)
    scale = np.repeat([plant.weight, plant.weight * plant.height], 3)
    assert np.abs(torques(loads)[:, :ROOT] / scale).max() < 0.01


def test_torques_make_a_standing_pose_hold(standing_ready: Prepared) -> None:
    simulation = standing_ready.simulation
    plain = Simulation(simulation.plant, simulation.reference, np.zeros_like(simulation.reference.values))

    def sag(one: Simulation) -> float:
        values = one.run((0.0, 0.0)).values
        assert len(values) == len(one.reference.values)
        return float(np.abs(values - one.reference.values)[:, ROOT:].max())

    assert sag(simulation) < np.radians(0.5)
    assert sag(simulation) < 0.5 * sag(plain)


def test_the_whole_body_accelerates_by_what_the_ground_gives(stepping_ready: Prepared, biped: Rig) -> None:
    """Newton's second law for the centre of mass, which inverse dynamics knows nothing of."""
    course, plant = stepping_ready.reference.course, stepping_ready.plant
    loads = loads_of(plant, course, biped.leg_length, FRICTION)
    articulation = stepping_ready.articulation
    turns, origins = stepping_ready.reference.coordinates.bodies(course.values)
    centre = sum(b.mass * (origins[:, i] + turns[:, i] @ b.centre) for i, b in enumerate(articulation.bodies)) / articulation.mass
    acceleration = np.gradient(np.gradient(centre, course.dt, axis=0), course.dt, axis=0)[loads.steps]
    wanted = articulation.mass * (acceleration + np.array([0.0, 9.81, 0.0]))
    inner = slice(2, -2)
    assert np.abs(loads.needed[:, :3] @ biped.facing.T - wanted)[inner].max() < 0.02 * plant.weight


def test_in_flight_nothing_is_carried(standing_ready: Prepared, biped: Rig) -> None:
    course = standing_ready.reference.course
    aloft = replace(course, planted=np.zeros_like(course.planted))
    loads = loads_of(standing_ready.plant, aloft, biped.leg_length, FRICTION)
    shares, missing = carried(loads, loads.needed[:, :ROOT])
    assert all(cone.shape[1] == 0 for cone in loads.cones)
    assert all(len(share) == 0 for share in shares)
    assert np.allclose(missing, loads.needed[:, :ROOT] / loads.scale)


def test_ground_forces_stay_in_the_friction_cone(stepping_ready: Prepared, biped: Rig) -> None:
    loads = loads_of(stepping_ready.plant, stepping_ready.reference.course, biped.leg_length, 0.3)
    shares, _ = carried(loads, loads.needed[:, :ROOT])
    pushed = np.stack([biped.facing @ (cone[:3] @ share) for cone, share in zip(loads.cones, shares)])
    assert (np.hypot(pushed[:, 0], pushed[:, 2]) <= 0.3 * pushed[:, 1] + 1e-6 * stepping_ready.plant.weight).all()


def test_corners_of_a_sole_are_its_lowest_points(stepping_ready: Prepared) -> None:
    soles = [body for body in stepping_ready.articulation.bodies if body.shape.kind == "box"]
    for body in soles:
        lowest = float(body.shape.lowest(np.eye(3)[None], np.zeros((1, 3)))[0])
        assert corners(body.shape)[:, 1].min() == pytest.approx(lowest, abs=1e-9)
    assert len(soles) >= 2

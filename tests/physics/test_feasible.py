"""Feasible: what hovers flies as a stone does, by a small change, and feet stay where they stood."""

from __future__ import annotations

import numpy as np
import pytest
from steps import hovering

from akd_sdk.gait.feet import contact_paths
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.physics.loads import carried, loads_of
from akd_sdk.physics.track import Prepared
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")

GRAVITY = 9.81


def fall(ready: Prepared, values: np.ndarray) -> np.ndarray:
    """(steps,) vertical acceleration of the centre of mass of coordinates at every step."""
    articulation = ready.articulation
    turns, origins = ready.reference.coordinates.bodies(values)
    centre = sum(b.mass * (origins[:, i] + turns[:, i] @ b.centre)[:, 1] for i, b in enumerate(articulation.bodies)) / articulation.mass
    return np.asarray(np.gradient(np.gradient(centre, ready.reference.dt), ready.reference.dt))


def test_a_hovering_flight_becomes_a_fall(hovering_ready: Prepared) -> None:
    course = hovering_ready.reference.course
    flying = np.flatnonzero(~course.planted.any(axis=1))
    inner = flying[(flying > 20) & (flying < flying.max() - 20)]
    assert len(inner) * course.dt > 0.1
    off = np.abs(fall(hovering_ready, course.values)[inner] + GRAVITY) / GRAVITY
    assert off.mean() < 0.3  # before it was 1: the root did not fall at all


def test_the_root_is_moved_by_little(hovering_ready: Prepared, biped: Rig) -> None:
    moved = hovering_ready.motion.root - hovering(biped).root
    assert 0.02 < np.abs(moved).max() / biped.leg_length < 0.15


def test_the_ground_can_give_what_is_asked_afterwards(hovering_ready: Prepared, biped: Rig) -> None:
    course = hovering_ready.reference.course
    loads = loads_of(hovering_ready.plant, course, biped.leg_length, 0.8)
    _, missing = carried(loads, loads.needed[:, :6])
    assert np.abs(missing[:, 1]).mean() < 0.1  # of the weight, where a fifth of the time it was all of it


@pytest.mark.parametrize("ready", ["hovering_ready", "stepping_ready", "circle_ready"])
def test_standing_feet_stay_locked(ready: str, request: pytest.FixtureRequest, biped: Rig) -> None:
    motion: Motion = request.getfixturevalue(ready).motion
    paths = contact_paths(biped, world_from_motion(biped.skeleton, motion))
    both = motion.contacts[1:] & motion.contacts[:-1]
    moved = np.linalg.norm(np.diff(paths, axis=0)[..., [0, 2]], axis=-1)
    assert both.sum() > 40
    assert moved[both].max() < 1e-3 * biped.leg_length
    assert paths[..., 1].min() > -1e-4


def test_a_loop_stays_one(stepping_ready: Prepared, steps: Motion) -> None:
    motion = stepping_ready.motion
    assert motion.loop
    assert motion.frames == steps.frames
    assert np.allclose(np.abs((motion.rotations[0] * motion.rotations[-1]).sum(axis=-1)), 1.0, atol=1e-9)
    assert np.allclose(motion.root[-1] - motion.root[0], steps.root[-1] - steps.root[0], atol=1e-6)

"""Coordinates of an articulation: there and back, against MuJoCo's kinematics and the rig's own, and mirrored."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from steps import stepping
from turned_glb import turned_glb

from akd_sdk.bodies import Articulation, articulate
from akd_sdk.bodies.coordinates import ROOT, Coordinates
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.physics.course import body_turns
from akd_sdk.physics.track import Prepared
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")

SINGLE_PRECISION = 1e-5
"""Metres, or entries of matrices: newton keeps frames in single precision."""


def spread(coordinates: Coordinates, frames: int = 20, size: float = 0.8) -> np.ndarray:
    """Random coordinates, far from the poles of the middle angles."""
    return np.random.default_rng(3).uniform(-size, size, (frames, coordinates.count))


def unposed(articulation: Articulation) -> Coordinates:
    """Coordinates about the rest pose, of a character that faces +Z."""
    return Coordinates(articulation, np.eye(3), np.tile(np.eye(3), (len(articulation.bodies), 1, 1)))


def test_coordinates_of_bodies_are_those_that_made_them(stepping_ready: Prepared) -> None:
    coordinates = stepping_ready.reference.coordinates
    values = spread(coordinates)
    turns, origins = coordinates.bodies(values)
    again = coordinates.of(turns, origins[:, 0])
    apart = np.abs(np.exp(1j * again[:, 3:]) - np.exp(1j * values[:, 3:]))
    assert apart.max() < 1e-9
    assert np.abs(again[:, :3] - values[:, :3]).max() < 1e-12


def test_angles_go_on_past_a_half_turn(stepping_ready: Prepared) -> None:
    coordinates = stepping_ready.reference.coordinates
    values = np.zeros((60, coordinates.count))
    values[:, 3] = np.linspace(0.0, 9.0, 60)
    again = coordinates.of(*(lambda turns, origins: (turns, origins[:, 0]))(*coordinates.bodies(values)))
    assert np.allclose(again[:, 3], values[:, 3], atol=1e-9)


@pytest.mark.parametrize("ready", ["stepping_ready", "circle_ready", "hovering_ready"])
def test_bodies_are_where_mujoco_puts_them(ready: str, request: pytest.FixtureRequest) -> None:
    prepared: Prepared = request.getfixturevalue(ready)
    coordinates, model = prepared.reference.coordinates, prepared.plant.model
    data = mujoco.MjData(model)
    values = spread(coordinates)
    turns, origins = coordinates.bodies(values)
    for k, value in enumerate(values):
        data.qpos[:] = value
        mujoco.mj_kinematics(model, data)
        assert np.abs(data.xpos[1:] - origins[k]).max() < SINGLE_PRECISION
        assert np.abs(data.xmat[1:].reshape(-1, 3, 3) - turns[k]).max() < SINGLE_PRECISION


def wild(rig: Rig, motion: Motion) -> Motion:
    """The motion with every joint turned at random a little."""
    noise = Rotation.from_rotvec(np.random.default_rng(1).normal(0.0, 0.15, (motion.frames * rig.skeleton.count, 3)))
    turned = (Rotation.from_quat(motion.rotations.reshape(-1, 4)) * noise).as_quat()
    return motion.with_(rotations=turned.reshape(motion.rotations.shape))


@pytest.mark.parametrize("angle", [0.0, 0.7, -2.5])
@pytest.mark.parametrize("name", ["biped", "quadruped"])
def test_bodies_of_a_motion_are_where_its_joints_are(name: str, angle: float, samples: Path, tmp_path: Path) -> None:
    rig = open_rig(turned_glb(samples / f"{name}.glb", angle, tmp_path / "turned.glb"))
    faces = np.array([np.sin(angle), 0.0, np.cos(angle)])
    assert np.allclose(rig.forward, faces, atol=1e-6)
    motion = wild(rig, stepping(rig, seconds=1.0 / 1.5))
    articulation = articulate(rig)
    turns = body_turns(rig, articulation, motion)
    coordinates = Coordinates.about(articulation, rig.facing, turns)
    made, origins = coordinates.bodies(coordinates.of(turns, motion.root))
    world = world_from_motion(rig.skeleton, motion)[:, [body.joint for body in articulation.bodies]]
    assert np.abs(made - turns).max() < 1e-9
    assert np.abs(origins - world[..., :3, 3]).max() < 1e-6


def test_the_character_s_own_axes_lead_the_root(samples: Path, tmp_path: Path) -> None:
    rig = open_rig(turned_glb(samples / "biped.glb", 0.7, tmp_path / "turned.glb"))
    articulation = articulate(rig)
    coordinates = Coordinates(articulation, rig.facing, np.tile(np.eye(3), (len(articulation.bodies), 1, 1)))
    values = np.zeros((1, coordinates.count))
    values[0, 2] = 1.0
    _, origins = coordinates.bodies(values)
    assert np.allclose(origins[0, 0] - articulation.bodies[0].origin, rig.forward, atol=1e-9)


@pytest.mark.parametrize("name", ["biped", "quadruped"])
def test_equal_angles_left_and_right_are_mirror_images(name: str, request: pytest.FixtureRequest) -> None:
    articulation = articulate(request.getfixturevalue(name))
    coordinates = unposed(articulation)
    names = [body.name for body in articulation.bodies]
    other = [names.index(_swapped(own)) for own in names]
    assert sum(i != k for i, k in enumerate(other)) >= 8
    values = spread(coordinates)
    mirrored = np.zeros_like(values)
    mirrored[:, :ROOT] = values[:, :ROOT] * [-1.0, 1.0, 1.0, -1.0, 1.0, -1.0]
    for i, k in enumerate(other):
        if i:
            signs = [1.0, -1.0, -1.0] if i == k else [1.0, 1.0, 1.0]
            mirrored[:, coordinates.slot(i)] = values[:, coordinates.slot(k)] * signs
    turns, origins = coordinates.bodies(values)
    image_turns, image_origins = coordinates.bodies(mirrored)
    flip = np.diag([-1.0, 1.0, 1.0])
    assert np.abs(image_origins - origins[:, other] @ flip).max() < 1e-4
    assert np.abs(image_turns - flip @ turns[:, other] @ flip).max() < 1e-3


def _swapped(name: str) -> str:
    return {"_l": name[:-2] + "_r", "_r": name[:-2] + "_l"}.get(name[-2:], name)

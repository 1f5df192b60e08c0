"""T poses: limbs where they belong whatever the rest pose and the joints' axes, and a reason where a character can take none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, write_case
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.t_pose import t_pose_turns
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def biped() -> Rig:
    return open_rig(SAMPLES / "biped.glb")


def posed(rig: Rig) -> Array:
    """Places of the joints in the T pose, in the character frame (facing +Z, left +X); bones follow the joint above them."""
    skeleton, turns = rig.skeleton, t_pose_turns(rig)
    places = skeleton.rest_world[:, :3, 3].copy()
    for j in skeleton.solve_order:
        parent = int(skeleton.solve_parents[j])
        if parent >= 0:
            places[j] = places[parent] + turns[parent] @ (skeleton.rest_world[j, :3, 3] - skeleton.rest_world[parent, :3, 3])
    return np.asarray(places @ rig.facing)


def limb(rig: Rig, kind: str, side: int) -> list[int]:
    return list(next(chain for chain in rig.skeleton.chains if (chain.kind, chain.side) == (kind, side)).joints)


@pytest.mark.parametrize("case", ["plain", "rolled", "turned", "mirrored", "armature100", "matrices"])
def test_arms_are_level_legs_straight_and_feet_forward_whatever_the_axes(case: str, tmp_path: Path) -> None:
    rig = open_rig(write_case(case, tmp_path, "biped.glb"))
    places = posed(rig)
    for side, sign in ((1, 1.0), (2, -1.0)):
        arm = np.diff(places[limb(rig, "arm", side)], axis=0)
        np.testing.assert_allclose(arm / np.linalg.norm(arm, axis=1)[:, None], np.tile([sign, 0.0, 0.0], (len(arm), 1)), atol=1e-9)
        leg = np.diff(places[limb(rig, "leg", side)], axis=0)
        np.testing.assert_allclose(leg[:2] / np.linalg.norm(leg[:2], axis=1)[:, None], np.tile([0.0, -1.0, 0.0], (2, 1)), atol=1e-9)
        assert abs(leg[2, 0]) < 1e-9
        assert leg[2, 2] > 0.0


def test_feet_stay_as_flat_and_bones_as_long_as_at_rest(biped: Rig) -> None:
    places, rest = posed(biped), biped.skeleton.rest_world[:, :3, 3]
    for side in (1, 2):
        ankle, toes = limb(biped, "leg", side)[2:4]
        assert places[toes, 1] - places[ankle, 1] == pytest.approx(rest[toes, 1] - rest[ankle, 1], abs=1e-12)
    parents = biped.skeleton.solve_parents
    below = np.flatnonzero(parents >= 0)
    lengths = [np.linalg.norm(p[below] - p[parents[below]], axis=1) for p in (places, rest)]
    np.testing.assert_allclose(*lengths, atol=1e-12)


def test_turns_are_rotations_and_the_trunk_rests(biped: Rig) -> None:
    turns = t_pose_turns(biped)
    np.testing.assert_allclose(turns @ turns.swapaxes(-1, -2), np.tile(np.eye(3), (len(turns), 1, 1)), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(turns), 1.0, atol=1e-12)
    trunk = [j for j, group in enumerate(biped.skeleton.groups) if group in ("torso", "neck_head")]
    np.testing.assert_array_equal(turns[trunk], np.tile(np.eye(3), (len(trunk), 1, 1)))


def test_palms_that_face_the_thighs_at_rest_face_the_ground(biped: Rig) -> None:
    hand = limb(biped, "arm", 1)[-1]
    bone = np.diff(biped.skeleton.rest_world[limb(biped, "arm", 1)[-2:], :3, 3], axis=0)[0]
    inwards = np.cross(bone, np.cross([-1.0, 0.0, 0.0], bone))
    palm = t_pose_turns(biped)[hand] @ (inwards / np.linalg.norm(inwards))
    assert palm[1] < -0.9


def test_who_stands_in_a_t_pose_is_left_alone(biped: Rig) -> None:
    turns, skeleton = t_pose_turns(biped), biped.skeleton
    rest = skeleton.rest_world.copy()
    places = posed(biped)  # the sample faces +Z
    rest[:, :3, :3], rest[:, :3, 3] = turns @ rest[:, :3, :3], places
    standing = replace(skeleton)
    standing.__dict__["rest_world"] = rest  # a cached property
    np.testing.assert_allclose(t_pose_turns(replace(biped, skeleton=standing)), np.tile(np.eye(3), (len(turns), 1, 1)), atol=1e-9)


def test_a_character_that_can_take_none_is_told_why(biped: Rig) -> None:
    with pytest.raises(ExportError, match="--t-pose: a T pose is for bipeds, and this character is a quadruped; leave it out"):
        t_pose_turns(open_rig(SAMPLES / "quadruped.glb"))
    with pytest.raises(ExportError, match="its kind of body is not known"):
        t_pose_turns(replace(biped, body="unknown"))
    kept = tuple(chain for chain in biped.skeleton.chains if (chain.kind, chain.side) != ("arm", 2))
    with pytest.raises(ExportError, match="a T pose needs arms and legs of two joints or more, and no such right arm was found"):
        t_pose_turns(replace(biped, skeleton=replace(biped.skeleton, chains=kept)))
    flat = replace(biped.skeleton)
    rest = biped.skeleton.rest_world.copy()
    shin, foot = limb(biped, "leg", 1)[1:3]
    rest[foot, :3, 3] = rest[shin, :3, 3]
    flat.__dict__["rest_world"] = rest
    with pytest.raises(ExportError, match="needs bones of some length, and shin_l of the left leg has none"):
        t_pose_turns(replace(biped, skeleton=flat))

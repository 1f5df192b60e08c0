"""Bones as Gaussians, and boxes around what bones carry."""

from __future__ import annotations

import colorsys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gaussian_cases import SAMPLES, SHARED, bent, posed, rig_of, tube
from opened import opened

from akd_sdk.errors import AkdError, RigError
from akd_sdk.gaussians import bone_boxes, bone_gaussians
from akd_sdk.kinematics import point_paths, skin_points
from akd_sdk.rig import Rig

EXACT_M = 1e-12


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest, samples: Path) -> Rig:
    return rig_of(samples, None, request.param)


@pytest.fixture(params=SHARED)
def character(request: pytest.FixtureRequest, samples: Path, shared: Path) -> Rig:
    return rig_of(samples, shared, request.param)


def hues(colours: np.ndarray) -> np.ndarray:
    return np.array([colorsys.rgb_to_hsv(*c)[0] for c in colours])


def test_bones_are_rigid_and_lie_between_their_joints(sample: Rig) -> None:
    gaussians = bone_gaussians(sample, pieces=1)
    world = bent(sample)
    means, covariances = posed(gaussians, world)
    skeleton = sample.skeleton
    rest = skeleton.rest_world[:, :3, 3]
    children = [(int(p), j) for j, p in enumerate(skeleton.solve_parents) if p >= 0 and skeleton.roles[j] == "anatomy"]
    ends = np.array([0.5 * (rest[p] + rest[j]) for p, j in children if np.linalg.norm(rest[p] - rest[j]) > 1e-3])
    assert np.abs(gaussians.means[: len(ends)] - ends).max() < EXACT_M
    carried = np.linalg.inv(skeleton.rest_world)[gaussians.joints[:, 0]]
    offsets = np.einsum("nij,nj->ni", carried[:, :3, :3], gaussians.means) + carried[:, :3, 3]
    assert np.abs(means - point_paths(world, gaussians.joints[:, 0], offsets)).max() < 10.0 * EXACT_M
    before, after = np.linalg.eigvalsh(gaussians.covariances), np.linalg.eigvalsh(covariances)
    assert np.abs(after / before - 1.0).max() < 1e-5
    assert np.abs(gaussians.weights - 1.0).max() == 0.0


def test_bones_are_long_along_themselves(sample: Rig) -> None:
    gaussians = bone_gaussians(sample, pieces=2)
    values = np.linalg.eigvalsh(gaussians.covariances)
    assert np.median(np.sqrt(values[:, 2] / values[:, 1])) > 1.5
    assert np.abs(values[:, 0] / values[:, 1] - 1.0).max() < 1e-6


def test_every_tip_has_its_bone(sample: Rig) -> None:
    gaussians = bone_gaussians(sample, pieces=1)
    rest = sample.skeleton.rest_world[:, :3, 3]
    tips = sample.skeleton.tips
    middles = [
        0.5 * (rest[t.joint] + sample.skeleton.points_at_rest(np.array([t.joint]), t.offset[None])[0]) for t in tips
    ]  # fmt: skip
    assert tips
    assert np.abs(gaussians.means[-len(tips) :] - middles).max() < EXACT_M


def test_left_and_right_limbs_have_different_hues(character: Rig) -> None:
    gaussians, skeleton = bone_gaussians(character), character.skeleton
    sides, found = skeleton.sides[gaussians.joints[:, 0]], hues(gaussians.colours)
    limbs = [any(part in skeleton.groups[j] for part in ("leg", "arm", "hind", "fore")) for j in gaussians.joints[:, 0]]
    left, right = found[limbs & (sides == 1)], found[limbs & (sides == 2)]
    assert len(left)
    assert len(right)
    assert left.max() < 0.1
    assert right.min() > 0.5


def test_controls_and_sockets_are_no_bones(character: Rig) -> None:
    roles = character.skeleton.roles
    assert all(roles[j] in ("anatomy", "unknown") for j in np.unique(bone_gaussians(character).joints))


def test_a_bare_skeleton_has_bones_too() -> None:
    gaussians = bone_gaussians(tube(), pieces=3)
    assert gaussians.count == 3
    assert np.allclose(gaussians.means[:, 1], [0.5 / 6, 0.25, 2.5 / 6])


def test_a_skeleton_without_bones_is_refused() -> None:
    rig = tube()
    rest = replace(rig.skeleton.rest, translations=np.zeros((2, 3)))
    with pytest.raises(RigError, match="has no bones to draw"):
        bone_gaussians(replace(rig, skeleton=replace(rig.skeleton, rest=rest)))


@pytest.mark.parametrize("pieces", [0, 65])
def test_a_number_of_pieces_out_of_range_is_refused(pieces: int) -> None:
    with pytest.raises(AkdError, match="ask for 1 to 64"):
        bone_gaussians(tube(), pieces=pieces)


def assert_boxes_hold_the_skin(rig: Rig) -> None:
    boxes = bone_boxes(rig)
    rest = rig.skeleton.rest_world
    assert len(boxes.joints) == len(set(boxes.joints.tolist()))
    corners = np.einsum("bij,bcj->bci", rest[boxes.joints, :3, :3], boxes.corners) + rest[boxes.joints, None, :3, 3]
    points = np.concatenate([skin_points(s, rest[None])[0][np.unique(s.triangles)] for s in rig.skins])
    owner = np.concatenate(
        [s.joints[np.arange(len(s.joints)), s.weights.argmax(1)][np.unique(s.triangles)] for s in rig.skins]
    )  # fmt: skip
    size = np.ptp(points, axis=0).max()
    checked = 0
    for joint, eight in zip(boxes.joints, corners):
        edges = eight[[4, 2, 1]] - eight[0]
        gram = edges @ edges.T
        assert np.abs(gram - np.diag(np.diag(gram))).max() < 1e-9 * size**2
        inside = (points[owner == joint] - eight[0]) @ edges.T
        assert (inside >= -1e-9 * size**2).all()
        assert (inside <= np.diag(gram) + 1e-9 * size**2).all()
        checked += len(inside)
    assert checked > 0.9 * len(points)


def test_boxes_hold_what_their_bones_carry(sample: Rig) -> None:
    assert_boxes_hold_the_skin(sample)


def test_boxes_of_characters_hold_what_their_bones_carry(character: Rig) -> None:
    assert_boxes_hold_the_skin(character)


def test_boxes_touch_the_skin_they_hold(sample: Rig) -> None:
    boxes, rest = bone_boxes(sample), sample.skeleton.rest_world
    corners = np.einsum("bij,bcj->bci", rest[boxes.joints, :3, :3], boxes.corners) + rest[boxes.joints, None, :3, 3]
    points = np.concatenate([skin_points(s, rest[None])[0] for s in sample.skins])
    height = np.ptp(points[:, 1])
    assert corners[..., 1].min() <= points[:, 1].min() + EXACT_M
    assert corners[..., 1].min() > points[:, 1].min() - 0.05 * height


def test_what_helpers_carry_counts_to_the_bone_they_follow(samples: Path, shared: Path) -> None:
    rig = opened(shared / "data" / "rigs" / "quaternius" / "animals_pack" / "Wolf.glb")
    roles = rig.skeleton.roles
    assert all(roles[j] in ("anatomy", "unknown") for j in bone_boxes(rig).joints)


def test_bones_with_fewer_than_four_vertices_have_no_box() -> None:
    rig = tube()
    skin = rig.skins[0]
    weights = np.tile([1.0, 0.0], (len(skin.vertices), 1))
    weights[-3:] = [0.0, 1.0]
    assert bone_boxes(replace(rig, skins=(replace(skin, weights=weights),))).joints.tolist() == [0]
    weights[-4:] = [0.0, 1.0]
    assert bone_boxes(replace(rig, skins=(replace(skin, weights=weights),))).joints.tolist() == [0, 1]


def test_boxes_need_a_skin() -> None:
    with pytest.raises(RigError, match="has no skinned triangles"):
        bone_boxes(replace(tube(), skins=()))

"""Anatomical frames and limits: equal angles are mirror images, axes lie as the design says, artists' clips stay within."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from opened import opened

from akd_sdk.kinematics import CurveKinematics
from akd_sdk.kinematics.curves import curves_from_motion
from akd_sdk.rig import Rig
from akd_sdk.rotations import matrix_from_quat, nearest_rotation

Array = NDArray[np.float64]

MIRRORED = 1e-3
"""Body heights: the samples are symmetric, their files round to float32."""
ARTISTS = (
    "khronos/Fox.glb",
    "quaternius/animals_pack/Wolf.glb",
    "quaternius/animals_pack/Deer.glb",
    "khronos/CesiumMan.glb",
)
MOST_OUTSIDE = 0.08
"""Share of frames in which an artist's clip may leave a joint's limits: the fox folds its paws by 160 degrees."""


@pytest.fixture(scope="module", params=["quadruped", "biped"])
def rig(request: pytest.FixtureRequest, samples: Path) -> Rig:
    return opened(samples / f"{request.param}.glb")


def world_axes(rig: Rig) -> Array:
    """(joints, 3, 3) frames in the character frame, as columns."""
    skeleton = rig.skeleton
    turns = nearest_rotation(skeleton.rest_world[:, :3, :3])
    return np.asarray(rig.facing.T @ turns @ matrix_from_quat(skeleton.frames))


def twins(rig: Rig) -> list[tuple[int, int]]:
    """Joints of the left chains with those of the right ones, and of the middle with themselves."""
    chains = {(c.kind, c.side, k): c.joints for k, c in enumerate(rig.skeleton.chains)}
    left = [c for c in rig.skeleton.chains if c.side == 1]
    pairs = [(j, j) for key, joints in chains.items() if key[1] == 0 for j in joints]
    for chain in left:
        right = next(c for c in rig.skeleton.chains if c.side == 2 and c.kind == chain.kind)
        pairs += list(zip(chain.joints, right.joints, strict=True))
    return pairs


def test_equal_angles_left_and_right_are_mirror_images(rig: Rig) -> None:
    skeleton = rig.skeleton
    kinematics = CurveKinematics(skeleton, rig.facing, torch.float64)
    rng = np.random.default_rng(3)
    angles = np.zeros((5, skeleton.count, 3))
    for left, right in twins(rig):
        drawn = rng.uniform(-0.8, 0.8, (5, 3))
        if left == right:
            drawn[:, 1:] = 0.0  # abduction and twist of the middle leave the plane
        angles[:, left] = angles[:, right] = drawn
    root = np.zeros((5, 6))
    _, positions = kinematics(torch.from_numpy(angles), torch.from_numpy(root))
    places = (positions.numpy() - positions.numpy()[:, [skeleton.pelvis]]) @ rig.facing
    for left, right in twins(rig):
        np.testing.assert_allclose(places[:, right] * [-1.0, 1.0, 1.0], places[:, left], atol=MIRRORED * rig.height)


def test_unequal_angles_are_no_mirror_images(rig: Rig) -> None:
    """The test above can fail: the same rotation vectors in the world on both sides move the sides apart."""
    axes = world_axes(rig)
    flip = np.array([-1.0, 1.0, 1.0])
    for left, right in twins(rig):
        if left == right:
            continue
        mirrored = flip[:, None] * axes[left] * np.array([-1.0, 1.0, 1.0])  # x is an axis of turning: its mirror image points back
        np.testing.assert_allclose(axes[right], mirrored, atol=1e-3)
        assert np.abs(axes[right] - axes[left]).max() > 1e-3 or np.allclose(axes[left][:, 0], [1.0, 0.0, 0.0], atol=1e-2)


def test_axes_lie_as_the_design_says(rig: Rig) -> None:
    axes, skeleton = world_axes(rig), rig.skeleton
    np.testing.assert_allclose(np.linalg.det(axes), 1.0, atol=1e-9)
    rest = skeleton.rest_world[:, :3, 3] @ rig.facing
    for chain in skeleton.chains:
        for here, following in zip(chain.joints, chain.joints[1:], strict=False):
            bone = rest[following] - rest[here]
            np.testing.assert_allclose(axes[here, :, 1], bone / np.linalg.norm(bone), atol=1e-6)
        last, before = chain.joints[-1], chain.joints[-2] if len(chain.joints) > 1 else None
        if before is not None:
            np.testing.assert_allclose(axes[last, :, 1], axes[before, :, 1], atol=1e-6)
    lateral = np.abs(axes[:, 0, 1]) > np.cos(np.radians(30.0))
    assert (axes[~lateral, 0, 0] > 0.49).all()
    assert (axes[lateral & (skeleton.sides == 1), 1, 0] > 0.49).all()
    assert (axes[lateral & (skeleton.sides == 2), 1, 0] < -0.49).all()


def test_knees_fold_back_and_elbows_forward(rig: Rig) -> None:
    """Counted from a straight limb, knees fold back and elbows forward, hardly the other way; ranges stay short of the pole."""
    limits, rest = rig.skeleton.limits, rig.skeleton.rest_world[:, :3, 3]
    for chain in rig.skeleton.chains:
        sense = {"leg": 1.0, "arm": -1.0, "foreleg": -1.0}.get(chain.kind)
        if sense is None:
            continue
        upper, lower = rest[chain.joints[1]] - rest[chain.joints[0]], rest[chain.joints[2]] - rest[chain.joints[1]]
        bend = np.arccos(upper @ lower / np.linalg.norm(upper) / np.linalg.norm(lower))
        low, high = sorted(sense * limits[chain.joints[1], 0])
        assert -0.3 < low + bend < 0.0, chain.kind
        assert high + bend > 1.9, chain.kind
    assert (limits[..., 0] <= 0.0).all()
    assert (limits[..., 1] >= 0.0).all()
    assert np.abs(limits).max() < 3.0


@pytest.mark.parametrize("name", ARTISTS)
def test_artists_clips_stay_within_the_limits(shared: Path, name: str) -> None:
    rig = opened(shared / "data" / "rigs" / name)
    limits, names = rig.skeleton.limits, rig.skeleton.names
    clips = [c for c in rig.clips if not any(word in c.name.lower() for word in ("death", "attack", "survey"))]
    angles = np.concatenate([curves_from_motion(rig, clip).angles for clip in clips])
    chained = [j for chain in rig.skeleton.chains for j in chain.joints]
    outside = ((angles < limits[..., 0] - 0.02) | (angles > limits[..., 1] + 0.02)).any(axis=-1).mean(axis=0)
    assert {names[j]: round(float(outside[j]), 3) for j in chained if outside[j] > MOST_OUTSIDE} == {}

"""Gaussians along the bones: a stick figure that is coloured by what its parts are."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import AkdError, RigError
from akd_sdk.gaussians.boxes import carriers
from akd_sdk.gaussians.gaussians import Gaussians
from akd_sdk.rig import Rig, Skeleton

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

OPACITY = 0.95
ALONG = 0.55
"""Standard deviation along a bone over the length of a piece: neighbours run into each other."""
ACROSS = 0.16
"""Standard deviation across a bone over the bone's length."""
SLIM, STOUT = 0.006, 0.025
"""What standard deviations across are kept between, in extents of the skeleton."""
SHORTEST = 1e-4
"""Extents of the skeleton; shorter bones are none."""
MIDDLE_HUES = {"torso": 0.13, "trunk": 0.13, "neck_head": 0.33, "tail": 0.46}
"""Of groups in the middle of the body, 0..1: yellow, green, teal."""
LEFT_HUES = {"hind": 0.0, "leg": 0.0, "fore": 0.07, "arm": 0.07, "wing": 0.07}
RIGHT_HUES = {"hind": 0.62, "leg": 0.62, "fore": 0.54, "arm": 0.54, "wing": 0.54}
"""Of limbs: reds on the left, blues on the right, hind and fore ones apart."""
GREY = (0.55, 0.55, 0.58)
SATURATION, BRIGHT, DARK = 0.80, 0.95, 0.60
"""Bones that follow one another are bright and dark in turn: where a folded limb lies over itself, its parts can be told apart."""


@dataclass(frozen=True)
class Bone:
    """From `start` to `end` (3,), metres at rest; `joint` carries it."""

    joint: int
    start: Array
    end: Array


def bones_of(skeleton: Skeleton) -> list[Bone]:
    """The bones of the anatomical tree: from each joint to its children, and to the virtual tips."""
    rest = skeleton.rest_world
    follows = carriers(skeleton)
    own = follows == np.arange(skeleton.count)
    bones = [
        Bone(int(follows[parent]), rest[parent, :3, 3], rest[joint, :3, 3])
        for joint, parent in enumerate(skeleton.solve_parents)
        if own[joint] and parent >= 0 and follows[parent] >= 0
    ]
    for tip in skeleton.tips:
        end = skeleton.points_at_rest(np.array([tip.joint]), tip.offset[None])[0]
        if follows[tip.joint] >= 0:
            bones.append(Bone(int(follows[tip.joint]), rest[tip.joint, :3, 3], end))
    return bones


def bone_gaussians(rig: Rig, *, pieces: int = 2) -> Gaussians:
    """Elongated Gaussians along every anatomical bone, tips included, `pieces` a bone; coloured by kinematic group, reds on the left and
    blues on the right. Needs no skin.

    Raises AkdError: no pieces; RigError: no bones.
    """
    if not 1 <= pieces <= 64:
        raise AkdError(f"{pieces} pieces a bone", "pieces", "ask for 1 to 64")
    skeleton = rig.skeleton
    extent = float(np.linalg.norm(np.ptp(skeleton.rest_world[:, :3, 3], axis=0)))
    linear = skeleton.rest_world[:, :3, :3]
    bones = [
        bone
        for bone in bones_of(skeleton)
        if np.linalg.norm(bone.end - bone.start) > SHORTEST * extent and np.linalg.matrix_rank(linear[bone.joint]) == 3
    ]
    if not bones:
        raise RigError("the skeleton has no bones to draw", rig.source.path, "all of its joints lie in one place")
    joints = np.repeat([bone.joint for bone in bones], pieces)
    starts = np.repeat([bone.start for bone in bones], pieces, axis=0)
    bars = np.repeat([bone.end - bone.start for bone in bones], pieces, axis=0)
    middle = np.tile((np.arange(pieces) + 0.5) / pieces, len(bones))[:, None]
    means = starts + middle * bars
    back = np.linalg.inv(linear[joints])
    arms = (back @ (means - skeleton.rest_world[joints, :3, 3])[..., None])[..., 0]
    axes = np.concatenate([back, np.zeros((len(joints), 1, 3))], axis=1)
    return Gaussians(
        means=means,
        covariances=_covariances(bars, pieces, extent),
        colours=np.array([_colour(skeleton, int(j), dark) for j, dark in zip(joints, _dark(skeleton)[joints])]),
        opacities=np.full(len(joints), OPACITY),
        joints=joints[:, None],
        weights=np.ones((len(joints), 1)),
        arms=arms[:, None],
        axes=axes[:, None],
    )


def _covariances(bars: Array, pieces: int, extent: float) -> Array:
    length = np.linalg.norm(bars, axis=1)
    along = bars / length[:, None]
    wide = np.clip(ACROSS * length, SLIM * extent, STOUT * extent)
    long = np.maximum(ALONG * length / pieces, wide)
    outer = along[:, :, None] * along[:, None, :]
    return np.asarray(long[:, None, None] ** 2 * outer + wide[:, None, None] ** 2 * (np.eye(3) - outer))


def _dark(skeleton: Skeleton) -> NDArray[np.bool_]:
    """(joints,) every second joint that carries a bone, counted from the root."""
    follows = carriers(skeleton)
    dark = np.zeros(skeleton.count, dtype=np.bool_)
    for joint in skeleton.solve_order:
        parent = skeleton.solve_parents[joint]
        if parent >= 0:
            dark[joint] = dark[parent] != (follows[joint] == joint)
    return dark


def _colour(skeleton: Skeleton, joint: int, dark: bool) -> tuple[float, float, float]:
    """sRGB of the group of a joint."""
    group, side = skeleton.groups[joint], int(skeleton.sides[joint])
    hue = MIDDLE_HUES.get(group)
    if hue is None:
        hues = {1: LEFT_HUES, 2: RIGHT_HUES}.get(side, {})
        hue = next((hues[part] for part in group.split("_") if part in hues), None)
    return GREY if hue is None else colorsys.hsv_to_rgb(hue, SATURATION, DARK if dark else BRIGHT)

"""Bone boxes: the bounds of the skin that each bone carries, in the bone's own axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.gaussians.mesh import rest_mesh
from akd_sdk.rig import Rig, Skeleton
from akd_sdk.rotations import matrix_from_quat, nearest_rotation

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_VERTICES = 4
"""Bones that carry fewer have no box."""
_CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])


@dataclass(frozen=True)
class BoneBoxes:
    """Boxes around what bones carry: `joints` (b,), `corners` (b, 8, 3) in the frame of the joint, so that a corner in the world is
    `world[joint] @ [corner, 1]`."""

    joints: Ints
    corners: Array


def carriers(skeleton: Skeleton) -> Ints:
    """(joints,) the anatomical joint that each joint follows: itself, or what a helper hangs on; -1 for those that stay still."""
    found = np.full(skeleton.count, -1)
    for j in skeleton.solve_order:
        parent = int(skeleton.solve_parents[j])
        if not skeleton.roles or skeleton.roles[j] in ("anatomy", "unknown"):
            found[j] = j
        elif parent >= 0:
            found[j] = found[parent]
    return found


def bone_boxes(rig: Rig) -> BoneBoxes:
    """Bounds, in each bone's anatomical axes at rest, of the vertices for which it has the largest weight; what helpers carry counts to
    the bone that they follow, and bones with fewer than 4 vertices have none.

    Raises RigError: no skinned mesh, broken weights.
    """
    mesh, skeleton = rest_mesh(rig), rig.skeleton
    drawn = np.unique(mesh.triangles)
    heaviest = mesh.joints[drawn, mesh.weights[drawn].argmax(axis=1)]
    owners = carriers(skeleton)[heaviest]
    points = mesh.points[drawn]
    axes = nearest_rotation(mesh.rest[:, :3, :3]) @ matrix_from_quat(skeleton.frames)
    joints, corners = [], []
    for joint in np.unique(owners[owners >= 0]):
        mine = points[owners == joint] @ axes[joint]
        linear = mesh.rest[joint, :3, :3]
        if len(mine) < FEWEST_VERTICES or np.linalg.matrix_rank(linear) < 3:
            continue
        low, high = mine.min(axis=0), mine.max(axis=0)
        world = (low + _CORNERS * (high - low)) @ axes[joint].T
        joints.append(int(joint))
        corners.append(np.linalg.solve(linear, (world - mesh.rest[joint, :3, 3]).T).T)
    return BoneBoxes(np.array(joints, dtype=np.int64), np.array(corners).reshape(-1, 8, 3))

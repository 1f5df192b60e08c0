"""Root modes: where a clip's travel over the ground goes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.pose import world_from_local
from akd_sdk.rig import Skeleton, Transforms
from akd_sdk.rotations import nearest_rotation, quat_from_matrix, quat_multiply

Array = NDArray[np.float64]

ROOT_MODES = ("hips", "in_place")
STILL_M = 1e-6


def travel_matrices(travel: Array, pivot: Array) -> Array:
    """Rigid moves (frames, 4, 4) of a travel (frames, 3), x and z in metres and yaw in radians, turning about the vertical through `pivot`
    (3,), where the travel begins: a root at the pivot is carried along x and z."""
    cos, sin = np.cos(travel[:, 2]), np.sin(travel[:, 2])
    moves = np.tile(np.eye(4), (len(travel), 1, 1))
    moves[:, 0, 0], moves[:, 0, 2], moves[:, 2, 0], moves[:, 2, 2] = cos, sin, -sin, cos
    ground = np.array([pivot[0], 0.0, pivot[2]])
    moves[:, :3, 3] = ground - moves[:, :3, :3] @ ground
    moves[:, 0, 3] += travel[:, 0]
    moves[:, 2, 3] += travel[:, 1]
    return moves


def in_place(skeleton: Skeleton, pose: Transforms, travel: Array) -> Transforms:
    """The same pose (frames, joints) with the travel taken out of every joint that goes along.

    What stands still above the pelvis (the armature) stays where it is; a root bone that carries the travel loses it.
    """
    world = world_from_local(skeleton, pose)
    pelvis = max(skeleton.pelvis, 0)
    back = np.linalg.inv(travel_matrices(travel, world[0, pelvis, :3, 3]))
    still = np.abs(world - world[:1]).max(axis=(0, 2, 3)) <= STILL_M
    stays = still & (skeleton.solve_parents < 0) & (np.arange(skeleton.count) != pelvis)
    translations, rotations = pose.translations.copy(), pose.rotations.copy()
    for j, parent in enumerate(skeleton.parents):
        if stays[j] or (parent >= 0 and not stays[parent]):
            continue  # it stays, or its parent carries it back
        up = np.eye(4) if parent < 0 else world[0, parent]  # a parent that stays does not move
        move = np.linalg.inv(up) @ back @ up
        turn = nearest_rotation(move[:, :3, :3])
        translations[:, j] = (move[:, :3, :3] @ translations[:, j, :, None])[..., 0] + move[:, :3, 3]
        rotations[:, j] = quat_multiply(quat_from_matrix(turn), rotations[:, j])
    return Transforms(translations, rotations, pose.scales)

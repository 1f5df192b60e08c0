"""Root modes: where a clip's travel over the ground goes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.pose import world_from_local
from akd_sdk.gait.ground import ground_matrices, inverse_ground
from akd_sdk.rig import Skeleton, Transforms
from akd_sdk.rotations import nearest_rotation, quat_from_matrix, quat_multiply

Array = NDArray[np.float64]

ROOT_MODES = ("hips", "in_place")
STILL_M = 1e-6


def in_place(skeleton: Skeleton, pose: Transforms, travel: Array) -> Transforms:
    """The same pose (frames, joints) with the travel taken out of every joint that goes along.

    What stands still above the pelvis (the armature) stays where it is; a root bone that carries the travel loses it.
    """
    world = world_from_local(skeleton, pose)
    back = ground_matrices(inverse_ground(travel))
    still = np.abs(world - world[:1]).max(axis=(0, 2, 3)) <= STILL_M
    stays = still & (skeleton.solve_parents < 0) & (np.arange(skeleton.count) != skeleton.pelvis)
    for j, parent in enumerate(skeleton.parents):
        stays[j] &= parent < 0 or stays[parent]
    translations, rotations = pose.translations.copy(), pose.rotations.copy()
    for j, parent in enumerate(skeleton.parents):
        if stays[j] or (parent >= 0 and not stays[parent]):
            continue  # it stays, or its parent carries it back
        up = np.eye(4) if parent < 0 else world[0, parent]  # a parent that stays does not move
        if abs(np.linalg.det(up[:3, :3])) < 1e-30:
            continue  # scaled to nothing: there is no travel to be seen below
        move = np.linalg.inv(up) @ back @ up
        turn = nearest_rotation(move[:, :3, :3])
        translations[:, j] = (move[:, :3, :3] @ translations[:, j, :, None])[..., 0] + move[:, :3, 3]
        rotations[:, j] = quat_multiply(quat_from_matrix(turn), rotations[:, j])
    return Transforms(translations, rotations, pose.scales)

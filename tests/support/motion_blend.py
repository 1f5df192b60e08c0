"""The tests' own reading of a `Motion` at any time: local transforms between frames, as players of LINEAR keys show them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from akd_sdk.motion import Motion
from akd_sdk.rig import Skeleton

Array = NDArray[np.float64]


def world_at(skeleton: Skeleton, motion: Motion, time_s: float) -> Array:
    """(joints, 4, 4) at any time: local rotations by slerp, the rest linear, by scipy."""
    at = float(np.clip(time_s * motion.fps, 0, motion.frames - 1))
    left = min(int(at), max(motion.frames - 2, 0))
    ends = [_frame(skeleton, motion, f) for f in (left, min(left + 1, motion.frames - 1))]
    u = at - left
    translations, scales = ((1 - u) * ends[0][k] + u * ends[1][k] for k in (0, 2))
    rotations = np.empty((skeleton.count, 3, 3))
    for j in range(skeleton.count):
        rotations[j] = Slerp([0.0, 1.0], Rotation.from_quat([ends[0][1][j], ends[1][1][j]]))(u).as_matrix()
    return _world(skeleton, translations, rotations, scales)


def _frame(skeleton: Skeleton, motion: Motion, frame: int) -> tuple[Array, Array, Array]:
    """Local translations, rotations and scales of a frame, the pelvis where the root is."""
    translations = (skeleton.rest.translations if motion.translations is None else motion.translations[frame]).copy()
    scales = skeleton.rest.scales if motion.scales is None else motion.scales[frame]
    pelvis, rotations = skeleton.pelvis, motion.rotations[frame]
    if pelvis >= 0:
        world = _world(skeleton, translations, Rotation.from_quat(rotations).as_matrix(), scales)
        above = world[skeleton.parents[pelvis]] if skeleton.parents[pelvis] >= 0 else np.eye(4)
        translations[pelvis] = (np.linalg.inv(above) @ [*motion.root[frame], 1.0])[:3]
    return translations, rotations, scales


def _world(skeleton: Skeleton, translations: Array, rotations: Array, scales: Array) -> Array:
    world = np.tile(np.eye(4), (skeleton.count, 1, 1))
    for j, parent in enumerate(skeleton.parents):
        local = np.eye(4)
        local[:3, :3], local[:3, 3] = rotations[j] * scales[j], translations[j]
        world[j] = local if parent < 0 else world[parent] @ local
    return world

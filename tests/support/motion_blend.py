"""The tests' own reading of a `Motion` between its frames: what players of LINEAR keys show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from akd_sdk.motion import Motion
from akd_sdk.rig import Skeleton

Array = NDArray[np.float64]


def world_at(skeleton: Skeleton, motion: Motion, time_s: float) -> Array:
    """(joints, 4, 4) at any time: rotations by slerp, the rest linear, by scipy."""
    at = float(np.clip(time_s * motion.fps, 0, motion.frames - 1))
    left = min(int(at), max(motion.frames - 2, 0))
    right = min(left + 1, motion.frames - 1)
    u = at - left
    rest = skeleton.rest
    world = np.tile(np.eye(4), (skeleton.count, 1, 1))

    def mixed(values: Array | None, rest_values: Array) -> Array:
        return rest_values if values is None else values[left] * (1 - u) + values[right] * u

    translations, scales = mixed(motion.translations, rest.translations), mixed(motion.scales, rest.scales)
    root = motion.root[left] * (1 - u) + motion.root[right] * u
    for j, parent in enumerate(skeleton.parents):
        turn = Rotation.from_quat(motion.rotations[[left, right], j])
        local = np.eye(4)
        local[:3, :3] = Slerp([0.0, 1.0], turn)(u).as_matrix() * scales[j]
        local[:3, 3] = translations[j]
        world[j] = local if parent < 0 else world[parent] @ local
        if j == skeleton.pelvis:
            world[j, :3, 3] = root
    return world

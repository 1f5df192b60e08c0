"""Local poses over time on the file's tree, and their world transforms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.motion import Motion
from akd_sdk.rig import Skeleton, Transforms
from akd_sdk.rotations import compose, quat_normalize

Array = NDArray[np.float64]


def world_from_local(skeleton: Skeleton, pose: Transforms) -> Array:
    """World transforms (n, joints, 4, 4) of local ones with a leading axis (n, joints, ...)."""
    import torch

    from akd_sdk.kinematics import forward

    local = torch.from_numpy(compose(pose.translations, pose.rotations, pose.scales))
    return np.asarray(forward(local, [int(p) for p in skeleton.parents]).numpy(), dtype=np.float64)


def local_pose(skeleton: Skeleton, motion: Motion) -> Transforms:
    """The motion's local transforms at its frames, the pelvis where the root says."""
    shape = (motion.frames, skeleton.count, 3)
    lengths = np.linalg.norm(motion.rotations, axis=-1)
    if (lengths < 1e-6).any():
        frame, joint = np.argwhere(lengths < 1e-6)[0]
        raise ExportError(f"the rotation of {skeleton.names[joint]} at frame {frame} has length 0", motion.name)
    translations = np.array(np.broadcast_to(skeleton.rest.translations, shape) if motion.translations is None else motion.translations)
    scales = np.array(np.broadcast_to(skeleton.rest.scales, shape) if motion.scales is None else motion.scales)
    pose = Transforms(translations, quat_normalize(motion.rotations), scales)
    if skeleton.pelvis >= 0:
        parent = int(skeleton.parents[skeleton.pelvis])
        local = motion.root
        if parent >= 0:
            up = world_from_local(skeleton, pose)[:, parent]
            if (np.abs(np.linalg.det(up[:, :3, :3])) < 1e-30).any():
                raise ExportError(f"{skeleton.names[parent]}, above the pelvis, is scaled to nothing", motion.name)
            local = np.asarray(np.linalg.solve(up[:, :3, :3], (motion.root - up[:, :3, 3])[..., None])[..., 0], dtype=np.float64)
        pose.translations[:, skeleton.pelvis] = local
    return pose

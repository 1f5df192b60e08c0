"""Travel over the ground: planar rigid motions (x, z, yaw) over time, and moving a character's joints by them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig import Skeleton

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


def ground_matrices(path: Array) -> Array:
    """Rigid maps (frames, 4, 4) of a ground path (frames, 3): a turn by yaw (radians, about Y through the origin), then x, z (metres)."""
    matrices = np.zeros((len(path), 4, 4))
    cosine, sine = np.cos(path[:, 2]), np.sin(path[:, 2])
    matrices[:, 0, 0] = matrices[:, 2, 2] = cosine
    matrices[:, 0, 2], matrices[:, 2, 0] = sine, -sine
    matrices[:, 0, 3], matrices[:, 2, 3] = path[:, 0], path[:, 1]
    matrices[:, 1, 1] = matrices[:, 3, 3] = 1.0
    return matrices


def inverse_ground(path: Array) -> Array:
    """The ground path (frames, 3) whose maps undo those of `path`."""
    cosine, sine = np.cos(path[:, 2]), np.sin(path[:, 2])
    x = -(cosine * path[:, 0] - sine * path[:, 1])
    z = -(sine * path[:, 0] + cosine * path[:, 1])
    return np.stack([x, z, -path[:, 2]], axis=-1)


def move_points(path: Array, points: Array) -> Array:
    """Points (frames, n, 3) carried by a ground path (frames, 3)."""
    matrices = ground_matrices(path)
    return np.asarray(np.einsum("fij,fnj->fni", matrices[:, :3, :3], points) + matrices[:, None, :3, 3])


def exponential(twists: Array) -> Array:
    """The ground steps (n, 3) of constant twists (n, 3) = (x, z, yaw) held for one unit of time."""
    yaw = twists[:, 2]
    small = np.abs(yaw) < 1e-9
    safe = np.where(small, 1.0, yaw)
    along = np.where(small, 1.0, np.sin(safe) / safe)
    across = np.where(small, 0.5 * yaw, (1.0 - np.cos(safe)) / safe)
    x = along * twists[:, 0] + across * twists[:, 1]
    z = along * twists[:, 1] - across * twists[:, 0]
    return np.stack([x, z, yaw], axis=-1)


def logarithm(step: Array) -> Array:
    """The twist (3,) that, held for one unit of time, gives the ground step (3,); the inverse of `exponential`, |yaw| < 2 pi."""
    half = 0.5 * step[2]
    along = 1.0 if abs(half) < 1e-9 else half / np.tan(half)
    return np.array([along * step[0] - half * step[1], along * step[1] + half * step[0], step[2]])


def compose_ground(first: Array, then: Array) -> Array:
    """One ground step (3,): `then`, taken in the axes that `first` leads to."""
    cosine, sine = np.cos(first[2]), np.sin(first[2])
    return np.array([
        first[0] + cosine * then[0] + sine * then[1],
        first[1] - sine * then[0] + cosine * then[1],
        first[2] + then[2],
    ])  # fmt: skip


def integrate(twists: Array, step_s: float) -> Array:
    """The ground path (n + 1, 3) from the origin of body twists (n, 3): metres and radians a second, each held for `step_s`."""
    path = np.zeros((len(twists) + 1, 3))
    for i, step in enumerate(exponential(twists * step_s)):
        path[i + 1] = compose_ground(path[i], step)
    return path


def carried(skeleton: Skeleton) -> Bools:
    """Which joints (joints,) belong to the pelvis's anatomical tree, and so travel with it."""
    mask = np.zeros(skeleton.count, dtype=np.bool_)
    for j in skeleton.solve_order:
        parent = int(skeleton.solve_parents[j])
        mask[j] = j == skeleton.pelvis or (parent >= 0 and mask[parent])
    return mask


def move_world(skeleton: Skeleton, world: Array, matrices: Array) -> Array:
    """World transforms (frames, joints, 4, 4) with the character moved by rigid maps (frames, 4, 4); ancestors of the pelvis stay."""
    moved = world.copy()
    mask = carried(skeleton)
    moved[:, mask] = matrices[:, None] @ world[:, mask]
    return moved


def ground_velocities(paths: Array, fps: float, lap: Array | None) -> Array:
    """Velocities (frames, n, 3), metres a second, of paths over the ground (frames, n, 3).

    `lap` (3,): the ground step after which a loop goes on with its first pose; None for what does not loop.
    """
    if len(paths) < 2:
        return np.zeros_like(paths)
    if lap is None or len(paths) < 4:
        return np.asarray(np.gradient(paths, axis=0) * fps)
    before = move_points(inverse_ground(lap[None]), paths[None, -2])
    after = move_points(lap[None], paths[None, 1])
    extended = np.concatenate([before, paths, after])
    return np.asarray((extended[2:] - extended[:-2]) * (0.5 * fps))

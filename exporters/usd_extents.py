"""Bounds of a moving character that hold every point of its skin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.clip import Clip
from akd_sdk.exporters.usd_shapes import Shapes
from akd_sdk.rig import Rig, Skin

Array = NDArray[np.float64]


def bounds_of(skins: Sequence[Skin], rig: Rig, world: Array, stretch: Sequence[Array]) -> Array:
    """(frames, 2, 3) lowest and highest corner, metres, for joint transforms (frames, joints, 4, 4).

    A skinned point lies among where its joints would carry it, so the boxes of what each joint carries, carried along, hold them all.
    `stretch`: by skin, (2, n, 3) how far shapes move its points at most, down and up. Without skins: the joints themselves.
    """
    if not skins:
        places = world[..., :3, 3]
        return np.stack([places.min(axis=1), places.max(axis=1)], axis=1)
    lowest = np.full((len(world), 3), np.inf)
    highest = -lowest
    for skin, (down, up) in zip(skins, stretch, strict=True):
        for joint in np.unique(skin.joints[skin.weights > 0.0]):
            mine = ((skin.joints == joint) & (skin.weights > 0.0)).any(axis=1)
            low, high = (skin.vertices[mine] + down[mine]).min(axis=0), (skin.vertices[mine] + up[mine]).max(axis=0)
            matrices = world[:, joint] @ skin.inverse_binds[joint]
            middle = matrices[:, :3, :3] @ (0.5 * (low + high)) + matrices[:, :3, 3]
            half = np.abs(matrices[:, :3, :3]) @ (0.5 * (high - low))
            lowest, highest = np.minimum(lowest, middle - half), np.maximum(highest, middle + half)
    return np.stack([lowest, highest], axis=1)


def stretch_of(skin: Skin, shapes: Shapes, clip: Clip | None) -> Array:
    """(2, n, 3) how far shapes move the points of a skin at most in a clip, down and up, in its bind space."""
    still = np.zeros((2, len(skin.vertices), 3))
    if skin.morphs is None or not len(skin.morphs):
        return still
    moved = None if clip is None else clip.morphs.get(skin.node)
    weights = shapes.weights[skin.node][None] if moved is None else moved
    ends = np.stack([weights.min(axis=0), weights.max(axis=0)])[:, :, None, None] * skin.morphs
    still[0], still[1] = np.minimum(ends.min(axis=0), 0.0).sum(axis=0), np.maximum(ends.max(axis=0), 0.0).sum(axis=0)
    return still


def at_keys(bounds: Array, frames: NDArray[np.int64]) -> Array:
    """(keys, 2, 3) bounds at some of the frames, so wide that lines between them hold those of the frames left out."""
    out = bounds[frames].copy()
    for key, frame in enumerate(frames):
        first = frames[key - 1] if key else frame
        last = frames[key + 1] if key + 1 < len(frames) else frame
        out[key, 0] = bounds[first : last + 1, 0].min(axis=0)
        out[key, 1] = bounds[first : last + 1, 1].max(axis=0)
    return out

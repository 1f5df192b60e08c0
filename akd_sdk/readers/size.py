"""The size of a character: its height at rest, and everything that has a length brought to metres."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from akd_sdk.errors import RigError
from akd_sdk.rig import Skeleton, Skin

_CHUNK = 1 << 15


def rest_height(skeleton: Skeleton, skins: Iterable[Skin]) -> float:
    """From the lowest to the highest vertex at rest (of joints where there is no skin), in the skeleton's unit.

    Raises:
        RigError: everything lies at one height.
    """
    world = skeleton.rest_world
    low, high = np.inf, -np.inf
    for skin in skins:
        rows = (world @ skin.inverse_binds)[:, 1]
        for at in range(0, len(skin.vertices), _CHUNK):
            part = slice(at, at + _CHUNK)
            row = np.einsum("nk,nkj->nj", skin.weights[part], rows[skin.joints[part]])
            heights = np.einsum("nj,nj->n", row[:, :3], skin.vertices[part]) + row[:, 3]
            low, high = min(low, float(heights.min())), max(high, float(heights.max()))
    if not np.isfinite(low):
        low, high = float(world[:, 1, 3].min()), float(world[:, 1, 3].max())
    extent = float(np.ptp(world[:, :3, 3], axis=0).max())
    if not high - low > max(1e-9, 1e-6 * extent):
        raise RigError("has no height: its skin and joints lie at one height")
    return high - low


def scaled_skeleton(skeleton: Skeleton, scale: float) -> Skeleton:
    """The skeleton with all lengths times `scale`."""
    return replace(
        skeleton,
        rest=replace(skeleton.rest, translations=skeleton.rest.translations * scale),
        tips=tuple(replace(tip, offset=tip.offset * scale) for tip in skeleton.tips),
    )


def scaled_skin(skin: Skin, scale: float) -> Skin:
    """The skin for a skeleton scaled so: bind space stays, the joints' units grow."""
    return replace(skin, inverse_binds=np.diag([scale, scale, scale, 1.0]) @ skin.inverse_binds)

"""Light on what is seen: colours of the visible pixels of a figure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.sheet.model import Model
from akd_sdk.sheet.raster import Visible

Array = NDArray[np.float64]
Floats = NDArray[np.float32]


def _unit(x: float, y: float, z: float) -> Floats:
    vector = np.array([x, y, z])
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


KEY, FILL = _unit(-0.45, 0.70, 0.60), _unit(0.75, 0.10, 0.55)
"""Directions to the lights in the picture: right, up, towards the viewer."""
KEY_LIGHT, FILL_LIGHT, SKY_LIGHT, GROUND_LIGHT = 0.78, 0.22, 0.34, 0.20
RIM_SHADE = 0.30
"""How much surfaces darken where they turn away from the viewer: outlines stay readable on any background."""
FAR_FADE = 0.30
"""How much the far side of the body goes over into the background: near and far legs can be told apart."""
HAZE = np.array([0.80, 0.82, 0.85], dtype=np.float32)


def shade(model: Model, frame: int, rows: Array, visible: Visible) -> Floats:
    """(p, 3) sRGB colours in 0..1 of the visible pixels.

    rows: (3, 3) right, up and towards the viewer of the picture, in the world. `visible.depth` is in metres.
    """
    corners = model.triangles[visible.triangles]
    turned = model.normals[frame] @ rows.T.astype(np.float32)
    normals = _mix(turned, corners, visible.shares)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.float32(1e-9))
    normals *= _towards_viewer(model.points[frame] @ rows.T.astype(np.float32), corners, normals)[:, None]
    key = np.maximum(normals @ KEY, 0.0)
    fill = np.maximum(normals @ FILL, 0.0)
    sky = 0.5 + 0.5 * normals[:, 1]
    light = KEY_LIGHT * key + FILL_LIGHT * fill + SKY_LIGHT * sky + GROUND_LIGHT * (1.0 - sky)
    rim = (1.0 - np.clip(normals[:, 2], 0.0, 1.0)) ** 3
    light *= 1.0 - RIM_SHADE * rim
    colour = _encode(np.clip(_base(model, corners, visible) * light[:, None], 0.0, 1.0))
    low, high = (float(visible.depth.min()), float(visible.depth.max())) if len(visible.depth) else (0.0, 1.0)
    far = FAR_FADE * np.clip((high - visible.depth) / max(high - low, 1e-6), 0.0, 1.0)[:, None]
    return np.asarray(colour * (1.0 - far) + HAZE * far, dtype=np.float32)


def _mix(values: Floats, corners: NDArray[np.int64], shares: Floats) -> Floats:
    """Values of the corners blended by the shares."""
    total = values[corners[:, 0]] * shares[:, :1]
    total += values[corners[:, 1]] * shares[:, 1:2]
    total += values[corners[:, 2]] * shares[:, 2:]
    return np.asarray(total)


def _towards_viewer(points: Floats, corners: NDArray[np.int64], normals: Floats) -> Floats:
    """+1 where the side that is seen is the one the normals point out of, -1 on the inside; independent of the winding."""
    a, b, c = (points[corners[:, i]] for i in range(3))
    u, v = b - a, c - a
    faces = np.stack(
        [u[:, 1] * v[:, 2] - u[:, 2] * v[:, 1], u[:, 2] * v[:, 0] - u[:, 0] * v[:, 2], u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]], axis=1
    )
    outwards = np.einsum("pi,pi->p", faces, normals) >= 0.0
    return np.where((faces[:, 2] >= 0.0) == outwards, np.float32(1.0), np.float32(-1.0))


def _base(model: Model, corners: NDArray[np.int64], visible: Visible) -> Floats:
    """Linear base colour: factor, vertex colour, texture."""
    base = _mix(model.colours, corners, visible.shares)
    if not model.textures:
        return base
    uvs = _mix(model.uvs, corners, visible.shares)
    paints = model.paints[visible.triangles]
    for paint, texture in enumerate(model.textures):
        here = paints == paint
        height, width = texture.shape[:2]
        at = np.mod(uvs[here], 1.0)
        column = np.minimum((at[:, 0] * width).astype(np.int64), width - 1)
        row = np.minimum((at[:, 1] * height).astype(np.int64), height - 1)
        base[here] *= DECODED[texture[row, column, :3]]
    return base


def _encode(linear: Floats) -> Floats:
    """sRGB of linear values in 0..1 (IEC 61966-2-1)."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.power(np.maximum(linear, 1e-6), np.float32(1.0 / 2.4)) - 0.055)


_BYTES = np.arange(256) / 255.0
DECODED: Floats = np.where(_BYTES <= 0.04045, _BYTES / 12.92, ((_BYTES + 0.055) / 1.055) ** 2.4).astype(np.float32)
"""Linear values of sRGB bytes."""

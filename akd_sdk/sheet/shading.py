"""Light on what is seen: colours of the visible pixels of a figure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.surface import DARKEST_BASE, DECODED, encode_srgb, texels
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
FAR_FADE = 0.35
"""How much the far side of the body goes over into the background: near and far legs can be told apart."""
HAZE = np.array([0.80, 0.82, 0.85], dtype=np.float32)


def shade(model: Model, frame: int, rows: Array, visible: Visible, far_depth: float) -> Floats:
    """(p, 3) sRGB colours in 0..1 of the visible pixels.

    rows: (3, 3) right, up and towards the viewer of the picture, in the world. `visible.depth` is in metres from the middle of the
    body, `far_depth` where the far side has faded as much as it will.
    """
    turned = model.normals[frame] @ rows.T.astype(np.float32)
    values = [turned, model.colours, model.uvs] if model.textures else [turned, model.colours]
    mixed = _mix(np.concatenate(values, axis=1), model.triangles[visible.triangles], visible.shares)
    normals = mixed[:, :3]
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), np.float32(1e-9))
    normals *= _towards_viewer(model, frame, turned, rows)[visible.triangles, None]
    key = np.maximum(normals @ KEY, 0.0)
    fill = np.maximum(normals @ FILL, 0.0)
    sky = 0.5 + 0.5 * normals[:, 1]
    light = KEY_LIGHT * key + FILL_LIGHT * fill + SKY_LIGHT * sky + GROUND_LIGHT * (1.0 - sky)
    edge = 1.0 - np.clip(normals[:, 2], 0.0, 1.0)
    light *= 1.0 - RIM_SHADE * edge * edge * edge
    base = DARKEST_BASE + (1.0 - DARKEST_BASE) * _base(model, mixed, visible.triangles)
    colour = encode_srgb(np.clip(base * light[:, None], 0.0, 1.0))
    far = FAR_FADE * np.clip(-visible.depth / far_depth, 0.0, 1.0)[:, None]
    return np.asarray(colour * (1.0 - far) + HAZE * far, dtype=np.float32)


def _mix(values: Floats, corners: NDArray[np.int64], shares: Floats) -> Floats:
    """Values of the corners blended by the shares."""
    total = values.take(corners[:, 0], axis=0)
    total *= shares[:, :1]
    for corner in (1, 2):
        part = values.take(corners[:, corner], axis=0)
        part *= shares[:, corner : corner + 1]
        total += part
    return np.asarray(total)


def _towards_viewer(model: Model, frame: int, turned: Floats, rows: Array) -> Floats:
    """(m,) +1 where the seen side of a triangle is the one its normals point out of, -1 on the inside; independent of the winding."""
    points = model.points[frame] @ rows.T.astype(np.float32)
    a, b, c = (points[model.triangles[:, i]] for i in range(3))
    faces = np.cross(b - a, c - a)
    means = turned[model.triangles].sum(axis=1)
    outwards = np.einsum("mi,mi->m", faces, means) >= 0.0
    return np.where((faces[:, 2] >= 0.0) == outwards, np.float32(1.0), np.float32(-1.0))


def _base(model: Model, mixed: Floats, triangles: NDArray[np.int64]) -> Floats:
    """Linear base colour: factor and vertex colour (columns 3 to 5 of what is mixed), times the texture (at columns 6 and 7)."""
    base = mixed[:, 3:6]
    if not model.textures:
        return base
    paints = model.paints[triangles]
    for paint, texture in enumerate(model.textures):
        here = paints == paint
        base[here] *= DECODED[texels(texture, mixed[here, 6:8])[:, :3]]
    return base

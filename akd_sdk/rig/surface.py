"""What pictures need of a skin's surface: smooth normals, base colours, texels and the sRGB transfer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.rig import Skin

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

UNIT_GUARD = 1e-12
DARKEST_BASE = 0.025
"""Linear base colours are lifted to at least this where they are lit: the limbs of a black character can be told apart."""

_BYTES = np.arange(256) / 255.0
DECODED: Floats = np.where(_BYTES <= 0.04045, _BYTES / 12.92, ((_BYTES + 0.055) / 1.055) ** 2.4).astype(np.float32)
"""Linear values of sRGB bytes (IEC 61966-2-1)."""


def encode_srgb(linear: Floats) -> Floats:
    """sRGB of linear values in 0..1, any shape (IEC 61966-2-1)."""
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * np.power(np.maximum(linear, 1e-6), np.float32(1.0 / 2.4)) - 0.055)


def texels(texture: Bytes, uvs: Floats | Array) -> Bytes:
    """(n, 4) sRGB bytes of a texture (h, w, 4) at coordinates (n, 2): the nearest one, repeated beyond 0..1."""
    height, width = texture.shape[:2]
    at = np.mod(uvs, 1.0)
    column = np.minimum((at[:, 0] * width).astype(np.int64), width - 1)
    row = np.minimum((at[:, 1] * height).astype(np.int64), height - 1)
    return np.asarray(texture[row, column], dtype=np.uint8)


def texture_of(skin: Skin) -> Bytes | None:
    """The skin's texture, None where it has none or no coordinates on it."""
    return None if skin.uvs is None else skin.material.texture


def vertex_colours(skin: Skin) -> Floats:
    """(n, 4) linear RGBA of the vertices: the material's factor times the vertex colour, without the texture."""
    factor = np.asarray(skin.material.colour, dtype=np.float64)
    own = np.ones((len(skin.vertices), 4)) if skin.colours is None else skin.colours
    return np.asarray(factor * own, dtype=np.float32)


def smooth_normals(skin: Skin) -> Array:
    """(n, 3) normals in bind space for a skin that has none: by area, over all vertices at the same place."""
    corners = skin.vertices[skin.triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    _, place = np.unique(skin.vertices, axis=0, return_inverse=True)
    place = place.reshape(-1)
    sums = np.zeros((int(place.max()) + 1, 3))
    for corner in range(3):
        np.add.at(sums, place[skin.triangles[:, corner]], faces)
    return np.asarray((sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), UNIT_GUARD))[place])

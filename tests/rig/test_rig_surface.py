"""The surface of a skin: texels, colours and the sRGB transfer."""

from __future__ import annotations

import numpy as np

from akd_sdk.rig.surface import DECODED, encode_srgb, texels

BYTE = 0.05
"""Steps of a byte: float32 powers."""


def test_every_byte_comes_back_through_linear_light() -> None:
    assert np.abs(encode_srgb(DECODED) * 255.0 - np.arange(256)).max() < BYTE


def test_the_transfer_is_that_of_the_standard() -> None:
    linear = np.array([0.0, 0.001, 0.0031308, 0.18, 1.0], dtype=np.float32)
    assert np.allclose(encode_srgb(linear), [0.0, 0.01292, 0.04045, 0.46136, 1.0], atol=1e-4)


def test_texels_are_the_nearest_and_repeat() -> None:
    texture = np.arange(2 * 4 * 4, dtype=np.uint8).reshape(2, 4, 4)
    at = np.array([[0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [1.1, -0.9], [-0.1, 0.1], [1.0, 1.0]])
    rows, columns = [0, 0, 1, 0, 0, 0], [0, 3, 0, 0, 3, 0]
    assert np.array_equal(texels(texture, at), texture[rows, columns])

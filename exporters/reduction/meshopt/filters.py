"""Filters of EXT_meshopt_compression (its appendix B), in numpy: what is stored, and what a decoder gives back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LARGEST = 32767.0
ROOT2 = np.sqrt(2.0)
MOST_BITS = 16
"""Bits of the QUATERNION filter above which it gives no more than plain int16."""
MANTISSA = 2**23 - 1


def encode_quaternions(quaternions_xyzw: Array, bits: int) -> NDArray[np.int16]:
    """(n, 4) int16 of the QUATERNION filter: the three components after the largest, then the scale with the largest's index.

    Quaternions are of length 1, or what `decode_quaternions` gave back over 32767: these give the same again.
    """
    steps = 2 ** (bits - 1) - 1
    unit = quaternions_xyzw
    top = np.abs(unit).argmax(axis=1)
    rows = np.arange(len(unit))
    unit = unit * np.where(unit[rows, top] < 0.0, -1.0, 1.0)[:, None]
    out = np.empty((len(unit), 4), dtype="<i2")
    for i in range(3):
        out[:, i] = nearest(np.clip(unit[rows, (top + 1 + i) % 4] * ROOT2, -1.0, 1.0) * steps)
    out[:, 3] = (steps & ~3) | top
    return out


def decode_quaternions(stored: NDArray[np.int16]) -> NDArray[np.int16]:
    """(n, 4) normalised int16 quaternions that the QUATERNION filter gives back."""
    whole = stored.astype(np.int64)
    top = whole[:, 3] & 3
    three = whole[:, :3] * (LARGEST / ROOT2 / (whole[:, 3] | 3))[:, None]
    left = np.sqrt(np.maximum(LARGEST**2 - (three**2).sum(axis=1), 0.0))
    out = np.empty((len(stored), 4), dtype="<i2")
    rows = np.arange(len(stored))
    for i in range(3):
        out[rows, (top + 1 + i) % 4] = nearest(three[:, i])
    out[rows, top] = nearest(left)
    return out


def encode_steps(values: Array, exponent: int) -> NDArray[np.uint32]:
    """uint32 of the EXPONENTIAL filter: multiples of 2**exponent, 24 bits and sign beside an exponent of 8 bits."""
    mantissa = nearest(values / 2.0**exponent).astype(np.int64)
    return np.ascontiguousarray((mantissa & 0xFFFFFF) | ((exponent & 0xFF) << 24), dtype="<u4")


def decode_steps(stored: NDArray[np.uint32]) -> NDArray[np.float32]:
    """What the EXPONENTIAL filter gives back."""
    whole = stored.astype(np.int64)
    mantissa = ((whole & 0xFFFFFF) ^ 0x800000) - 0x800000
    exponent = ((whole >> 24) ^ 0x80) - 0x80
    return (mantissa * 2.0**exponent).astype(np.float32)


def step_exponent(step: float, largest: float) -> int | None:
    """The exponent of the largest power of two that is no more than `step`; None where 24 bits do not hold values up to `largest`."""
    exponent = int(np.floor(np.log2(step))) if step > 0.0 else -128
    if not -100 <= exponent <= 100 or largest / 2.0**exponent > MANTISSA:
        return None
    return exponent


def nearest(values: Array) -> Array:
    """The nearest whole numbers, halves away from zero."""
    return np.asarray(np.sign(values) * np.floor(np.abs(values) + 0.5))

"""Rotation keys as engines interpolate them: lengths, signs and distances of neighbours."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

LARGEST: Final = 1e7
"""Of key values, in the file's unit: a hundred kilometres of centimetres."""
UNIT_TOLERANCE: Final = 1e-3
"""How far a quaternion's length may be from 1: 0.1 % of a limb in engines that do not normalise."""
UNIT_TOLERANCE_8_BIT: Final = 1e-2
"""Rounding to 8 bits alone: half a step of 1/127 in each of four components."""
APART_DEGREES: Final = 60.0
ROUNDING_DEGREES: Final = 0.1
"""Of keys in 16 bits, set exactly 60 degrees apart."""


def flipped(quat_xyzw: Array) -> Flags:
    """Where a rotation has another sign than the one before: (frames, ..., 4) -> (frames - 1, ...)."""
    return np.asarray(_dots(quat_xyzw) < 0.0)


def degrees_apart(quat_xyzw: Array) -> Array:
    """Angles between neighbouring rotations, the short way: (frames, ..., 4) -> (frames - 1, ...) degrees."""
    lengths = np.linalg.norm(quat_xyzw, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = np.abs(_dots(quat_xyzw)) / (lengths[1:] * lengths[:-1])
    return np.asarray(np.degrees(2.0 * np.arccos(np.clip(np.nan_to_num(cosines, nan=1.0), 0.0, 1.0))))


def too_far(quat_xyzw: Array) -> Flags:
    """Where neighbouring rotations are more than 60 degrees apart."""
    return np.asarray(degrees_apart(quat_xyzw) > APART_DEGREES + ROUNDING_DEGREES)


def off_unit(quat_xyzw: Array, tolerance: float = UNIT_TOLERANCE) -> Flags:
    """Which quaternions (..., 4) have a length that is not 1."""
    return np.asarray(np.abs(np.linalg.norm(quat_xyzw, axis=-1) - 1.0) > tolerance)


def _dots(quat_xyzw: Array) -> Array:
    return np.asarray((quat_xyzw[1:] * quat_xyzw[:-1]).sum(axis=-1))

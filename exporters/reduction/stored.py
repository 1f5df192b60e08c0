"""Stored values: what a file gives back of a number: float32 in the file's own unit, or normalised 16-bit integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError

Array = NDArray[np.float64]
LARGEST = 32767.0


def as_float32(values: Array, unit: float = 1.0) -> Array:
    """Values as float32 of the file gives them back; `unit` is ours of one of the file's. Raises ExportError: too large for float32."""
    with np.errstate(over="ignore"):
        read = (values / unit).astype(np.float32).astype(np.float64) * unit
    if not np.isfinite(read).all():
        raise ExportError("values are too large for float32")
    return read


def as_int16(quaternions_xyzw: Array) -> Array:
    """Quaternions as normalised 16-bit integers give them back: not quite of length 1."""
    whole = np.floor(quaternions_xyzw * LARGEST + 0.5)
    return np.asarray(np.clip(whole, -LARGEST, LARGEST) / LARGEST)

"""Rotation matrices of the teacher: turns about the character's axes, one matrix a frame."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def about_x(angle: Array) -> Array:
    """(frames, 3, 3) from angles in radians; positive turns up (Y) to the front (Z)."""
    c, s, o, i = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([i, o, o, o, c, -s, o, s, c], -1).reshape(*angle.shape, 3, 3)


def about_y(angle: Array) -> Array:
    """(frames, 3, 3) from angles in radians; positive turns the front (Z) to the left (X)."""
    c, s, o, i = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([c, o, s, o, i, o, -s, o, c], -1).reshape(*angle.shape, 3, 3)


def about_z(angle: Array) -> Array:
    """(frames, 3, 3) from angles in radians; positive turns the left (X) up (Y)."""
    c, s, o, i = np.cos(angle), np.sin(angle), np.zeros_like(angle), np.ones_like(angle)
    return np.stack([c, -s, o, s, c, o, o, o, i], -1).reshape(*angle.shape, 3, 3)


def turned(turn: Array, vector: Array) -> Array:
    """(frames, 3) one vector turned by each frame's matrix."""
    moved: Array = np.einsum("tab,b->ta", turn, vector)
    return moved

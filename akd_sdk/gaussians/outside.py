"""What of a mesh can be seen from outside: the head under a helmet or the leg in a boot takes no Gaussians."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

DIRECTIONS = 32
"""From which it is looked at, evenly over the sphere."""
LEAST_SEEN = 3
"""Directions from which an outer point is seen: a few may look through a gap between the points that hide."""
PIXEL_WIDTHS = 2.0
"""Side of a pixel in mean distances of the points: some four points a pixel leave few gaps."""
SLACK_PIXELS = 1.5
"""Depth behind the nearest point of a pixel that still is the same surface."""
STEEPEST = 0.5
"""Cosine between normal and view below which a surface is too steep for its pixel to tell."""
FINEST = 1500
"""Pixels a side at most."""


def seen_from_outside(points: Array, normals: Array, area: float) -> Flags:
    """Whether each of points (p, 3) with unit normals (p, 3), evenly over a surface of `area`, is seen from outside past the others.

    Both sides of a surface count. Lengths in one unit.
    """
    reach = float(np.linalg.norm(np.ptp(points, axis=0)))
    pixel = max(PIXEL_WIDTHS * np.sqrt(area / len(points)), 2.0 * reach / FINEST)
    side = int(2.0 * reach / pixel) + 3
    placed = ((points - points.mean(axis=0)) / pixel).astype(np.float32)
    turned = normals.astype(np.float32)
    counts = np.zeros(len(points), dtype=np.int8)
    for towards in _directions():
        right, up, depth = (placed @ row.astype(np.float32) for row in _frame(towards))
        cells = (up + 0.5 * side).astype(np.int64) * side + (right + 0.5 * side).astype(np.int64)
        nearest = np.full(side * side, -np.inf, dtype=np.float32)
        np.maximum.at(nearest, cells, depth)
        counts += (depth >= nearest[cells] - SLACK_PIXELS) & (np.abs(turned @ towards.astype(np.float32)) > STEEPEST)
    return np.asarray(counts >= LEAST_SEEN)


def _directions() -> Array:
    """(DIRECTIONS, 3) unit vectors of a Fibonacci sphere."""
    index = np.arange(DIRECTIONS) + 0.5
    height = 1.0 - 2.0 * index / DIRECTIONS
    angle = np.pi * (1.0 + np.sqrt(5.0)) * index
    ring = np.sqrt(1.0 - height * height)
    return np.stack([ring * np.cos(angle), height, ring * np.sin(angle)], axis=1)


def _frame(towards: Array) -> Array:
    """(3, 3) right, up and `towards` the viewer as rows."""
    right = np.cross(np.eye(3)[np.abs(towards).argmin()], towards)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(towards, right), towards])

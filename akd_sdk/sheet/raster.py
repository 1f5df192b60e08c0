"""A software rasteriser in numpy: which triangle is seen at each pixel, and where in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

CHUNK_TRIANGLES = 60_000
CHUNK_FRAGMENTS = 4_000_000
"""What is held at once: bounds the memory of large meshes to some 200 MB."""

_DEPTH_STEPS = 2.0**30
_EMPTY = np.int64(-1)


@dataclass(frozen=True)
class Visible:
    """The pixels that something covers, in row order.

    Attributes:
        rows, columns: (p,) pixel indices.
        triangles: (p,) the nearest triangle.
        shares: (p, 3) barycentric weights of its corners at the pixel's middle.
        depth: (p,) towards the viewer, in the unit of the corners.
    """

    rows: Ints
    columns: Ints
    triangles: Ints
    shares: Floats
    depth: Floats


def rasterise(corners: Floats, size: tuple[int, int]) -> Visible:
    """The nearest triangle at each pixel.

    corners: (triangles, 3, 3) x right and y down in pixels (pixel i spans i to i + 1), z towards the viewer in any unit.
    size: height, width. Triangles are seen from both sides; those seen edge-on or partly outside cover what is inside.
    """
    height, width = size
    buffer = np.full(height * width, _EMPTY)
    if len(corners):
        low, high = float(corners[..., 2].min()), float(corners[..., 2].max())
        scale = (_DEPTH_STEPS - 1.0) / max(high - low, 1e-12)
        for start in range(0, len(corners), CHUNK_TRIANGLES):
            _fill(buffer, corners[start : start + CHUNK_TRIANGLES], start, (low, scale), size)
    covered = np.flatnonzero(buffer != _EMPTY)
    triangles = buffer[covered] & 0xFFFFFFFF
    rows, columns = np.divmod(covered, width)
    seen = corners.take(triangles, axis=0)
    shares = _shares(seen, columns, rows)
    depth = np.einsum("pi,pi->p", shares, seen[..., 2])
    return Visible(rows, columns, triangles, shares, depth)


def _fill(buffer: Ints, corners: Floats, first: int, depth: tuple[float, float], size: tuple[int, int]) -> None:
    """Enters the triangles into the buffer of (depth, triangle) keys."""
    owner, row, begin, count = _spans(corners, size)
    slope, base = _planes(corners)
    at = 0
    ends = np.cumsum(count)
    while at < len(owner):
        done = ends[at - 1] if at else 0
        stop = max(at + 1, int(np.searchsorted(ends, done + CHUNK_FRAGMENTS, side="right")))
        own, n = owner[at:stop], count[at:stop]
        # A run's depth is a + b * step in whole depth steps, its pixels follow each other: all of it per run, little per pixel.
        z = base[own] + slope[own, 1] * (row[at:stop] + 0.5) + slope[own, 0] * (begin[at:stop] + 0.5)
        step = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
        deep = np.repeat((z - depth[0]) * depth[1], n)
        deep += np.repeat(slope[own, 0] * depth[1], n) * step
        np.clip(deep, 0.0, _DEPTH_STEPS - 1.0, out=deep)
        key = deep.astype(np.int64) << 32
        key |= np.repeat(own + first, n)
        step += np.repeat(row[at:stop] * size[1] + begin[at:stop], n)
        np.maximum.at(buffer, step, key)
        at = stop


def _planes(corners: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Depth over the picture: z = base + slope · (x, y); the middle depth where a triangle is seen edge-on."""
    a, b, c = (corners[:, i].astype(np.float64) for i in range(3))
    u, v = b - a, c - a
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    flat = np.abs(area) < 1e-9
    safe = np.where(flat, 1.0, area)
    slope = np.stack([u[:, 2] * v[:, 1] - v[:, 2] * u[:, 1], v[:, 2] * u[:, 0] - u[:, 2] * v[:, 0]], axis=1) / safe[:, None]
    slope[flat] = 0.0
    base = a[:, 2] - slope[:, 0] * a[:, 0] - slope[:, 1] * a[:, 1]
    return slope, base


def _spans(corners: Floats, size: tuple[int, int]) -> tuple[Ints, Ints, Ints, Ints]:
    """The runs of pixels whose middles lie in a triangle: triangle, row, first column, length."""
    height, width = size
    x, y = corners[..., 0].astype(np.float64), corners[..., 1].astype(np.float64)
    top = np.maximum(np.ceil(y.min(axis=1) - 0.5), 0.0)
    bottom = np.minimum(np.floor(y.max(axis=1) - 0.5), height - 1.0)
    inside = (x.max(axis=1) > 0.0) & (x.min(axis=1) < width)
    rows = np.where(inside, np.maximum(bottom - top + 1.0, 0.0), 0.0).astype(np.int64)
    owner = np.repeat(np.arange(len(corners)), rows)
    row = np.arange(len(owner)) - np.repeat(np.cumsum(rows) - rows, rows) + np.repeat(top.astype(np.int64), rows)
    middle = row + 0.5
    left, right = np.full(len(owner), np.inf), np.full(len(owner), -np.inf)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        y0, y1 = y[owner, i], y[owner, j]
        crosses = (y0 <= middle) != (y1 <= middle)
        share = (middle - y0) / np.where(crosses, y1 - y0, 1.0)
        cut = x[owner, i] + share * (x[owner, j] - x[owner, i])
        left = np.where(crosses, np.minimum(left, cut), left)
        right = np.where(crosses, np.maximum(right, cut), right)
    met = left <= right
    begin = np.maximum(np.ceil(np.where(met, left, 0.0) - 0.5), 0.0).astype(np.int64)
    end = np.minimum(np.floor(np.where(met, right, -1.0) - 0.5), width - 1.0).astype(np.int64)
    count = np.where(met, np.maximum(end - begin + 1, 0), 0)
    kept = count > 0
    return owner[kept], row[kept], begin[kept], count[kept]


def _shares(corners: Floats, columns: Ints, rows: Ints) -> Floats:
    """Barycentric weights of pixel middles in their triangles, kept inside."""
    a, b, c = corners[:, 0, :2], corners[:, 1, :2], corners[:, 2, :2]
    p = np.stack([columns + 0.5, rows + 0.5], axis=1).astype(np.float32)
    u, v, w = b - a, c - a, p - a
    area = u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]
    area = np.where(np.abs(area) < 1e-9, np.float32(1.0), area)
    second = (w[:, 0] * v[:, 1] - w[:, 1] * v[:, 0]) / area
    third = (u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]) / area
    shares = np.clip(np.stack([1.0 - second - third, second, third], axis=1), 0.0, 1.0)
    return np.asarray(shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9), dtype=np.float32)

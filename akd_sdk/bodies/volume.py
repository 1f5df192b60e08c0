"""The volume inside a skin: points spread evenly through it, each with the joints that move it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from akd_sdk.bodies.rest_skin import RestSkin
from akd_sdk.errors import RigError

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

TRIED = 70_000
"""Points that are tried, in the cells that may hold something: a third to a half of them are inside a bulky character."""

CELLS = 16_000
"""Cells that the box around a character is cut into."""

MAYBE = 0.3
"""Winding numbers at the middle of a cell from which on it may hold something: across the hole of an open mesh there is no skin."""

INSIDE = 0.5
"""Winding numbers beyond this are inside; of parts turned inside out they are negative."""

FLAT = 1e-6
"""Thickness over extent under which a skin is flat."""

ENCLOSED, EMPTY = 0.6, 1e-7
"""A skin holds something where winding numbers beyond the first fill more than the second of the cube of its extent: on either side of a
sheet they are near 0.5, and a stick a hundred times as long as thick fills 8e-5."""

NEAREST = 4
"""Points of the skin nearest to one inside, whose weights it takes."""


@dataclass(frozen=True)
class Flesh:
    """Points inside a character.

    Attributes:
        points: (p, 3) world at rest, metres.
        volume: m³ that each point stands for.
        weights: (p, joints) sparse, rows sum to 1: how much of it each joint moves.
    """

    points: Array
    volume: float
    weights: csr_matrix


def flesh_inside(skin: RestSkin, facing: Array, middle: Array) -> Flesh:
    """Points inside a skin, the same on the left and on the right.

    facing (3, 3) maps the character frame to the world; middle (3,) is a point of its plane of symmetry.

    Raises RigError: nothing is inside.
    """
    local = np.ascontiguousarray((skin.points - middle) @ facing)
    used = local[np.unique(skin.triangles)]
    thickness = np.linalg.svd(used - used.mean(axis=0), compute_uv=False)
    if len(thickness) < 3 or not thickness[2] > FLAT * thickness[0]:
        raise RigError("the skin is flat and holds no volume", hint="bodies need a mesh with an inside")
    samples, weights = skin.samples()
    there = (samples - middle) @ facing
    grid = _grid(there, skin.spacing)
    filled = _near(grid, there)
    empty = np.flatnonzero(~filled)
    filled[empty] = np.abs(_winding(local, skin.triangles, grid.middles(empty))) > MAYBE
    points, each = grid.spread(filled, TRIED)
    winding = np.abs(_winding(local, skin.triangles, points))
    if not each * int((winding > ENCLOSED).sum()) > EMPTY * skin.extent**3:
        raise RigError("the skin holds no volume", hint="bodies need a mesh with an inside")
    inside = points[winding > INSIDE] @ facing.T + middle
    return Flesh(inside, each, _weights_at(inside, samples, weights))


def _winding(vertices: Array, triangles: Ints, points: Array) -> Array:
    """(p,) winding number of the skin about points (p, 3)."""
    import igl

    return np.asarray(igl.fast_winding_number(vertices, np.ascontiguousarray(triangles), np.ascontiguousarray(points)))


@dataclass(frozen=True)
class _Grid:
    """Cells of one size about a box that is symmetric in x: low (3,) its corner, edges (3,) of a cell, counts (3,) of cells, x even."""

    low: Array
    edges: Array
    counts: Ints

    def of(self, points: Array) -> Ints:
        """(n, 3) the cells where points (n, 3) lie."""
        return np.clip(((points - self.low) / self.edges).astype(np.int64), 0, self.counts - 1)

    def middles(self, cells: Ints) -> Array:
        """(n, 3) of cells by number (n,)."""
        return self.low + (np.stack(np.unravel_index(cells, self.counts), axis=1) + 0.5) * self.edges

    def spread(self, filled: NDArray[np.bool_], tries: int) -> tuple[Array, float]:
        """About so many points (n, 3), evenly in the cells of which one or its mirror image is filled (cells,), and the volume that each
        stands for.

        Every cell is cut into parts with one point at random in each, not in its middle: walls along the axes would count a whole layer or
        none of it. The left half mirrors the right.
        """
        cells = filled.reshape(self.counts)
        cells = (cells | cells[::-1])[len(cells) // 2 :]
        right = self.low * np.array([0.0, 1.0, 1.0]) + np.argwhere(cells) * self.edges
        parts = np.ones(3, dtype=np.int64)
        while 2 * len(right) * int(np.prod(parts)) * (parts.min() + 1) / parts.min() <= tries:
            parts[int(np.argmin(parts))] += 1
        inner = np.stack(np.meshgrid(*(np.arange(n) for n in parts), indexing="ij"), axis=-1).reshape(1, -1, 3)
        shares = (inner + np.random.default_rng(0).random((len(right), inner.shape[1], 3))) / parts
        points = (right[:, None] + shares * self.edges).reshape(-1, 3)
        both = np.concatenate([points, points * np.array([-1.0, 1.0, 1.0])])
        return both, float(np.prod(self.edges / parts))


def _grid(samples: Array, spacing: float) -> _Grid:
    """Some thousands of cells around samples of a skin, none smaller than their spacing."""
    low, high = samples.min(axis=0), samples.max(axis=0)
    low[0], high[0] = min(float(low[0]), -float(high[0])), max(float(high[0]), -float(low[0]))
    size = np.maximum(high - low, spacing)
    edge = max(float(np.cbrt(np.prod(size) / CELLS)), spacing)
    counts = np.maximum(np.round(size / edge), 1).astype(np.int64)
    counts[0] = 2 * max(round(0.5 * size[0] / edge), 1)
    return _Grid(low, size / counts, counts)


def _near(grid: _Grid, samples: Array) -> NDArray[np.bool_]:
    """(cells,) in which the skin lies, or in a neighbour of which it has a sample."""
    found = np.zeros(grid.counts, dtype=np.bool_)
    found[tuple(grid.of(samples).T)] = True
    return np.asarray(binary_dilation(found, np.ones((3, 3, 3))).ravel())


def _weights_at(points: Array, samples: Array, weights: csr_matrix) -> csr_matrix:
    """(p, joints): the weights (s, joints) of the nearest samples (s, 3), the nearer the more."""
    nearest = min(NEAREST, len(samples))
    distances, found = cKDTree(samples).query(points, k=[*range(1, nearest + 1)])
    shares = 1.0 / (distances + 1e-6 * float(np.ptp(samples, axis=0).max()))
    shares /= shares.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(len(points)), nearest)
    mixing = csr_matrix((shares.ravel(), (rows, found.ravel())), shape=(len(points), len(samples)))
    return csr_matrix(mixing @ weights)

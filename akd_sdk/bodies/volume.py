"""The volume inside a skin: points spread evenly through it, each with the joints that move it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from akd_sdk.bodies.rest_skin import RestSkin
from akd_sdk.errors import RigError

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

WANTED = 20_000
"""Points inside that are aimed at: a paw of 0.3 % of the body gets 60."""

TRIED = 100_000
"""Points that are tried at most: thin limbs spread wide fill little of their box."""

FIRST_TRY = 8_000
"""Points of the coarse grid that tells how much of its box a character fills."""

INSIDE = 0.5
"""Winding numbers beyond this are inside; of a mesh turned inside out they are negative."""

NEAREST = 4
"""Vertices nearest to a point inside, whose weights it takes."""


@dataclass(frozen=True)
class Flesh:
    """Points inside a character.

    Attributes:
        points: (p, 3) world at rest, metres.
        volume: m³ that each point stands for.
        weights: (p, joints) sparse: how much each joint moves it.
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
    low, high = used.min(axis=0), used.max(axis=0)
    wide = max(-float(low[0]), float(high[0]))
    low[0], high[0] = -wide, wide
    if not (high - low > 1e-9 * float((high - low).max())).all():
        raise RigError("the skin is flat and holds no volume", None, "bodies need a mesh with an inside")
    share = _inside(local, skin.triangles, low, high, FIRST_TRY)[0]
    tries = min(int(WANTED / max(share, WANTED / TRIED)), TRIED)
    share, points = _inside(local, skin.triangles, low, high, tries)
    if not len(points):
        raise RigError("the skin holds no volume", None, "bodies need a mesh with an inside")
    volume = float(np.prod(high - low)) * share / len(points)
    return Flesh(points @ facing.T + middle, volume, _weights_at(points, local, skin.weights))


def _inside(vertices: Array, triangles: Ints, low: Array, high: Array, count: int) -> tuple[float, Array]:
    """The share of a box that is inside, and the points (p, 3) that tell it."""
    import igl

    points = _spread(low, high, count)
    winding = np.asarray(igl.fast_winding_number(vertices, np.ascontiguousarray(triangles), points))
    within = np.abs(winding) > INSIDE
    return float(within.mean()), points[within]


def _spread(low: Array, high: Array, count: int) -> Array:
    """About `count` points (n, 3) in a box that is symmetric in x: one at random in each cell of a grid, mirrored in x.

    At random in the cell, not in its middle: walls along the axes would count a whole layer of cells or none of it.
    """
    size = high - low
    edge = float(np.prod(size) / count) ** (1.0 / 3.0)
    cells = np.maximum(np.round(size / (edge * np.array([2.0, 1.0, 1.0]))), 1).astype(np.int64)
    corners = np.stack(np.meshgrid(*(np.arange(n) for n in cells), indexing="ij"), axis=-1).reshape(-1, 3)
    shares = (corners + np.random.default_rng(0).random(corners.shape)) / cells
    half = shares * np.array([0.5 * size[0], size[1], size[2]]) + np.array([0.0, low[1], low[2]])
    return np.ascontiguousarray(np.concatenate([half, half * np.array([-1.0, 1.0, 1.0])]))


def _weights_at(points: Array, vertices: Array, weights: csr_matrix) -> csr_matrix:
    """(p, joints): the weights of the nearest vertices, the nearer the more."""
    nearest = min(NEAREST, len(vertices))
    distances, found = cKDTree(vertices).query(points, k=[*range(1, nearest + 1)])
    shares = 1.0 / (distances + 1e-6 * float(np.ptp(vertices, axis=0).max()))
    rows = np.repeat(np.arange(len(points)), nearest)
    mixing = csr_matrix((shares.ravel(), (rows, found.ravel())), shape=(len(points), len(vertices)))
    return csr_matrix(mixing @ weights)

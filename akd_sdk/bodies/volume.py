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
"""Winding numbers beyond this are inside; of parts turned inside out they are negative."""

FLAT = 1e-6
"""Thickness over extent under which a skin is flat."""

EMPTY = 1e-7
"""Volume over the cube of the extent under which it is noise along a sheet: a stick a hundred times as long as thick has 8e-5."""

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
    extents = np.linalg.svd(used - used.mean(axis=0), compute_uv=False)
    low, high = used.min(axis=0), used.max(axis=0)
    low[0], high[0] = min(float(low[0]), -float(high[0])), max(float(high[0]), -float(low[0]))
    if len(extents) < 3 or not extents[2] > FLAT * extents[0]:
        raise RigError("the skin is flat and holds no volume", hint="bodies need a mesh with an inside")
    share, _ = _inside(local, skin.triangles, low, high, FIRST_TRY)
    tries = min(int(WANTED / max(share, WANTED / TRIED)), TRIED)
    share, points = _inside(local, skin.triangles, low, high, tries)
    whole = float(np.prod(high - low)) * share
    if not whole > EMPTY * skin.extent**3:
        raise RigError("the skin holds no volume", hint="bodies need a mesh with an inside")
    samples, weights = skin.samples()
    inside = points @ facing.T + middle
    return Flesh(inside, whole / len(points), _weights_at(inside, samples, weights))


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
    cells = np.clip(np.round(size / (edge * np.array([2.0, 1.0, 1.0]))), 1, count).astype(np.int64)
    corners = np.stack(np.meshgrid(*(np.arange(n) for n in cells), indexing="ij"), axis=-1).reshape(-1, 3)
    shares = (corners + np.random.default_rng(0).random(corners.shape)) / cells
    half = shares * np.array([0.5 * size[0], size[1], size[2]]) + np.array([0.0, low[1], low[2]])
    return np.ascontiguousarray(np.concatenate([half, half * np.array([-1.0, 1.0, 1.0])]))


def _weights_at(points: Array, samples: Array, weights: csr_matrix) -> csr_matrix:
    """(p, joints): the weights (s, joints) of the nearest samples (s, 3), the nearer the more."""
    nearest = min(NEAREST, len(samples))
    distances, found = cKDTree(samples).query(points, k=[*range(1, nearest + 1)])
    shares = 1.0 / (distances + 1e-6 * float(np.ptp(samples, axis=0).max()))
    shares /= shares.sum(axis=1, keepdims=True)
    rows = np.repeat(np.arange(len(points)), nearest)
    mixing = csr_matrix((shares.ravel(), (rows, found.ravel())), shape=(len(points), len(samples)))
    return csr_matrix(mixing @ weights)

"""Bodies from rounded limbs: a smooth closed surface around the bones of one side, as triangles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Point = tuple[float, float, float]

GRID = 1.0 / 8192.0
"""Positions are rounded to this many metres: short in the file, and the same on every processor."""


@dataclass(frozen=True)
class Flesh:
    """A rounded limb around a bone: from `start` to `end` (metres), thick as `radii`, stretched by `stretch` along x, y, z,
    melting into what was laid before it over `blend` metres."""

    bone: str
    start: Point
    end: Point
    radii: tuple[float, float]
    stretch: Point = (1.0, 1.0, 1.0)
    blend: float = 0.02

    def distance(self, points: Array) -> Array:
        """(n,) about the distance to the surface, metres, negative inside; exact in its sign."""
        stretch = np.array(self.stretch)
        start, end = np.array(self.start) / stretch, np.array(self.end) / stretch
        axis = end - start
        offset = points / stretch - start
        along = np.clip(offset @ axis / max(float(axis @ axis), 1e-12), 0.0, 1.0)
        radius = self.radii[0] + along * (self.radii[1] - self.radii[0])
        gap = np.linalg.norm(offset - along[:, None] * axis, axis=1) - radius
        return np.asarray(gap * min(self.stretch))


@dataclass(frozen=True)
class Part:
    """A piece of surface with one material: its flesh (left side; the right is its mirror image), the sampling `step` in metres,
    the number of `vertices` it is reduced to (both sides), and the colour of each of its points."""

    name: str
    material: str
    flesh: tuple[Flesh, ...]
    step: float
    vertices: int
    colour: Callable[[Array], Array] | None = None
    sole: bool = False
    cut: Callable[[Array], Array] | None = None


@dataclass(frozen=True)
class Surface:
    """A part as triangles: `points` and `normals` (n, 3), `triangles` (m, 3), `weights` (n, bones)."""

    part: Part
    points: Array
    normals: Array
    triangles: Ints
    weights: Array


def mirrored(flesh: Sequence[Flesh]) -> tuple[Flesh, ...]:
    """The flesh of both sides: what lies off the middle gets its mirror image, `_l` bones become `_r`."""
    both: list[Flesh] = []
    for piece in flesh:
        both.append(piece)
        if piece.start[0] or piece.end[0]:
            (x, y, z), (u, v, w) = piece.start, piece.end
            bone = piece.bone[:-2] + "_r" if piece.bone.endswith("_l") else piece.bone
            both.append(replace(piece, bone=bone, start=(-x, y, z), end=(-u, v, w)))
    return tuple(both)


def smooth_min(a: Array, b: Array, blend: float) -> Array:
    """The smaller of two distances, rounded where they differ by less than `blend`."""
    share = np.clip(0.5 + 0.5 * (b - a) / blend, 0.0, 1.0)
    return np.asarray(b + share * (a - b) - blend * share * (1.0 - share))


def field_of(part: Part) -> Callable[[Array], Array]:
    """The signed distance of a part, for both sides."""
    pieces = mirrored(part.flesh)

    def field(points: Array) -> Array:
        total = pieces[0].distance(points)
        for piece in pieces[1:]:
            total = smooth_min(total, piece.distance(points), piece.blend)
        if part.cut is not None:
            total = -smooth_min(-total, -part.cut(points), 0.006)
        return -smooth_min(-total, points[:, 1], 0.008) if part.sole else total

    return field


def gradient(field: Callable[[Array], Array], points: Array, step: float = 1e-4) -> Array:
    """(n, 3) central differences."""
    columns = [field(points + step * axis) - field(points - step * axis) for axis in np.eye(3)]
    return np.stack(columns, axis=1) / (2.0 * step)


def normals_of(field: Callable[[Array], Array], points: Array) -> Array:
    slope = gradient(field, points, 2e-3)
    return np.asarray(slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-9))


def settle(field: Callable[[Array], Array], points: Array, rounds: int = 4) -> Array:
    """Points moved onto the surface along its gradient."""
    for _ in range(rounds):
        slope = gradient(field, points)
        points = points - slope * (field(points) / np.maximum((slope**2).sum(axis=1), 1e-6))[:, None]
    return points


def left_half(part: Part) -> tuple[Array, Ints]:
    """The half x >= 0 of a part's surface as a mesh of squares' halves (surface nets); points of the seam have x = 0 exactly."""
    field, h = field_of(part), part.step
    ends = np.array([p for piece in part.flesh for p in (piece.start, piece.end)])
    reach = np.max([max(piece.radii) * max(piece.stretch) for piece in part.flesh]) + 2.0 * h
    low, high = ends.min(axis=0) - reach, ends.max(axis=0) + reach
    if low[0] < 0.0:
        low[0] = -0.5 * h
    counts = np.ceil((high - low) / h).astype(int) + 1
    nodes = np.stack(np.meshgrid(*[low[i] + h * np.arange(counts[i]) for i in range(3)], indexing="ij"), axis=-1)
    values = field(nodes.reshape(-1, 3)).reshape(tuple(counts))
    points, triangles = surface_nets(values)
    points = low + h * points
    if low[0] < 0.0:
        points[points[:, 0] < 0.25 * h, 0] = 0.0
    seam = points[:, 0] == 0.0
    points = settle(field, points)
    points[seam, 0] = 0.0
    return points, triangles


def surface_nets(values: Array) -> tuple[Array, Ints]:
    """The surface where `values` on a grid change sign: one point in each cell it passes, one square around each crossed edge."""
    inside = values < 0.0
    cells = tuple(n - 1 for n in values.shape)
    sums, hits = np.zeros((*cells, 3)), np.zeros(cells)
    crossings = []
    for axis in range(3):
        first, second = np.moveaxis(inside, axis, 0)[:-1], np.moveaxis(inside, axis, 0)[1:]
        at = np.argwhere(np.moveaxis(first != second, 0, axis))
        nxt = at.copy()
        nxt[:, axis] += 1
        a, b = values[tuple(at.T)], values[tuple(nxt.T)]
        spot = at.astype(float)
        spot[:, axis] += a / (a - b)
        u, v = (axis + 1) % 3, (axis + 2) % 3
        around = np.repeat(at[:, None], 4, axis=1)
        around[:, [1, 2], u] -= 1
        around[:, [2, 3], v] -= 1
        whole = ((around >= 0) & (around < np.array(cells))).all(axis=(1, 2))
        crossings.append((around[whole], a[whole] < 0.0))
        for k in range(4):
            good = ((around[:, k] >= 0) & (around[:, k] < np.array(cells))).all(axis=1)
            np.add.at(sums, tuple(around[good, k].T), spot[good])
            np.add.at(hits, tuple(around[good, k].T), 1.0)
    number = np.cumsum(hits.ravel() > 0).reshape(cells) - 1
    points = sums[hits > 0] / hits[hits > 0][:, None]
    squares = []
    for around, outwards in crossings:
        square = number[tuple(around.reshape(-1, 3).T)].reshape(-1, 4)
        squares.append(np.where(outwards[:, None], square, square[:, ::-1]))
    a, b, c, d = np.concatenate(squares).T
    return points, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int64)

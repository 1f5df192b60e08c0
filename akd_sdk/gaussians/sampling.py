"""Spreading points evenly over a mesh at rest: many random ones by area, gathered into cells of nearly equal size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from akd_sdk.errors import RigError
from akd_sdk.gaussians.mesh import RestMesh
from akd_sdk.gaussians.outside import seen_from_outside

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

CELL_POINTS = 16
"""Random points a cell: enough for its shape and mean colour."""
ROUNDS = 4
"""Of Lloyd's relaxation; after these, cells hardly change."""
NORMAL_SHARE = 0.7
"""Cell widths that opposite normals count half as apart: the sides of an ear get cells of their own."""
HIDING_POINTS = 200_000
"""Random points at least, of which those in front hide those behind."""
VISIBLE_ALPHA = 0.5
"""Points with less are cut out, as a masked material does by default."""
CUT_OUT_MOST = 0.9
"""A skin of which more would be cut out has an alpha channel that means something else: nothing of it is."""
SPARE, SPARE_MOST = 1.5, 8.0
"""Times as many points are drawn as are used, for what is cut out or hidden; and where this is most of a mesh, again."""


@dataclass(frozen=True)
class Cells:
    """A surface in cells.

    Attributes:
        triangles, shares: (p,) and (p, 3) where the random points are.
        points: (p, 3) metres.
        normals: (p, 3) unit, of the triangles.
        colours: (p, 3) linear RGB.
        cells: (p,) the cell of each point.
        centres: (n,) the point nearest to the middle of each cell.
        area: square metres a point stands for.
    """

    triangles: Ints
    shares: Array
    points: Array
    normals: Array
    colours: Floats
    cells: Ints
    centres: Ints
    area: float


@dataclass(frozen=True)
class _Drawn:
    """Random points stratified by area, without those that are cut out: `triangles` (p,), `shares` (p, 3), `points` (p, 3) metres,
    `normals` (p, 3) unit, linear `colours` (p, 3), and the `area` that each stands for."""

    triangles: Ints
    shares: Array
    points: Array
    normals: Array
    colours: Floats
    area: float

    def where(self, kept: NDArray[np.bool_] | Ints, area: float) -> _Drawn:
        """Those points, each for an area."""
        return _Drawn(self.triangles[kept], self.shares[kept], self.points[kept], self.normals[kept], self.colours[kept], area)

    def thinned(self, most: int, generator: np.random.Generator) -> _Drawn:
        """At most so many of them, evenly."""
        count = len(self.points)
        if count <= most:
            return self
        kept = ((np.arange(most) + generator.random()) * count / most).astype(np.int64)
        return self.where(kept, self.area * count / most)


def spread_cells(mesh: RestMesh, count: int, generator: np.random.Generator) -> Cells:
    """`count` cells over what can be seen of a mesh from outside. Raises RigError: no area."""
    faces = mesh.face_normals()
    reach = np.cumsum(np.linalg.norm(faces, axis=1))
    if not (np.isfinite(reach[-1]) and reach[-1] > 0.0):
        raise RigError("the mesh has no area at rest", hint="Gaussians need a surface; is the mesh scaled to nothing?")
    found = _seen(mesh, reach, max(HIDING_POINTS, int(SPARE * CELL_POINTS * count)), generator)
    if len(found.points) < CELL_POINTS * count // 2:
        more = min(SPARE_MOST, CELL_POINTS * count / max(len(found.points), 1))
        found = _seen(mesh, reach, int(more * SPARE * CELL_POINTS * count), generator)
    if len(found.points) < 2 * count:
        raise RigError("hardly anything of the mesh can be seen", hint="is it made of slivers, or transparent all over?")
    found = found.thinned(CELL_POINTS * count, generator)
    width = np.sqrt(found.area * len(found.points) / count)
    features = np.concatenate([found.points / width, NORMAL_SHARE * found.normals], axis=1)
    cells, centres = _gather(features, count, generator)
    return Cells(found.triangles, found.shares, found.points, found.normals, found.colours, cells, centres, found.area)


def _seen(mesh: RestMesh, reach: Array, count: int, generator: np.random.Generator) -> _Drawn:
    """Of `count` points those that are not cut out and can be seen from outside."""
    drawn = _draw(mesh, reach, count, generator)
    if not len(drawn.points):
        return drawn
    return drawn.where(seen_from_outside(drawn.points, drawn.normals, drawn.area * len(drawn.points)), drawn.area)


def _draw(mesh: RestMesh, reach: Array, count: int, generator: np.random.Generator) -> _Drawn:
    """`count` points, for `reach` (m,) the running sums of twice the areas of the triangles; those that are cut out are left out."""
    at = (np.arange(count) + generator.random(count)) / count * reach[-1]
    last = int(np.flatnonzero(np.diff(reach, prepend=0.0))[-1])
    triangles = np.minimum(np.searchsorted(reach, at, side="right"), last)
    root, along = np.sqrt(generator.random(count)), generator.random(count)
    shares = np.stack([1.0 - root, root * (1.0 - along), root * along], axis=1)
    colours = mesh.paint(triangles, shares)
    corners = mesh.triangles[triangles]
    points = mesh.points[corners]
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    every = _Drawn(
        triangles, shares, np.einsum("pc,pci->pi", shares, points), normals, colours[:, :3], 0.5 * float(reach[-1]) / count
    )  # fmt: skip
    return every.where(_solid(mesh.skins[corners[:, 0]], colours[:, 3]), every.area)


def _solid(skins: Ints, alphas: Floats) -> NDArray[np.bool_]:
    """Which points (p,) of skins (p,) are not cut out."""
    solid = alphas >= VISIBLE_ALPHA
    share = np.bincount(skins, solid) / np.maximum(np.bincount(skins), 1)
    return np.asarray(solid | (share[skins] < 1.0 - CUT_OUT_MOST))


def _gather(features: Array, count: int, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Cells of the points (p, f), and the point nearest to each cell's mean: Lloyd's relaxation from evenly spread points."""
    edges = np.arange(count + 1) * len(features) // count
    centres = edges[:-1] + (generator.random(count) * np.diff(edges)).astype(np.int64)
    for _ in range(ROUNDS):
        centres = _middles(features, _nearest(features, centres), centres)
    return _nearest(features, centres), centres


def _nearest(features: Array, centres: Ints) -> Ints:
    cells = np.asarray(cKDTree(features[centres]).query(features)[1], dtype=np.int64)
    cells[centres] = np.arange(len(centres))
    return cells


def _middles(features: Array, cells: Ints, centres: Ints) -> Ints:
    """The point of each cell that is nearest to its mean; each cell has at least its old centre."""
    sizes = np.bincount(cells, minlength=len(centres))
    means = np.stack([np.bincount(cells, column, len(centres)) for column in features.T], axis=1) / sizes[:, None]
    away = ((features - means[cells]) ** 2).sum(axis=1)
    order = np.lexsort((away, cells))
    return np.asarray(order[np.cumsum(sizes) - sizes])

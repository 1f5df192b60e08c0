"""Spreading points evenly over a mesh at rest: many random ones by area, gathered into cells of nearly equal size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from akd_sdk.errors import RigError
from akd_sdk.gaussians.mesh import RestMesh

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

CELL_POINTS = 16
"""Random points a cell: enough for its shape and mean colour."""
ROUNDS = 4
"""Of Lloyd's relaxation; after these, cells hardly change."""
NORMAL_SHARE = 1.0
"""Cell widths that opposite normals count half as apart: the sides of an ear get cells of their own."""
VISIBLE_ALPHA = 0.5
"""Points with less are cut out, as a masked material does by default."""
CUT_OUT_MOST = 0.9
"""A skin of which more would be cut out has an alpha channel that means something else: nothing of it is."""
SPARE_MOST = 8.0
"""Times as many points are drawn where much of a mesh is cut out."""


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


def spread_cells(mesh: RestMesh, count: int, generator: np.random.Generator) -> Cells:
    """`count` cells over what is to be seen of a mesh. Raises RigError: no area."""
    faces = mesh.face_normals()
    doubled = np.linalg.norm(faces, axis=1)
    reach = np.cumsum(doubled)
    total = 0.5 * float(reach[-1])
    if not (np.isfinite(total) and total > 0.0):
        raise RigError("the mesh has no area at rest", hint="Gaussians need a surface; is the mesh scaled to nothing?")
    wanted = CELL_POINTS * count
    drawn = wanted
    triangles, shares, colours = _visible(mesh, reach, drawn, generator)
    if len(triangles) < 0.9 * wanted:
        drawn = int(wanted * min(SPARE_MOST, wanted / max(len(triangles), 1)))
        triangles, shares, colours = _visible(mesh, reach, drawn, generator)
    points = np.einsum("pc,pci->pi", shares, mesh.points[mesh.triangles[triangles]])
    normals = faces[triangles] / doubled[triangles, None]
    width = np.sqrt(total * len(triangles) / drawn / count)
    cells, centres = _gather(np.concatenate([points / width, NORMAL_SHARE * normals], axis=1), count, generator)
    return Cells(triangles, shares, points, normals, colours, cells, centres, total / drawn)


def _visible(mesh: RestMesh, reach: Array, count: int, generator: np.random.Generator) -> tuple[Ints, Array, Floats]:
    """Triangles, shares and linear colours of points stratified by area, without those that are cut out."""
    at = (np.arange(count) + generator.random(count)) / count * reach[-1]
    last = int(np.flatnonzero(np.diff(reach, prepend=0.0))[-1])
    triangles = np.minimum(np.searchsorted(reach, at, side="right"), last)
    root, along = np.sqrt(generator.random(count)), generator.random(count)
    shares = np.stack([1.0 - root, root * (1.0 - along), root * along], axis=1)
    colours = mesh.paint(triangles, shares)
    skins = mesh.skins[mesh.triangles[triangles, 0]]
    seen = colours[:, 3] >= VISIBLE_ALPHA
    share = np.bincount(skins, seen) / np.maximum(np.bincount(skins), 1)
    seen |= share[skins] < 1.0 - CUT_OUT_MOST
    return triangles[seen], shares[seen], colours[seen, :3]


def _gather(features: Array, count: int, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Cells of the points (p, f), and the point nearest to each cell's mean: Lloyd's relaxation from evenly spread points."""
    step = len(features) / count
    centres = ((np.arange(count) + generator.random(count)) * step).astype(np.int64)
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

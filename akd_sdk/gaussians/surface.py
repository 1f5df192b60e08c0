"""Gaussians on the skinned surface: flat, in the character's own colours, closed at any count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import AkdError
from akd_sdk.gaussians.gaussians import Gaussians
from akd_sdk.gaussians.influences import Spots, influences_of
from akd_sdk.gaussians.mesh import RestMesh, rest_mesh
from akd_sdk.gaussians.sampling import Cells, spread_cells
from akd_sdk.rig import Rig
from akd_sdk.rig.surface import DARKEST_BASE, UNIT_GUARD, encode_srgb

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST, MOST = 500, 20_000
OPACITY = 0.98
SPREAD = 4.4
"""Variance of a Gaussian along the surface over that of its cell; .59 of a cell's width in standard deviation, which closes the gaps."""
FLATNESS = 0.15
"""Least standard deviation along the normal over that along the surface."""
SLIMMEST, WIDEST = 0.03, 2.5
"""Variance along the surface is kept between these shares of an even cell's."""
EVEN_CELL = 0.0802
"""Variance along one axis of a hexagon of unit area."""
LIGHT = (0.35, 0.85, 0.40)
"""Where the baked light comes from in the character frame: above, ahead, a little from the left."""


def surface_gaussians(rig: Rig, count: int = 2000, *, seed: int = 0, shading: float = 0.35) -> Gaussians:
    """Gaussians spread evenly over the skins at rest, with material, vertex and texture colours.

    count: 500 to 20,000. shading: share of soft light, baked by the rest normals, so that limbs stand out; 0 gives the base colours.
    What the texture's alpha cuts out has none. Same seed and versions, same Gaussians.

    Raises AkdError: count or shading out of range; RigError: no skinned mesh, one without area, broken weights.
    """
    if not FEWEST <= count <= MOST:
        raise AkdError(f"{count} Gaussians", "count", f"ask for {FEWEST} to {MOST}")
    if not 0.0 <= shading <= 1.0:
        raise AkdError(f"shading {shading:g}", "shading", "give 0 (none) to 1")
    mesh = rest_mesh(rig)
    try:
        cells = spread_cells(mesh, count, np.random.default_rng(seed))
    except AkdError as fault:
        raise fault.at(rig.source.path) from None
    centres = cells.centres
    normals = _cell_normals(cells)
    moved = influences_of(mesh, _spots(cells, normals, mesh))
    return Gaussians(
        means=cells.points[centres],
        covariances=_covariances(cells, normals),
        colours=_colours(mesh, cells, rig.facing @ np.array(LIGHT), shading),
        opacities=np.full(count, OPACITY),
        joints=moved.joints,
        weights=moved.weights,
        arms=moved.arms,
        axes=moved.axes,
    )


def _cell_sums(cells: Cells, values: Array) -> Array:
    """(n, c) sums over the cells of values (p, c)."""
    return np.stack([np.bincount(cells.cells, column, len(cells.centres)) for column in values.T], axis=1)


def _cell_normals(cells: Cells) -> Array:
    """(n, 3) mean normal of each cell, its centre's where they cancel."""
    sums = _cell_sums(cells, cells.normals) / np.bincount(cells.cells)[:, None]
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(length > 0.1, sums / np.maximum(length, UNIT_GUARD), cells.normals[cells.centres])


def _spots(cells: Cells, normals: Array, mesh: RestMesh) -> Spots:
    """The centres, each with the triangles of its cell.

    A triangle counts by what of it is in the cell, at most by its area: slivers, whose gradients are steep, by no more than they are.
    """
    pairs, hits = np.unique(cells.cells * len(mesh.triangles) + cells.triangles, return_counts=True)
    owners, pieces = np.divmod(pairs, len(mesh.triangles))
    corners = mesh.points[mesh.triangles[pieces]]
    areas = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    areas = np.minimum(areas, hits * cells.area)
    areas /= np.bincount(owners, areas)[owners]
    return Spots(cells.triangles[cells.centres], cells.shares[cells.centres], normals, owners, pieces, areas)


def _covariances(cells: Cells, normals: Array) -> Array:
    """(n, 3, 3) of the cells about their centres, spread along the surface until they close, thin along the normal."""
    away = cells.points - cells.points[cells.centres][cells.cells]
    products = _cell_sums(cells, (away[:, :, None] * away[:, None, :]).reshape(-1, 9)).reshape(-1, 3, 3)
    around = products / np.bincount(cells.cells)[:, None, None]
    values, vectors = np.linalg.eigh(_flattened(around, normals))
    # The smallest is the normal's own, left over by the projection.
    even = EVEN_CELL * cells.area * len(cells.points) / len(cells.centres)
    values[:, 1:] = np.clip(values[:, 1:], SLIMMEST * even, WIDEST * even)
    along = SPREAD * np.einsum("nik,nk,njk->nij", vectors[:, :, 1:], values[:, 1:], vectors[:, :, 1:])
    normal = vectors[:, :, 0]
    deep = np.einsum("ni,nij,nj->n", normal, around, normal) + FLATNESS**2 * SPREAD * np.sqrt(values[:, 1] * values[:, 2])
    return np.asarray(along + deep[:, None, None] * normal[:, :, None] * normal[:, None, :])


def _flattened(matrices: Array, normals: Array) -> Array:
    flat = np.eye(3) - normals[:, :, None] * normals[:, None, :]
    return np.asarray(flat @ matrices @ flat)


def _colours(mesh: RestMesh, cells: Cells, light: Array, shading: float) -> Array:
    """(n, 3) sRGB: the mean of the cells in linear light, shaded as displayed; black is lifted, or no light would show on it."""
    linear = _cell_sums(cells, cells.colours.astype(np.float64)) / np.bincount(cells.cells)[:, None]
    if shading > 0.0:
        linear = DARKEST_BASE + (1.0 - DARKEST_BASE) * linear
    shown = encode_srgb(np.clip(linear, 0.0, 1.0).astype(np.float32)).astype(np.float64)
    facing = 0.5 + 0.5 * np.clip(_shade_normals(mesh, cells) @ (light / np.linalg.norm(light)), -1.0, 1.0)
    return np.asarray(shown * (1.0 - shading * (1.0 - facing))[:, None])


def _shade_normals(mesh: RestMesh, cells: Cells) -> Array:
    """(n, 3) the mesh's own normals at the centres, the triangles' where it has none."""
    corners = mesh.triangles[cells.triangles[cells.centres]]
    smooth = np.einsum("nc,nci->ni", cells.shares[cells.centres], mesh.normals[corners])
    length = np.linalg.norm(smooth, axis=1, keepdims=True)
    return np.where(length > 0.1, smooth / np.maximum(length, UNIT_GUARD), cells.normals[cells.centres])

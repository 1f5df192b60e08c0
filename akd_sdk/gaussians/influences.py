"""What carries points of a skinned surface: their joints, and how these move a centre and turn and stretch what surrounds it.

A centre takes the influences of its triangle's corners by its barycentric shares, so it lies on the deformed mesh exactly. What
surrounds it deforms as the mesh does to first order: the blended matrix, and the slope of the weights along the surface, without which
a bend, where weights change most, would neither open the outer side nor close the inner one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.gaussians.mesh import RestMesh

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

CHUNK = 1024
"""Points whose influences are put together at once."""
SINGULAR_SHARE = 1e-6
"""Directions in which the bind space is flattened at rest below this share do not count."""


@dataclass(frozen=True)
class Spots:
    """Points on a surface and the patch of it that each stands for.

    Attributes:
        triangles: (p,) where they are.
        shares: (p, 3) barycentric.
        normals: (p, 3) unit, of the patch.
        owners: (q,) the point that a piece of patch is of, ascending.
        pieces: (q,) triangles of the patches.
        areas: (q,) share of the piece in its patch, sums to 1 for each point.
    """

    triangles: Ints
    shares: Array
    normals: Array
    owners: Ints
    pieces: Ints
    areas: Array


@dataclass(frozen=True)
class Influences:
    """As in `Gaussians`: joints (p, k), weights (p, k), arms (p, k, 3), axes (p, k, 4, 3)."""

    joints: Ints
    weights: Array
    arms: Array
    axes: Array

    def widened(self, width: int) -> Influences:
        """With unused influences up to `width`."""
        more = (0, width - self.joints.shape[1])
        return Influences(
            joints=np.pad(self.joints, ((0, 0), more)),
            weights=np.pad(self.weights, ((0, 0), more)),
            arms=np.pad(self.arms, ((0, 0), more, (0, 0))),
            axes=np.pad(self.axes, ((0, 0), more, (0, 0), (0, 0))),
        )


def influences_of(mesh: RestMesh, spots: Spots) -> Influences:
    """The influences of points on the mesh, the heaviest first; each joint once a point."""
    parts = [_chunk(mesh, spots, start, min(start + CHUNK, len(spots.triangles))) for start in range(0, len(spots.triangles), CHUNK)]
    widest = max(part.joints.shape[1] for part in parts)
    each = [part.widened(widest) for part in parts]
    return Influences(
        joints=np.concatenate([part.joints for part in each]),
        weights=np.concatenate([part.weights for part in each]),
        arms=np.concatenate([part.arms for part in each]),
        axes=np.concatenate([part.axes for part in each]),
    )


def _chunk(mesh: RestMesh, spots: Spots, start: int, stop: int) -> Influences:
    count, joints = stop - start, len(mesh.rest)
    first, last = np.searchsorted(spots.owners, [start, stop])
    here = slice(first, last)
    centre = _entries(mesh, spots.triangles[start:stop], spots.shares[start:stop])
    slope = gradients(mesh, spots.pieces[here]) * spots.areas[here, None, None]
    patch = _entries(mesh, spots.pieces[here], np.ones((last - first, 3)))
    owners = spots.owners[here] - start
    keys = np.concatenate([centre.rows * joints + centre.joints, owners[patch.rows] * joints + patch.joints])
    pairs, index = np.unique(keys, return_inverse=True)
    mine, around = index[: len(centre.rows)], index[len(centre.rows) :]
    weights: Array = np.bincount(mine, centre.weights, len(pairs)).astype(np.float64)
    arms = _sum(mine, centre.weights[:, None] * centre.arms[:, :3], len(pairs))
    axes = _sum(around, patch.weights[:, None, None] * patch.arms[:, :, None] * slope[patch.rows, patch.corners][:, None, :], len(pairs))
    row, joint = np.divmod(pairs, joints)
    flat = np.eye(3) - spots.normals[start:stop, :, None] * spots.normals[start:stop, None, :]
    axes = axes @ flat[row]
    seen = _sum(owners, spots.areas[here, None, None] * _tangent(mesh, spots.pieces[here]), count)
    axes[:, :3] += _blended(mesh, centre, (mine, len(pairs)), count) @ (np.eye(3) - seen @ flat)[row]
    arms /= np.where(weights > 0.0, weights, 1.0)[:, None]
    return _packed((row, joint), (weights, arms, axes), count)


@dataclass(frozen=True)
class _Entries:
    """One entry a point, corner and influence with weight: rows, corners, joints, weights (e,), arms (e, 4), binds (e, 3, 3)."""

    rows: Ints
    corners: Ints
    joints: Ints
    weights: Array
    arms: Array
    binds: Array


def _entries(mesh: RestMesh, triangles: Ints, shares: Array) -> _Entries:
    vertices = mesh.triangles[triangles]
    weights = shares[..., None] * mesh.weights[vertices]
    rows, corners, slots = np.nonzero(weights)
    chosen = vertices[rows, corners]
    joints = mesh.joints[chosen, slots]
    binds = mesh.binds[mesh.skins[chosen], joints]
    arms = (binds[..., :3] * mesh.vertices[chosen][:, None, :]).sum(-1) + binds[..., 3]
    return _Entries(rows, corners, joints, weights[rows, corners, slots], arms, binds[:, :3, :3])


def _blended(mesh: RestMesh, centre: _Entries, pairs: tuple[Ints, int], count: int) -> Array:
    """(pairs, 3, 3) shares of joints in the blended matrix from rest to pose, at the centres."""
    binds = centre.weights[:, None, None] * centre.binds
    at_rest = _sum(centre.rows, mesh.rest[centre.joints, :3, :3] @ binds, count)
    back = np.linalg.pinv(at_rest, rcond=SINGULAR_SHARE)
    return _sum(pairs[0], binds @ back[centre.rows], pairs[1])


def gradients(mesh: RestMesh, triangles: Ints) -> Array:
    """(q, 3 corners, 3) gradients at rest of the barycentric shares of triangles (q,), 1 / metres."""
    points = mesh.points[mesh.triangles[triangles]]
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    opposite = points[:, [2, 0, 1]] - points[:, [1, 2, 0]]
    return np.asarray(np.cross(normals[:, None], opposite) / (normals * normals).sum(-1)[:, None, None])


def _tangent(mesh: RestMesh, triangles: Ints) -> Array:
    """(q, 3, 3) projections onto the planes of triangles."""
    points = mesh.points[mesh.triangles[triangles]]
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return np.asarray(np.eye(3) - normals[:, :, None] * normals[:, None, :])


def _sum(index: Ints, values: Array, count: int) -> Array:
    """(count, ...) sums of values (e, ...) with the same index (e,)."""
    order = np.argsort(index, kind="stable")
    total = np.zeros((count, *values.shape[1:]))
    if len(order):
        found, starts = np.unique(index[order], return_index=True)
        total[found] = np.add.reduceat(values[order], starts, axis=0)
    return total


def _packed(pairs: tuple[Ints, Ints], values: tuple[Array, Array, Array], count: int) -> Influences:
    """Pairs of row and joint as rows of as many influences as the longest has, by falling weight."""
    rows, joints = pairs
    order = np.lexsort((-values[0], rows))
    rows, joints = rows[order], joints[order]
    starts = np.searchsorted(rows, np.arange(count))
    slots = np.arange(len(rows)) - starts[rows]
    width = int(slots.max()) + 1
    packed = Influences(
        np.zeros((count, width), dtype=np.int64), np.zeros((count, width)), np.zeros((count, width, 3)), np.zeros((count, width, 4, 3))
    )
    packed.joints[rows, slots] = joints
    for into, given in zip((packed.weights, packed.arms, packed.axes), values):
        into[rows, slots] = given[order]
    return packed

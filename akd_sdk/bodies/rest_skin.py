"""The skins of a rig at rest as one surface: what the volume of a character is measured in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from akd_sdk.errors import RigError
from akd_sdk.rig import Rig, Skin

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

WELD = 1e-6
"""Vertices nearer than this share of the character's extent are one: exporters split them along seams of texture and shading."""

DOUBLED = 0.5
"""Share of triangles that lie on another one, wound the other way, from which on a mesh was doubled to be seen from both sides."""

FINEST, MOST_SAMPLES = 1.0 / 60.0, 40_000
"""Spacing of samples on the surface in extents of the character, and how many there may be beside the vertices."""


@dataclass(frozen=True)
class RestSkin:
    """All skinned primitives at rest.

    Attributes:
        points: (n, 3) world, metres.
        triangles: (m, 3), one of each pair where a mesh was doubled to be seen from both sides.
        weights: (n, joints) sparse, rows sum to 1.
    """

    points: Array
    triangles: Ints
    weights: csr_matrix

    @cached_property
    def extent(self) -> float:
        """Metres, the longest side of the box around it."""
        return float(np.ptp(self.points[np.unique(self.triangles)], axis=0).max())

    @cached_property
    def _sides(self) -> Array:
        """(m, 3, 3) of the triangles."""
        corners = self.points[self.triangles]
        return np.asarray(corners - np.roll(corners, 1, axis=1))

    @cached_property
    def spacing(self) -> float:
        """Metres between `samples` at most."""
        area = 0.5 * float(np.linalg.norm(np.cross(self._sides[:, 0], self._sides[:, 1]), axis=1).sum())
        return max(FINEST * self.extent, float(np.sqrt(2.0 * area / MOST_SAMPLES)))

    @cached_property
    def open_edges(self) -> float:
        """Share of the edges that do not have as many triangles on the one side as on the other: 0 for a closed surface."""
        welded = _welded(self.points, self.triangles)
        edges = np.concatenate([welded[:, [0, 1]], welded[:, [1, 2]], welded[:, [2, 0]]])
        edges = edges[edges[:, 0] != edges[:, 1]]
        low, high = edges.min(axis=1), edges.max(axis=1)
        _, places = np.unique(low * (int(welded.max()) + 1) + high, return_inverse=True)
        balance = np.bincount(places.ravel(), np.where(edges[:, 0] < edges[:, 1], 1.0, -1.0))
        return float(np.mean(balance != 0.0)) if len(balance) else 1.0

    def samples(self) -> tuple[Array, csr_matrix]:
        """Places spread over the surface (s, 3), metres, and the weights at each (s, joints): the vertices, and between far ones more.

        Places are distinct: of vertices that lie in one the weights are averaged.
        """
        parts = np.ceil(np.linalg.norm(self._sides, axis=2).max(axis=1) / self.spacing).astype(np.int64)
        vertices = np.unique(self.triangles)
        chosen, shares = [vertices], [np.ones((len(vertices), 1))]
        for n in np.unique(parts[parts > 1]):
            grid = _barycentric(int(n))
            chosen.append(np.repeat(self.triangles[parts == n], len(grid), axis=0))
            shares.append(np.tile(grid, (int((parts == n).sum()), 1)))
        sizes = np.concatenate([np.full(len(part), part.reshape(len(part), -1).shape[1]) for part in chosen])
        rows = np.repeat(np.arange(len(sizes)), sizes)
        columns = np.concatenate([part.ravel() for part in chosen])
        mixing = csr_matrix((np.concatenate([s.ravel() for s in shares]), (rows, columns)), shape=(len(sizes), len(self.points)))
        places = _places(mixing @ self.points, self.extent)
        counts = np.bincount(places)
        joining = csr_matrix((1.0 / counts[places], (places, np.arange(len(places)))), shape=(len(counts), len(places)))
        mixing = joining @ mixing
        return np.asarray(mixing @ self.points), csr_matrix(mixing @ self.weights)


def rest_skin(rig: Rig) -> RestSkin:
    """The drawn skins of a rig at rest.

    Raises RigError: there are no skinned triangles, or the skin at rest is not finite.
    """
    drawn = _drawn(rig)
    if not drawn:
        raise RigError("has no skinned triangles", rig.source.path, "bodies need a mesh on the skeleton")
    starts = np.cumsum([0, *(len(skin.vertices) for skin in drawn)])
    points = skin_points(rig, rig.skeleton.rest_world)
    if not np.isfinite(points).all():
        raise RigError("the mesh at rest is not finite", rig.source.path, "the bind or rest transforms are broken; export the file again")
    rows = np.concatenate([np.repeat(np.arange(start, start + len(s.vertices)), s.joints.shape[1]) for s, start in zip(drawn, starts)])
    columns = np.concatenate([skin.joints.ravel() for skin in drawn])
    values = np.concatenate([skin.weights.ravel() for skin in drawn])
    return RestSkin(
        points=points,
        triangles=_single(points, np.concatenate([skin.triangles + start for skin, start in zip(drawn, starts)])),
        weights=csr_matrix((values, (rows, columns)), shape=(len(points), rig.skeleton.count)),
    )


def skin_points(rig: Rig, world: Array) -> Array:
    """The vertices of a `RestSkin` (n, 3) for joint transforms (joints, 4, 4), metres."""
    return np.concatenate([skin.at_rest(world) for skin in _drawn(rig)])


def _drawn(rig: Rig) -> list[Skin]:
    return [skin for skin in rig.skins if len(skin.triangles) and len(skin.vertices)]


def _places(points: Array, extent: float) -> Ints:
    """(n,) number of the place where each point lies."""
    rounded = np.round((points - points.min(axis=0)) / (WELD * max(extent, 1e-300))).astype(np.int64)
    side = int(rounded.max()) + 1  # at most a million for the extent, so that three fit into one number
    _, places = np.unique((rounded[:, 0] * side + rounded[:, 1]) * side + rounded[:, 2], return_inverse=True)
    return np.asarray(places.ravel(), dtype=np.int64)


def _welded(points: Array, triangles: Ints) -> Ints:
    """The triangles (m, 3) in numbers of places instead of vertices."""
    return _places(points, float(np.ptp(points, axis=0).max()))[triangles]


def _single(points: Array, triangles: Ints) -> Ints:
    """The triangles, of a doubled mesh the first of each pair: the two sides of it would hold nothing between them.

    Pairs in a mesh that is not doubled stay: where two closed parts touch, each has its own side of the wall.
    """
    _, first, places, counts = np.unique(
        np.sort(_welded(points, triangles), axis=1), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    if float(np.mean(counts[places.ravel()] > 1)) < DOUBLED:
        return triangles
    return triangles[np.sort(first)]


def _barycentric(parts: int) -> Array:
    """(k, 3) shares of the corners at the points of a triangle whose sides are cut into so many parts, its corners left out."""
    i, j = np.meshgrid(np.arange(parts + 1), np.arange(parts + 1), indexing="ij")
    grid = np.stack([i, j, parts - i - j], axis=-1).reshape(-1, 3)
    return np.asarray(grid[(grid >= 0).all(axis=1) & (grid < parts).all(axis=1)] / parts, dtype=np.float64)

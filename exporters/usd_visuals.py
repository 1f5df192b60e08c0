"""What an articulation looks like: the skin cut into pieces, each rigid on the body that moves most of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies import Articulation
from akd_sdk.bodies.inertia import gathered
from akd_sdk.bodies.rest_skin import rest_skin
from akd_sdk.exporters.articulated import Articulated
from akd_sdk.formats.usd import float3
from akd_sdk.rig import Rig

if TYPE_CHECKING:
    from pxr import Usd

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

WELD: Final = 1e-6
"""Of the character's extent: points of the skin that are nearer are one."""


@dataclass(frozen=True)
class Piece:
    """What of the skin a body carries.

    Attributes:
        points: (n, 3) from its origin at rest, world axes, metres; no two in one place.
        normals: (n, 3) unit, of the whole skin, so that pieces shade into each other.
        triangles: (m, 3).
    """

    points: Array
    normals: Array
    triangles: Ints


def skin_pieces(rig: Rig, articulation: Articulation) -> list[Piece]:
    """The skin at rest in a piece for each body: a triangle goes to the body with the largest share of its corners.

    Points that lie together become one; triangles that are none by that are left out.
    """
    skin = rest_skin(rig)
    shares = gathered(skin.weights, _owners(rig, articulation), len(articulation.bodies)).toarray()
    owner = shares[skin.triangles].sum(axis=1).argmax(axis=1)
    grid = np.round(skin.points / (WELD * skin.extent)).astype(np.int64)
    _, first, merged = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    triangles = merged.reshape(-1)[skin.triangles]
    points = skin.points[first]
    normals = _normals(points, triangles)
    whole = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
    pieces = []
    for i, body in enumerate(articulation.bodies):
        used, own = np.unique(triangles[whole & (owner == i)], return_inverse=True)
        pieces.append(Piece(points[used] - body.origin, normals[used], own.reshape(-1, 3)))
    return pieces


def _normals(points: Array, triangles: Ints) -> Array:
    """(n, 3) unit: of the triangles around each point, the larger the more."""
    corners = points[triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = np.zeros_like(points)
    np.add.at(sums, triangles.reshape(-1), np.repeat(faces, 3, axis=0))
    sizes = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.where(sizes > 0.0, sums / np.where(sizes > 0.0, sizes, 1.0), np.array([0.0, 1.0, 0.0]))


def _owners(rig: Rig, articulation: Articulation) -> Ints:
    """(joints,) the body that each joint follows; what stays still counts to the root's."""
    owners = np.zeros(rig.skeleton.count, dtype=np.int64)
    for i, body in enumerate(articulation.bodies):
        owners[[body.joint, *body.merged]] = i
    return owners


def add_visuals(stage: Usd.Stage, rig: Rig, character: Articulated, prims: dict[int, Usd.Prim], name: str) -> None:
    """A mesh of this name below each body that has skin; it moves with it and touches nothing."""
    from pxr import UsdGeom, Vt

    for i, piece in enumerate(skin_pieces(rig, character.articulation)):
        if not len(piece.triangles):
            continue
        mesh = UsdGeom.Mesh.Define(stage, f"{prims[i].GetPath()}/{name}")
        placed = float3(piece.points @ character.axes.T)
        mesh.CreatePointsAttr(placed)
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray([3] * len(piece.triangles)))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(piece.triangles.reshape(-1), dtype=np.int32)))
        mesh.CreateNormalsAttr(float3(piece.normals @ character.axes.T))
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDoubleSidedAttr(True)
        mesh.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(placed))

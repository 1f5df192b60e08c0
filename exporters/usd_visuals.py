"""What an articulation looks like: the skin cut into pieces, each rigid on the body that moves most of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def skin_pieces(rig: Rig, articulation: Articulation) -> list[tuple[Array, Ints]]:
    """For each body its points (n, 3) from its origin at rest, world axes, metres, and triangles (m, 3) of them.

    Every triangle of the skin is in one piece: that of the body with the largest share of its corners.
    """
    skin = rest_skin(rig)
    shares = gathered(skin.weights, _owners(rig, articulation), len(articulation.bodies)).toarray()
    owner = shares[skin.triangles].sum(axis=1).argmax(axis=1)
    pieces = []
    for i, body in enumerate(articulation.bodies):
        used, triangles = np.unique(skin.triangles[owner == i], return_inverse=True)
        pieces.append((skin.points[used] - body.origin, triangles.reshape(-1, 3)))
    return pieces


def _owners(rig: Rig, articulation: Articulation) -> Ints:
    """(joints,) the body that each joint follows; what stays still counts to the root's."""
    owners = np.zeros(rig.skeleton.count, dtype=np.int64)
    for i, body in enumerate(articulation.bodies):
        owners[[body.joint, *body.merged]] = i
    return owners


def add_visuals(stage: Usd.Stage, rig: Rig, character: Articulated, prims: dict[int, Usd.Prim], name: str) -> None:
    """A mesh of this name below each body that has skin; it moves with it and touches nothing."""
    from pxr import UsdGeom, Vt

    for i, (points, triangles) in enumerate(skin_pieces(rig, character.articulation)):
        if not len(triangles):
            continue
        mesh = UsdGeom.Mesh.Define(stage, f"{prims[i].GetPath()}/{name}")
        placed = float3(points @ character.axes.T)
        mesh.CreatePointsAttr(placed)
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray([3] * len(triangles)))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(triangles.reshape(-1), dtype=np.int32)))
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDoubleSidedAttr(True)
        mesh.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(placed))

"""Skinned meshes in USD: bind transforms in metres, points brought into them, joint indices and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.formats.usd import float3
from akd_sdk.rig import Rig, Skin

if TYPE_CHECKING:
    from pxr import Usd, UsdGeom

Array = NDArray[np.float64]

SAME_BIND = 1e-5
"""Relative difference of two bind transforms that one skeleton can stand for: float32 noise of inverse binds."""


@dataclass(frozen=True)
class BindGroup:
    """Skins that one UsdSkel skeleton can bind.

    Attributes:
        binds: (joints, 4, 4) the joints' world transforms in the bind pose, metres; joints that no skin uses are at rest.
        members: each skin, and the map (4, 4) of its own bind space to metres.
    """

    binds: Array
    members: tuple[tuple[Skin, Array], ...]


def bind_groups(rig: Rig) -> list[BindGroup]:
    """The skins of a rig by the bind pose they share; one group without members for a rig without skins.

    glTF gives each skin inverse binds of its own, `world @ inverse_bind` maps its vertices; UsdSkel has one bind pose a skeleton,
    `world @ inverse(bind) @ point`. So points = G @ vertices and bind = G @ inverse(inverse_bind), with G such that the first used
    joint is bound as in the group (or at rest); skins that disagree elsewhere need another skeleton.
    """
    rest = rig.skeleton.rest_world
    groups: list[tuple[Array, NDArray[np.bool_], list[tuple[Skin, Array]]]] = []
    for skin in rig.skins:
        used, inverses = _inverted_binds(rig, skin)
        fits = ((group, _shared_map(skin, used, group[0], group[1], rest)) for group in groups)
        group, bind_map = next(((group, found) for group, found in fits if found is not None), (None, None))
        if group is None or bind_map is None:
            group = (rest.copy(), np.zeros(len(rest), dtype=np.bool_), [])
            groups.append(group)
            bind_map = np.asarray(rest[used[0]] @ skin.inverse_binds[used[0]])
        binds, known, members = group
        new = used[~known[used]]
        binds[new] = bind_map @ inverses[new]
        known[new] = True
        members.append((skin, bind_map))
    if not groups:
        return [BindGroup(rest, ())]
    return [BindGroup(binds, tuple(members)) for binds, _, members in groups]


def _inverted_binds(rig: Rig, skin: Skin) -> tuple[NDArray[np.int64], Array]:
    """Joints that the skin uses, and the inverses (joints, 4, 4) of their inverse binds."""
    used = np.unique(skin.joints[skin.weights > 0.0])
    if not len(used):
        raise ExportError(f"the skin {skin.name} has no weights", rig.name)
    inverses = np.tile(np.eye(4), (rig.skeleton.count, 1, 1))
    for j in used:
        linear = skin.inverse_binds[j, :3, :3]
        if abs(np.linalg.det(linear)) <= 1e-9 * np.abs(linear).max() ** 3:
            fault = f"the inverse bind matrix of {rig.skeleton.names[j]} in {skin.name} cannot be inverted"
            raise ExportError(fault, rig.name, "USD needs bind transforms; write .glb")
        inverses[j] = np.linalg.inv(skin.inverse_binds[j])
    return used, inverses


def _shared_map(skin: Skin, used: NDArray[np.int64], binds: Array, known: NDArray[np.bool_], rest: Array) -> Array | None:
    """The map of the skin's bind space to metres under which its binds are the group's; None where they differ."""
    shared = used[known[used]]
    if not len(shared):
        return np.asarray(rest[used[0]] @ skin.inverse_binds[used[0]])
    maps = binds[shared] @ skin.inverse_binds[shared]
    spread = np.abs(maps - maps[0]).max()
    reach = max(float(np.abs(maps[0][:3, :3]).max() * np.abs(skin.vertices).max(initial=0.0)), float(np.abs(maps[0]).max()))
    return np.asarray(maps[0]) if spread <= SAME_BIND * reach else None


def add_mesh(stage: Usd.Stage, path: str, skin: Skin, bind_map: Array) -> UsdGeom.Mesh:
    """A skinned mesh in metres; `bind_map` (4, 4) brings the skin's vertices there."""
    from pxr import Gf, UsdGeom, UsdSkel, Vt

    mesh = UsdGeom.Mesh.Define(stage, path)
    points = skin.vertices @ bind_map[:3, :3].T + bind_map[:3, 3]
    mirrored = np.linalg.det(bind_map[:3, :3]) < 0.0
    triangles = skin.triangles[:, ::-1] if mirrored else skin.triangles
    mesh.CreatePointsAttr(float3(points))
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray(len(triangles), 3))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(triangles.reshape(-1), dtype=np.int32)))
    mesh.CreateExtentAttr(float3(np.stack([points.min(axis=0), points.max(axis=0)])))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    if skin.normals is not None:
        mesh.CreateNormalsAttr(float3(_unit(skin.normals @ np.linalg.inv(bind_map[:3, :3]))))
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    else:  # what has none is flat, says glTF; USD says nothing
        corners = points[triangles]
        flat = _unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
        mesh.CreateNormalsAttr(float3(np.repeat(flat, 3, axis=0)))
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.faceVarying)
    _add_primvars(mesh, skin)
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    joints, weights = _normalised(skin)
    width = joints.shape[1]
    binding.CreateJointIndicesPrimvar(False, width).Set(Vt.IntArray.FromNumpy(joints))
    binding.CreateJointWeightsPrimvar(False, width).Set(Vt.FloatArray.FromNumpy(weights))
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))
    return mesh


def _unit(vectors: Array) -> Array:
    """Vectors (n, 3) of length 1; what has no length points up."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(lengths > 0.0, vectors / np.where(lengths > 0.0, lengths, 1.0), (0.0, 1.0, 0.0))


def _add_primvars(mesh: UsdGeom.Mesh, skin: Skin) -> None:
    from pxr import Sdf, UsdGeom, Vt

    primvars = UsdGeom.PrimvarsAPI(mesh)
    if skin.uvs is not None:
        upwards = np.ascontiguousarray(np.stack([skin.uvs[:, 0], 1.0 - skin.uvs[:, 1]], -1), dtype=np.float32)  # glTF's v goes down
        primvars.CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, UsdGeom.Tokens.vertex).Set(Vt.Vec2fArray.FromNumpy(upwards))
    if skin.colours is not None:
        mesh.CreateDisplayColorPrimvar(UsdGeom.Tokens.vertex).Set(float3(skin.colours[:, :3] * skin.material.colour[:3]))
    else:
        mesh.CreateDisplayColorPrimvar(UsdGeom.Tokens.constant).Set(float3(skin.material.colour[None, :3]))


def _normalised(skin: Skin) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Joint indices and weights, flat; each vertex's weights sum to 1."""
    joints = np.where(skin.weights > 0.0, skin.joints, 0)
    weights = skin.weights / np.maximum(skin.weights.sum(axis=1, keepdims=True), 1e-12)
    return np.ascontiguousarray(joints, dtype=np.int32).copy(), np.ascontiguousarray(weights, dtype=np.float32)

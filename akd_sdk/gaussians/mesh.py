"""All skins of a rig as one mesh at rest, with what carries and paints it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import RigError
from akd_sdk.rig import Rig, Skin
from akd_sdk.rig.surface import DECODED, UNIT_GUARD, texels, texture_of, vertex_colours

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

WEIGHT_SLACK = 1e-3
"""Weights of a vertex that do not sum to 1 within this are no weights."""


@dataclass(frozen=True)
class RestMesh:
    """The drawn skins of a rig at rest.

    Attributes:
        vertices: (n, 3) bind space.
        points: (n, 3) world at rest, metres.
        normals: (n, 3) unit, world at rest; zeros where a skin has none.
        triangles: (m, 3).
        joints, weights: (n, k) influences.
        skins: (n,) which skin a vertex is of.
        binds: (skins, joints, 4, 4) inverse binds.
        colours: (n, 4) linear RGBA, without texture.
        uvs: (n, 2).
        textures: one a skin, (h, w, 4) sRGB bytes or None.
        rest: (joints, 4, 4) world at rest.
    """

    vertices: Array
    points: Array
    normals: Array
    triangles: Ints
    joints: Ints
    weights: Array
    skins: Ints
    binds: Array
    colours: Floats
    uvs: Floats
    textures: tuple[NDArray[np.uint8] | None, ...]
    rest: Array

    def face_normals(self) -> Array:
        """(m, 3) cross products of the edges: twice the area long, out of the side that is wound counter-clockwise."""
        a, b, c = (self.points[self.triangles[:, i]] for i in range(3))
        return np.asarray(np.cross(b - a, c - a))

    def paint(self, triangles: Ints, shares: Array) -> Floats:
        """(p, 4) linear RGBA of points in triangles (p,) at barycentric shares (p, 3): factor, vertex colour and texture."""
        corners = self.triangles[triangles]
        mixed = np.einsum("pc,pci->pi", shares, self.colours[corners]).astype(np.float32)
        uvs = np.einsum("pc,pci->pi", shares, self.uvs[corners])
        skins = self.skins[corners[:, 0]]
        for skin, texture in enumerate(self.textures):
            if texture is None:
                continue
            here = np.flatnonzero(skins == skin)
            found = texels(texture, uvs[here])
            mixed[here, :3] *= DECODED[found[:, :3]]
            mixed[here, 3] *= found[:, 3] / np.float32(255.0)
        return np.asarray(mixed, dtype=np.float32)


def rest_mesh(rig: Rig) -> RestMesh:
    """The rig's skins at rest.

    Raises RigError: no skinned triangles, weights that do not sum to 1, a weight on a joint that the skin is not bound to, points that
    are not finite.
    """
    drawn = [skin for skin in rig.skins if len(skin.triangles)]
    if not drawn:
        raise RigError("has no skinned triangles", rig.source.path, "Gaussians need a mesh on the skeleton")
    for skin in drawn:
        _check_weights(rig, skin)
    rest = rig.skeleton.rest_world
    widest = max(skin.joints.shape[1] for skin in drawn)
    sizes = [len(skin.vertices) for skin in drawn]
    starts = np.cumsum([0, *sizes])
    points = np.concatenate([skin.at_rest(rest) for skin in drawn])
    if not np.isfinite(points).all():
        raise RigError("the mesh at rest is not finite", rig.source.path, "the bind or rest transforms are broken; export the file again")
    return RestMesh(
        vertices=np.concatenate([skin.vertices for skin in drawn]),
        points=points,
        normals=np.concatenate([_rest_normals(skin, rest) for skin in drawn]),
        triangles=np.concatenate([skin.triangles + start for skin, start in zip(drawn, starts)]),
        joints=np.concatenate([np.pad(skin.joints, ((0, 0), (0, widest - skin.joints.shape[1])), mode="edge") for skin in drawn]),
        weights=np.concatenate([np.pad(skin.weights, ((0, 0), (0, widest - skin.weights.shape[1]))) for skin in drawn]),
        skins=np.repeat(np.arange(len(drawn)), sizes),
        binds=np.stack([skin.inverse_binds for skin in drawn]),
        colours=np.concatenate([vertex_colours(skin) for skin in drawn]),
        uvs=np.concatenate([np.zeros((len(s.vertices), 2)) if s.uvs is None else s.uvs for s in drawn]).astype(np.float32),
        textures=tuple(texture_of(skin) for skin in drawn),
        rest=rest,
    )


def _check_weights(rig: Rig, skin: Skin) -> None:
    used = skin.weights > 0.0
    sums = skin.weights.sum(axis=1)
    wrong = ~(np.abs(sums - 1.0) <= WEIGHT_SLACK)
    if wrong.any():
        fault = f"mesh {skin.name}: the skin weights of {int(wrong.sum())} vertices do not sum to 1 (the first to {sums[wrong][0]:.3g})"
        raise RigError(fault, rig.source.path, "normalise the weights and export the file again")
    bound = skin.inverse_binds[:, 3, 3] != 0.0
    loose = used & ~bound[skin.joints]
    if loose.any():
        name = rig.skeleton.names[int(skin.joints[loose][0])]
        fault = f"mesh {skin.name} has weights on {name}, which it has no inverse bind matrix for"
        raise RigError(fault, rig.source.path, "bind the mesh to that joint and export the file again")


def _rest_normals(skin: Skin, rest: Array) -> Array:
    if skin.normals is None:
        return np.zeros((len(skin.vertices), 3))
    turned = np.zeros((len(skin.vertices), 3))
    linear = rest[:, :3, :3] @ skin.inverse_binds[:, :3, :3]
    for k in range(skin.joints.shape[1]):
        turned += skin.weights[:, k, None] * (linear[skin.joints[:, k]] @ skin.normals[..., None])[..., 0]
    return np.asarray(turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), UNIT_GUARD))

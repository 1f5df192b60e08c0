"""What a picture needs of a rig in motion: posed points, normals, triangles and paint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import RigError
from akd_sdk.kinematics import skin_points, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig, Skin
from akd_sdk.rig.surface import UNIT_GUARD, smooth_normals, texture_of, vertex_colours

Array = NDArray[np.float64]
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Model:
    """All skins of a rig as one mesh at some frames of a motion.

    Attributes:
        points, normals: (frames, n, 3) world, metres; unit.
        triangles: (m, 3).
        paints: (m,) which texture a triangle has, -1 for none.
        colours: (n, 3) linear RGB, the material's factor times the vertex colour.
        uvs: (n, 2), zeros where a skin has none.
        textures: (h, w, 4) sRGB bytes, each once.
    """

    points: Floats
    normals: Floats
    triangles: Ints
    paints: Ints
    colours: Floats
    uvs: Floats
    textures: tuple[NDArray[np.uint8], ...]


def model_of(rig: Rig, motion: Motion, frames: Sequence[int]) -> Model:
    """The rig's mesh at `frames` of the motion. Raises RigError: no skin to draw, or a motion of another skeleton."""
    drawn = [skin for skin in rig.skins if len(skin.triangles)]
    if not drawn:
        raise RigError("has no skinned triangles to draw", rig.source.path, "a contact sheet needs a mesh on the skeleton")
    if motion.rotations.shape[1] != rig.skeleton.count:
        raise RigError(f"motion {motion.name} has {motion.rotations.shape[1]} joints, the character {rig.skeleton.count}", rig.source.path)
    chosen = np.asarray(frames, dtype=np.int64)
    world = world_from_motion(rig.skeleton, motion)[chosen]
    posed = [_posed(skin, world, _morphed(skin, motion, chosen)) for skin in drawn]
    textures = {id(t): t for t in map(texture_of, drawn) if t is not None}
    order = {key: k for k, key in enumerate(textures)}
    paint = [order.get(id(texture_of(skin)), -1) for skin in drawn]
    starts = np.cumsum([0] + [len(skin.vertices) for skin in drawn])
    return Model(
        points=np.concatenate([points for points, _ in posed], axis=1),
        normals=np.concatenate([normals for _, normals in posed], axis=1),
        triangles=np.concatenate([skin.triangles + start for skin, start in zip(drawn, starts)]),
        paints=np.repeat(np.array(paint, dtype=np.int64), [len(skin.triangles) for skin in drawn]),
        colours=np.concatenate([vertex_colours(skin)[:, :3] for skin in drawn]),
        uvs=np.concatenate([np.zeros((len(s.vertices), 2)) if s.uvs is None else s.uvs for s in drawn]).astype(np.float32),
        textures=tuple(textures.values()),
    )


def _morphed(skin: Skin, motion: Motion, frames: Ints) -> Array | None:
    """(frames, n, 3) bind-space vertices with the motion's morph weights, None where nothing morphs."""
    weights = motion.morphs.get(skin.node)
    if skin.morphs is None or weights is None:
        return None
    count = min(len(skin.morphs), weights.shape[1])
    return np.asarray(skin.vertices + np.einsum("ft,tnc->fnc", weights[frames, :count], skin.morphs[:count]))


def _posed(skin: Skin, world: Array, morphed: Array | None) -> tuple[Floats, Floats]:
    """Points and unit normals (frames, n, 3).

    A blended transform is affine: the tip of a normal, skinned like a vertex, gives where it points.
    """
    normals = smooth_normals(skin) if skin.normals is None else skin.normals
    size = max(float(np.ptp(skin.vertices, axis=0).max()), UNIT_GUARD)
    if morphed is None:
        points = skin_points(skin, world)
        tips = skin_points(replace(skin, vertices=skin.vertices + size * normals), world)
    else:
        each = [(replace(skin, vertices=v), world[f : f + 1]) for f, v in enumerate(morphed)]
        points = np.concatenate([skin_points(s, w) for s, w in each])
        tips = np.concatenate([skin_points(replace(s, vertices=s.vertices + size * normals), w) for s, w in each])
    turned = tips - points
    turned /= np.maximum(np.linalg.norm(turned, axis=-1, keepdims=True), UNIT_GUARD)
    return points.astype(np.float32), turned.astype(np.float32)

"""Blend shapes in USD: morph targets of a glTF file as BlendShape prims, their weights on the animation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError, ReadError
from akd_sdk.exporters.clip import Clip
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import Json, child, numbers
from akd_sdk.formats.usd import float3, identifiers
from akd_sdk.rig import Rig, Skin

if TYPE_CHECKING:
    from pxr import UsdGeom, UsdSkel

Array = NDArray[np.float64]

UNMOVED = 1e-9
"""Share of a shape's largest offset below which a point is left out of it."""


@dataclass(frozen=True)
class Shapes:
    """The morph targets of a character's mesh nodes.

    Attributes:
        channels: by mesh node, what its targets are called in the animation, each different from all others.
        weights: by mesh node, the targets' weights where no clip moves them.
        reach_m: by mesh node, (targets,) how far a target moves a point at most at weight 1, metres.
    """

    channels: Mapping[int, tuple[str, ...]]
    weights: Mapping[int, Array]
    reach_m: Mapping[int, Array]

    @property
    def names(self) -> list[str]:
        """Of all channels, in the order of `weights_of`."""
        return [name for names in self.channels.values() for name in names]

    def weights_of(self, clip: Clip | None) -> Array:
        """(frames, channels) weights at the clip's frames; one frame of what they are at rest without one.

        Raises ExportError: the clip has weights for another number of targets or frames.
        """
        if clip is None:
            return np.concatenate([*self.weights.values(), np.zeros(0)])[None]
        columns = [np.zeros((clip.frames, 0))]
        for node, names in self.channels.items():
            moved = clip.morphs.get(node)
            if moved is None:
                moved = np.tile(self.weights[node], (clip.frames, 1))
            elif moved.shape != (clip.frames, len(names)):
                raise ExportError(f"holds weights {moved.shape} for the {len(names)} shapes of {clip.frames} frames", clip.name)
            columns.append(moved)
        return np.concatenate(columns, axis=1)


def shapes_of(rig: Rig, members: Sequence[tuple[Skin, Array]]) -> Shapes:
    """The shapes of skins, given with the maps (4, 4) of their bind spaces to metres."""
    document, taken = rig.source.document, set[str]()
    channels: dict[int, tuple[str, ...]] = {}
    weights: dict[int, Array] = {}
    reach: dict[int, Array] = {}
    for skin, bind_map in members:
        if skin.morphs is None or not len(skin.morphs):
            continue
        count = len(skin.morphs)
        if skin.node not in channels:
            told, rest = _told(document, skin.node, count)
            channels[skin.node], weights[skin.node] = tuple(identifiers(told, taken)), rest
            reach[skin.node] = np.zeros(count)
        if len(channels[skin.node]) != count:
            raise ExportError(f"primitives of the mesh {skin.name} have different numbers of morph targets", rig.name)
        far = np.linalg.norm(skin.morphs @ bind_map[:3, :3].T, axis=-1).max(axis=1, initial=0.0)
        reach[skin.node] = np.maximum(reach[skin.node], far)
    return Shapes(channels, weights, reach)


def _told(document: object, node: int, count: int) -> tuple[list[str], Array]:
    """Names and resting weights of a node's targets, as its file tells them."""
    plain = [f"shape_{number}" for number in range(count)], np.zeros(count)
    if not isinstance(document, Document):
        return plain
    try:
        item = document.items("nodes")[node]
        meshes = document.items("meshes")
        mesh: Json = meshes[item["mesh"]] if isinstance(item.get("mesh"), int) and item["mesh"] < len(meshes) else {}
        holder = item if "weights" in item else mesh
        rest = numbers(holder, "weights", (0.0,) * count, f"node {node}")
        names = child(mesh, "extras", "a mesh").get("targetNames")
    except ReadError:  # names and resting weights are an adornment: a file whose own are broken was read without them
        return plain
    told = [str(name) for name in names] if isinstance(names, list) and len(names) == count else plain[0]
    return told, rest


def add_shapes(mesh: UsdGeom.Mesh, skin: Skin, bind_map: Array, shapes: Shapes) -> None:
    """The BlendShape prims of a mesh, below it, and what binds them."""
    from pxr import UsdSkel, Vt

    if skin.morphs is None or not len(skin.morphs):
        return
    stage, path, names = mesh.GetPrim().GetStage(), mesh.GetPath(), shapes.channels[skin.node]
    targets, normals = [], _normal_offsets(skin, bind_map)
    for number, (name, offsets) in enumerate(zip(names, skin.morphs @ bind_map[:3, :3].T, strict=True)):
        shape: UsdSkel.BlendShape = UsdSkel.BlendShape.Define(stage, path.AppendChild(name))
        sizes = np.abs(offsets).max(axis=-1, initial=0.0)
        turned = np.zeros(len(sizes)) if normals is None else np.abs(normals[number]).max(axis=-1, initial=0.0)
        moved = np.flatnonzero((sizes > UNMOVED * sizes.max(initial=0.0)) | (turned > UNMOVED))
        moved = moved if len(moved) else np.zeros(1, dtype=np.int64)  # a shape without offsets is dropped by readers
        shape.CreateOffsetsAttr(float3(offsets[moved]))
        if normals is not None:
            shape.CreateNormalOffsetsAttr(float3(normals[number, moved]))
        shape.CreatePointIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(moved, dtype=np.int32)))
        targets.append(shape.GetPath())
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateBlendShapesAttr(list(names))
    binding.CreateBlendShapeTargetsRel().SetTargets(targets)


def _normal_offsets(skin: Skin, bind_map: Array) -> Array | None:
    """(targets, n, 3) what shapes add to the mesh's unit normals, which `add_mesh` brought into metres and to length 1."""
    if skin.morph_normals is None or skin.normals is None:
        return None
    inverse = np.linalg.inv(bind_map[:3, :3])
    lengths = np.linalg.norm(skin.normals @ inverse, axis=-1, keepdims=True)
    return np.asarray(skin.morph_normals @ inverse / np.where(lengths > 0.0, lengths, 1.0))


def kept_weights(weights: Array, reach_m: Array, tolerance_m: float) -> NDArray[np.int64]:
    """The frames of weights (frames, channels) that are needed so that lines between them keep every point within `tolerance_m`.

    reach_m: (channels,) how far a channel moves a point at weight 1; their errors add up at worst.
    """
    kept, last = [0], len(weights) - 1
    while kept[-1] < last:
        a, b = kept[-1], kept[-1] + 1
        while b < last:
            share = (np.arange(a + 1, b + 1) - a)[:, None] / (b + 1 - a)
            line = weights[a] * (1.0 - share) + weights[b + 1] * share
            if (np.abs(line - weights[a + 1 : b + 1]) @ reach_m).max() > tolerance_m:
                break
            b += 1
        kept.append(b)
    return np.array(kept, dtype=np.int64)

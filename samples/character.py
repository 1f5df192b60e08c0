"""A character from bones and parts: skin weights, one mesh a part, a GLB and its labels."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pygltflib as gltf
from numpy.typing import NDArray
from scipy import sparse

from samples.shapes import GRID, Part, Point, Surface, field_of, left_half, mirrored, normals_of, settle
from samples.thinning import thin

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SOLE = 0.008
"""What is lower than this, in metres, stands on the ground: soles are flat."""


@dataclass(frozen=True)
class Bone:
    """A joint: its parent's name (None for the root) and where it is in the rest pose, metres."""

    name: str
    parent: str | None
    at: Point


@dataclass(frozen=True)
class Colour:
    """A material: linear RGB and roughness."""

    name: str
    rgb: Point
    roughness: float = 0.8


@dataclass(frozen=True)
class Character:
    name: str
    bones: tuple[Bone, ...]
    parts: tuple[Part, ...]
    colours: tuple[Colour, ...]
    labels: dict[str, object]


def both_sides(bones: Sequence[Bone]) -> tuple[Bone, ...]:
    """Each run of `_l` bones followed by its mirror image."""
    out: list[Bone] = []
    run: list[Bone] = []
    for bone in [*bones, Bone("", None, (0.0, 0.0, 0.0))]:
        starts_limb = bone.parent is None or not bone.parent.endswith("_l")
        if run and starts_limb:
            out += [_right(b) for b in run]
            run = []
        out.append(bone)
        if bone.name.endswith("_l"):
            run.append(bone)
    return tuple(out[:-1])


def _right(bone: Bone) -> Bone:
    parent = bone.parent[:-2] + "_r" if bone.parent and bone.parent.endswith("_l") else bone.parent
    return Bone(bone.name[:-2] + "_r", parent, (-bone.at[0], bone.at[1], bone.at[2]))


def build(part: Part, bones: Sequence[Bone]) -> Surface:
    """The surface of a part, both sides, with its skin weights."""
    points, triangles = left_half(part)
    seam = int((points[:, 0] == 0.0).sum())
    points, triangles = thin(points, triangles, (part.vertices + seam // 3) // 2)
    field = field_of(part)
    middle = points[:, 0] == 0.0
    points = settle(field, points)
    points[middle, 0] = 0.0
    if part.sole:
        points[points[:, 1] < SOLE, 1] = 0.0
    points = np.round(points / GRID) * GRID
    normals = normals_of(field, points)
    normals[middle, 0] = 0.0
    mirror = np.where(middle, np.arange(len(points)), np.cumsum(~middle) - 1 + len(points))
    points = np.concatenate([points, points[~middle] * [-1.0, 1.0, 1.0]])
    normals = np.concatenate([normals, normals[~middle] * [-1.0, 1.0, 1.0]])
    triangles = np.concatenate([triangles, mirror[triangles][:, ::-1]])
    normals = np.round(normals * 128.0) / 128.0
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Surface(part, points, normals, triangles, skin_weights(part, bones, points, triangles))


def skin_weights(part: Part, bones: Sequence[Bone], points: Array, triangles: Ints) -> Array:
    """(n, bones): each point follows the bone whose flesh is nearest and, near a joint, that bone's parent and children;
    spread over the surface so that bends are round."""
    index = {bone.name: b for b, bone in enumerate(bones)}
    gaps = np.full((len(points), len(bones)), np.inf)
    thick = np.full(len(bones), 0.02)
    for piece in mirrored(part.flesh):
        b = index[piece.bone]
        gaps[:, b] = np.minimum(gaps[:, b], piece.distance(points))
        thick[b] = max(thick[b], max(piece.radii) * min(piece.stretch))
    nearest = np.argmin(np.round(gaps, 6), axis=1)
    near = np.eye(len(bones), dtype=bool)
    for bone in bones:
        if bone.parent is not None:
            near[index[bone.name], index[bone.parent]] = near[index[bone.parent], index[bone.name]] = True
    excess = np.where(near[nearest], gaps - gaps.min(axis=1, keepdims=True), np.inf)
    weights = np.maximum(0.0, 1.0 - excess / (0.42 * thick[nearest][:, None])) ** 2
    weights /= weights.sum(axis=1, keepdims=True)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)
    links = sparse.csr_matrix((np.ones(len(edges)), edges.T), shape=(len(points), len(points)))
    degree = np.asarray(links.sum(axis=1))
    for _ in range(2):
        weights = 0.5 * weights + 0.5 * np.asarray(links @ weights) / degree
    return weights


def four_bytes(weights: Array) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The four strongest joints of each point and their weights as bytes that sum to 255."""
    order = np.argsort(-np.round(weights, 6), axis=1, kind="stable")[:, :4]
    strongest = np.round(np.take_along_axis(weights, order, axis=1), 6)
    shares = np.round(strongest / strongest.sum(axis=1, keepdims=True) * 255.0).astype(np.int64)
    shares[:, 0] += 255 - shares.sum(axis=1)
    return np.where(shares > 0, order, 0).astype(np.uint8), shares.astype(np.uint8)


class Writer:
    """Arrays gathered into one binary chunk, each with its own view and accessor."""

    def __init__(self) -> None:
        self.document = gltf.GLTF2(asset=gltf.Asset(version="2.0", generator="akd-sdk samples"))
        self.blob = bytearray()

    def add(self, values: NDArray[np.generic], kind: str, target: int | None = None, normalised: bool = False) -> int:
        """The accessor of an array (n, ...) with the component type of its dtype."""
        codes = {"float32": gltf.FLOAT, "uint8": gltf.UNSIGNED_BYTE, "uint16": gltf.UNSIGNED_SHORT}
        data = np.ascontiguousarray(values).tobytes()
        view = gltf.BufferView(buffer=0, byteOffset=len(self.blob), byteLength=len(data), target=target)
        accessor = gltf.Accessor(
            bufferView=len(self.document.bufferViews), componentType=codes[str(values.dtype)], count=len(values), type=kind
        )
        if normalised:
            accessor.normalized = True
        if values.dtype == np.float32 and kind == gltf.VEC3:
            accessor.min, accessor.max = values.min(axis=0).tolist(), values.max(axis=0).tolist()
        self.blob += data + bytes(-len(data) % 4)
        self.document.bufferViews.append(view)
        self.document.accessors.append(accessor)
        return len(self.document.accessors) - 1

    def bytes(self) -> bytes:
        self.document.buffers = [gltf.Buffer(byteLength=len(self.blob))]
        self.document.set_binary_blob(bytes(self.blob))
        return b"".join(self.document.save_to_bytes())


def to_glb(character: Character) -> bytes:
    """The character as a GLB: an armature node, its joints, one mesh with a primitive for each part."""
    writer = Writer()
    document = writer.document
    bones = character.bones
    places = {bone.name: np.array(bone.at) for bone in bones}
    document.nodes.append(gltf.Node(name=character.name, children=[1]))
    for bone in bones:
        step = places[bone.name] - (places[bone.parent] if bone.parent else 0.0)
        node = gltf.Node(name=bone.name, translation=[round(float(v), 4) for v in step])
        children = [1 + k for k, other in enumerate(bones) if other.parent == bone.name]
        if children:
            node.children = children
        document.nodes.append(node)
    document.materials = [_material(colour) for colour in character.colours]
    primitives = [_primitive(writer, character, part) for part in character.parts]
    binds = np.tile(np.eye(4, dtype=np.float32), (len(bones), 1, 1))
    binds[:, 3, :3] = [-places[bone.name] for bone in bones]
    document.meshes = [gltf.Mesh(name="body", primitives=primitives)]
    joints = [1 + k for k in range(len(bones))]
    document.skins = [gltf.Skin(name=character.name, inverseBindMatrices=writer.add(binds.reshape(-1, 16), gltf.MAT4), joints=joints)]
    document.nodes.append(gltf.Node(name="body", mesh=0, skin=0))
    document.scenes, document.scene = [gltf.Scene(name="Scene", nodes=[0, len(bones) + 1])], 0
    return writer.bytes()


def _material(colour: Colour) -> gltf.Material:
    shading = gltf.PbrMetallicRoughness(baseColorFactor=[*colour.rgb, 1.0], metallicFactor=0.0, roughnessFactor=colour.roughness)
    return gltf.Material(name=colour.name, pbrMetallicRoughness=shading, alphaMode=None, alphaCutoff=None, doubleSided=None)


def _primitive(writer: Writer, character: Character, part: Part) -> gltf.Primitive:
    surface = build(part, character.bones)
    joints, weights = four_bytes(surface.weights)
    vertex = gltf.ARRAY_BUFFER
    attributes = gltf.Attributes(
        POSITION=writer.add(surface.points.astype(np.float32), gltf.VEC3, vertex),
        NORMAL=writer.add(surface.normals.astype(np.float32), gltf.VEC3, vertex),
        JOINTS_0=writer.add(joints, gltf.VEC4, vertex),
        WEIGHTS_0=writer.add(weights, gltf.VEC4, vertex, normalised=True),
    )
    if part.colour is not None:
        tint = np.round(np.clip(part.colour(surface.points), 0.0, 1.0) * 255.0).astype(np.uint8)
        opaque = np.full((len(tint), 1), 255, dtype=np.uint8)
        attributes.COLOR_0 = writer.add(np.concatenate([tint, opaque], axis=1), gltf.VEC4, vertex, normalised=True)
    indices = writer.add(surface.triangles.astype(np.uint16).ravel(), gltf.SCALAR, gltf.ELEMENT_ARRAY_BUFFER)
    material = [colour.name for colour in character.colours].index(part.material)
    return gltf.Primitive(attributes=attributes, indices=indices, material=material, mode=None)


def save(character: Character, folder: Path) -> None:
    """`<name>.glb` and `<name>.labels.json` in the folder."""
    (folder / f"{character.name}.glb").write_bytes(to_glb(character))
    (folder / f"{character.name}.labels.json").write_text(json.dumps(character.labels, indent=1) + "\n")

"""Skinned primitives of a glTF file as `Skin`s."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.accessors import floats, integers
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import LARGEST, Json, child, integer, label, objects, optional_reference, reference
from akd_sdk.formats.gltf.scene import Scene
from akd_sdk.readers.gltf.joints import Joints
from akd_sdk.readers.gltf.materials import Materials
from akd_sdk.rig import Skin

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

TRIANGLES, STRIP, FAN = 4, 5, 6


@dataclass
class Shapes:
    """The skins of a file while they are read, and what was noticed."""

    document: Document
    scene: Scene
    joints: Joints
    materials: Materials
    skins: list[Skin] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    vertices: int = 0

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def read_skins(shapes: Shapes) -> tuple[Skin, ...]:
    """One `Skin` a primitive of each node that has a mesh and a skin, in the order of the nodes.

    Raises:
        ReadError: indices out of range, values that are not finite, or arrays that do not fit each other.
    """
    document, scene = shapes.document, shapes.scene
    meshes = document.items("meshes")
    binds = [_inverse_binds(shapes, s) for s in range(len(shapes.joints.skins))]
    for n, node in enumerate(scene.nodes):
        mesh = optional_reference(node, "mesh", len(meshes), scene.name(n))
        skin = optional_reference(node, "skin", len(binds), scene.name(n))
        if mesh is None or skin is None:
            continue
        where = label("mesh", mesh, meshes[mesh].get("name"))
        for p, primitive in enumerate(objects(meshes[mesh], "primitives", where)):
            found = _primitive(shapes, primitive, skin, f"primitive {p} of {where}")
            if found is not None:
                name = meshes[mesh].get("name")
                shape, joints, weights = found
                material = shapes.materials.material(
                    optional_reference(primitive, "material", len(shapes.materials), f"primitive {p} of {where}")
                )
                shapes.skins.append(
                    Skin(
                        name=name if isinstance(name, str) and name else f"mesh_{mesh}",
                        node=n,
                        joints=joints,
                        weights=weights,
                        inverse_binds=binds[skin],
                        material=material,
                        **vars(shape),
                    )
                )
    return tuple(shapes.skins)


@dataclass(frozen=True)
class _Shape:
    """Geometry of a primitive, named as in `Skin`."""

    vertices: Array
    normals: Array | None
    uvs: Array | None
    triangles: Ints
    colours: Array | None
    morphs: Array | None


def _inverse_binds(shapes: Shapes, skin: int) -> Array:
    """(skeleton joints, 4, 4) with each joint's unit put in; zeros where the skin does not use a joint."""
    item = shapes.document.items("skins")[skin]
    where = label("skin", skin, item.get("name"))
    nodes = shapes.joints.skins[skin]
    matrices = np.tile(np.eye(4), (len(nodes), 1, 1))
    accessor = optional_reference(item, "inverseBindMatrices", len(shapes.document.items("accessors")), where)
    if accessor is not None:
        read = floats(shapes.document, accessor, ("MAT4",), f"inverse bind matrices of {where}")
        if len(read) < len(nodes):
            raise ReadError(f"{where} has {len(read)} inverse bind matrices for {len(nodes)} joints")
        matrices = read[: len(nodes)].copy()
        if np.abs(matrices[:, 3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-3:
            raise ReadError(f"{where} has an inverse bind matrix whose last row is not 0 0 0 1")
        matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
    placed = np.zeros((shapes.joints.skeleton.count, 4, 4))
    for node, matrix in zip(nodes, matrices):
        j = shapes.joints.of_node[node]
        scaled = np.diag([shapes.joints.units[j]] * 3 + [1.0]) @ matrix
        if placed[j].any() and not np.allclose(placed[j], scaled):
            raise ReadError(f"{where} lists {shapes.scene.name(node)} twice, with different inverse bind matrices")
        placed[j] = scaled
    return placed


def _primitive(shapes: Shapes, primitive: Json, skin: int, where: str) -> tuple[_Shape, Ints, Array] | None:
    """Geometry, joints and weights; None (and a note) where a primitive is no skinned surface."""
    attributes = child(primitive, "attributes", where)
    mode = integer(primitive, "mode", where, TRIANGLES)
    if mode not in (TRIANGLES, STRIP, FAN):
        shapes.note("points and lines are left out")
        return None
    if "POSITION" not in attributes or "JOINTS_0" not in attributes:
        shapes.note(f"{where} has no {'JOINTS_0' if 'POSITION' in attributes else 'POSITION'} and is left out")
        return None
    vertices = floats(shapes.document, _accessor(shapes, attributes, "POSITION", where), ("VEC3",), f"POSITION of {where}")
    triangles = _triangles(shapes, primitive, mode, len(vertices), where)
    joints, weights = _influences(shapes, attributes, skin, len(vertices), where)
    shape = _Shape(
        vertices,
        _normals(shapes, attributes, len(vertices), where),
        _attribute(shapes, attributes, "TEXCOORD_0", ("VEC2",), len(vertices), where),
        triangles,
        _colours(shapes, attributes, len(vertices), where),
        _morphs(shapes, primitive, len(vertices), where),
    )
    shape, joints, weights = _compact(shape, joints, weights)
    shapes.vertices += len(shape.vertices)
    if shapes.vertices > max(1_000_000, shapes.document.size):
        raise ReadError("the meshes have more vertices than the buffers have bytes")
    return shape, joints, weights


def _accessor(shapes: Shapes, attributes: Json, key: str, where: str) -> int:
    return reference(attributes.get(key), len(shapes.document.items("accessors")), f"{key} of {where}")


def _attribute(shapes: Shapes, attributes: Json, key: str, kinds: tuple[str, ...], count: int, where: str) -> Array | None:
    """An attribute that pictures use; values that are not finite lose it with a note, a wrong count is refused."""
    if key not in attributes:
        return None
    index = _accessor(shapes, attributes, key, where)
    try:
        values = floats(shapes.document, index, kinds, f"{key} of {where}")
    except ReadError as fault:
        shapes.note(f"left out: {fault}")
        return None
    if len(values) != count:
        raise ReadError(f"{where} has {count} positions and {len(values)} of {key}")
    return values


def _normals(shapes: Shapes, attributes: Json, count: int, where: str) -> Array | None:
    normals = _attribute(shapes, attributes, "NORMAL", ("VEC3",), count, where)
    if normals is None:
        return None
    length = np.linalg.norm(normals, axis=-1, keepdims=True)
    return np.where(length > 1e-9, normals / np.maximum(length, 1e-9), (0.0, 1.0, 0.0))


def _colours(shapes: Shapes, attributes: Json, count: int, where: str) -> Array | None:
    colours = _attribute(shapes, attributes, "COLOR_0", ("VEC3", "VEC4"), count, where)
    if colours is not None and colours.shape[1] == 3:
        return np.concatenate([colours, np.ones((count, 1))], axis=1)
    return colours


def _morphs(shapes: Shapes, primitive: Json, count: int, where: str) -> Array | None:
    targets = objects(primitive, "targets", where)
    if not targets:
        return None
    if len(targets) * count > max(4_000_000, 4 * shapes.document.size):
        raise ReadError(f"{where} has {len(targets)} morph targets of {count} vertices, more than the buffers can hold")
    morphs = np.zeros((len(targets), count, 3))
    for t, target in enumerate(targets):
        if "POSITION" in target:
            here = f"morph target {t} of {where}"
            offsets = floats(shapes.document, _accessor(shapes, target, "POSITION", here), ("VEC3",), here)
            if len(offsets) != count:
                raise ReadError(f"{here} has {len(offsets)} offsets for {count} positions")
            morphs[t] = offsets
    return morphs


def _triangles(shapes: Shapes, primitive: Json, mode: int, count: int, where: str) -> Ints:
    index = optional_reference(primitive, "indices", len(shapes.document.items("accessors")), where)
    if index is None:
        order = np.arange(count, dtype=np.int64)
    else:
        order = integers(shapes.document, index, ("SCALAR",), f"indices of {where}")
        if order.min() < 0 or order.max() >= count:
            raise ReadError(f"{where} has vertex index {order.max()}, but there are only {count} vertices")
    if mode == TRIANGLES:
        return order[: len(order) // 3 * 3].reshape(-1, 3)
    if len(order) < 3:
        return np.zeros((0, 3), dtype=np.int64)
    if mode == FAN:
        return np.stack([order[1:-1], order[2:], np.broadcast_to(order[0], len(order) - 2)], axis=-1)
    strip = np.stack([order[:-2], order[1:-1], order[2:]], axis=-1)
    strip[1::2] = strip[1::2][:, [0, 2, 1]]
    return strip


def _influences(shapes: Shapes, attributes: Json, skin: int, count: int, where: str) -> tuple[Ints, Array]:
    """Skeleton joints and weights (vertices, influences) of all sets; weights sum to 1."""
    slots: list[Ints] = []
    shares: list[Array] = []
    while f"JOINTS_{len(slots)}" in attributes:
        key, weight_key = f"JOINTS_{len(slots)}", f"WEIGHTS_{len(slots)}"
        slots.append(integers(shapes.document, _accessor(shapes, attributes, key, where), ("VEC4",), f"{key} of {where}"))
        accessor = _accessor(shapes, attributes, weight_key, where)
        shares.append(floats(shapes.document, accessor, ("VEC4",), f"{weight_key} of {where}", finite=False))
        if len(slots[-1]) != count or len(shares[-1]) != count:
            raise ReadError(f"{where} has {count} positions, {len(slots[-1])} of {key} and {len(shares[-1])} of {weight_key}")
    slot, weights = np.concatenate(slots, axis=1), np.concatenate(shares, axis=1)
    usable = (weights >= 0.0) & (weights <= LARGEST)
    if not usable.all():
        shapes.note(f"skin weights of {where} that are negative or not finite are taken for 0")
        weights = np.where(usable, weights, 0.0)
    used = shapes.joints.skins[skin]
    beyond = slot >= len(used)
    if (beyond & (weights > 0.0)).any() or (slot < 0).any():
        raise ReadError(f"{where} has skin joint {slot.max()}, but the skin has only {len(used)}")
    to_joint = np.array([shapes.joints.of_node[node] for node in used], dtype=np.int64)
    joints = to_joint[np.where(beyond, 0, slot)]
    total = weights.sum(axis=1, keepdims=True)
    if (total < 1e-6).any():
        shapes.note("vertices without skin weights follow the skin's first joint")
        joints[:, 0] = np.where(total[:, 0] < 1e-6, to_joint[0], joints[:, 0])
        weights = np.where(total < 1e-6, np.eye(1, weights.shape[1]), weights)
        total = weights.sum(axis=1, keepdims=True)
    filled = weights.any(axis=0)
    return np.ascontiguousarray(joints[:, filled]), np.ascontiguousarray((weights / total)[:, filled])


def _compact(shape: _Shape, joints: Ints, weights: Array) -> tuple[_Shape, Ints, Array]:
    """Without vertices that no triangle uses: primitives often share one large array of vertices."""
    used = np.unique(shape.triangles)
    if len(used) == len(shape.vertices) or not len(used):
        return shape, joints, weights
    new = np.zeros(len(shape.vertices), dtype=np.int64)
    new[used] = np.arange(len(used))

    def kept(values: Array | None) -> Array | None:
        return None if values is None else values[used]

    compacted = _Shape(
        shape.vertices[used],
        kept(shape.normals),
        kept(shape.uvs),
        new[shape.triangles],
        kept(shape.colours),
        None if shape.morphs is None else shape.morphs[:, used],
    )
    return compacted, joints[used], weights[used]

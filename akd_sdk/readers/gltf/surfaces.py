"""Surfaces of a glTF file's meshes: triangles, what pictures need of them, and only the vertices that are used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.accessors import floats, integers
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import Json, child, integer, label, name_of, objects, optional_reference, reference
from akd_sdk.formats.gltf.scene import Scene
from akd_sdk.readers.gltf.joints import Joints
from akd_sdk.readers.gltf.materials import Materials
from akd_sdk.rig import Material

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

TRIANGLES, STRIP, FAN = 4, 5, 6


@dataclass
class Reading:
    """What surfaces are read with, and what was noticed.

    Attributes:
        notes: what was left out or mended, one line each.
        vertices: how many were read so far.
    """

    document: Document
    scene: Scene
    joints: Joints
    materials: Materials
    notes: list[str] = field(default_factory=list)
    vertices: int = 0

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def accessor(self, attributes: Json, key: str, where: str) -> int:
        """The accessor of an attribute."""
        return reference(attributes.get(key), len(self.document.items("accessors")), f"{key} of {where}")


@dataclass(frozen=True)
class Surface:
    """A primitive as triangles; fields as in `Skin`.

    Attributes:
        kept: (n,) which of the file's vertices these are.
        given: how many vertices the file has for it.
    """

    vertices: Array
    normals: Array | None
    uvs: Array | None
    triangles: Ints
    colours: Array | None
    morphs: Array | None
    morph_normals: Array | None
    material: Material
    kept: Ints
    given: int


def primitives_of(reading: Reading, mesh: int) -> Iterator[tuple[Json, str]]:
    """Each primitive of a mesh, and how messages call it."""
    item = reading.document.items("meshes")[mesh]
    where = label("mesh", mesh, item.get("name"))
    for p, primitive in enumerate(objects(item, "primitives", where)):
        yield primitive, f"primitive {p} of {where}"


def mesh_name(reading: Reading, mesh: int) -> str:
    """The mesh's own name, or one made of its index."""
    return name_of(reading.document.items("meshes")[mesh]) or f"mesh_{mesh}"


def read_surface(reading: Reading, primitive: Json, where: str) -> Surface | None:
    """The surface of a primitive; None (and a note) where it has none.

    Vertices that no triangle uses are left out: primitives often share one large array of them.

    Raises:
        ReadError: indices out of range, positions that are not finite, or arrays that do not fit each other.
    """
    attributes = child(primitive, "attributes", where)
    mode = integer(primitive, "mode", where, TRIANGLES)
    if mode not in (TRIANGLES, STRIP, FAN) or "POSITION" not in attributes:
        reading.note("points and lines are left out" if "POSITION" in attributes else f"{where} has no POSITION and is left out")
        return None
    _check_compression(reading, primitive, where)
    vertices = floats(reading.document, reading.accessor(attributes, "POSITION", where), ("VEC3",), f"POSITION of {where}")
    count = len(vertices)
    triangles = _triangles(reading, primitive, mode, count, where)
    kept = np.unique(triangles)
    if not len(kept):
        reading.note(f"{where} has no triangle and is left out")
        return None
    renumbered = np.zeros(count, dtype=np.int64)
    renumbered[kept] = np.arange(len(kept))
    _count(reading, len(kept))
    normals, colours = _normals(reading, attributes, count, where), _colours(reading, attributes, count, where)
    material = optional_reference(primitive, "material", len(reading.materials), where)
    uvs, morphs = _uvs(reading, attributes, material, count, where), _morphs(reading, primitive, count, where)
    return Surface(
        vertices=vertices[kept],
        normals=None if normals is None else normals[kept],
        uvs=None if uvs is None else uvs[kept],
        triangles=renumbered[triangles],
        colours=None if colours is None else colours[kept],
        morphs=None if morphs is None else morphs[:, kept],
        morph_normals=None if morphs is None or normals is None else _morph_normals(reading, primitive, count, where, kept),
        material=reading.materials.material(material),
        kept=kept,
        given=count,
    )


def _check_compression(reading: Reading, primitive: Json, where: str) -> None:
    """Refuse a surface whose values are only there compressed, though the file does not say that this is required."""
    for name in child(primitive, "extensions", where):
        position = reading.accessor(child(primitive, "attributes", where), "POSITION", where)
        if "compression" in name and "bufferView" not in reading.document.items("accessors")[position]:
            raise ReadError(f"{where} needs the extension {name[:80]}, which is not read", hint="decompress the file first")


def _count(reading: Reading, vertices: int) -> None:
    reading.vertices += vertices
    if reading.vertices > max(1_000_000, reading.document.size):
        raise ReadError("the meshes have more vertices than the buffers have bytes")


def _attribute(reading: Reading, attributes: Json, key: str, kinds: tuple[str, ...], count: int, where: str) -> Array | None:
    """An attribute that pictures use; values that are not finite lose it with a note, a wrong count is refused."""
    if key not in attributes:
        return None
    index = reading.accessor(attributes, key, where)
    try:
        values = floats(reading.document, index, kinds, f"{key} of {where}")
    except ReadError as fault:
        reading.note(f"left out: {fault}")
        return None
    if len(values) != count:
        raise ReadError(f"{where} has {count} positions and {len(values)} of {key}")
    return values


def _normals(reading: Reading, attributes: Json, count: int, where: str) -> Array | None:
    normals = _attribute(reading, attributes, "NORMAL", ("VEC3",), count, where)
    if normals is None:
        return None
    length = np.linalg.norm(normals, axis=-1, keepdims=True)
    return np.where(length > 1e-9, normals / np.maximum(length, 1e-9), (0.0, 1.0, 0.0))


def _uvs(reading: Reading, attributes: Json, material: int | None, count: int, where: str) -> Array | None:
    """Texture coordinates as the material's picture takes them."""
    uv_map = reading.materials.uv_map(material)
    uvs = _attribute(reading, attributes, f"TEXCOORD_{uv_map.channel}", ("VEC2",), count, where)
    return None if uvs is None else uvs @ uv_map.linear.T + uv_map.offset


def _colours(reading: Reading, attributes: Json, count: int, where: str) -> Array | None:
    colours = _attribute(reading, attributes, "COLOR_0", ("VEC3", "VEC4"), count, where)
    if colours is not None and colours.shape[1] == 3:
        return np.concatenate([colours, np.ones((count, 1))], axis=1)
    return colours


def _morphs(reading: Reading, primitive: Json, count: int, where: str) -> Array | None:
    targets = objects(primitive, "targets", where)
    if not targets:
        return None
    if len(targets) * count > max(4_000_000, 4 * reading.document.size):
        raise ReadError(f"{where} has {len(targets)} morph targets of {count} vertices, more than the buffers can hold")
    morphs = np.zeros((len(targets), count, 3))
    for t, target in enumerate(targets):
        if "POSITION" in target:
            here = f"morph target {t} of {where}"
            offsets = floats(reading.document, reading.accessor(target, "POSITION", here), ("VEC3",), here)
            if len(offsets) != count:
                raise ReadError(f"{here} has {len(offsets)} offsets for {count} positions")
            morphs[t] = offsets
    return morphs


def _morph_normals(reading: Reading, primitive: Json, count: int, where: str, kept: Ints) -> Array | None:
    """(targets, kept, 3) what each target adds to the normals; None where none does. What cannot be read is left out with a note."""
    offsets: list[Array | None] = []
    for t, target in enumerate(objects(primitive, "targets", where)):
        try:
            offsets.append(_attribute(reading, target, "NORMAL", ("VEC3",), count, f"morph target {t} of {where}"))
        except ReadError as fault:  # they are an adornment: the shape is what counts
            reading.note(f"left out: {fault}")
            offsets.append(None)
    if all(offset is None for offset in offsets):
        return None
    return np.stack([np.zeros((len(kept), 3)) if offset is None else offset[kept] for offset in offsets])


def _triangles(reading: Reading, primitive: Json, mode: int, count: int, where: str) -> Ints:
    index = optional_reference(primitive, "indices", len(reading.document.items("accessors")), where)
    if index is None:
        order = np.arange(count, dtype=np.int64)
    else:
        order = integers(reading.document, index, ("SCALAR",), f"indices of {where}")
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

"""Skinned primitives of a glTF file as `Skin`s."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.accessors import floats, integers
from akd_sdk.formats.gltf.fields import LARGEST, Json, child, label, optional_reference
from akd_sdk.readers.gltf.surfaces import Reading, Surface, mesh_name, primitives_of, read_surface
from akd_sdk.rig import Skin

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def read_skins(reading: Reading) -> tuple[Skin, ...]:
    """One `Skin` a primitive of each node that has a mesh and a skin, in the order of the nodes.

    Raises:
        ReadError: indices out of range, values that are not finite, or arrays that do not fit each other.
    """
    scene = reading.scene
    binds = [_inverse_binds(reading, s) for s in range(len(reading.joints.skins))]
    skins: list[Skin] = []
    for n, node in enumerate(scene.nodes):
        mesh = optional_reference(node, "mesh", len(reading.document.items("meshes")), scene.name(n))
        skin = optional_reference(node, "skin", len(binds), scene.name(n))
        if mesh is None or skin is None:
            continue
        for primitive, where in primitives_of(reading, mesh):
            attributes = child(primitive, "attributes", where)
            if "JOINTS_0" not in attributes:
                reading.note(f"{where} has no JOINTS_0 and is left out")
                continue
            surface = read_surface(reading, primitive, where)
            if surface is not None:
                joints, weights = _influences(reading, attributes, skin, surface.given, where)
                kept = surface.kept
                skins.append(skin_of(surface, (mesh_name(reading, mesh), n), (joints[kept], weights[kept]), binds[skin]))
    return tuple(skins)


def skin_of(surface: Surface, named: tuple[str, int], influences: tuple[Ints, Array], inverse_binds: Array) -> Skin:
    """A surface with its mesh's name and node, joints and weights, and (skeleton joints, 4, 4) inverse binds."""
    return Skin(
        name=named[0],
        node=named[1],
        vertices=surface.vertices,
        normals=surface.normals,
        uvs=surface.uvs,
        triangles=surface.triangles,
        joints=influences[0],
        weights=influences[1],
        inverse_binds=inverse_binds,
        material=surface.material,
        colours=surface.colours,
        morphs=surface.morphs,
        morph_normals=surface.morph_normals,
    )


def _inverse_binds(reading: Reading, skin: int) -> Array:
    """(skeleton joints, 4, 4) with each joint's unit put in; zeros where the skin does not use a joint."""
    item = reading.document.items("skins")[skin]
    where = label("skin", skin, item.get("name"))
    nodes = reading.joints.skins[skin]
    matrices = np.tile(np.eye(4), (len(nodes), 1, 1))
    accessor = optional_reference(item, "inverseBindMatrices", len(reading.document.items("accessors")), where)
    if accessor is not None:
        read = floats(reading.document, accessor, ("MAT4",), f"inverse bind matrices of {where}")
        if len(read) < len(nodes):
            raise ReadError(f"{where} has {len(read)} inverse bind matrices for {len(nodes)} joints")
        matrices = read[: len(nodes)].copy()
        if np.abs(matrices[:, 3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-3:
            raise ReadError(f"{where} has an inverse bind matrix whose last row is not 0 0 0 1")
        matrices[:, 3] = (0.0, 0.0, 0.0, 1.0)
    placed = np.zeros((reading.joints.skeleton.count, 4, 4))
    for node, matrix in zip(nodes, matrices):
        j = reading.joints.of_node[node]
        scaled = np.diag([reading.joints.units[j]] * 3 + [1.0]) @ matrix
        if placed[j].any() and not np.allclose(placed[j], scaled):
            raise ReadError(f"{where} lists {reading.scene.name(node)} twice, with different inverse bind matrices")
        placed[j] = scaled
    return placed


def _influences(reading: Reading, attributes: Json, skin: int, count: int, where: str) -> tuple[Ints, Array]:
    """Skeleton joints and weights (vertices, influences) of all sets; weights sum to 1."""
    slots: list[Ints] = []
    shares: list[Array] = []
    while f"JOINTS_{len(slots)}" in attributes:
        key, weight_key = f"JOINTS_{len(slots)}", f"WEIGHTS_{len(slots)}"
        slots.append(integers(reading.document, reading.accessor(attributes, key, where), ("VEC4",), f"{key} of {where}"))
        accessor = reading.accessor(attributes, weight_key, where)
        shares.append(floats(reading.document, accessor, ("VEC4",), f"{weight_key} of {where}", finite=False))
        if len(slots[-1]) != count or len(shares[-1]) != count:
            raise ReadError(f"{where} has {count} positions, {len(slots[-1])} of {key} and {len(shares[-1])} of {weight_key}")
    slot, weights = np.concatenate(slots, axis=1), np.concatenate(shares, axis=1)
    usable = (weights >= 0.0) & (weights <= LARGEST)
    if not usable.all():
        reading.note(f"skin weights of {where} that are negative or not finite are taken for 0")
        weights = np.where(usable, weights, 0.0)
    used = reading.joints.skins[skin]
    beyond = slot >= len(used)
    if (beyond & (weights > 0.0)).any() or (slot < 0).any():
        raise ReadError(f"{where} has skin joint {slot.max()}, but the skin has only {len(used)}")
    to_joint = np.array([reading.joints.of_node[node] for node in used], dtype=np.int64)
    joints = to_joint[np.where(beyond, 0, slot)]
    total = weights.sum(axis=1, keepdims=True)
    if (total < 1e-6).any():
        reading.note("vertices without skin weights follow the skin's first joint")
        joints[:, 0] = np.where(total[:, 0] < 1e-6, to_joint[0], joints[:, 0])
        weights = np.where(total < 1e-6, np.eye(1, weights.shape[1]), weights)
        total = weights.sum(axis=1, keepdims=True)
    filled = weights.any(axis=0)
    return np.ascontiguousarray(joints[:, filled]), np.ascontiguousarray((weights / total)[:, filled])

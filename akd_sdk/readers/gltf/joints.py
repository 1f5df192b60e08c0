"""Which nodes are joints, in which order and unit: the bare skeleton of a glTF file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError, RigError
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import label, name_of, optional_reference, references
from akd_sdk.formats.gltf.scene import Scene
from akd_sdk.rig import Skeleton, Transforms

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FLAT: Final = 1e-4
"""The smallest scale of a joint at rest, its own unit aside."""


@dataclass(frozen=True)
class Joints:
    """The joints of a file: those of its skins and all nodes above them.

    Attributes:
        skeleton: bare, in the file's unit with each joint's own scale taken out.
        units: (joints,) uniform world scale of each joint at rest.
        root_unit: what stands for the unit of a root's parent.
        flat: joints with a scale of 0 at rest, which got a ten-thousandth so that transforms can be inverted.
        of_node: joint of a node.
        skins: node indices of each skin's joints, in the skin's order.
    """

    skeleton: Skeleton
    units: Array
    of_node: dict[int, int]
    skins: tuple[tuple[int, ...], ...]
    root_unit: float = 1.0
    flat: tuple[int, ...] = ()

    @property
    def parent_units(self) -> Array:
        """(joints,) unit of each joint's parent."""
        parents = self.skeleton.parents
        return np.where(parents >= 0, self.units[np.maximum(parents, 0)], self.root_unit)

    def scaled(self, scale: float) -> Joints:
        """The same with units that are `scale` times as large; the skeleton is left as it is."""
        return replace(self, units=self.units * scale, root_unit=self.root_unit * scale)


def find_joints(document: Document, scene: Scene) -> Joints:
    """The joints of all skins with their ancestors up to the scene's roots, parents first.

    Raises:
        ReadError: a skin has no joints, or an index is out of range.
        RigError: there is no skin.
    """
    skins = []
    for i, skin in enumerate(document.items("skins")):
        where = label("skin", i, skin.get("name"))
        joints = references(skin, "joints", len(scene.nodes), where)
        if not joints:
            raise ReadError(f"{where} has no joints")
        optional_reference(skin, "skeleton", len(scene.nodes), where)
        skins.append(tuple(joints))
    if not skins:
        raise RigError("has no skin, so there is no character to animate", hint="give a file with a rigged character")
    wanted = {n for skin in skins for joint in dict.fromkeys(skin) for n in scene.line(joint)}
    nodes = np.array([n for n in scene.order if n in wanted], dtype=np.int64)
    of_node = {int(n): j for j, n in enumerate(nodes)}
    parents = np.array([of_node.get(int(scene.parents[n]), -1) for n in nodes], dtype=np.int64)
    units = _units(scene.world[nodes], parents)
    parent_units = np.where(parents >= 0, units[np.maximum(parents, 0)], 1.0)
    scales = scene.scales[nodes] * (parent_units / units)[:, None]
    flat = np.abs(scales) < FLAT
    scales = np.where(flat, np.copysign(FLAT, scales), scales)
    rest = Transforms(scene.translations[nodes] * parent_units[:, None], scene.rotations[nodes], scales)
    source_names = [name_of(scene.nodes[int(n)]) for n in nodes]
    names = unique(name or f"node_{n}" for name, n in zip(source_names, nodes))
    skeleton = Skeleton.bare(names, source_names, nodes, parents, rest)
    volumes = np.abs(np.linalg.det(skeleton.rest_world))
    if volumes.min() < 1e-30:
        raise ReadError(f"joint {names[int(volumes.argmin())]!r} is scaled to nothing within joints that are too")
    return Joints(skeleton, units, of_node, tuple(skins), flat=tuple(int(j) for j in np.flatnonzero(flat.any(axis=1))))


def _units(world: Array, parents: Ints) -> Array:
    """Uniform world scales: the cube root of the volume scale. A joint scaled to nothing at rest takes its parent's."""
    volumes = np.cbrt(np.abs(np.linalg.det(world[:, :3, :3])))
    units = np.ones(len(parents))
    for j, parent in enumerate(parents):
        above = units[parent] if parent >= 0 else 1.0
        units[j] = volumes[j] if volumes[j] > 1e-6 * above else above
    return units


def unique(names: Iterable[str]) -> list[str]:
    """The names, later ones of the same name with a number behind."""
    names = list(names)
    taken = set(names)
    seen: set[str] = set()
    result = []
    for name in names:
        number, fresh = 2, name
        while fresh in seen or (fresh != name and fresh in taken):
            fresh, number = f"{name}_{number}", number + 1
        seen.add(fresh)
        result.append(fresh)
    return result

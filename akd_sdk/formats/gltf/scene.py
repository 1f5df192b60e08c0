"""The node tree of glTF: parents, local transforms (matrices taken apart), world transforms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import LARGEST, Json, label, numbers, optional_reference, references
from akd_sdk.rotations import compose, decompose

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_EYE16 = tuple(float(v) for v in np.eye(4).reshape(-1))


@dataclass(frozen=True)
class Scene:
    """All nodes of a file.

    Attributes:
        nodes: the JSON of each.
        parents: (nodes,) -1 for a root.
        order: (nodes,) node indices, depth first from the roots in their order, so parents come before children.
        translations: (nodes, 3) the file's unit.
        rotations: (nodes, 4) unit xyzw.
        scales: (nodes, 3).
        sheared: nodes whose matrix is no product of translation, rotation and scale: the nearest such product stands for it.
    """

    nodes: tuple[Json, ...]
    parents: Ints
    order: Ints
    translations: Array
    rotations: Array
    scales: Array
    sheared: tuple[int, ...]

    def name(self, node: int) -> str:
        """How messages call a node."""
        return label("node", node, self.nodes[node].get("name"))

    @cached_property
    def world(self) -> Array:
        """(nodes, 4, 4) world transforms at rest, the file's unit; ReadError where they overflow."""
        world = compose(self.translations, self.rotations, self.scales)
        with np.errstate(over="ignore", invalid="ignore"):
            for node in self.order:
                parent = self.parents[node]
                if parent >= 0:
                    world[node] = world[parent] @ world[node]
        for node, matrix in enumerate(world):
            if not (np.abs(matrix) <= LARGEST).all():
                raise ReadError(f"{self.name(node)} lies beyond {LARGEST:g}")
        return world

    def line(self, node: int) -> list[int]:
        """The node and its ancestors up to its root."""
        found = []
        while node >= 0:
            found.append(node)
            node = int(self.parents[node])
        return found


def read_scene(document: Document) -> Scene:
    """The nodes of a file.

    Raises:
        ReadError: a node has two parents or is its own ancestor, an index is out of range, or a transform is not usable.
    """
    nodes = document.items("nodes")
    parents = np.full(len(nodes), -1, dtype=np.int64)
    children = [references(node, "children", len(nodes), _name(nodes, i)) for i, node in enumerate(nodes)]
    for i, mine in enumerate(children):
        for c in mine:
            if parents[c] >= 0:
                raise ReadError(f"{_name(nodes, c)} has two parents, {_name(nodes, int(parents[c]))} and {_name(nodes, i)}")
            parents[c] = i
    order = _depth_first(parents, children)
    if len(order) < len(nodes):
        lost = next(i for i in range(len(nodes)) if i not in set(order))
        raise ReadError(f"the nodes have a cycle through {_name(nodes, _in_cycle(parents, lost))}")
    scenes = document.items("scenes")
    optional_reference(document.json, "scene", len(scenes), "the file")
    for i, scene in enumerate(scenes):
        references(scene, "nodes", len(nodes), label("scene", i, scene.get("name")))
    translations, rotations, scales, sheared = _locals(nodes)
    return Scene(tuple(nodes), parents, np.array(order, dtype=np.int64), translations, rotations, scales, sheared)


def _name(nodes: list[Json], node: int) -> str:
    return label("node", node, nodes[node].get("name"))


def _depth_first(parents: Ints, children: list[list[int]]) -> list[int]:
    order: list[int] = []
    waiting = [int(i) for i in np.nonzero(parents < 0)[0][::-1]]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(reversed(children[node]))
    return order


def _in_cycle(parents: Ints, start: int) -> int:
    """A node of the cycle that the ancestors of `start` run into."""
    seen: set[int] = set()
    while start not in seen:
        seen.add(start)
        start = int(parents[start])
    return start


def _locals(nodes: list[Json]) -> tuple[Array, Array, Array, tuple[int, ...]]:
    count = len(nodes)
    translations, rotations, scales = np.zeros((count, 3)), np.tile((0.0, 0.0, 0.0, 1.0), (count, 1)), np.ones((count, 3))
    sheared = []
    for i, node in enumerate(nodes):
        if "matrix" in node:
            matrix = numbers(node, "matrix", _EYE16, _name(nodes, i)).reshape(4, 4).T
            if np.abs(matrix[3] - (0.0, 0.0, 0.0, 1.0)).max() > 1e-6:
                raise ReadError(f"matrix of {_name(nodes, i)} is not affine: its last row is not 0 0 0 1")
            translations[i], rotations[i], scales[i] = decompose(matrix)
            if np.abs(compose(translations[i], rotations[i], scales[i]) - matrix).max() > 1e-4 * np.abs(matrix[:3, :3]).max(initial=1e-9):
                sheared.append(i)
            continue
        translations[i] = numbers(node, "translation", (0.0, 0.0, 0.0), _name(nodes, i))
        scales[i] = numbers(node, "scale", (1.0, 1.0, 1.0), _name(nodes, i))
        rotation = numbers(node, "rotation", (0.0, 0.0, 0.0, 1.0), _name(nodes, i))
        length = float(np.linalg.norm(rotation))
        if length < 1e-6:
            raise ReadError(f"rotation of {_name(nodes, i)} has length zero")
        rotations[i] = rotation / length
    return translations, rotations, scales, tuple(sheared)

"""Small glTF files made in tests, byte by byte, so that every feature and every fault can be written down."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

COMPONENTS = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
WIDTHS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class Gltf:
    """JSON and bytes of a file under construction."""

    def __init__(self) -> None:
        self.json: dict[str, Any] = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": []}]}
        self.data = bytearray()

    def add(self, key: str, item: dict[str, Any]) -> int:
        """Append to a top-level array; the index."""
        items = self.json.setdefault(key, [])
        items.append(item)
        return len(items) - 1

    def view(self, data: bytes, **more: Any) -> int:
        self.data += b"\0" * (-len(self.data) % 4)
        view = self.add("bufferViews", {"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data), **more})
        self.data += data
        return view

    def accessor(self, values: Any, dtype: str = "f4", *, kind: str | None = None, **more: Any) -> int:
        """An accessor of (count,) or (count, width) values in a view of its own."""
        array = np.asarray(values)
        array = array.reshape(len(array), -1).astype("<" + dtype)
        kind = kind or WIDTHS[array.shape[1]]
        view = self.view(array.tobytes())
        return self.add("accessors", {"bufferView": view, "componentType": COMPONENTS[dtype], "count": len(array), "type": kind, **more})

    def node(self, parent: int | None = None, **fields: Any) -> int:
        """A node below `parent` (None: a root of the scene)."""
        node = self.add("nodes", fields)
        if parent is None:
            self.json["scenes"][0]["nodes"].append(node)
        else:
            self.json["nodes"][parent].setdefault("children", []).append(node)
        return node

    def animation(self, channels: Sequence[tuple[int, str, Any, Any, str]], **fields: Any) -> int:
        """An animation of (node, path, times, values, interpolation) channels."""
        item: dict[str, Any] = {"channels": [], "samplers": [], **fields}
        for node, path, times, values, mode in channels:
            keys = np.asarray(values, dtype=float)
            keys = keys.reshape(-1) if path == "weights" else keys.reshape(-1, keys.shape[-1])
            sampler = {"input": self.accessor(times), "output": self.accessor(keys), "interpolation": mode}
            item["samplers"].append(sampler)
            item["channels"].append({"sampler": len(item["samplers"]) - 1, "target": {"node": node, "path": path}})
        return self.add("animations", item)

    def glb(self) -> bytes:
        content = dict(self.json)
        if self.data:
            content["buffers"] = [{"byteLength": len(self.data)}]
        return pack_glb(json.dumps(content).encode(), bytes(self.data) if self.data else None)

    def gltf(self, uri: str | None = None) -> str:
        """As .gltf text with its buffer at `uri` (None: inside, as a data URI)."""
        uri = uri or "data:application/octet-stream;base64," + base64.b64encode(bytes(self.data)).decode()
        return json.dumps({**self.json, "buffers": [{"byteLength": len(self.data), "uri": uri}]})

    def save(self, path: Path) -> Path:
        path.write_bytes(self.glb())
        return path


def pack_glb(text: bytes, data: bytes | None) -> bytes:
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text
    if data is not None:
        data += b"\0" * (-len(data) % 4)
        body += struct.pack("<II", len(data), 0x004E4942) + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


BOX = np.array([[x, y, z] for y in (0.0, 1.0) for x, z in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))])
BOX_TRIANGLES = [
    [0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6], [0, 4, 5], [0, 5, 1], [1, 5, 6], [1, 6, 2], [2, 6, 7], [2, 7, 3], [3, 7, 4], [3, 4, 0],
]  # fmt: skip


class Post(Gltf):
    """A skinned post of three boxes on a chain of three joints, 1.8 m tall: joints at 0, 0.6 and 1.2 m.

    Attributes:
        joints: their nodes.
        body: the mesh node.
        positions: (24, 3) bind-space vertices.
        influences: (24, 4) skin joints, all weight on the first.
    """

    HEIGHT = 1.8

    def __init__(self, above: int | None = None, *, build: bool = True) -> None:
        super().__init__()
        self.joints: list[int] = []
        self.positions = np.concatenate([BOX * (0.15, 0.6, 0.1) + (0.0, 0.6 * i, 0.0) for i in range(3)])
        self.influences = np.repeat(np.eye(4, dtype=int)[0:1] * 0, 24, axis=0)
        self.influences[:, 0] = np.repeat(np.arange(3), 8)
        self.weights = np.tile((1.0, 0.0, 0.0, 0.0), (24, 1))
        self.triangles = np.concatenate([np.array(BOX_TRIANGLES) + 8 * i for i in range(3)])
        if build:
            self.chain(above)
            self.dress()

    def chain(self, above: int | None = None) -> None:
        parent = above
        for i, name in enumerate(("low", "middle", "high")):
            parent = self.node(parent, name=name, translation=[0.0, 0.6 if i else 0.0, 0.0])
            self.joints.append(parent)

    def dress(self, binds: Any = None) -> None:
        """The skin (inverse binds of the plain chain unless given), the mesh and its node."""
        if binds is None:
            binds = np.tile(np.eye(4), (3, 1, 1))
            binds[:, 1, 3] = (0.0, -0.6, -1.2)
        columns = np.asarray(binds).transpose(0, 2, 1).reshape(3, 16)
        skin = self.add("skins", {"joints": self.joints, "inverseBindMatrices": self.accessor(columns)})
        mesh = self.add("meshes", {"name": "post", "primitives": [self.primitive()]})
        self.body = self.node(name="body", mesh=mesh, skin=skin)

    def primitive(self, **attributes: int) -> dict[str, Any]:
        return {
            "attributes": {
                "POSITION": self.accessor(self.positions),
                "JOINTS_0": self.accessor(self.influences, "u1"),
                "WEIGHTS_0": self.accessor(self.weights),
                **attributes,
            },
            "indices": self.accessor(self.triangles.reshape(-1), "u2"),
        }


def turn(axis: str, degrees: float) -> list[float]:
    """A rotation about an axis as xyzw."""
    half = np.radians(degrees) / 2
    q = [0.0, 0.0, 0.0, float(np.cos(half))]
    q["xyz".index(axis)] = float(np.sin(half))
    return q

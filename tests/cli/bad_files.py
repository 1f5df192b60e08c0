"""Files that no command can use, each made from a sample character."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

HEADER = struct.Struct("<4sII")
CHUNK = struct.Struct("<I4s")


def unpacked(glb: bytes) -> tuple[dict[str, Any], bytes]:
    """JSON and binary part of a GLB."""
    length, _ = CHUNK.unpack_from(glb, HEADER.size)
    start = HEADER.size + CHUNK.size
    return json.loads(glb[start : start + length]), glb[start + length + CHUNK.size :]


def packed(document: dict[str, Any], binary: bytes) -> bytes:
    """A GLB of them."""
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = CHUNK.pack(len(text), b"JSON") + text + CHUNK.pack(len(binary), b"BIN\0") + binary
    return HEADER.pack(b"glTF", 2, HEADER.size + len(chunks)) + chunks


def without_skin(glb: bytes) -> bytes:
    document, binary = unpacked(glb)
    del document["skins"]
    for node in document["nodes"]:
        node.pop("skin", None)
    return packed(document, binary)


def with_cycle(glb: bytes) -> bytes:
    document, binary = unpacked(glb)
    nodes = document["nodes"]
    parent = next(i for i, node in enumerate(nodes) if node.get("children"))
    nodes[nodes[parent]["children"][0]].setdefault("children", []).append(parent)
    return packed(document, binary)


def with_nan(glb: bytes) -> bytes:
    document, binary = unpacked(glb)
    accessor = document["accessors"][document["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]
    start = document["bufferViews"][accessor["bufferView"]].get("byteOffset", 0) + accessor.get("byteOffset", 0)
    return packed(document, binary[: start + 8] + struct.pack("<f", float("nan")) + binary[start + 12 :])


CONTENTS: dict[str, Callable[[bytes], bytes]] = {
    "empty.glb": lambda glb: b"",
    "header_only.glb": lambda glb: glb[:12],
    "cut_in_json.glb": lambda glb: glb[:400],
    "cut_in_data.glb": lambda glb: glb[: len(glb) // 2],
    "picture.glb": lambda glb: b"\x89PNG\r\n\x1a\n" + bytes(200),
    "prose.gltf": lambda glb: b"once upon a time",
    "list.gltf": lambda glb: b"[1, 2, 3]",
    "bytes.gltf": lambda glb: bytes(range(256)),
    "binary_inside.gltf": lambda glb: glb,
    "model.fbx": lambda glb: b"Kaydara FBX Binary  \0" + bytes(100),
    "no_suffix": lambda glb: glb,
    "no_skin.glb": without_skin,
    "cycle.glb": with_cycle,
    "nan.glb": with_nan,
}
"""By file name; what is in the file, made from a good GLB."""


def make(folder: Path, name: str, glb: bytes) -> Path:
    """The bad file `name` in `folder`: one of CONTENTS, "missing.glb" or "folder.glb"."""
    path = folder / name
    if name == "folder.glb":
        path.mkdir()
    elif name != "missing.glb":
        path.write_bytes(CONTENTS[name](glb))
    return path

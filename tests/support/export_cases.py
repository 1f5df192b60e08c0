"""Characters and motions to export: the samples, and the samples changed in ways that files in the wild are."""

from __future__ import annotations

import copy
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.motion import Motion
from akd_sdk.rig import Rig

Array = NDArray[np.float64]
SCALED_JOINTS = 3
SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def split_glb(data: bytes) -> tuple[dict[str, Any], bytes]:
    """JSON and BIN of a GLB."""
    size = struct.unpack_from("<I", data, 12)[0]
    content = json.loads(data[20 : 20 + size])
    return content, data[28 + size : 28 + size + struct.unpack_from("<I", data, 20 + size)[0]]


def join_glb(content: dict[str, Any], blob: bytes) -> bytes:
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    blob += b"\0" * (-len(blob) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(blob))
    return head + struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(blob), 0x004E4942) + blob


class Draft:
    """A sample to change: its JSON, bytes and the joints' transforms."""

    def __init__(self, name: str) -> None:
        self.json, blob = split_glb((SAMPLES / name).read_bytes())
        self.blob = bytearray(blob)
        self.joints: list[int] = self.json["skins"][0]["joints"]
        self.binds = self._matrices(self.json["skins"][0]["inverseBindMatrices"])

    def _matrices(self, index: int) -> Array:
        accessor = self.json["accessors"][index]
        view = self.json["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        flat = np.frombuffer(bytes(self.blob), "<f4", accessor["count"] * 16, start).astype(np.float64)
        return flat.reshape(-1, 4, 4).transpose(0, 2, 1)

    def add_binds(self, binds: Array) -> int:
        """A new accessor of matrices (n, 4, 4)."""
        self.blob += b"\0" * (-len(self.blob) % 4)
        data = binds.transpose(0, 2, 1).astype("<f4").tobytes()
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.blob), "byteLength": len(data)})
        self.blob += data
        view = len(self.json["bufferViews"]) - 1
        self.json["accessors"].append({"bufferView": view, "componentType": 5126, "count": len(binds), "type": "MAT4"})
        return len(self.json["accessors"]) - 1

    def wrap(self, **transform: list[float]) -> None:
        """Hang everything but the mesh nodes below a new root with this transform."""
        roots = self.json["scenes"][0]["nodes"]
        bones = [root for root in roots if "mesh" not in self.json["nodes"][root]]
        self.json["nodes"].append({"name": "Armature", "children": bones, **transform})
        self.json["scenes"][0]["nodes"] = [len(self.json["nodes"]) - 1, *(root for root in roots if root not in bones)]

    def bytes(self) -> bytes:
        self.json["buffers"][0]["byteLength"] = len(self.blob)
        return join_glb(self.json, bytes(self.blob))


def parents_of(content: dict[str, Any]) -> dict[int, int]:
    return {child: i for i, node in enumerate(content["nodes"]) for child in node.get("children", [])}


def plain(draft: Draft) -> None:
    draft.json["extras"] = {"kept": [1, 2.5, "ä", None, {"deep": True}]}
    draft.json["nodes"][3]["extensions"] = {"VENDOR_unknown": {"value": 0.1}}
    draft.json["extensionsUsed"] = ["VENDOR_unknown"]


def armature100(draft: Draft) -> None:
    """An armature scaled by 100 over bones in centimetres, as FBX converters write it."""
    for node in draft.json["nodes"]:
        if "translation" in node:
            node["translation"] = [value / 100.0 for value in node["translation"]]
    draft.wrap(scale=[100.0, 100.0, 100.0])
    draft.binds[:, :3] /= 100.0
    draft.json["skins"][0]["inverseBindMatrices"] = draft.add_binds(draft.binds)


def turned(draft: Draft) -> None:
    draft.wrap(rotation=Rotation.from_euler("YX", [130.0, 4.0], degrees=True).as_quat().tolist(), translation=[3.0, 0.5, -7.0])


def mirrored(draft: Draft) -> None:
    draft.wrap(scale=[-1.0, 1.0, 1.0])


def rolled(draft: Draft) -> None:
    """Every joint turned at random about itself, as exporters leave bones; the character looks the same."""
    rng = np.random.default_rng(3)
    nodes, above = draft.json["nodes"], parents_of(draft.json)
    local = {i: np.eye(4) for i in range(len(nodes))}
    for i, node in enumerate(nodes):
        local[i][:3, :3] = Rotation.from_quat(node.get("rotation", [0, 0, 0, 1])).as_matrix()
        local[i][:3, 3] = node.get("translation", [0, 0, 0])
    roll = {i: np.eye(4) for i in range(len(nodes))}
    for order, joint in enumerate(draft.joints):
        roll[joint][:3, :3] = Rotation.random(rng=rng).as_matrix()
        draft.binds[order] = roll[joint].T @ draft.binds[order]
    for i, node in enumerate(nodes):
        if "mesh" in node:
            continue
        new = (roll[above[i]].T if i in above else np.eye(4)) @ local[i] @ roll[i]
        node["rotation"] = Rotation.from_matrix(new[:3, :3]).as_quat().tolist()
        node["translation"] = new[:3, 3].tolist()
    draft.json["skins"][0]["inverseBindMatrices"] = draft.add_binds(draft.binds)


def matrices(draft: Draft) -> None:
    """Nodes with matrices in place of translation, rotation and scale."""
    rolled(draft)
    for node in draft.json["nodes"]:
        if "mesh" not in node:
            m = np.eye(4)
            m[:3, :3] = Rotation.from_quat(node.pop("rotation", [0, 0, 0, 1])).as_matrix()
            m[:3, 3] = node.pop("translation", [0, 0, 0])
            node["matrix"] = m.T.reshape(-1).tolist()


def two_skins(draft: Draft) -> None:
    """A second mesh node bound in a space of its own, and a third that disagrees about one joint."""
    shift = np.eye(4)
    shift[:3, :3] = 0.01 * Rotation.from_euler("X", 90.0, degrees=True).as_matrix()
    odd = draft.binds.copy()
    odd[5] = odd[5] @ np.diag([1.2, 1.2, 1.2, 1.0])
    for number, binds in enumerate((draft.binds @ shift, odd)):
        skin = copy.deepcopy(draft.json["skins"][0])
        skin |= {"inverseBindMatrices": draft.add_binds(binds), "name": f"skin {number}"}
        draft.json["skins"].append(skin)
        draft.json["nodes"].append({"mesh": 0, "skin": number + 1, "name": f"body {number}"})
        draft.json["scenes"][0]["nodes"].append(len(draft.json["nodes"]) - 1)


def stretched(draft: Draft) -> None:
    """Bones with scales that half precision does not hold."""
    for joint in draft.joints[1:6]:
        draft.json["nodes"][joint]["scale"] = [1.1, 1.1, 1.1]


CASES: dict[str, Callable[[Draft], None]] = {
    "plain": plain,
    "armature100": armature100,
    "turned": turned,
    "mirrored": mirrored,
    "rolled": rolled,
    "matrices": matrices,
    "two_skins": two_skins,
    "stretched": stretched,
}


def write_case(name: str, folder: Path, sample: str = "quadruped.glb") -> Path:
    draft = Draft(sample)
    CASES[name](draft)
    path = folder / f"{name}.glb"
    path.write_bytes(draft.bytes())
    return path


def smooth_motion(rig: Rig, seed: int = 0, *, frames: int = 13, fps: float = 30.0, scaled: bool = False) -> Motion:
    """A random motion of every second joint, quick enough for interpolation to matter; some bones change length, or scale if asked."""
    rng = np.random.default_rng(seed)
    skeleton, t = rig.skeleton, np.arange(frames)[:, None, None] / fps
    count = skeleton.count
    waves = sum(
        rng.normal(0.0, 0.5 / k, (1, count, 3)) * np.sin(2.0 * np.pi * (k * t * 1.5 + rng.uniform(0, 1, (1, count, 3)))) for k in (1, 2)
    )
    waves[:, rng.permutation(count)[: count // 2]] = 0.0
    turns = Rotation.from_rotvec(waves.reshape(-1, 3)) * Rotation.from_quat(np.tile(skeleton.rest.rotations, (frames, 1)))
    rotations = turns.as_quat().reshape(frames, count, 4) * rng.choice([-1.0, 1.0], (frames, count, 1))
    size = 1.0 / rig.human_scale
    translations = np.tile(skeleton.rest.translations, (frames, 1, 1))
    for j in rng.permutation(count)[:4]:
        translations[:, j] += 0.05 * size * np.sin(9.0 * t[:, 0] + rng.uniform(0, 6, 3))
    scales = np.tile(skeleton.rest.scales, (frames, 1, 1)) if scaled else None
    if scales is not None:
        for j in rng.permutation(count)[:SCALED_JOINTS]:
            scales[:, j] *= 1.0 + 0.2 * np.sin(8.0 * t[:, 0])
    start = skeleton.rest_world[max(skeleton.pelvis, 0), :3, 3]
    root = start + size * np.concatenate([0.1 * np.sin(7 * t[:, 0]), 0.1 * np.cos(9 * t[:, 0]), 2.0 * t[:, 0]], axis=1)
    return Motion("swing", rotations, root, fps, translations=translations, scales=scales)

"""The clips that reduction is measured on: dense, float32, at human size, each with an animation-only GLB for the tools of others."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.exporters.clip import Clip, Track
from akd_sdk.exporters.gltf import key_data
from akd_sdk.formats.gltf.animation import Animation, read_animations
from akd_sdk.formats.gltf.container import Document, load
from akd_sdk.formats.gltf.scene import Scene, read_scene
from akd_sdk.rig import Rig, Skeleton, Source, Transforms
from akd_sdk.rotations import quat_continuous
from tests.support.export_cases import smooth_motion

Array = NDArray[np.float64]
HUMAN = 1.7
MOST_FRAMES = 360
RATES = (24, 25, 30)
RATE = 30
PATHS = ("translation", "rotation", "scale")


@dataclass(frozen=True)
class Case:
    """One clip: its set, its name, and a rig in whose file one unit is a metre at human size."""

    set: str
    name: str
    rig: Rig
    clip: Clip

    @property
    def label(self) -> str:
        return f"{self.set} {self.name}"


def listed(sets: Path, data: Path) -> Iterator[Case]:
    """The clips of a list (set|file|animation names) whose files lie under `data`."""
    for row in sets.read_text().splitlines():
        if row.startswith("#") or row.count("|") < 2:
            continue
        group, name, wanted = row.replace("\\|", "\0").split("|")
        path = data / name
        if path.is_file():
            chosen = None if wanted == "*" else {pick.replace("\0", "|") for pick in wanted.split(";")}
            yield from [bvh_case(group, path)] if path.suffix == ".bvh" else glb_cases(group, path, chosen)


def glb_cases(group: str, path: Path, chosen: set[str] | None = None) -> Iterator[Case]:
    """Clips of a glTF file."""
    document = load(path)
    scene = read_scene(document)
    for animation in read_animations(document):
        if chosen is None or animation.name in chosen:
            case = _glb_case(group, path.stem, document, scene, animation)
            if case is not None:
                yield case


def _glb_case(group: str, stem: str, document: Document, scene: Scene, animation: Animation) -> Case | None:
    channels = [channel for channel in animation.channels if channel.path in PATHS]
    kept = {joint for skin in document.items("skins") for joint in skin["joints"]} | {channel.node for channel in channels}
    kept = {above for node in kept for above in scene.line(node)}
    nodes = [int(node) for node in scene.order if node in kept]
    index = {node: j for j, node in enumerate(nodes)}
    parents = np.array([index.get(int(scene.parents[node]), -1) for node in nodes])
    places = scene.world[nodes, :3, 3]
    size = HUMAN / float(np.ptp(places, axis=0).max())
    rest = Transforms(scene.translations[nodes] * size, scene.rotations[nodes], scene.scales[nodes])
    spacing = np.concatenate([np.diff(channel.times) for channel in channels if len(channel.times) > 2] or [np.full(1, 1.0 / RATE)])
    rate = round(1.0 / float(np.median(spacing)))
    fps = rate if rate in RATES else RATE
    frames = min(round(max(channel.times[-1] for channel in channels) * fps), MOST_FRAMES - 1) + 1
    if frames < 3:
        return None
    times = np.arange(frames) / fps
    tracks = []
    for channel in channels:
        values = channel.at(times) * (size if channel.path == "translation" else 1.0)
        values = quat_continuous(values) if channel.path == "rotation" else values
        tracks.append(Track(index[channel.node], channel.path, times, values))  # type: ignore[arg-type]
    name = f"{stem} {(animation.name or '').split('|')[-1]}"
    return _case(group, name, [scene.nodes[node].get("name", f"node{node}") for node in nodes], parents, rest, tracks, fps)


def _case(group: str, name: str, names: list[str], parents: Array, rest: Transforms, tracks: list[Track], fps: float) -> Case:
    unique = tuple(text if text not in names[:j] else f"{text}__{j}" for j, text in enumerate(names))
    skeleton = Skeleton.bare(unique, unique, np.arange(len(names)), parents.astype(np.int64), rest)
    source = Source(Path(f"{name}.glb"), "glb", 1.0, np.eye(3), np.zeros(3), np.ones(len(names)))
    rig = Rig(name, skeleton, (), (), source, "unknown", HUMAN, np.array([0.0, 0.0, 1.0]), (), 0.0, 1.0)
    return Case(group, name, rig, Clip(name, skeleton, float(fps), float(tracks[0].times[-1]), False, "hips", tuple(tracks)))


def bvh_case(group: str, path: Path) -> Case:
    """A BVH file's motion, thinned to 30 frames a second."""
    words = path.read_text(errors="replace").split()
    names: list[str] = []
    parents: list[int] = []
    offsets: list[list[float]] = []
    channels: list[list[str]] = []
    stack: list[int] = []
    at = 0
    while words[at] != "MOTION":
        word = words[at]
        if word in ("ROOT", "JOINT", "End"):
            names.append(words[at + 1] if word != "End" else "")
            parents.append(stack[-1] if stack else -1)
            channels.append([])
        elif word == "{":
            stack.append(len(names) - 1)
        elif word == "}":
            stack.pop()
        elif word == "OFFSET":
            offsets.append([float(text) for text in words[at + 1 : at + 4]])
        elif word == "CHANNELS":
            channels[-1] = words[at + 2 : at + 2 + int(words[at + 1])]
        at += 1
    count, spacing = int(words[at + 2]), float(words[at + 5])
    data = np.array(words[at + 6 :], dtype=np.float64).reshape(count, -1)
    every = max(1, round(1.0 / spacing / RATE))
    data = data[::every][:MOST_FRAMES]
    return _bvh_case(group, path.stem, (names, parents, np.array(offsets), channels), data, round(1.0 / spacing) / every)


def _bvh_case(group: str, stem: str, tree: tuple[list[str], list[int], Array, list[list[str]]], data: Array, fps: float) -> Case:
    names, parents, offsets, channels = tree
    places = np.zeros_like(offsets)
    for j, parent in enumerate(parents):
        places[j] = offsets[j] + (places[parent] if parent >= 0 else 0.0)
    size = HUMAN / float(np.ptp(places, axis=0).max())
    joints = [j for j in range(len(names)) if channels[j]]
    index = {j: k for k, j in enumerate(joints)}
    times = np.arange(len(data)) / fps
    tracks, column = [], 0
    for j in joints:
        moves, order, angles = np.tile(offsets[j], (len(data), 1)), "", []
        for channel in channels[j]:
            if channel.endswith("position"):
                moves[:, "XYZ".index(channel[0])] = data[:, column]
            else:
                order += channel[0]
                angles.append(data[:, column])
            column += 1
        turns = Rotation.from_euler(order, np.stack(angles, axis=1), degrees=True).as_quat()
        if any(channel.endswith("position") for channel in channels[j]):
            tracks.append(Track(index[j], "translation", times, moves * size))
        tracks.append(Track(index[j], "rotation", times, quat_continuous(turns)))
    count = len(joints)
    rest = Transforms(offsets[joints] * size, np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)), np.ones((count, 3)))
    return _case(group, stem, [names[j] for j in joints], np.array([index.get(parents[j], -1) for j in joints]), rest, tracks, fps)


def sample_cases(rigs: list[Rig]) -> Iterator[Case]:
    """Made motion of the sample characters, where there is no shared data."""
    for rig in rigs:
        skeleton, clip = rig.skeleton, Clip.from_motion(rig, smooth_motion(rig, frames=90))
        rest = Transforms(skeleton.rest.translations * rig.human_scale, skeleton.rest.rotations, skeleton.rest.scales)
        tracks = [
            Track(track.joint, track.path, track.times, track.values * (rig.human_scale if track.path == "translation" else 1.0))
            for track in clip.tracks
        ]
        yield _case("samples", rig.name, list(skeleton.names), skeleton.parents.astype(np.float64), rest, tracks, clip.fps)


def dense_glb(case: Case) -> bytes:
    """The clip as an animation-only GLB with float32 keys at every frame."""
    skeleton = case.rig.skeleton
    keys = key_data(case.rig, case.clip)
    nodes = []
    for j, name in enumerate(skeleton.names):
        node: dict[str, object] = {"name": name}
        node["translation"] = skeleton.rest.translations[j].astype(np.float32).astype(float).tolist()
        node["rotation"] = skeleton.rest.rotations[j].astype(np.float32).astype(float).tolist()
        node["scale"] = skeleton.rest.scales[j].astype(np.float32).astype(float).tolist()
        children = np.flatnonzero(skeleton.parents == j).tolist()
        if children:
            node["children"] = children
        nodes.append(node)
    content = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": np.flatnonzero(skeleton.parents < 0).tolist()}],
        "nodes": nodes,
        "animations": [{"name": case.clip.name, "channels": keys.channels, "samplers": keys.samplers}],
        "accessors": keys.accessors,
        "bufferViews": keys.views(),
        "buffers": [{"byteLength": sum(len(block) for block in keys.blocks)}],
    }
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    data = b"".join(bytes(block) for block in keys.blocks)
    head = struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(data))
    return head + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data

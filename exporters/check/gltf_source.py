"""A glTF file as it is checked: its clips with their keys as they lie there, faults included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import BackendError, ReadError
from akd_sdk.formats.gltf import Document, Scene, floats, load, read_scene
from akd_sdk.formats.gltf.animation import PATHS
from akd_sdk.formats.gltf.fields import Json, child, label, name_of, objects, optional_reference, reference, references, text
from akd_sdk.formats.gltf.meshopt import compressed

Array = NDArray[np.float64]

SIGN_FILTER: Final = "QUATERNION"
"""A filter of compressed rotations that keeps no signs."""
BYTE: Final = 5120
FLOAT: Final = 5126


@dataclass(frozen=True)
class RawTrack:
    """A channel that was read.

    Attributes:
        node: its index.
        path: "translation", "rotation", "scale" or "weights".
        label: how findings call it.
        times: (keys,) seconds.
        raw: all numbers of its output, (rows, width).
        values: (keys, width), without tangents.
        mode: "LINEAR", "STEP" or "CUBICSPLINE".
        component: type of the stored numbers, as in the accessor.
        signed: their signs are those of the source; False where a filter chose them.
    """

    node: int
    path: str
    label: str
    times: Array
    raw: Array
    values: Array
    mode: str
    component: int
    signed: bool


@dataclass(frozen=True)
class RawClip:
    """An animation.

    Attributes:
        label: how findings call it.
        name: None where it has none.
        tracks: those that were read.
        unreadable: why others were not.
        compressed: how many are compressed by what is not installed here.
        foreign: how many move what extensions point at: materials, lights, cameras.
        extras: what the file says beside; empty where that is no object.
    """

    label: str
    name: str | None
    tracks: tuple[RawTrack, ...]
    unreadable: tuple[str, ...]
    compressed: int
    foreign: int
    extras: Mapping[str, Any]

    @property
    def loop(self) -> bool | None:
        """Whether the file says that the clip loops; None where it says nothing."""
        found = self.extras.get("loop")
        return found if isinstance(found, bool) else None

    @property
    def fps(self) -> float | None:
        """Frames a second, where the file says so."""
        found = self.extras.get("fps")
        usable = isinstance(found, int | float) and not isinstance(found, bool) and 0 < found < 1e6
        return float(found) if usable and found is not None else None


@dataclass(frozen=True)
class GltfSource:
    """A file.

    Attributes:
        document: its JSON and bytes.
        scene: its nodes.
        skins: joints of each skin, by node.
        clips: its animations.
    """

    document: Document
    scene: Scene
    skins: tuple[tuple[int, ...], ...]
    clips: tuple[RawClip, ...]

    @property
    def bones(self) -> frozenset[int]:
        """Nodes that skins list or clips move: what engines have to find."""
        moved = {track.node for clip in self.clips for track in clip.tracks}
        return frozenset(moved.union(*self.skins))

    def name(self, node: int) -> str | None:
        """A node's name."""
        return name_of(self.scene.nodes[node])


def read_gltf(path: Path) -> GltfSource:
    """The file at `path`; ReadError where its container, nodes or skins cannot be read. Keys that cannot be are told of in their clip."""
    document = load(path, any_extension=True)
    try:
        scene = read_scene(document)
        count = len(scene.nodes)
        skins = tuple(tuple(references(skin, "joints", count, f"skin {i}")) for i, skin in enumerate(document.items("skins")))
        clips = tuple(_clip(document, i, item) for i, item in enumerate(document.items("animations")))
    except ReadError as fault:
        raise fault.at(path) from fault
    return GltfSource(document, scene, skins, clips)


def _clip(document: Document, index: int, item: Json) -> RawClip:
    where = label("clip", index, item.get("name"))
    tracks, unreadable, packed, foreign = [], [], 0, 0
    samplers = objects(item, "samplers", where)
    for number, channel in enumerate(objects(item, "channels", where)):
        try:
            read = _track(document, channel, samplers, f"channel {number}")
        except ReadError as fault:
            unreadable.append(fault.fault)
        except BackendError:
            packed += 1
        else:
            tracks += [] if read is None else [read]
            foreign += read is None and "extensions" in child(channel, "target", where)
    extras = item.get("extras")
    return RawClip(where, name_of(item), tuple(tracks), tuple(unreadable), packed, foreign, extras if isinstance(extras, dict) else {})


def _track(document: Document, channel: Json, samplers: list[Json], where: str) -> RawTrack | None:
    """The channel's track; None where it moves what glTF does not know."""
    target = child(channel, "target", where)
    nodes = document.items("nodes")
    node, path = optional_reference(target, "node", len(nodes), where), text(target, "path", where)
    if node is None or path not in PATHS:
        return None
    called = f"{path} of {label('node', node, nodes[node].get('name'))}"
    sampler = samplers[reference(channel.get("sampler"), len(samplers), f"sampler of {called}")]
    mode = text(sampler, "interpolation", called) or "LINEAR"
    if mode not in ("LINEAR", "STEP", "CUBICSPLINE"):
        raise ReadError(f"{called}: interpolation is {mode[:40]!r}")
    accessors = document.items("accessors")
    places = [reference(sampler.get(key), len(accessors), f"{key} of {called}") for key in ("input", "output")]
    times = floats(document, places[0], ("SCALAR",), f"times of {called}", finite=False)
    raw = floats(document, places[1], PATHS[path], called, finite=False)
    rows = len(times) * (3 if mode == "CUBICSPLINE" else 1)
    if path == "weights" and len(raw) % rows == 0:
        raw = raw.reshape(rows, -1)
    if len(raw) != rows:
        raise ReadError(f"{called} has {len(raw)} values for {len(times)} key times")
    raw = raw.reshape(rows, -1)
    values = raw[1::3] if mode == "CUBICSPLINE" else raw
    output = accessors[places[1]]
    view = optional_reference(output, "bufferView", len(document.items("bufferViews")), called)
    told = None if view is None else compressed(document.items("bufferViews")[view])
    signed = told is None or told.get("filter") != SIGN_FILTER
    return RawTrack(node, path, called, times, raw, values, mode, int(output.get("componentType", FLOAT)), signed)

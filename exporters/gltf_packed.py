"""Compressed keys in a GLB: buffer views of EXT_meshopt_compression, whose plain bytes are nowhere in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from akd_sdk.exporters.clip import Clip
from akd_sdk.exporters.gltf_keys import FLOAT, SHORT
from akd_sdk.formats.gltf.fields import Json
from akd_sdk.formats.gltf.write import Appender

if TYPE_CHECKING:
    from akd_sdk.exporters.reduction.meshopt import Encoded, Place, View

EXTENSION: Final = "EXT_meshopt_compression"
TYPES: Final = {4: ("SCALAR", FLOAT), 8: ("VEC4", SHORT), 12: ("VEC3", FLOAT), 16: ("VEC4", FLOAT)}
"""Type and component type of accessors by the bytes of a row."""


def fits(clip: Clip, packed: Encoded) -> bool:
    """Whether the packed keys are the clip's tracks, key for key: what holds still to its end has a key more, which is not packed."""
    kept = [len(track.times) for track in clip.tracks]
    return kept == [channel.times.count for channel in packed.channels]


def packed_animation(clip: Clip, packed: Encoded, appender: Appender) -> Json:
    """Channels and samplers of a clip's tracks, target nodes those of its skeleton; views and accessors are appended."""
    views = [_view(view, appender) for view in packed.views]
    known: dict[tuple[Place, bool], int] = {}
    accessors: list[Json] = appender.json.setdefault("accessors", [])

    def accessor(place: Place, times: np.ndarray | None) -> int:
        key = (place, times is not None)
        if key not in known:
            stride = packed.views[place.view].stride
            kind, component = TYPES[stride]
            made: Json = {"bufferView": views[place.view], "componentType": component, "count": place.count, "type": kind}
            if place.first:
                made["byteOffset"] = place.first * stride
            if component == SHORT:
                made["normalized"] = True
            if times is not None:
                made |= {"min": [float(np.float32(times[0]))], "max": [float(np.float32(times[-1]))]}
            accessors.append(made)
            known[key] = len(accessors) - 1
        return known[key]

    samplers: list[Json] = []
    channels: list[Json] = []
    for track, channel in zip(clip.tracks, packed.channels, strict=True):
        sampler: Json = {"input": accessor(channel.times, track.times), "output": accessor(channel.values, None)}
        if channel.held:
            sampler["interpolation"] = "STEP"
        samplers.append(sampler)
        target = {"node": int(clip.skeleton.nodes[track.joint]), "path": track.path}
        channels.append({"sampler": len(samplers) - 1, "target": target})
    return {"channels": channels, "samplers": samplers}


def _view(view: View, appender: Appender) -> int:
    """A compressed view in the file; its index."""
    content = appender.json
    for key in ("extensionsUsed", "extensionsRequired"):
        if EXTENSION not in content.setdefault(key, []):
            content[key].append(EXTENSION)
    index = appender.view(view.data)
    held = content["bufferViews"][index]
    plain = view.count * view.stride
    told = view.extension(0, held["byteOffset"])
    buffer = _fallback(content)
    start = content["buffers"][buffer]["byteLength"]
    content["bufferViews"][index] = {"buffer": buffer, "byteOffset": start, "byteLength": plain, "extensions": {EXTENSION: told}}
    content["buffers"][buffer]["byteLength"] = start + plain + -plain % 4
    return index


def _fallback(content: Json) -> int:
    """The buffer without data that stands for what compressed views of ours hold: the last, made where there is none."""
    last = content["buffers"][-1]
    mine = "akd" in last.get("extras", {}) and len(content["buffers"]) > 1
    if not mine:
        content["buffers"].append({"byteLength": 0, "extensions": {EXTENSION: {"fallback": True}}, "extras": {"akd": "compressed keys"}})
    return len(content["buffers"]) - 1

"""glTF: clips are added to the character's own file, everything else in it kept value for value."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import Clip, Track, require_own, unique_name
from akd_sdk.exporters.gltf_keys import KeyData
from akd_sdk.exporters.options import PLAIN, ExportOptions
from akd_sdk.formats.atomic import write_whole
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import Json
from akd_sdk.formats.gltf.write import Appender, taken_names
from akd_sdk.rig import Rig
from akd_sdk.rotations import decompose, quat_conjugate, quat_from_matrix, quat_multiply

Array = NDArray[np.float64]


def export_gltf(rig: Rig, clips: Sequence[Clip], path: str | PathLike[str], *, force: bool = False, options: ExportOptions = PLAIN) -> Path:
    """Write a self-contained GLB: the rig's source file with the clips appended as animations; its path.

    Keys are float32 (rotations int16 where the track says so), linear or held, in the file's own unit, from 0 to the clip's duration; what
    a clip does not move has no channel. Names that the file has already get a number. Each animation's `extras` hold `Clip.facts()`.
    Raises ExportError: the rig does not come from a glTF file, a clip is of another skeleton, the file cannot be written.
    """
    options.only(path)
    document = rig.source.document
    if not isinstance(document, Document):
        raise ExportError("a GLB can be written only for a character read from glTF", path, "write .usda or .bvh")
    appender = Appender(document)
    animations: list[Json] = appender.json.setdefault("animations", [])
    names = taken_names(appender.json, "animations")
    for clip in clips:
        require_own(rig, clip)
        animations.append(_animation(rig, clip, unique_name(clip.name, names), appender))
    return write_whole(path, appender.glb(), force=force)


def _animation(rig: Rig, clip: Clip, name: str, appender: Appender) -> Json:
    """One animation's JSON; its keys are appended."""
    keys = key_data(rig, clip)
    for node in {channel["target"]["node"] for channel in keys.channels if channel["target"]["path"] != "weights"}:
        _split_matrix(appender.json["nodes"][node])
    views = [appender.view(bytes(block)) if block else -1 for block in keys.blocks]
    accessors: list[Json] = appender.json.setdefault("accessors", [])
    first = len(accessors)
    accessors += [{**accessor, "bufferView": views[accessor["bufferView"]]} for accessor in keys.accessors]
    samplers = [{**sampler, "input": first + sampler["input"], "output": first + sampler["output"]} for sampler in keys.samplers]
    return {"name": name, "channels": keys.channels, "samplers": samplers, "extras": clip.facts()}


def key_data(rig: Rig, clip: Clip) -> KeyData:
    """A clip's keys as its file holds them. Raises ExportError: float32 does not hold them."""
    keys = KeyData()
    try:
        for track in clip.tracks or (() if clip.morphs else (_rest_track(clip),)):
            target = {"node": int(clip.skeleton.nodes[track.joint]), "path": track.path}
            held, short = track.interpolation == "STEP", track.stored == "int16" and track.path == "rotation"
            keys.add(target, track.times, file_values(rig, track), held=held, short=short)
        for node, weights in clip.morphs.items():
            keys.add({"node": int(node), "path": "weights"}, clip.times, weights.reshape(-1))
    except ExportError as fault:
        raise fault.at(clip.name) from fault
    return keys


def file_values(rig: Rig, track: Track) -> Array:
    """A track's values in the file's own unit and axes: `Source.units` and the similarity undone."""
    source, j = rig.source, track.joint
    parent = int(rig.skeleton.parents[j])
    above = float(source.scale if parent < 0 else source.units[parent])
    if track.path == "scale":
        return np.asarray(track.values * (source.units[j] / above))
    if track.path == "translation":
        values = track.values if parent >= 0 else (track.values - source.translation) @ source.rotation
        return np.asarray(values / above)
    return track.values if parent >= 0 else quat_multiply(quat_conjugate(quat_from_matrix(source.rotation)), track.values)


def _rest_track(clip: Clip) -> Track:
    """The track of a clip in which nothing leaves rest: an animation has at least one channel, and its keys give the duration."""
    joint = max(clip.skeleton.pelvis, 0)
    times = np.unique([0.0, clip.duration])
    return Track(joint, "translation", times, np.tile(clip.skeleton.rest.translations[joint], (len(times), 1)))


def _split_matrix(node: Json) -> None:
    """A node's matrix as the T, R and S that glTF demands of a node that moves."""
    if "matrix" in node:
        translation, rotation, scale = decompose(np.array(node.pop("matrix"), dtype=np.float64).reshape(4, 4).T)
        node |= {"translation": translation.tolist(), "rotation": rotation.tolist(), "scale": scale.tolist()}

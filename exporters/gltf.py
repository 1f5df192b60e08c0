"""glTF: clips are added to the character's own file, everything else in it kept value for value, or go into a file of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import LATE_S, Clip, Path3, Track, require_own, unique_name
from akd_sdk.exporters.gltf_keys import KeyData
from akd_sdk.exporters.gltf_packed import fits, packed_animation
from akd_sdk.exporters.names import node_names
from akd_sdk.exporters.options import PLAIN, ExportOptions
from akd_sdk.exporters.root_modes import bones_of
from akd_sdk.formats.atomic import write_whole
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import Json
from akd_sdk.formats.gltf.strip import skeleton_only
from akd_sdk.formats.gltf.write import Appender, taken_names
from akd_sdk.rig import Rig
from akd_sdk.rotations import decompose, quat_conjugate, quat_from_matrix, quat_multiply
from akd_sdk.schemas.profile import Profile

if TYPE_CHECKING:
    from akd_sdk.exporters.reduction.meshopt import Encoded

Array = NDArray[np.float64]


def export_gltf(
    rig: Rig,
    clips: Sequence[Clip],
    path: str | PathLike[str],
    *,
    force: bool = False,
    options: ExportOptions = PLAIN,
    packed: Sequence[Encoded | None] | None = None,
) -> Path:
    """Write a self-contained GLB: the rig's source file with the clips appended as animations; its path.

    Keys are float32 (rotations int16 where the track says so), linear or held, in the file's own unit, from 0 to the clip's duration; what
    a clip does not move has no channel. Names that the file has already get a number. Each animation's `extras` hold `Clip.facts()`.
    Options: `clip_only` writes joints, rest and skins without anything to see, and only these clips; `all_joints` gives every bone all
    channels; `profile` renames nodes whose names its engine would take for one (`renamed_nodes`). packed: compressed keys of each clip.
    Raises ExportError: the rig does not come from a glTF file, a clip is of another skeleton, morph weights without their mesh, a source
    that the profile's engine cannot open, the file cannot be written.
    """
    options.only(path, "clip_only", "all_joints", *(() if packed is None else ("compression",)))
    document = source_of(rig, path)
    if options.profile is not None and not options.clip_only:
        _require_read(document, options.profile, path)
    renamed = renamed_nodes(rig, options.profile)
    place: Mapping[int, int] | None = None
    if options.clip_only:
        document, place = skeleton_only(document, [int(node) for node in rig.skeleton.nodes])
    appender = Appender(document)
    for node, name in renamed.items():
        if place is None or node in place:
            appender.json["nodes"][node if place is None else place[node]]["name"] = name
    animations: list[Json] = appender.json.setdefault("animations", [])
    names = taken_names(appender.json, "animations")
    for clip, keys in zip(clips, packed or [None] * len(clips), strict=True):
        require_own(rig, clip)
        if place is not None and clip.morphs:
            raise ExportError("moves morph targets, which a file without meshes cannot hold", clip.name, "leave out --clip-only")
        named = replace(clip, name=unique_name(clip.name, names))
        animations.append(_animation(rig, named, options, keys, (appender, place)))
    return write_whole(path, appender.glb(), force=force)


def source_of(rig: Rig, path: str | PathLike[str] | None = None) -> Document:
    """The glTF document that a rig was read from. Raises ExportError: it was read from something else."""
    document = rig.source.document
    if not isinstance(document, Document):
        raise ExportError("a GLB can be written only for a character read from glTF", path, "write .usda or .bvh")
    return document


def renamed_nodes(rig: Rig, profile: Profile | None) -> dict[int, str]:
    """New names, by node, of what the profile's engine could not tell apart; the file written by `export_gltf` has them."""
    if profile is None:
        return {}
    nodes = source_of(rig).json.get("nodes", [])
    parents = [-1] * len(nodes)
    for i, node in enumerate(nodes):
        for child in node.get("children", []):
            parents[child] = i
    return node_names([node.get("name") for node in nodes], parents, profile.naming, [int(node) for node in rig.skeleton.nodes])


def _require_read(document: Document, profile: Profile, path: str | PathLike[str]) -> None:
    """ExportError where the source requires what the engine does not read."""
    unread = [name for name in document.json.get("extensionsRequired", []) if name in profile.unread]
    if unread:
        hint = "--clip-only writes the motion without the mesh; or undo the compression of the source first"
        raise ExportError(f"{profile.title} does not read {unread[0]}, which {document.path.name} requires", path, hint)


def with_all_joints(rig: Rig, clip: Clip) -> Clip:
    """The clip with tracks at rest for whatever it does not move of the skins' bones."""
    rest, known = clip.skeleton.rest, {(track.joint, track.path) for track in clip.tracks}
    times = np.unique([0.0, clip.duration])
    properties: tuple[tuple[Path3, Array], ...] = (
        ("translation", rest.translations),
        ("rotation", rest.rotations),
        ("scale", rest.scales),
    )
    still = [
        Track(joint, path, times, np.tile(values[joint], (len(times), 1)))
        for joint in sorted(bones_of(rig))
        for path, values in properties
        if (joint, path) not in known
    ]
    return replace(clip, tracks=(*clip.tracks, *still))


def spanning(clip: Clip) -> Clip:
    """The clip with every track that changes beginning at 0 and ending at the duration, held there; one track at least ends there."""
    tracks = [_spanning(track, clip.duration) for track in clip.tracks]
    if tracks and not clip.morphs and max(float(track.times[-1]) for track in tracks) < clip.duration:
        tracks[0] = replace(tracks[0], times=np.array([0.0, clip.duration]), values=np.repeat(tracks[0].values[:1], 2, axis=0))
    return replace(clip, tracks=tuple(tracks))


def _spanning(track: Track, duration: float) -> Track:
    times, values = track.times, track.values
    if times[0] > 0.0:
        times, values = np.insert(times, 0, 0.0), np.concatenate([values[:1], values])
    if len(times) > 1 and times[-1] < duration - LATE_S:
        times, values = np.append(times, duration), np.concatenate([values, values[-1:]])
    return track if len(times) == len(track.times) else replace(track, times=times, values=values)


def _animation(
    rig: Rig, clip: Clip, options: ExportOptions, packed: Encoded | None, into: tuple[Appender, Mapping[int, int] | None]
) -> Json:
    """One animation's JSON; its keys are appended. into: the file, and where nodes of the source are in it if not at their index."""
    appender, place = into
    whole = with_all_joints(rig, clip) if options.all_joints else clip
    animation: Json = {"channels": [], "samplers": []}
    if packed is not None and clip.tracks and fits(clip, packed):
        animation = packed_animation(clip, packed, appender)
        whole = replace(whole, tracks=whole.tracks[len(clip.tracks) :])  # what it holds beside is plain
    else:
        whole = spanning(whole)
    if whole.tracks or whole.morphs or not animation["channels"]:
        _append(animation, key_data(rig, whole), appender)
    for target in (channel["target"] for channel in animation["channels"]):
        target["node"] = target["node"] if place is None else place[target["node"]]
        if target["path"] != "weights":
            _split_matrix(appender.json["nodes"][target["node"]])
    return {"name": clip.name, **animation, "extras": clip.facts()}


def _append(animation: Json, keys: KeyData, appender: Appender) -> None:
    """Plain keys go to the file, their channels and samplers to the animation."""
    views = [appender.view(bytes(block)) if block else -1 for block in keys.blocks]
    accessors: list[Json] = appender.json.setdefault("accessors", [])
    first, samplers = len(accessors), len(animation["samplers"])
    accessors += [{**accessor, "bufferView": views[accessor["bufferView"]]} for accessor in keys.accessors]
    animation["samplers"] += [
        {**sampler, "input": first + sampler["input"], "output": first + sampler["output"]} for sampler in keys.samplers
    ]
    animation["channels"] += [{**channel, "sampler": samplers + channel["sampler"]} for channel in keys.channels]


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

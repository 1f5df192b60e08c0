"""glTF: clips are added to the character's own file, everything else in it kept value for value."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import Clip, Track, require_own, unique_name
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

    Keys are float32, linear or held, in the file's own unit, from 0 to the clip's duration; what a clip does not move has no channel. Names
    that the file has already get a number. Each animation's `extras` hold `Clip.facts()`.
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
    targets: list[tuple[int, str]] = []
    grids: list[Array] = []
    keys: list[Array] = []
    modes: list[str] = []
    for track in clip.tracks or (() if clip.morphs else (_rest_track(clip),)):
        targets.append((int(clip.skeleton.nodes[track.joint]), track.path))
        grids.append(track.times)
        keys.append(file_values(rig, track))
        modes.append(track.interpolation)
    for node, weights in clip.morphs.items():
        targets.append((int(node), "weights"))
        grids.append(clip.times)
        keys.append(weights.reshape(-1))
        modes.append("LINEAR")
    for node in {node for node, path in targets if path != "weights"}:
        _split_matrix(appender.json["nodes"][node])
    times, inputs = _distinct(grids)
    if any((np.diff(grid.astype(np.float32)) <= 0.0).any() for grid in times):
        raise ExportError(f"keys at {clip.fps:g} frames a second fall together in float32", name, "ask for fewer frames a second")
    accessors = appender.floats([*times, *keys], bounds=tuple(range(len(times))))
    outputs = accessors[len(times) :]
    samplers = [{"input": accessors[i], "interpolation": m, "output": o} for i, m, o in zip(inputs, modes, outputs, strict=True)]
    channels = [{"sampler": i, "target": {"node": node, "path": path}} for i, (node, path) in enumerate(targets)]
    return {"name": name, "channels": channels, "samplers": samplers, "extras": clip.facts()}


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


def _distinct(grids: list[Array]) -> tuple[list[Array], list[int]]:
    """The different time grids, and which of them each track has."""
    times: list[Array] = []
    where: dict[bytes, int] = {}
    for grid in grids:
        if grid.tobytes() not in where:
            where[grid.tobytes()] = len(times)
            times.append(grid)
    return times, [where[grid.tobytes()] for grid in grids]

"""Made: the clip of reduced keys in inner units, and its bytes in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.clip import Clip, Interpolation, Stored, Track
from akd_sdk.exporters.gltf import key_data
from akd_sdk.exporters.reduction.truth import Keys
from akd_sdk.exporters.reduction.work import Line, Work
from akd_sdk.rig import Rig
from akd_sdk.rotations import quat_continuous, quat_from_matrix, quat_multiply

Array = NDArray[np.float64]


def clip_of(rig: Rig, clip: Clip, work: Work, keys: Sequence[Keys | None], short: frozenset[int]) -> Clip:
    """The clip with these keys in place of its tracks; some track always has a key at the clip's end."""
    kept = _lasting(work, keys)
    tracks = []
    for i, (line, key) in enumerate(zip(work.lines, kept, strict=True)):
        if key is None:
            continue
        values = inner_values(rig, line, quat_continuous(key.values) if line.turns else key.values, work.unit)
        if line.turns:
            values = quat_continuous(values)
        held: Interpolation = "STEP" if key.held else "LINEAR"
        stored: Stored = "int16" if i in short else "float32"
        tracks.append(Track(line.joint, line.path, key.frames / clip.fps, values, held, stored))
    return replace(clip, tracks=tuple(tracks))


def bytes_of(rig: Rig, clip: Clip) -> tuple[int, int]:
    """Bytes of a clip's accessors and of its JSON in a GLB."""
    return key_data(rig, clip).bytes(clip.name)


def inner_values(rig: Rig, line: Line, values: Array, unit: float) -> Array:
    """What `file_values` makes these values of (translations at human size, as the work has them)."""
    source, j = rig.source, line.joint
    parent = int(rig.skeleton.parents[j])
    above = float(source.scale if parent < 0 else source.units[parent])
    if line.path == "scale":
        return np.asarray(values * (above / source.units[j]))
    if line.path == "translation":
        inner = values / unit * above
        return np.asarray(inner if parent >= 0 else inner @ source.rotation.T + source.translation)
    return values if parent >= 0 else quat_multiply(quat_from_matrix(source.rotation), values)


def _lasting(work: Work, keys: Sequence[Keys | None]) -> list[Keys | None]:
    """Keys of which one lies on the last frame if there are any: a constant is said twice where nothing else does."""
    out, last = list(keys), work.frames - 1
    present = [i for i, key in enumerate(out) if key is not None]
    if not present or any(key is not None and key.frames[-1] == last for key in out):
        return out
    i = min(present, key=lambda i: work.lines[i].turns)
    key = out[i]
    if key is not None:
        out[i] = replace(key, frames=np.append(key.frames, last).astype(np.int32), values=np.concatenate([key.values, key.values[-1:]]))
    return out

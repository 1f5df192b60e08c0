"""Keys of glTF clips: numbers, times, rotations as engines interpolate them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import numpy as np

from akd_sdk.exporters.check.codes import found
from akd_sdk.exporters.check.findings import Finding, some
from akd_sdk.exporters.check.gltf_source import BYTE, RawClip, RawTrack
from akd_sdk.exporters.check.keys import LARGEST, UNIT_TOLERANCE, UNIT_TOLERANCE_8_BIT, degrees_apart, flipped, off_unit, too_far

Told = str | None
"""What is wrong with a track, None for nothing."""


def key_findings(clip: RawClip) -> Iterable[Finding]:
    """What is wrong with the keys of a clip: one finding a kind, the tracks that have it counted."""
    if clip.unreadable:
        yield found("key-unreadable", clip.label, some(list(clip.unreadable), 1))
    if clip.compressed:
        yield found("key-compressed", clip.label, f"{_counted(clip.compressed)} of {clip.compressed + len(clip.tracks)}")
    sound = [track for track in clip.tracks if _not_finite(track) is None]
    yield from _told(clip, "key-not-finite", clip.tracks, _not_finite)
    for code, look in _LOOKS:
        yield from _told(clip, code, sound, look)


def _told(clip: RawClip, code: str, tracks: Iterable[RawTrack], look: Callable[[RawTrack], Told]) -> Iterable[Finding]:
    told = [(track, fault) for track in tracks if (fault := look(track)) is not None]
    if told:
        track, fault = told[0]
        others = "" if len(told) == 1 else f"; {_counted(len(told))} in all"
        yield found(code, clip.label, f"{track.label}: {fault}{others}")


def _counted(tracks: int) -> str:
    return f"{tracks} track{'' if tracks == 1 else 's'}"


def _not_finite(track: RawTrack) -> Told:
    if not np.isfinite(track.times).all():
        return "a key time is no number"
    wrong = np.asarray(~np.isfinite(track.raw).all(axis=1))
    return f"{int(wrong.sum())} of {len(wrong)} values are no numbers" if wrong.any() else None


def _huge(track: RawTrack) -> Told:
    largest = max(float(np.abs(track.raw).max()), float(np.abs(track.times).max()))
    return f"holds {largest:.3g}" if largest > LARGEST else None


def _disordered(track: RawTrack) -> Told:
    if track.times[0] < 0.0:
        return f"begins at {track.times[0]:g} s"
    back = np.flatnonzero(np.diff(track.times) <= 0.0)
    return f"{track.times[back[0] + 1]:g} s follows {track.times[back[0]]:g} s" if back.size else None


def _not_unit(track: RawTrack) -> Told:
    if track.path != "rotation":
        return None
    wrong = off_unit(track.values, UNIT_TOLERANCE_8_BIT if track.component == BYTE else UNIT_TOLERANCE)
    if not wrong.any():
        return None
    lengths = np.linalg.norm(track.values[wrong], axis=-1)
    return f"length {lengths[np.argmax(np.abs(lengths - 1.0))]:.4g} at {track.times[np.argmax(wrong)]:.3f} s"


def _antipodal(track: RawTrack) -> Told:
    if track.path != "rotation" or track.mode == "STEP" or len(track.values) < 2 or not track.signed:
        return None
    wrong = flipped(track.values)
    return f"{int(wrong.sum())} times, first at {track.times[1 + np.argmax(wrong)]:.3f} s" if wrong.any() else None


def _apart(track: RawTrack) -> Told:
    if track.path != "rotation" or track.mode != "LINEAR" or len(track.values) < 2:
        return None
    wrong = too_far(track.values)
    if not wrong.any():
        return None
    angles = degrees_apart(track.values)
    worst = int(np.argmax(angles))
    return f"{angles[worst]:.1f} degrees from {track.times[worst]:.3f} s to {track.times[worst + 1]:.3f} s"


def _in_bytes(track: RawTrack) -> Told:
    return f"{len(track.values)} keys of 8 bits" if track.path == "rotation" and track.component == BYTE else None


_LOOKS: Final = (
    ("key-huge", _huge),
    ("key-time", _disordered),
    ("key-not-unit", _not_unit),
    ("key-antipodal", _antipodal),
    ("key-apart", _apart),
    ("key-8-bit", _in_bytes),
)

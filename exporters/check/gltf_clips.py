"""Clips of glTF files as wholes: names, first and last keys, joints keyed at rest, seams of loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

import numpy as np

from akd_sdk.exporters.check.codes import found
from akd_sdk.exporters.check.findings import Finding, some
from akd_sdk.exporters.check.gltf_source import GltfSource, RawClip, RawTrack
from akd_sdk.exporters.check.keys import degrees_apart

LATE_S: Final = 1e-3
"""Shorter than a frame at any rate, longer than the rounding of a time."""
REST_TOLERANCE: Final = 1e-6
"""Of values and quaternion components, relative to the larger of the value and 1: float32 rounding."""
SEAM_DEGREES: Final = 0.5
SEAM_SHARE: Final = 1e-3
"""Of the range that a track moves through."""


def clip_findings(source: GltfSource) -> Iterable[Finding]:
    """What is wrong with the clips of a file."""
    names = Counter(clip.name for clip in source.clips if clip.name is not None)
    for name, times in names.items():
        if times > 1:
            yield found("clip-same-name", "the file", f"{times} clips are called {name!r}")
    for clip in source.clips:
        if clip.name is None:
            yield found("clip-unnamed", clip.label, "it has no name")
        if not (clip.tracks or clip.unreadable or clip.compressed or clip.foreign):
            yield found("clip-empty", clip.label, "it has no channel that moves a node")
        tracks = [track for track in clip.tracks if _sound(track)]
        yield from _times(clip, [track for track in tracks if len(track.times) > 1])
        yield from _ghosts(source, clip, tracks)
        yield from _seam(source, clip, tracks)


def same_names(source: GltfSource) -> Iterable[Finding]:
    """Joints that one name means, for engines that bind by name."""
    names = Counter(name for node in source.bones if (name := source.name(node)) is not None)
    twice = sorted(name for name, times in names.items() if times > 1)
    if twice:
        yield found("joint-same-name", "the file", f"more than one joint is called {some([repr(name) for name in twice])}")


def _sound(track: RawTrack) -> bool:
    usable = np.isfinite(track.times).all() and np.isfinite(track.raw).all()
    return bool(usable and track.times[0] >= 0.0 and (np.diff(track.times) > 0.0).all())


def _times(clip: RawClip, tracks: list[RawTrack]) -> Iterable[Finding]:
    """First and last keys of tracks that change."""
    if not tracks:
        return
    first, last = min(float(track.times[0]) for track in tracks), max(float(track.times[-1]) for track in tracks)
    if first > LATE_S:
        yield found("clip-lead-in", clip.label, f"the first key is at {first:.4g} s")
    late = [track for track in tracks if track.times[0] > first + LATE_S]
    if late:
        yield found("clip-starts-apart", clip.label, f"{len(late)} of {len(tracks)} tracks begin later, such as {_start(late[0])}")
    early = [track for track in tracks if track.times[-1] < last - LATE_S]
    if early:
        short = last - float(early[0].times[-1])
        by = f"{short:.4g} s" if clip.fps is None else f"{short:.4g} s ({short * clip.fps:.3g} frames)"
        yield found("clip-ends-apart", clip.label, f"{len(early)} of {len(tracks)} tracks end early, such as {early[0].label} by {by}")


def _start(track: RawTrack) -> str:
    return f"{track.label} at {track.times[0]:.4g} s"


def _ghosts(source: GltfSource, clip: RawClip, tracks: list[RawTrack]) -> Iterable[Finding]:
    """Nodes with nothing but keys at rest, in a clip that moves others."""
    by_node: dict[int, list[bool]] = {}
    for track in tracks:
        by_node.setdefault(track.node, []).append(_at_rest(source, track))
    still = [node for node, rests in by_node.items() if all(rests)]
    if still and len(still) < len(by_node):
        names = [source.name(node) or f"node {node}" for node in still]
        yield found("clip-ghost-keys", clip.label, f"{len(still)} of {len(by_node)} joints: {some(names)}")


def _at_rest(source: GltfSource, track: RawTrack) -> bool:
    scene = source.scene
    if track.path == "weights":
        return False
    rest = {"translation": scene.translations, "rotation": scene.rotations, "scale": scene.scales}[track.path][track.node]
    values = track.values
    if track.path == "rotation":
        values = np.where((values @ rest)[:, None] < 0.0, -values, values)
    return bool(np.abs(values - rest).max() <= REST_TOLERANCE * max(1.0, float(np.abs(rest).max())))


def _seam(source: GltfSource, clip: RawClip, tracks: list[RawTrack]) -> Iterable[Finding]:
    """Rotations of a loop that do not close.

    Travel need not: what moves on from end to end, and what has no moving node above it, may carry it and turn with it.
    """
    if not clip.loop:
        return
    moved = {track.node for track in tracks}
    going = {track.node for track in tracks if track.path == "translation" and not _closes(track)}
    turns = [track for track in tracks if track.path == "rotation" and track.node not in going and len(track.times) > 1]
    inner = [track for track in turns if moved.intersection(source.scene.line(track.node)[1:])]
    open_ = [track.label for track in inner if float(degrees_apart(track.values[[0, -1]])[0]) > SEAM_DEGREES]
    if open_:
        yield found("clip-seam", clip.label, f"{len(open_)} of {len(inner)} rotations do not close: {some(open_)}")


def _closes(track: RawTrack) -> bool:
    return float(np.abs(track.values[-1] - track.values[0]).max()) <= SEAM_SHARE * float(np.ptp(track.values, axis=0).max())

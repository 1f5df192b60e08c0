"""A glTF file for the engine of a profile: extensions, names, kinds and times of keys, all by what the profile says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import numpy as np

from akd_sdk.exporters.check.codes import found
from akd_sdk.exporters.check.engine_skins import skin_findings
from akd_sdk.exporters.check.findings import Finding, some
from akd_sdk.exporters.check.gltf_source import FLOAT, GltfSource, RawClip, RawTrack
from akd_sdk.exporters.grid import HIGHEST_FPS
from akd_sdk.exporters.names import engine_name
from akd_sdk.schemas.profile import Naming, Profile

ON_GRID_S: Final = 1e-4
"""How far a key may lie from a frame: what a pose does in a tenth of a millisecond is nothing to see."""


def engine_findings(source: GltfSource, profile: Profile) -> Iterable[Finding]:
    """What the profile's engine makes of a file that is not meant."""
    yield from _extensions(source, profile)
    yield from _names(source, profile)
    yield from skin_findings(source, profile)
    yield from _humanoid(source, profile)
    yield from _grid(source, profile)
    for clip in source.clips:
        yield from _loop_name(clip, profile)
        yield from _kinds(clip, profile)


def _extensions(source: GltfSource, profile: Profile) -> Iterable[Finding]:
    required = source.document.json.get("extensionsRequired", [])
    unread = [name for name in required if name in profile.unread] if isinstance(required, list) else []
    if unread:
        yield found("extension-unread", "the file", f"{profile.title} does not read {some(unread)}")


def _names(source: GltfSource, profile: Profile) -> Iterable[Finding]:
    told = _collisions(source, profile.naming)
    if told:
        yield found("name-collides", "the file", f"in {profile.title}: {some(told)}")
    for version, naming in profile.older_naming.items():
        older = _collisions(source, naming)
        if older and not told:
            yield found("name-collides-older", "the file", f"in {version}: {some(older)}")


def _collisions(source: GltfSource, naming: Naming) -> list[str]:
    """Joints whose names the engine does not tell from another node's, or of whose names it leaves nothing."""
    if naming.unique == "none":
        return []
    groups: dict[tuple[int, str], list[int]] = {}
    bones = source.bones
    for node in range(len(source.scene.nodes)):
        name = source.name(node)
        if name is None and node not in bones:
            continue
        above = int(source.scene.parents[node]) if naming.unique == "path" else -1
        groups.setdefault((above, engine_name(name or "", naming)), []).append(node)
    told = []
    for (_, called), nodes in groups.items():
        names = sorted({repr(source.name(node) or "") for node in nodes})
        if bones.isdisjoint(nodes):
            continue
        if not called:
            told.append(f"nothing is left of {some(names)}")
        elif len(nodes) > 1:
            told.append(f"{' and '.join(names[:3])} {'are' if len(names) > 1 else 'is'} {called!r} {len(nodes)} times")
    return told


def _humanoid(source: GltfSource, profile: Profile) -> Iterable[Finding]:
    """A character most of whose bones go by the names of an avatar, but not all."""
    here = {_plain(source.name(node) or "") for node in source.bones}
    missing = [bone for bone, names in profile.humanoid.items() if here.isdisjoint(_plain(name) for name in names)]
    if missing and 2 * len(missing) < len(profile.humanoid):
        total = len(profile.humanoid)
        yield found("humanoid-bones", "the file", f"{len(missing)} of {total} bones are not found: {some(missing, total)}")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.rpartition(":")[2].lower())


def _grid(source: GltfSource, profile: Profile) -> Iterable[Finding]:
    """Keys for an engine that bakes all clips of a file at one rate."""
    if profile.import_fps is None:
        return
    times = [track.times[np.isfinite(track.times)] for clip in source.clips for track in clip.tracks]
    if not times:
        return
    at = np.unique(np.concatenate(times))
    rate = next((fps for fps in range(1, HIGHEST_FPS + 1) if _on_grid(at, fps)), None)
    if rate is None:
        off = at[np.argmax(np.abs(at * profile.import_fps - np.rint(at * profile.import_fps)))]
        yield found("key-off-grid", "the file", f"no rate up to {HIGHEST_FPS} has a frame at every key, such as the one at {off:.5g} s")
    elif not _on_grid(at, profile.import_fps):
        wanted = next((clip.fps for clip in source.clips if clip.fps and _on_grid(at, clip.fps)), float(rate))
        remedy = f"set FPS to {wanted:g} in the import settings"
        yield found(
            "import-rate", "the file", f"keys lie on frames at {wanted:g} a second, {profile.title} bakes at {profile.import_fps:g}", remedy
        )


def _on_grid(times: np.ndarray[tuple[int, ...], np.dtype[np.float64]], fps: float) -> bool:
    return bool(np.abs(np.rint(times * fps) / fps - times).max() <= ON_GRID_S)


def _loop_name(clip: RawClip, profile: Profile) -> Iterable[Finding]:
    words, name = profile.naming.loop_words, (clip.name or "").lower()
    if not words or clip.loop is None or clip.name is None:
        return
    named = name.startswith(words) or name.endswith(words)
    if named != clip.loop:
        said = "loops" if clip.loop else "does not loop"
        yield found("loop-name", clip.label, f"the file says that it {said}, {profile.title} takes it the other way by its name")


def _kinds(clip: RawClip, profile: Profile) -> Iterable[Finding]:
    """Kinds of keys that the engine misplays."""
    other = [track for track in clip.tracks if track.mode not in profile.interpolation and len(track.times) > 1 and _changes(track)]
    if other:
        modes = " and ".join(sorted({track.mode for track in other}))
        yield found("key-interpolation", clip.label, f"{len(other)} tracks are {modes}, such as {other[0].label}")
    short = [track for track in clip.tracks if track.path == "rotation" and track.component != FLOAT]
    if short and not profile.int16:
        yield found("key-16-bit", clip.label, f"{len(short)} tracks, such as {short[0].label}")
    dropped = [track for track in clip.tracks if not track.signed]
    if dropped and not profile.short_way:
        yield found("sign-dropped", clip.label, f"{len(dropped)} tracks, such as {dropped[0].label}")


def _changes(track: RawTrack) -> bool:
    return any(not np.array_equal(a, b) for a, b in pairwise(track.values))

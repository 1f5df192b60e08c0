"""Delivery: motions become clips and a file for an engine, and what is in the file is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

from akd_sdk.errors import ExportError
from akd_sdk.exporters.bvh import BVH_OPTIONS, MadeBvh, export_bvh, make_bvh
from akd_sdk.exporters.clip import Clip, Track
from akd_sdk.exporters.gltf import export_gltf, key_data, renamed_nodes, spanning, with_all_joints
from akd_sdk.exporters.grid import on_import_grid
from akd_sdk.exporters.isaac import told_notes
from akd_sdk.exporters.names import named_for_loops
from akd_sdk.exporters.options import PLAIN, ExportOptions
from akd_sdk.exporters.registry import exporter_of
from akd_sdk.exporters.root_bone import with_root_bone
from akd_sdk.exporters.root_modes import bones_of, root_joint
from akd_sdk.exporters.usd_animation import told_poses
from akd_sdk.exporters.usd_surface import unshown
from akd_sdk.formats.usd import SUFFIXES as USD_SUFFIXES
from akd_sdk.formats.usd import identifiers
from akd_sdk.motion import Motion
from akd_sdk.progress import ProgressCallback, between, ignore
from akd_sdk.rig import Rig
from akd_sdk.schemas.exports import ExportedClip, ExportedFile
from akd_sdk.schemas.profile import Profile

if TYPE_CHECKING:
    from akd_sdk.exporters.reduction import ReductionReport
    from akd_sdk.exporters.reduction.meshopt import Encoded

KEYED: Final = (".glb",)
"""Formats with keys of their own a track: where reducing them saves bytes."""
TOLERANCE_M, FEET_TOLERANCE_M = 1e-3, 2e-4
"""Without a profile."""
MM: Final = 1e3


@dataclass(frozen=True)
class Delivery:
    """A file that was written.

    Attributes:
        path: of the file.
        rig: whose clips are in it, with the root bone that was added.
        clips: as they are in it.
        facts: for reports.
    """

    path: Path
    rig: Rig
    clips: tuple[Clip, ...]
    facts: ExportedFile


@dataclass(frozen=True)
class Prepared:
    """Clips ready for a format.

    Attributes:
        rig: whose clips they are.
        clips: to be written.
        reductions: what became of the keys of each; None: nothing.
        renamed: names in the file by those in the source.
        import_fps: the rate to set at import; None: any.
        notes: for the user.
        bvh: the file, where it is a BVH; else None.
        packed: compressed keys of each clip; None: nothing is compressed.
    """

    rig: Rig
    clips: tuple[Clip, ...]
    reductions: tuple[ReductionReport | None, ...]
    renamed: Mapping[str, str]
    import_fps: float | None
    notes: tuple[str, ...]
    bvh: MadeBvh | None = None
    packed: tuple[Encoded | None, ...] | None = None


def export(
    rig: Rig, clips: Clip | Sequence[Clip], path: str | PathLike[str], *, force: bool = False, options: ExportOptions = PLAIN
) -> Path:
    """Write one clip, or several where the format holds several, by the suffix of `path`; the path written.

    Nothing is left behind where it fails, and without `force` nothing that exists is replaced.
    Raises ExportError: unknown suffix, no clip, a clip of another character, options that the format or the profile's engine cannot do,
    a file that exists or cannot be written.
    """
    return _delivered(rig, (clips,) if isinstance(clips, Clip) else tuple(clips), path, force=force, options=options).path


def deliver(
    rig: Rig,
    motions: Motion | Sequence[Motion],
    path: str | PathLike[str],
    *,
    root_mode: str | None = None,
    force: bool = False,
    options: ExportOptions = PLAIN,
    progress: ProgressCallback = ignore,
) -> Delivery:
    """Write motions of a rig as one file, as the options' profile wants them.

    root_mode: "hips", "root" or "in_place"; None: the profile's (where the character has no joint for it, "hips", which is noted), else
    "hips". Raises ExportError as `export` does, and where the character has no joint for the mode asked for.
    """
    chosen = (motions,) if isinstance(motions, Motion) else tuple(motions)
    exporter_of(Path(path), options.profile)  # an unknown suffix is refused before any work
    notes: list[str] = []
    if options.add_root:
        bone = with_root_bone(rig)
        notes.append(f"root bone {bone.name!r} {'added' if bone.added else 'is there already'}")
        rig, chosen = bone.rig, tuple(bone.motion(motion) for motion in chosen)
    mode = root_mode or _mode_of(rig, options.profile, notes)
    try:
        clips = tuple(Clip.from_motion(rig, motion, mode) for motion in chosen)
    except ExportError as fault:
        raise fault.at(path) from fault
    return _delivered(rig, clips, path, force=force, options=replace(options, add_root=False), notes=tuple(notes), progress=progress)


def _mode_of(rig: Rig, profile: Profile | None, notes: list[str]) -> str:
    mode = "hips" if profile is None else profile.root_mode
    if mode == "root" and root_joint(rig) < 0:
        notes.append("no joint above the pelvis can carry the travel, so it stays on the pelvis; --add-root adds one")
        return "hips"
    return mode


def _delivered(
    rig: Rig,
    clips: tuple[Clip, ...],
    path: str | PathLike[str],
    *,
    force: bool,
    options: ExportOptions,
    notes: tuple[str, ...] = (),
    progress: ProgressCallback = ignore,
) -> Delivery:
    if not clips:
        raise ExportError("there is no clip to write", path)
    exporter = exporter_of(Path(path), options.profile)
    try:
        prepared = prepare(rig, clips, Path(path).suffix.lower(), options, progress)
        if prepared.bvh is not None:
            written = export_bvh(rig, prepared.clips, path, force=force, options=options, made=prepared.bvh)
        elif prepared.packed is None:
            written = exporter(rig, prepared.clips, path, force=force, options=options)
        else:
            written = export_gltf(rig, prepared.clips, path, force=force, options=options, packed=prepared.packed)
    except ExportError as fault:
        raise fault.at(path) from fault
    facts = ExportedFile(
        path=str(written),
        bytes=written.stat().st_size,
        profile=None if options.profile is None else options.profile.name,
        clips=tuple(
            _with_frames(_with_poses(_facts(rig, clip, kept, written.suffix, options), written, options), prepared.bvh)
            for clip, kept in zip(prepared.clips, prepared.reductions, strict=True)
        ),
        renamed=dict(prepared.renamed),
        import_fps=prepared.import_fps,
        notes=(*notes, *prepared.notes, *_of_bodies(written, options)),
    )
    return Delivery(written, rig, prepared.clips, facts)


def prepare(rig: Rig, clips: Sequence[Clip], suffix: str, options: ExportOptions = PLAIN, progress: ProgressCallback = ignore) -> Prepared:
    """The clips as a file of this suffix gets them: named and put on a grid for the profile's engine, their keys reduced.

    Raises ExportError: the engine takes no such file, no import rate suits all clips, clips of another character.
    """
    profile, notes = options.profile, []
    import_fps: float | None = None
    made, renamed = list(clips), {}
    if profile is not None:
        if suffix not in profile.suffixes:
            raise ExportError(f"{profile.title} takes no {suffix or 'such file'}", None, f"for it there are {', '.join(profile.suffixes)}")
        if profile.import_fps is not None:
            made, rate = on_import_grid(made)
            notes += [f"{a.name}: {a.fps:g} frames a second became {b.fps:g}" for a, b in zip(clips, made, strict=True) if a.fps != b.fps]
            import_fps = float(rate)
            notes.append(f"keys lie on the frames of an import at {rate} frames a second, and of no other rate")
        made = named_for_loops(made, profile.naming)
        renamed = {old.name: new.name for old, new in zip(clips, made, strict=True) if old.name != new.name}
        if suffix in KEYED:
            renamed |= _nodes_renamed(rig, profile)
        notes += _doubts(rig, made, options)
    if suffix in USD_SUFFIXES:
        names = rig.skeleton.names
        renamed |= {old: new for old, new in zip(names, identifiers(names), strict=True) if old != new}
        notes += unshown((skin.material for skin in rig.skins), rig.source.document)
    bvh = None
    if suffix == ".bvh" and len(made) == 1:
        options.only(suffix, *BVH_OPTIONS)  # before any work
        bvh = make_bvh(rig, made[0], options)
        renamed |= bvh.renamed
        notes += bvh.notes
    reductions: list[ReductionReport | None] = [None] * len(made)
    packed: list[Encoded | None] = [None] * len(made)
    compresses = _compresses(suffix, options)
    if suffix in KEYED and options.reduction != "none":
        for i, clip in enumerate(made):
            told = between(progress, i / len(made), (i + 1) / len(made))
            made[i], reductions[i], packed[i] = _reduced(rig, clip, options, told)
    kept = tuple(packed) if compresses else None
    return Prepared(rig, tuple(made), tuple(reductions), renamed, import_fps, tuple(notes), bvh, kept)


def _compresses(suffix: str, options: ExportOptions) -> bool:
    """Whether keys are compressed. Raises ExportError where the format or the profile's engine does not do so."""
    profile = options.profile
    if options.compression == "none":
        return False
    if suffix not in KEYED:
        raise ExportError(f"--compression cannot be done for {suffix}", None, f"it is for {', '.join(KEYED)}")
    if profile is not None and not profile.meshopt:
        raise ExportError(f"{profile.title} does not read EXT_meshopt_compression", None, "leave out --compression")
    if profile is not None and not profile.short_way:
        fault = "signs of compressed rotations are not continuous, and it may go from key to key the long way"
        raise ExportError(f"{profile.title}: {fault}", None, "leave out --compression")
    return True


def _nodes_renamed(rig: Rig, profile: Profile) -> dict[str, str]:
    nodes = rig.source.document.json["nodes"] if rig.source.document is not None else []
    return {nodes[i].get("name") or f"node {i}": new for i, new in renamed_nodes(rig, profile).items()}


def _doubts(rig: Rig, clips: Sequence[Clip], options: ExportOptions) -> list[str]:
    """What the profile's engine will make of the file that the user should know."""
    profile, found = options.profile, []
    assert profile is not None
    most = max((skin.joints.shape[1] for skin in rig.skins), default=0)
    if profile.influences is not None and most > profile.influences and not options.clip_only:
        found.append(f"the skin has {most} joints a vertex, {profile.title} takes {profile.influences}")
    bones = bones_of(rig)
    tops = [rig.skeleton.names[j] for j in sorted(bones) if not _has_above(rig, j, bones)]
    if profile.single_root and len(tops) > 1:
        found.append(f"{profile.title} wants one root bone, there are {len(tops)}: {', '.join(tops[:4])}; --add-root makes one")
    if profile.bones is not None and len(bones) > profile.bones:
        found.append(f"the skin has {len(bones)} bones, {profile.title} takes {profile.bones}")
    if "STEP" not in profile.interpolation and any(track.interpolation == "STEP" for clip in clips for track in clip.tracks):
        found.append("what is held from key to key changes on the next frame of the import")
    return found


def _has_above(rig: Rig, joint: int, bones: frozenset[int]) -> bool:
    parents = rig.skeleton.parents
    while (joint := int(parents[joint])) >= 0:
        if joint in bones:
            return True
    return False


def _reduced(rig: Rig, clip: Clip, options: ExportOptions, progress: ProgressCallback) -> tuple[Clip, ReductionReport, Encoded | None]:
    from akd_sdk.exporters.reduction import ReductionOptions, reduce

    profile = options.profile
    assert options.reduction != "none"
    bounds = ReductionOptions(
        tolerance_m=options.tolerance_m or (TOLERANCE_M if profile is None else profile.tolerance_m),
        feet_tolerance_m=options.feet_tolerance_m or (FEET_TOLERANCE_M if profile is None else profile.feet_tolerance_m),
        effort=options.reduction,
        players=("slerp", "nlerp") if profile is None else profile.players,
        int16=profile is not None and profile.int16,
    )
    if options.compression == "meshopt":
        from akd_sdk.exporters.reduction.meshopt import compress

        small = compress(rig, clip, bounds, progress=progress)
        return small.clip, small.report, small.encoded
    made = reduce(rig, clip, bounds, progress=progress)
    return made.clip, made.report, None


def _facts(rig: Rig, clip: Clip, kept: ReductionReport | None, suffix: str, options: ExportOptions) -> ExportedClip:
    """What a clip is in its file."""
    keyed = suffix.lower() in KEYED
    whole = spanning(with_all_joints(rig, clip) if options.all_joints else clip) if keyed else clip
    left = clip.root_residual
    return ExportedClip(
        name=clip.name,
        fps=clip.fps,
        seconds=clip.duration,
        loop=clip.loop,
        root_mode=clip.root_mode,
        root_joint=None if clip.root_joint < 0 or clip.root_mode == "in_place" else clip.skeleton.names[clip.root_joint],
        sway_mm=None if left is None else MM * left.sway_m,
        bob_mm=None if left is None else MM * left.bob_m,
        root_error_mm=None if left is None else MM * left.error_m,
        channels=len(whole.tracks) + len(clip.morphs),
        keys=_keys(whole.tracks) + clip.frames * len(clip.morphs),
        keys_before=None if kept is None else kept.keys_before,
        bytes=_bytes(rig, whole, kept, options) if keyed else None,
        worst_mm=None if kept is None else MM * kept.worst_m,
        p99_mm=None if kept is None else MM * kept.p99_m,
        worst_joint=None if kept is None else kept.joint,
        worst_time_s=None if kept is None else kept.time_s,
        feet_worst_mm=None if kept is None or kept.feet_worst_m is None else MM * kept.feet_worst_m,
    )


def _of_bodies(written: Path, options: ExportOptions) -> tuple[str, ...]:
    """What an articulation tells of itself."""
    simulated = options.profile is not None and options.profile.articulation and written.suffix.lower() in USD_SUFFIXES
    return told_notes(written) if simulated else ()


def _with_poses(facts: ExportedClip, written: Path, options: ExportOptions) -> ExportedClip:
    """The facts with what a USD file tells of whole poses that were dropped: all tracks have the same keys."""
    if written.suffix.lower() not in USD_SUFFIXES or options.reduction == "none":
        return facts
    told = told_poses(written)
    if told is None:
        return facts
    feet = told.get("feet_worst_m")
    return facts.model_copy(
        update={
            "keys": facts.channels * told["poses"],
            "keys_before": facts.channels * told["poses_dense"],
            "worst_mm": MM * told["worst_m"],
            "p99_mm": MM * told["p99_m"],
            "worst_joint": told["worst_joint"],
            "worst_time_s": told["worst_time_s"],
            "feet_worst_mm": None if feet is None else MM * feet,
        }
    )


def _bytes(rig: Rig, whole: Clip, kept: ReductionReport | None, options: ExportOptions) -> int:
    """Of a clip in a GLB: keys and JSON; of compressed keys their views alone."""
    return kept.bytes if kept is not None and options.compression != "none" else sum(key_data(rig, whole).bytes(whole.name))


def _with_frames(facts: ExportedClip, made: MadeBvh | None) -> ExportedClip:
    """The facts with what a BVH has of the clip: a key of each joint at every frame."""
    if made is None:
        return facts
    error, groups = made.error, sum(len(joint.channels) // 3 for joint in made.bvh.joints)
    return facts.model_copy(
        update={
            "channels": groups,
            "keys": groups * len(made.bvh.values),
            "worst_mm": MM * error.worst_m,
            "p99_mm": MM * error.p99_m,
            "worst_joint": made.names[error.joint],
            "worst_time_s": error.time_s,
            "feet_worst_mm": None if error.feet_worst_m is None else MM * error.feet_worst_m,
        }
    )


def _keys(tracks: Sequence[Track]) -> int:
    return sum(len(track.times) for track in tracks)

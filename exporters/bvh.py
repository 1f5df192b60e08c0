"""BVH: the anatomical tree with its zero pose in world axes, one clip, in the dialect of the program that reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.bvh_dialects import DIALECTS, PLAIN_DIALECT, Dialect
from akd_sdk.exporters.bvh_error import BvhError, error_of
from akd_sdk.exporters.bvh_names import joint_names
from akd_sdk.exporters.bvh_pose import BvhBody, Pose, body_of
from akd_sdk.exporters.clip import Clip, require_own
from akd_sdk.exporters.options import PLAIN, ExportOptions
from akd_sdk.formats.atomic import write_whole
from akd_sdk.formats.bvh import POSITIONS, Bvh, BvhJoint, euler, rotation_channels
from akd_sdk.rig import Rig

Array = NDArray[np.float64]

STRETCH_TOLERANCE_M: Final = 5e-6
"""Bones that change by more than this, at human size, get positions a frame; ten that change by less stray 0.05 mm."""
TOLERANCE_M: Final = 1e-3
"""Of a clip at another rate than its own, at human size, where neither options nor profile say."""
BVH_OPTIONS: Final = ("clip_only", "dialect", "fps", "t_pose")
"""What can be asked for; a BVH holds a motion without a mesh anyway."""
HIGHEST_FPS: Final = 1000.0
WHOLE: Final = 1e-6
MM: Final = 1e3


@dataclass(frozen=True)
class MadeBvh:
    """A clip as a BVH.

    Attributes:
        bvh: what is written, but for rounding.
        dialect: whose ways it keeps.
        names: of the joints in the file, by skeleton joint.
        renamed: names in the file by those of the character, where they differ.
        error: of what is played.
        notes: what a user has to do or know, one line each.
    """

    bvh: Bvh
    dialect: Dialect
    names: dict[int, str]
    renamed: dict[str, str]
    error: BvhError
    notes: tuple[str, ...]


def export_bvh(
    rig: Rig,
    clips: Sequence[Clip],
    path: str | PathLike[str],
    *,
    force: bool = False,
    options: ExportOptions = PLAIN,
    made: MadeBvh | None = None,
) -> Path:
    """Write one clip as BVH, Y up, a frame at every frame of the clip or at `options.fps`; its path.

    The joints are those of the anatomical tree (all joints where it is not known), the root is the pelvis, tips are end sites. The root,
    and joints whose distance to their parent changes, have positions before their rotations, which replace the offset (as Blender and
    MotionBuilder read them). `options.dialect`, else the profile's, says unit, order of rotations, names, facing and the first frame;
    `options.t_pose` makes the zero pose a T pose; it is the rest pose otherwise, unless the dialect wants the T pose. `made`: by `make_bvh`
    of the same.
    Raises ExportError: not exactly one clip, a clip of another skeleton, a T pose that the character cannot take, another rate, or a
    tolerance asked for, at which what is played strays further from the clip than allowed, the file cannot be written.
    """
    options.only(path, *BVH_OPTIONS)
    if len(clips) != 1:
        raise ExportError(f"a BVH holds one clip, not {len(clips)}", path, "write a file for each")
    return write_whole(path, (made or make_bvh(rig, clips[0], options)).bvh.text().encode(), force=force)


def make_bvh(rig: Rig, clip: Clip, options: ExportOptions = PLAIN) -> MadeBvh:
    """The clip as a BVH, with its error. Raises ExportError as `export_bvh` does."""
    require_own(rig, clip)
    dialect = dialect_of(options)
    body = body_of(rig, dialect, t_pose=options.t_pose, root=clip.root_joint if clip.root_mode == "root" else -1)
    names = joint_names(rig, body.order, dialect)
    fps = None if options.fps is None or abs(options.fps - clip.fps) < WHOLE * clip.fps else options.fps
    dense = _at_rate(body, clip, dialect, names, None)
    made = dense if fps is None else _at_rate(body, clip, dialect, names, fps)
    read = dense.rounded()
    error = error_of(body, clip, read if made is dense else made.rounded(), read, dialect.metres_per_unit)
    _require_near(clip, error, options)
    notes = _notes(body, clip, dialect, made, error, options)
    if dialect.first_frame:
        made = _with_first_frame(made, body, dialect)
    own = dict(zip(body.order, names, strict=True))
    renamed = {rig.skeleton.names[j]: name for j, name in own.items() if rig.skeleton.names[j] != name}
    return MadeBvh(made, dialect, own, renamed, error, notes)


def dialect_of(options: ExportOptions) -> Dialect:
    """The dialect asked for, else the profile's, else the plain one."""
    profile = options.profile
    return DIALECTS[options.dialect or (profile.dialect if profile is not None else None) or PLAIN_DIALECT]


def _at_rate(body: BvhBody, clip: Clip, dialect: Dialect, names: list[str], fps: float | None) -> Bvh:
    times, frame_time = _frames(clip, fps)
    pose = body.at(clip, times)
    turns, places = _local(body, pose)
    stretch = np.linalg.norm(places - body.offsets, axis=-1).max(axis=0) * body.rig.human_scale > STRETCH_TOLERANCE_M
    placed = stretch | (np.array(body.parents) < 0)
    unit = 1.0 / dialect.metres_per_unit
    leaves = set(range(len(names))) - set(body.parents)
    joints = tuple(
        BvhJoint(
            name=name,
            parent=parent,
            offset=np.zeros(3) if parent < 0 else body.offsets[i] * unit,
            channels=(POSITIONS if placed[i] else ()) + rotation_channels(dialect.order),
            end=body.end(i) * unit if i in leaves else None,
        )
        for i, (name, parent) in enumerate(zip(names, body.parents, strict=True))
    )
    return Bvh(joints, frame_time, _columns(joints, places * unit, turns, dialect.order), dialect.decimals)


def _frames(clip: Clip, fps: float | None) -> tuple[Array, float]:
    """Times of the frames, seconds, and the time of one: at another rate than the clip's the last is the clip's end, too."""
    if fps is None:
        return clip.times, 1.0 / clip.fps
    if fps > HIGHEST_FPS:
        raise ExportError(f"{fps:g} frames a second are more than {HIGHEST_FPS:g}", "--fps", f"the clip has {clip.fps:g}")
    steps = max(round(clip.duration * fps), 1) if clip.duration > 0.0 else 0
    whole = not steps or abs(clip.duration * fps - steps) < WHOLE * steps
    return np.linspace(0.0, clip.duration, steps + 1), 1.0 / fps if whole else clip.duration / steps


def _local(body: BvhBody, pose: Pose) -> tuple[Array, Array]:
    """Turns (frames, n, 3, 3) and places (frames, n, 3) metres, of each joint in its parent's axes."""
    turns, places = pose.turns.copy(), pose.points.copy()
    for i, parent in enumerate(body.parents):
        if parent >= 0:
            back = pose.turns[:, parent].swapaxes(-1, -2)
            turns[:, i] = back @ pose.turns[:, i]
            places[:, i] = (back @ (pose.points[:, i] - pose.points[:, parent])[..., None])[..., 0]
    return turns, places


def _columns(joints: Sequence[BvhJoint], places: Array, turns: Array, order: str) -> Array:
    """The numbers (frames, channels)."""
    degrees = np.degrees(euler(turns, order))
    parts = [[places[:, i]] * int(joint.channels[:3] == POSITIONS) + [degrees[:, i]] for i, joint in enumerate(joints)]
    return np.concatenate([part for joint in parts for part in joint], axis=1)


def _with_first_frame(made: Bvh, body: BvhBody, dialect: Dialect) -> Bvh:
    """The file with the stance before the clip; angles go on from it by whole turns at most."""
    turns, places = _local(body, body.first())
    first = _columns(made.joints, places / dialect.metres_per_unit, turns, dialect.order)
    return replace(made, values=np.concatenate([first, made.values]))


def _require_near(clip: Clip, error: BvhError, options: ExportOptions) -> None:
    if options.fps is None and options.tolerance_m is None:
        return
    profile = options.profile
    allowed = options.tolerance_m or (profile.tolerance_m if profile is not None else TOLERANCE_M)
    rate = f"at {options.fps or clip.fps:g} frames a second"
    hint = f"allow more (--tolerance), or give a higher --fps: the clip has {clip.fps:g}"
    if error.worst_m > allowed:
        where = f"{clip.skeleton.names[error.joint]} at {error.time_s:.3f} s"
        raise ExportError(f"{rate} {where} is {MM * error.worst_m:.3g} mm off, more than {MM * allowed:g} mm", clip.name, hint)
    feet = options.feet_tolerance_m
    if feet is not None and error.feet_worst_m is not None and error.feet_worst_m > feet:
        raise ExportError(f"{rate} a planted foot is {MM * error.feet_worst_m:.3g} mm off, more than {MM * feet:g} mm", clip.name, hint)


def _notes(body: BvhBody, clip: Clip, dialect: Dialect, made: Bvh, error: BvhError, options: ExportOptions) -> tuple[str, ...]:
    unit = {0.01: "centimetres", 1.0: "metres"}.get(dialect.metres_per_unit, f"units of {dialect.metres_per_unit:g} m")
    notes = [f"BVH for {dialect.title}: {unit}, rotations in the order {dialect.order}"]
    if body.why_not is not None:
        notes.append(f"the rest pose stands for a T pose: {body.why_not}")
    elif body.stance is not None and options.t_pose | dialect.t_pose:
        notes.append("the zero pose is a T pose")
    yaw = float(np.degrees(np.arctan2(body.facing[0, 2], body.facing[0, 0])))
    if abs(yaw) > 1e-3:
        notes.append(f"turned by {yaw:.1f} degrees about the vertical, to face +Z")
    rate = 1.0 / made.frame_time
    if options.fps is not None and abs(rate - options.fps) > WHOLE * options.fps:
        notes.append(f"{rate:.6g} frames a second, so that the last frame is the end of the clip, which {options.fps:g} do not meet")
    if abs(rate - clip.fps) > WHOLE * clip.fps:
        notes.append(f"at {rate:.6g} frames a second instead of {clip.fps:g} joints stray by at most {MM * error.worst_m:.3g} mm")
    if max(error.worst_m, error.angles_m) > TOLERANCE_M:
        far = f"{MM * error.angles_m:.3g} mm where programs interpolate angles, {MM * error.worst_m:.3g} mm where they slerp"
        notes.append(f"between frames joints stray by up to {far}; a higher --fps lessens it")
    placed = [joint.name for joint in made.joints if joint.parent >= 0 and joint.channels[:3] == POSITIONS]
    if placed:
        shown = ", ".join(placed[:3]) + ("..." if len(placed) > 3 else "")
        notes.append(f"{len(placed)} joints change their length ({shown}): their positions are places (three.js adds them to offsets)")
    return (*notes, *dialect.notes)

"""Clip: a motion made ready for a file: one track a moving joint, whatever the format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.pose import world_from_local
from akd_sdk.exporters.root_modes import RootResidual, in_root_mode
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig, Skeleton, Transforms
from akd_sdk.rotations import quat_conjugate, quat_continuous, quat_multiply, slerp

Array = NDArray[np.float64]
Path3 = Literal["translation", "rotation", "scale"]
Interpolation = Literal["LINEAR", "STEP"]
Stored = Literal["float32", "int16"]

LATE_S: Final = 1e-6
"""Seconds that a key may lie after the end: rounding."""
PHYSICS = "physics"
"""Key of a motion's provenance that says whether it was tracked; in files it stands by itself."""
REST_TOLERANCE = 1e-6
"""What is nearer to rest than this is rest: radians, scale, and shares of the skeleton's size. A chain of ten such joints strays by less
than 0.02 mm at human size; float32 noise of a file's own clips is a tenth of it."""


@dataclass(frozen=True)
class Track:
    """Keys of one property of one joint.

    Attributes:
        joint: index in the skeleton.
        path: which of T, R, S.
        times: (keys,) seconds, increasing from 0.
        values: (keys, 3) metres or factors, (keys, 4) xyzw with signs continuous; local to the file's parent, inner units.
        interpolation: "LINEAR" between keys (slerp for rotations), or "STEP": held until the next.
        stored: how a format that has both holds the values; "int16": normalised, of rotations alone.
    """

    joint: int
    path: Path3
    times: Array
    values: Array
    interpolation: Interpolation = "LINEAR"
    stored: Stored = "float32"


@dataclass(frozen=True)
class Clip:
    """What an exporter writes.

    Attributes:
        name: the clip's name in a file.
        skeleton: whose joints the tracks move; joints and properties without a track are at rest.
        fps: frames a second; the tracks' keys lie on that grid.
        duration: seconds.
        loop: the last pose is the first, moved on by the travel where the root mode keeps it.
        root_mode: "hips" (all motion on the pelvis), "root" (ground travel and yaw on a root above it) or "in_place" (taken out).
        tracks: keys by joint and property.
        travel: (frames, 3) the travel of the motion, x and z in metres and yaw in radians; None: not known.
        contacts: (frames, contact points) planted or not; None: not known.
        contact_names: of the contact points, as "LH_heel".
        morphs: weights (frames, targets) by mesh node of the file.
        provenance: where the motion comes from.
        root_joint: the joint that carries the travel: the pelvis, in the mode "root" the root above it; -1: not known.
        root_residual: what the root mode leaves to the pelvis, and what it costs; None: nothing was changed.
    """

    name: str
    skeleton: Skeleton
    fps: float
    duration: float
    loop: bool
    root_mode: str
    tracks: tuple[Track, ...]
    travel: Array | None = None
    contacts: NDArray[np.bool_] | None = None
    contact_names: tuple[str, ...] = ()
    morphs: Mapping[int, Array] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    root_joint: int = -1
    root_residual: RootResidual | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.fps) and self.fps > 0.0 and np.isfinite(self.duration) and self.duration >= 0.0):
            raise ExportError(f"fps {self.fps} and duration {self.duration} are no positive numbers", self.name)
        seen: set[tuple[int, str]] = set()
        for track in self.tracks:
            _check_track(self, track)
            if (track.joint, track.path) in seen:
                raise ExportError(f"has two {track.path} tracks of {self.skeleton.names[track.joint]}", self.name)
            seen.add((track.joint, track.path))
        for node, weights in self.morphs.items():
            if weights.ndim != 2 or len(weights) != self.frames or not np.isfinite(weights).all():
                raise ExportError(f"the morph weights of node {node} are no finite numbers for {self.frames} frames", self.name)

    @classmethod
    def from_motion(cls, rig: Rig, motion: Motion, root_mode: str = "hips") -> Clip:
        """The clip of a motion of this rig, with a key at every frame of what moves.

        root_mode: "hips" leaves all motion on the pelvis; "root" brings ground travel and yaw to a root above it (`root_joint`);
            "in_place" takes them out.
        The travel is the motion's own; where it does not say one, the smoothed path of its root, if that goes anywhere.
        Raises ExportError: a root mode that is not known or that the character has no joint for, a motion of another skeleton, a
        quaternion of length 0.
        """
        skeleton = rig.skeleton
        if motion.rotations.shape[1] != skeleton.count:
            raise ExportError(f"moves {motion.rotations.shape[1]} joints, the character has {skeleton.count}", motion.name)
        rooted = in_root_mode(rig, motion, root_mode)
        held = frozenset(key for key in motion.held if key[0] not in rooted.moved)  # what a root carries on moves between keys
        return cls(
            name=clean_name(motion.name),
            skeleton=skeleton,
            fps=float(motion.fps),
            duration=motion.duration,
            loop=motion.loop,
            root_mode=root_mode,
            tracks=_moving_tracks(skeleton, rooted.pose, motion.times, held),
            travel=rooted.travel,
            contacts=motion.contacts,
            contact_names=tuple(f"{point.limb}_{point.kind}" for point in rig.contact_points),
            morphs=dict(motion.morphs),
            provenance=dict(motion.provenance),
            root_joint=rooted.joint,
            root_residual=rooted.residual,
        )

    @property
    def frames(self) -> int:
        return round(self.duration * self.fps) + 1

    @property
    def times(self) -> Array:
        """(frames,) seconds: the frame grid."""
        return np.arange(self.frames) / self.fps

    def sample(self, times: Array) -> Transforms:
        """Local transforms at times (n,) in seconds, as an engine plays the tracks: (n, joints, 3), (n, joints, 4), (n, joints, 3)."""
        rest, count = self.skeleton.rest, len(times)
        pose = {
            "translation": np.tile(rest.translations, (count, 1, 1)),
            "rotation": np.tile(rest.rotations, (count, 1, 1)),
            "scale": np.tile(rest.scales, (count, 1, 1)),
        }
        for track in self.tracks:
            pose[track.path][:, track.joint] = interpolate(track, times)
        return Transforms(pose["translation"], pose["rotation"], pose["scale"])

    def world(self, times: Array) -> Array:
        """World transforms at times (n,): (n, joints, 4, 4), metres."""
        return world_from_local(self.skeleton, self.sample(times))

    def facts(self) -> dict[str, Any]:
        """What formats have no place of their own for, as plain JSON values: rate, loop, root mode, travel, contacts, provenance, and
        what became of it in a simulation (`physics`), where it was to be tracked."""
        facts: dict[str, Any] = {"fps": self.fps, "frames": self.frames, "loop": self.loop, "root_mode": self.root_mode}
        if self.root_mode == "root" and self.root_joint >= 0:
            facts["root_joint"] = self.skeleton.names[self.root_joint]
        if self.root_residual is not None:
            facts["root_residual_mm"] = {
                "sway": round(1e3 * self.root_residual.sway_m, 3),
                "bob": round(1e3 * self.root_residual.bob_m, 3),
                "error": round(1e3 * self.root_residual.error_m, 6),
            }
        if self.travel is not None:
            facts["travel"] = {"x_m_z_m_yaw_rad": np.round(self.travel, 6).tolist()}
        if self.contacts is not None:
            names = self.contact_names if len(self.contact_names) == self.contacts.shape[1] else range(self.contacts.shape[1])
            facts["contacts"] = {str(name): _stretches(column) for name, column in zip(names, self.contacts.T, strict=True)}
        physics = self.provenance.get(PHYSICS)
        if physics is not None:
            facts[PHYSICS] = plain(physics)
        provenance = {key: value for key, value in self.provenance.items() if key != PHYSICS}
        if provenance:
            facts["provenance"] = plain(provenance)
        return facts


WIDTHS: Final = {"translation": 3, "rotation": 4, "scale": 3}
"""Components of a key by what it moves."""


def _check_track(clip: Clip, track: Track) -> None:
    """ExportError where a track cannot be played: an unknown joint or property, keys that are no numbers or not in order."""
    if not 0 <= track.joint < clip.skeleton.count or track.path not in WIDTHS:
        raise ExportError(f"has a track of joint {track.joint}, {track.path}: the skeleton has {clip.skeleton.count} joints", clip.name)
    named = f"the {track.path} track of {clip.skeleton.names[track.joint]}"
    if not (np.isfinite(track.times).all() and np.isfinite(track.values).all()):
        raise ExportError(f"{named} holds values that are not finite", clip.name)
    if len(track.times) != len(track.values) or not len(track.times) or (np.diff(track.times) <= 0.0).any() or track.times[0] < 0.0:
        raise ExportError(f"{named} has times that do not increase from 0", clip.name)
    if track.times[-1] > clip.duration + LATE_S:
        raise ExportError(f"{named} ends at {track.times[-1]:g} s, after the clip", clip.name, f"which lasts {clip.duration:g} s")
    if track.values.shape != (len(track.times), WIDTHS[track.path]):
        raise ExportError(f"{named} has values of shape {track.values.shape}", clip.name, f"expected (keys, {WIDTHS[track.path]})")
    if track.path == "rotation" and (np.linalg.norm(track.values, axis=-1) < 1e-6).any():
        raise ExportError(f"{named} holds a rotation of length 0", clip.name)


def require_own(rig: Rig, clip: Clip) -> None:
    """ExportError unless the clip's tracks are about the joints of this rig."""
    if clip.skeleton.names != rig.skeleton.names or not np.array_equal(clip.skeleton.nodes, rig.skeleton.nodes):
        raise ExportError("is a clip of another character", clip.name)


def clean_name(name: str) -> str:
    """A name without control characters or space around it; never empty."""
    return "".join(c if c.isprintable() else " " for c in name).strip() or "clip"


def unique_name(name: str, taken: set[str]) -> str:
    """`name`, or with the first number appended that makes it new; it is added to `taken`."""
    new, number = name, 2
    while new in taken:
        new, number = f"{name}_{number}", number + 1
    taken.add(new)
    return new


def plain(value: Any) -> Any:  # Any: provenance is free, and JSON is what it is
    """The JSON value that says the same: arrays as lists, paths and the unknown as text, NaN and infinities as None."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in (sorted(value, key=str) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return fspath(value) if isinstance(value, PathLike) else str(value)


def _moving_tracks(skeleton: Skeleton, pose: Transforms, times: Array, held: frozenset[tuple[int, str]]) -> tuple[Track, ...]:
    """A dense track for each joint and property that leaves rest, signs of quaternions made continuous last."""
    rest = skeleton.rest
    points = skeleton.rest_world[:, :3, 3]
    size = float(np.ptp(points, axis=0).max()) or 1.0
    turn = 2.0 * np.linalg.norm(quat_multiply(quat_conjugate(rest.rotations), pose.rotations)[..., :3], axis=-1)
    moves = np.abs(pose.translations - rest.translations).max(axis=(0, 2)) > REST_TOLERANCE * size
    turns = turn.max(axis=0) > REST_TOLERANCE
    grows = np.abs(pose.scales - rest.scales).max(axis=(0, 2)) > REST_TOLERANCE
    rotations = quat_continuous(pose.rotations)
    moving: list[tuple[int, Path3, Array]] = []
    for j in range(skeleton.count):
        if moves[j]:
            moving.append((j, "translation", pose.translations[:, j]))
        if turns[j]:
            moving.append((j, "rotation", rotations[:, j]))
        if grows[j]:
            moving.append((j, "scale", pose.scales[:, j]))
    return tuple(Track(j, path, times, values, "STEP" if (j, path) in held else "LINEAR") for j, path, values in moving)


def interpolate(track: Track, times: Array) -> Array:
    """Values (n, width) of a track at times, its ends held."""
    keys = track.times
    if len(keys) == 1:
        return np.repeat(track.values, len(times), axis=0)
    after = np.clip(np.searchsorted(keys, times, side="right"), 1, len(keys) - 1)
    share = np.clip((times - keys[after - 1]) / (keys[after] - keys[after - 1]), 0.0, 1.0)
    if track.interpolation == "STEP":
        share = np.floor(share)
    a, b = track.values[after - 1], track.values[after]
    if track.path == "rotation":
        return slerp(a, b, share)
    return np.asarray(a * (1.0 - share[:, None]) + b * share[:, None])


def _stretches(planted: NDArray[np.bool_]) -> list[list[int]]:
    """First and last frame of each run of planted frames."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], planted, [False]]).astype(np.int8)))
    return [[int(start), int(end) - 1] for start, end in edges.reshape(-1, 2)]

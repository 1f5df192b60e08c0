"""Whole poses of a clip as UsdSkel holds them: one list of times for all joints, poses dropped where what is left plays the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import Clip
from akd_sdk.exporters.pose import world_from_local
from akd_sdk.gait.feet import contact_paths
from akd_sdk.rig import Rig, Skeleton, Transforms
from akd_sdk.rotations import compose, quat_continuous, quat_normalize, slerp

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Player = Literal["slerp", "nlerp"]

FINER = 4
"""Errors are measured at this many times the frame rate."""
SHELL_M = 0.03
"""At human size: how far from each joint the three points lie whose movement is the error."""
WIDEST_RAD = np.radians(60.0)
"""No joint turns by more between neighbouring poses that are kept: players differ in how they fill wider gaps."""
JUMP = 2.0**-7
"""Frames before a held joint jumps at which its old value is written once more; float32 holds it up to frame 65 536."""


@dataclass(frozen=True)
class Bounds:
    """How far what is played may stray from the clip, metres at human size, in which players.

    Attributes:
        tolerance_m: of the points around joints.
        feet_tolerance_m: of planted feet; None: no bound of their own.
        players: each has to keep to it.
        firm: a clip whose poses are too far off though all are written, by the half precision of moving scales, is refused; else the
            error is only told.
    """

    tolerance_m: float
    feet_tolerance_m: float | None = None
    players: tuple[Player, ...] = ("slerp",)
    firm: bool = True


@dataclass(frozen=True)
class Poses:
    """What is written of a clip.

    Attributes:
        times: (poses,) seconds, from 0 to the clip's duration.
        local: translations, rotations (signs continuous) and scales (poses, joints, ...) in the precision of the file.
        dense: how many poses there were.
        worst_m: the largest error of what is played, metres at human size; None where every pose is written and nobody asked.
        p99_m: the 99th percentile of errors over joints and times.
        joint: where the largest is.
        time_s: when that is.
        feet_worst_m: the largest error of a planted contact point; None where there is none, or nobody asked.
    """

    times: Array
    local: Transforms
    dense: int
    worst_m: float | None = None
    p99_m: float | None = None
    joint: int = -1
    time_s: float = 0.0
    feet_worst_m: float | None = None


def all_poses(clip: Clip) -> Poses:
    """A pose at every frame, one just before each jump of a joint that is held (UsdSkel itself knows lines alone), and as many between as
    keep joints that turn quickly from gaps in which players differ."""
    times = grid(clip)
    held = [track for track in clip.tracks if track.interpolation == "STEP"]
    before = np.concatenate([np.zeros(0), *(_jumps(track.values, track.times) for track in held)]) - JUMP / clip.fps
    times = _with_narrow_gaps(clip, np.union1d(times, before[before > 0.0]))
    local = in_half_precision(clip.skeleton, clip.sample(times))
    rotations = quat_continuous(local.rotations).astype(np.float32).astype(np.float64)
    return Poses(times, Transforms(_single(local.translations), rotations, local.scales), len(times))


def kept_poses(rig: Rig, clip: Clip, bounds: Bounds) -> Poses:
    """The fewest poses, each taken as far from the one before as `bounds` allow, and their measured error.

    The error is the largest way, at 4 times the frame rate, of three points 3 cm around any joint (at human size), between the poses
    that are kept, as decoded and interpolated by a player, and the clip; "nlerp" compares with the dense clip so played.
    Raises ExportError: a firm bound cannot be met because the file's precision (scales are half floats) does not reach.
    """
    dense = all_poses(clip)
    judge = _Judge(rig, clip, dense, bounds)
    kept = [0]
    guess = 2
    while kept[-1] < dense.dense - 1:
        kept.append(_farthest(judge, kept[-1], dense.dense - 1, guess))
        guess = kept[-1] - kept[-2]
    chosen = np.array(kept)
    measured = judge.measure(chosen)
    if bounds.firm and measured.worst_m is not None and measured.worst_m > bounds.tolerance_m:
        where = f"{clip.skeleton.names[measured.joint]} at {measured.time_s:.3f} s"
        fault = f"{1e3 * measured.worst_m:.3g} mm of error at {where} is more than {1e3 * bounds.tolerance_m:g} mm with every pose kept"
        raise ExportError(fault, clip.name, "UsdSkel's scales are half floats: allow more, or write .glb")
    return measured


def grid(clip: Clip) -> Array:
    """The clip's frames, (frames,) seconds; the last is its end even where that lies between two."""
    times = clip.times
    return times if abs(times[-1] - clip.duration) * clip.fps < 1e-6 else np.append(times[times < clip.duration], clip.duration)


def _with_narrow_gaps(clip: Clip, times: Array) -> Array:
    """The times, and evenly between two of them as many more as keep turns from one to the next within `WIDEST_RAD`."""
    rotations = clip.sample(times).rotations
    cosines = np.abs(np.sum(rotations[1:] * rotations[:-1], axis=-1)).min(axis=-1, initial=1.0)
    parts = np.ceil(2.0 * np.arccos(np.clip(cosines, 0.0, 1.0)) / WIDEST_RAD - 1e-6)
    parts[np.diff(times) * clip.fps < 2.0 * JUMP] = 1.0  # a jump is to be one
    wide = np.flatnonzero(parts > 1.0)
    between = [np.linspace(times[i], times[i + 1], int(parts[i]) + 1)[1:-1] for i in wide]
    return np.union1d(times, np.concatenate(between)) if len(wide) else times


def _jumps(values: Array, times: Array) -> Array:
    """Times at which a held track takes a new value."""
    changed: Bools = (values[1:] != values[:-1]).any(axis=-1)
    return np.asarray(times[1:][changed])


def _single(values: Array) -> Array:
    """Values as float32 holds them; what it cannot hold is left for the writer to refuse."""
    with np.errstate(over="ignore"):
        single: Array = values.astype(np.float32).astype(np.float64)
    return single if np.isfinite(single).all() else values


def in_half_precision(skeleton: Skeleton, pose: Transforms) -> Transforms:
    """The pose (frames, joints) with scales that half precision holds, and translations that put every joint where it was nevertheless."""
    with np.errstate(over="ignore"):
        scales = pose.scales.astype(np.float16).astype(np.float64)
    if np.array_equal(scales, pose.scales) or not np.isfinite(scales).all():
        return pose  # exact, or to be refused with its reason where it is written
    wanted = world_from_local(skeleton, pose)[..., :3, 3]
    translations = pose.translations.copy()
    world = np.empty((*scales.shape[:2], 4, 4))
    for j, parent in enumerate(skeleton.parents):
        if parent >= 0:
            up = world[:, parent]
            sound = np.abs(np.linalg.det(up[:, :3, :3])) > 1e-12
            offset = wanted[sound, j] - up[sound, :3, 3]
            translations[sound, j] = np.linalg.solve(up[sound, :3, :3], offset[..., None])[..., 0]
        local = compose(translations[:, j], pose.rotations[:, j], scales[:, j])
        world[:, j] = local if parent < 0 else world[:, parent] @ local
    return Transforms(translations, pose.rotations, scales)


class _Judge:
    """Compares poses that are kept with the clip, as players play both."""

    def __init__(self, rig: Rig, clip: Clip, dense: Poses, bounds: Bounds) -> None:
        self._rig, self._dense, self._bounds = rig, dense, bounds
        frames = grid(clip)
        fine = np.arange(FINER * (len(frames) - 1) + 1) / (FINER * clip.fps)
        self._times = np.unique(np.concatenate([fine[fine <= clip.duration], frames]))
        every = np.arange(dense.dense)
        truths = [clip.sample(self._times) if player == "slerp" else self._play(every, self._times, player) for player in bounds.players]
        world = np.stack([world_from_local(clip.skeleton, truth) for truth in truths])
        self._points, self._feet = self._shell(world), self._contacts(world)
        self._planted = _planted(rig, clip, self._times)

    def allows(self, a: int, b: int) -> bool:
        """Whether the poses between the dense poses a and b can go."""
        turns = self._dense.local.rotations[[a, b]]
        if 2.0 * np.arccos(np.clip(np.abs(np.sum(turns[0] * turns[1], axis=-1)), 0.0, 1.0)).max() > WIDEST_RAD:
            return False
        start, end = np.searchsorted(self._times, self._dense.times[[a, b]])
        errors, feet = self._errors(np.array([a, b]), slice(int(start), int(end) + 1))
        limit = self._bounds.feet_tolerance_m
        return bool(errors.max() <= self._bounds.tolerance_m and (limit is None or feet.max(initial=0.0) <= limit))

    def measure(self, kept: NDArray[np.int64]) -> Poses:
        """The poses that are kept, with the error of the whole clip."""
        dense = self._dense
        errors, feet = self._errors(kept, slice(None))
        _, at, joint = np.unravel_index(int(errors.argmax()), errors.shape)
        local = Transforms(dense.local.translations[kept], quat_continuous(dense.local.rotations[kept]), dense.local.scales[kept])
        feet_worst = float(feet.max()) if feet.size else None
        found = float(errors.max()), float(np.percentile(errors.max(axis=0), 99.0)), int(joint), float(self._times[at])
        return Poses(dense.times[kept], local, dense.dense, *found, feet_worst)

    def _errors(self, kept: NDArray[np.int64], span: slice) -> tuple[Array, Array]:
        """(players, times, joints) largest errors of a joint's points, and those of contact points that are planted; human size."""
        times = self._times[span]
        plays = [self._play(kept, times, player) for player in self._bounds.players]
        parts = ((play.translations for play in plays), (play.rotations for play in plays), (play.scales for play in plays))
        together = Transforms(*(np.concatenate(list(part)) for part in parts))  # one pass: small arrays cost their overhead
        world = world_from_local(self._rig.skeleton, together)
        world = world.reshape(len(plays), len(times), *world.shape[1:])
        away = np.sqrt(np.square(self._shell(world) - self._points[:, span]).sum(axis=-1).max(axis=-1))
        planted = self._planted[span]
        if not planted.any():
            return away, np.zeros(0)
        return away, np.linalg.norm(self._contacts(world) - self._feet[:, span], axis=-1)[:, planted] * self._rig.human_scale

    def _contacts(self, world: Array) -> Array:
        """World paths of the contact points, (players, times, points, 3)."""
        return np.stack([contact_paths(self._rig, each) for each in world])

    def _shell(self, world: Array) -> Array:
        """Three points around each joint, (..., joints, 3, 3) metres at human size."""
        axes = world[..., :3, :3].swapaxes(-1, -2)
        lengths = np.linalg.norm(axes, axis=-1, keepdims=True)
        return np.asarray(world[..., None, :3, 3] * self._rig.human_scale + SHELL_M * axes / np.maximum(lengths, 1e-30))

    def _play(self, kept: NDArray[np.int64], times: Array, player: Player) -> Transforms:
        """Local transforms at times as a player makes them of the poses that are kept."""
        local, keys = self._dense.local, self._dense.times[kept]
        if len(kept) == 1:
            one = np.repeat(kept, len(times))
            return Transforms(local.translations[one], local.rotations[one], local.scales[one])
        after = np.clip(np.searchsorted(keys, times, side="right"), 1, len(keys) - 1)
        share = np.clip((times - keys[after - 1]) / (keys[after] - keys[after - 1]), 0.0, 1.0)[:, None]
        a, b = kept[after - 1], kept[after]
        scales = local.scales[a] * (1.0 - share[..., None]) + local.scales[b] * share[..., None]
        with np.errstate(over="ignore"):
            scales = scales.astype(np.float16).astype(np.float64)  # players interpolate halves to halves
        mix = slerp if player == "slerp" else _nlerp
        everywhere = np.broadcast_to(share, (len(times), local.rotations.shape[1]))
        rotations = mix(quat_normalize(local.rotations[a]), quat_normalize(local.rotations[b]), everywhere)
        return Transforms(local.translations[a] * (1.0 - share[..., None]) + local.translations[b] * share[..., None], rotations, scales)


def _nlerp(a: Array, b: Array, share: Array) -> Array:
    near = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0.0, -b, b)
    return quat_normalize(a * (1.0 - share[..., None]) + near * share[..., None])


def _planted(rig: Rig, clip: Clip, times: Array) -> Bools:
    """(times, contact points): planted at the frames on both sides."""
    if clip.contacts is None or clip.contacts.shape != (clip.frames, len(rig.contact_points)):
        return np.zeros((len(times), len(rig.contact_points)), dtype=np.bool_)
    frames = times * clip.fps
    below = np.clip(np.floor(frames + 1e-6).astype(np.int64), 0, clip.frames - 1)
    above = np.clip(np.ceil(frames - 1e-6).astype(np.int64), 0, clip.frames - 1)
    return np.asarray(clip.contacts[below] & clip.contacts[above])


def _farthest(judge: _Judge, start: int, last: int, guess: int) -> int:
    """The last pose up to which those after `start` can go, looked for about `guess` poses on: in steps twice as wide each, then halves."""
    good, bad, step = start + 1, last + 1, 1
    tried = min(start + guess, last)
    while bad - good > 1:
        if tried <= good or judge.allows(start, tried):
            good = max(good, tried)
            tried = good + step
        else:
            bad = tried
            tried = bad - step
        step *= 2
        if not good < tried < bad:
            tried = (good + bad) // 2
    return good

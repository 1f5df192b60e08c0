"""The error of a BVH: what a reader of the text plays, against the clip, at four times its rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.exporters.bvh_pose import BvhBody, Pose
from akd_sdk.exporters.clip import Clip
from akd_sdk.formats.bvh import POSITIONS, Bvh
from akd_sdk.rotations import quat_from_matrix, slerp

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

FINER: Final = 4
"""Errors are measured at this many times the frame rate of the clip."""
SHELL_M: Final = 0.03
"""At human size: how far from each joint the three points lie whose movement is the error."""


@dataclass(frozen=True)
class BvhError:
    """How far what is played strays, metres at human size.

    Readers that turn each frame into a quaternion and slerp are compared with the clip; readers that interpolate angles, where there are
    fewer frames than the clip has, with the angles at every frame of the clip, as dropped frames are all that differs.

    Attributes:
        worst_m: of three points 3 cm around each joint, at worst.
        p99_m: the 99th percentile over joints and times.
        joint: skeleton joint of the worst.
        time_s: when that is.
        feet_worst_m: of planted contact points; None: none is planted, or not known.
        angles_m: of the joints' points where angles are interpolated, against the clip itself.
    """

    worst_m: float
    p99_m: float
    joint: int
    time_s: float
    feet_worst_m: float | None
    angles_m: float


def error_of(body: BvhBody, clip: Clip, made: Bvh, dense: Bvh, units: float) -> BvhError:
    """The error of `made`, in `units` of a metre; `dense` has a frame at every frame of the clip. Neither has a frame before the clip."""
    fine = np.arange(FINER * (clip.frames - 1) + 1) / (FINER * clip.fps)
    times = np.unique(np.append(fine[fine < clip.duration], clip.duration))
    truth = body.at(clip, times)
    feet = _Feet.of(body, clip, times)
    by_angles = _by_angles(made, times, units)
    pairs = [(_by_slerp(made, times, units), truth)]
    if made.frame_time > dense.frame_time * (1.0 + 1e-9):
        pairs.append((by_angles, _by_angles(dense, times, units)))
    size = body.rig.human_scale
    away = np.max([_away(played, wanted, size) for played, wanted in pairs], axis=0)
    at, joint = np.unravel_index(int(away.argmax()), away.shape)
    apart = [np.linalg.norm(feet.points(played) - feet.points(wanted), axis=-1)[feet.planted] for played, wanted in pairs]
    return BvhError(
        worst_m=float(away.max()),
        p99_m=float(np.percentile(away, 99.0)),
        joint=body.order[int(joint)],
        time_s=float(times[at]),
        feet_worst_m=float(np.max(apart)) * size if feet.planted.any() else None,
        angles_m=float(_away(by_angles, truth, size).max()),
    )


def _away(played: Pose, wanted: Pose, size: float) -> Array:
    """(times, joints) the largest way of three points around each joint, at human size."""
    moved = (played.points - wanted.points)[..., None] * size + SHELL_M * (played.turns - wanted.turns)
    return np.asarray(np.linalg.norm(moved, axis=-2).max(axis=-1))


@dataclass(frozen=True)
class _Feet:
    """Contact points whose joints are in the file: `at` (points) their places there, `offsets` (points, 3) from them in the zero pose,
    `planted` (times, points)."""

    at: Sequence[int]
    offsets: Array
    planted: Bools

    @classmethod
    def of(cls, body: BvhBody, clip: Clip, times: Array) -> _Feet:
        known = clip.contacts is not None and clip.contacts.shape == (clip.frames, len(body.rig.contact_points))
        chosen = [(k, p) for k, p in enumerate(body.rig.contact_points) if known and p.joint in body.order]
        at = [body.order.index(point.joint) for _, point in chosen]
        rest = body.rig.skeleton.rest_world
        ways = [body.facing @ body.zero[i] @ rest[p.joint, :3, :3] @ p.offset for i, (_, p) in zip(at, chosen, strict=True)]
        planted = np.zeros((len(times), len(chosen)), dtype=np.bool_)
        if clip.contacts is not None and chosen:
            frames = np.clip([np.floor(times * clip.fps + 1e-6), np.ceil(times * clip.fps - 1e-6)], 0, clip.frames - 1).astype(np.int64)
            both: Bools = np.logical_and(*clip.contacts[frames])
            planted = both[:, [k for k, _ in chosen]]
        return cls(at, np.array(ways).reshape(-1, 3), planted)

    def points(self, pose: Pose) -> Array:
        """(times, points, 3) metres."""
        return np.asarray(pose.points[:, self.at] + (pose.turns[:, self.at] @ self.offsets[..., None])[..., 0])


def _by_slerp(made: Bvh, times: Array, units: float) -> Pose:
    """A reader that makes a rotation of each frame."""
    turns, places = _local(made, made.values)
    after, share = _between(made, times)
    quats = quat_from_matrix(turns)
    mixed = slerp(quats[after - 1], quats[after], np.broadcast_to(share, quats[after].shape[:-1]))
    moved = places[after - 1] * (1.0 - share[..., None]) + places[after] * share[..., None]
    return _forward(made, np.asarray(Rotation.from_quat(mixed.reshape(-1, 4)).as_matrix()).reshape(*mixed.shape[:-1], 3, 3), moved, units)


def _by_angles(made: Bvh, times: Array, units: float) -> Pose:
    """A reader that draws a line through the numbers of each channel."""
    after, share = _between(made, times)
    values = made.values[after - 1] * (1.0 - share) + made.values[after] * share
    return _forward(made, *_local(made, values), units)


def _between(made: Bvh, times: Array) -> tuple[NDArray[np.int64], Array]:
    """The frame after each time (times,) and how far it is on the way there (times, 1)."""
    last = len(made.values) - 1
    frames = np.clip(times / made.frame_time, 0.0, last)
    after = np.clip(np.floor(frames).astype(np.int64) + 1, min(1, last), last)
    return after, (frames - (after - 1) if last else np.zeros_like(frames))[:, None]


def _local(made: Bvh, values: Array) -> tuple[Array, Array]:
    """Local turns (frames, n, 3, 3) and places (frames, n, 3) of numbers (frames, channels)."""
    turns = np.empty((len(values), len(made.joints), 3, 3))
    places = np.empty((len(values), len(made.joints), 3))
    column = 0
    for i, joint in enumerate(made.joints):
        placed = joint.channels[:3] == POSITIONS
        places[:, i] = values[:, column : column + 3] if placed else joint.offset
        column += 3 * int(placed)
        order = "".join(name[0] for name in joint.channels[-3:])
        turns[:, i] = Rotation.from_euler(order, values[:, column : column + 3], degrees=True).as_matrix()
        column += 3
    return turns, places


def _forward(made: Bvh, turns: Array, places: Array, units: float) -> Pose:
    world, points = np.empty_like(turns), np.empty_like(places)
    for i, joint in enumerate(made.joints):
        if joint.parent < 0:
            world[:, i], points[:, i] = turns[:, i], places[:, i]
            continue
        up = world[:, joint.parent]
        world[:, i] = up @ turns[:, i]
        points[:, i] = points[:, joint.parent] + (up @ places[:, i, :, None])[..., 0]
    return Pose(points * units, world)

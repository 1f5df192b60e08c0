"""Travel: how a motion goes over the ground; read from its root where that travels, else from the belt that its feet push back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from akd_sdk.gait.feet import contact_paths, feet_of, leg_length, low_feet, velocities
from akd_sdk.gait.ground import exponential, ground_matrices, integrate, inverse_ground, logarithm, move_world
from akd_sdk.gait.stance import Stance, is_made, stance_by_cycle, unique_frames
from akd_sdk.kinematics import motion_from_world, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig
from akd_sdk.rotations import nearest_rotation

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

TRAVELS_LEGS, TRAVELS_RAD = 0.6, 0.5
"""A root whose smoothed path spans more than so many leg lengths, or turns by more than so many radians, travels by itself."""
SOLE_LEGS = 0.03
"""How much higher than its foot's lowest point, leg lengths, a point may be and tell of the belt."""
STILL_LEGS = 0.25
"""Belts slower than so many leg lengths a second are the feet's unrest."""
STRAIGHT = 0.15
"""Sideways speed below this share of the forward one is unrest too."""
TURN_RAD, TURN_GAIN = 0.2, 0.8
"""A belt turns if it does so by more than so many radians a second, and the turn takes the feet's median residual below so much."""
STRIDE_S = 0.7
"""Stride assumed where no cycle tells it, at a leg length of 0.9 m; it grows with the square root."""


@dataclass(frozen=True)
class Travel:
    """How a motion travels.

    Attributes:
        path: (frames, 3) x, z in metres and yaw in radians since the first frame: the map p -> turn(yaw) p + (x, 0, z) brings
            the motion in place to where it goes.
        in_root: the motion's own root goes that way already; else the path is what its feet ask for.
    """

    path: Array
    in_root: bool

    def speed(self, fps: float) -> Array:
        """(frames,) metres a second."""
        return np.asarray(np.linalg.norm(velocities(self.path[:, :2], fps, False), axis=-1))


def estimate_travel(rig: Rig, motion: Motion) -> Travel:
    """The travel of a motion: what it states, else its root's smoothed path where that goes somewhere, else the belt's negative.

    Feet whose cycle is that of a gait have a belt: its velocity is the robust median, over frames and feet, of the velocity of contact
    points that are low (of feet in stance in a made gait); smoothed over a stride, one velocity and yaw rate in a loop.
    """
    if motion.travel is not None:
        return Travel(motion.travel, True)
    world = world_from_motion(rig.skeleton, motion)
    feet = feet_of(rig)
    own = _root_travel(rig, motion, world)
    if own is not None:
        return Travel(own, True)
    if not feet or motion.frames < 3:
        return Travel(np.zeros((motion.frames, 3)), False)
    stance = stance_by_cycle(rig, motion, world, feet)
    if stance is None:
        return Travel(np.zeros((motion.frames, 3)), False)
    twists = _belt(rig, motion, world, stance)
    if motion.loop:
        steps = exponential(motion.times[:, None] * twists.mean(axis=0))
        return Travel(steps, False)
    return Travel(integrate(0.5 * (twists[1:] + twists[:-1]), 1.0 / motion.fps), False)


def travel_of_root(rig: Rig, motion: Motion) -> Travel:
    """The travel of a motion whose root goes where it should, however little that is, whatever its feet ask for."""
    return Travel(_root_path(rig, motion, world_from_motion(rig.skeleton, motion))[0], True)


def with_travel(rig: Rig, motion: Motion, travel: Travel | None = None) -> Motion:
    """The motion going over the ground: everything that hangs on the pelvis is moved by the travel, ancestors stay.

    A loop's last frame is its first pose, moved on. A motion that travels already is only told its travel.
    """
    travel = estimate_travel(rig, motion) if travel is None else travel
    if travel.in_root:
        return motion.with_(travel=travel.path)
    world = world_from_motion(rig.skeleton, motion)
    if motion.loop:
        world[-1] = world[0]
    moved = move_world(rig.skeleton, world, ground_matrices(travel.path))
    made = motion_from_world(rig.skeleton, moved, motion.fps, name=motion.name, loop=motion.loop, like=motion)
    return made.with_(travel=travel.path)


def set_down(rig: Rig, motion: Motion) -> Motion:
    """The motion lowered until its lowest contact point touches the ground y = 0, where it never does; else the motion itself.

    Files rest with their soles above the ground, some by a third of a leg, and nothing but a gait's stance pulls feet down.
    """
    world = world_from_motion(rig.skeleton, motion)
    heights = contact_paths(rig, world)[..., 1]
    if not heights.size or heights.min() <= 0.0:
        return motion
    down = np.eye(4)
    down[1, 3] = -heights.min()
    lowered = move_world(rig.skeleton, world, np.broadcast_to(down, (motion.frames, 4, 4)))
    return motion_from_world(rig.skeleton, lowered, motion.fps, name=motion.name, loop=motion.loop, like=motion)


def in_place(rig: Rig, motion: Motion) -> tuple[Motion, Array]:
    """The motion with its travel taken out, and that travel (frames, 3): x, z metres and yaw radians since the first frame."""
    travel = estimate_travel(rig, motion)
    if not travel.in_root:
        return motion, np.zeros((motion.frames, 3))
    world = in_place_world(rig, motion, travel)
    made = motion_from_world(rig.skeleton, world, motion.fps, name=motion.name, loop=motion.loop, like=motion)
    return made.with_(travel=None), travel.path


def in_place_world(rig: Rig, motion: Motion, travel: Travel) -> Array:
    """World transforms (frames, joints, 4, 4), metres, of the motion with its travel taken out; a loop ends in its first pose."""
    world = world_from_motion(rig.skeleton, motion)
    if travel.in_root:
        world = move_world(rig.skeleton, world, ground_matrices(inverse_ground(travel.path)))
    if motion.loop:
        world[-1] = world[0]
    return world


def _root_travel(rig: Rig, motion: Motion, world: Array) -> Array | None:
    """The travel (frames, 3) of a root that goes somewhere, None if it stays."""
    path, (span_m, span_rad) = _root_path(rig, motion, world)
    return None if span_m < TRAVELS_LEGS * leg_length(rig) and span_rad < TRAVELS_RAD else path


def _root_path(rig: Rig, motion: Motion, world: Array) -> tuple[Array, tuple[float, float]]:
    """The root's smoothed path (frames, 3) since its first frame, and what it spans, metres and radians."""
    sigma = 0.5 * _stride_s(rig) * motion.fps
    place = motion.root[:, [0, 2]]
    yaw = _yaw(rig, world)
    smooth = _low_pass(np.column_stack([place, yaw]), sigma)
    span = np.ptp(smooth, axis=0)
    spans = float(np.hypot(span[0], span[1])), float(span[2])
    if spans[1] < TRAVELS_RAD:
        smooth[:, 2] = yaw = np.zeros(len(yaw))
    if motion.loop:
        turn = yaw[-1] - yaw[0]
        first, last = motion.root[0], motion.root[-1]
        turned = ground_matrices(np.array([[0.0, 0.0, turn]]))[0, :3, :3] @ first
        step = np.array([last[0] - turned[0], last[2] - turned[2], turn])
        return np.asarray(exponential(np.linspace(0.0, 1.0, motion.frames)[:, None] * logarithm(step))), spans
    path = smooth - smooth[0] * np.array([0.0, 0.0, 1.0])
    start = np.array([smooth[0, 0], 0.0, smooth[0, 1]])
    turned = ground_matrices(np.column_stack([np.zeros((len(path), 2)), path[:, 2]]))[:, :3, :3] @ start
    path[:, :2] -= turned[:, [0, 2]]
    return np.asarray(path), spans


def _yaw(rig: Rig, world: Array) -> Array:
    """The pelvis's heading (frames,), radians, unwrapped, since rest; zeros where it is tilted too far to have one."""
    pelvis = rig.skeleton.pelvis
    turns = nearest_rotation(world[:, pelvis, :3, :3]) @ nearest_rotation(rig.skeleton.rest_world[pelvis, :3, :3]).T
    heading = turns @ rig.forward
    if (np.hypot(heading[:, 0], heading[:, 2]) < 0.5).any():
        return np.zeros(len(world))
    return np.unwrap(np.arctan2(heading[:, 0], heading[:, 2]))


def _low_pass(values: Array, sigma_frames: float) -> Array:
    """Gaussian low pass along frames; the ends are continued by reflection through the end points, so that a straight line stays."""
    pad = min(len(values) - 1, int(4 * sigma_frames) + 1)
    if pad < 1:
        return values.copy()
    before, after = 2 * values[0] - values[pad:0:-1], 2 * values[-1] - values[-2 : -pad - 2 : -1]
    return np.asarray(gaussian_filter1d(np.concatenate([before, values, after]), sigma_frames, axis=0)[pad : pad + len(values)])


def _stride_s(rig: Rig) -> float:
    return STRIDE_S * float(np.sqrt(leg_length(rig) / 0.9))


def _belt(rig: Rig, motion: Motion, world: Array, stance: Stance) -> Array:
    """Body twists (frames, 3) against the belt: x, z metres and yaw radians a second."""
    paths = contact_paths(rig, world)
    speeds = velocities(paths, motion.fps, motion.loop)[..., [0, 2]]
    low = _telling(rig, motion, paths, speeds, stance)
    count = unique_frames(motion)
    frames, points = np.nonzero(low[:count])
    if len(frames) < 3:
        return np.zeros((motion.frames, 3))
    where, moving = paths[frames, points][:, [0, 2]], speeds[frames, points]
    whole = _twist(where, moving, True)
    turns = _turns(where, moving, whole)
    if motion.loop:
        twists = np.tile(whole if turns else _twist(where, moving, False), (motion.frames, 1))
    else:
        half = 0.5 * motion.fps / stance.cycle.frequency
        twists = np.full((motion.frames, 3), np.nan)
        for frame in range(motion.frames):
            near = np.abs(frames - frame) <= half
            if near.sum() >= 3:
                twists[frame] = _twist(where[near], moving[near], turns)
        twists = _held(twists)
        twists = _low_pass(twists, 0.5 * half)
    return _settled(rig, twists)


def _telling(rig: Rig, motion: Motion, paths: Array, speeds: Array, stance: Stance) -> Bools:
    """Points (frames, points) that tell of the belt: the lower ones of each foot in stance in a made gait, else of each foot that is
    low and moves the way in which feet are low (some artists' feet skim the ground in swing)."""
    feet, telling = feet_of(rig), np.zeros(paths.shape[:2], dtype=np.bool_)
    carries = low_feet(paths[..., 1], feet, leg_length(rig)) if not is_made(motion) else stance.carries()
    for f, foot in enumerate(feet):
        heights = paths[:, foot.points, 1]
        lowest = heights.min(axis=1, keepdims=True)
        telling[:, foot.points] = carries[:, f : f + 1] & (heights <= lowest + SOLE_LEGS * leg_length(rig))
    if is_made(motion):
        return telling
    height = paths[..., 1] - paths[..., 1].mean(axis=0)
    upward = np.einsum("fp,fpi->i", height, speeds)
    return np.asarray(telling & (speeds @ upward < 0.0))


def _twist(where: Array, moving: Array, may_turn: bool) -> Array:
    """The body twist (3,) whose belt moves points at `where` (n, 2) by `moving` (n, 2), least sum of distances."""
    if not may_turn:
        return np.array([*(-np.median(moving, axis=0)), 0.0])
    count = len(where)
    rows = np.zeros((count, 2, 3))
    rows[:, 0, 0] = rows[:, 1, 1] = 1.0
    rows[:, 0, 2], rows[:, 1, 2] = where[:, 1], -where[:, 0]
    twist = np.array([*(-np.median(moving, axis=0)), 0.0])
    for _ in range(20):
        distance = np.linalg.norm(moving + rows @ twist, axis=-1)
        weight = 1.0 / np.maximum(distance, 1e-3 + 0.05 * np.median(distance))
        normal = np.einsum("n,nai,naj->ij", weight, rows, rows)
        twist = np.linalg.solve(normal + 1e-9 * np.trace(normal) * np.eye(3), -np.einsum("n,nai,na->i", weight, rows, moving))
    return np.asarray(twist)


def _turns(where: Array, moving: Array, twist: Array) -> bool:
    """Whether the belt turns clearly enough to be believed."""
    if abs(twist[2]) < TURN_RAD:
        return False
    straight = np.linalg.norm(moving - np.median(moving, axis=0), axis=-1)
    turning = moving + twist[:2] + twist[2] * np.column_stack([where[:, 1], -where[:, 0]])
    return bool(np.median(np.linalg.norm(turning, axis=-1)) < TURN_GAIN * np.median(straight))


def _held(twists: Array) -> Array:
    """Twists (frames, 3) with the rows that are not known (NaN) filled in between their neighbours."""
    frames = np.arange(len(twists))
    known = np.flatnonzero(np.isfinite(twists[:, 0]))
    if not len(known):
        return np.zeros_like(twists)
    return np.stack([np.interp(frames, known, twists[known, c]) for c in range(3)], axis=1)


def _settled(rig: Rig, twists: Array) -> Array:
    """Twists without the feet's unrest: no belt where all is slow, none sideways where nearly all is forward."""
    left = np.array([rig.forward[2], -rig.forward[0]])
    ahead = rig.forward[[0, 2]]
    forward, sideways = twists[:, :2] @ ahead, twists[:, :2] @ left
    if np.abs(twists[:, 2]).max() == 0.0 and np.hypot(forward, sideways).max() < STILL_LEGS * leg_length(rig):
        return np.zeros_like(twists)
    if np.median(np.abs(sideways)) < STRAIGHT * np.median(np.abs(forward)):
        sideways = np.zeros_like(sideways)
    return np.column_stack([forward[:, None] * ahead + sideways[:, None] * left, twists[:, 2]])

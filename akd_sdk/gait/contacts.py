"""Contacts: when each contact point is planted; by height and speed in a file's motion, by the fitted cycle in a made one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.gait.feet import Foot, contact_paths, feet_of, leg_length, rest_hip_height, standing_height
from akd_sdk.gait.ground import ground_velocities, move_points
from akd_sdk.gait.smoothing import runs
from akd_sdk.gait.stance import is_made, stance_by_cycle, unique_frames
from akd_sdk.gait.travel import Travel, estimate_travel, in_place_world
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

LOW_LEGS, HIGH_LEGS = 0.02, 0.04
"""Heights over the ground, leg lengths, under which a point may be planted and above which it is let go."""
SLOW_LEGS, SLOW_BELT = 0.3, 0.35
"""Speeds over the ground under which a point may be planted: leg lengths a second, or share of the belt's speed, whichever is more."""
RELEASE = 2.0
"""Times that speed at which it is let go."""
SHORTEST_S = 0.07
"""Stretches shorter than this do not count."""
SOLE_SLACK = 0.05
"""How much higher than its foot's lowest point, leg lengths, a point of a foot in stance may be and be planted."""


def ground_height(rig: Rig, motion: Motion, paths: Array) -> float:
    """Height of the ground, metres: 0 for what the SDK makes, where the feet stand for a file's motion."""
    return 0.0 if is_made(motion) or not paths.size else standing_height(paths[..., 1], feet_of(rig), leg_length(rig))


def hold(start: Bools, keep: Bools, loop: bool) -> Bools:
    """Hysteresis along the first axis: on where `start`, on while `keep`; a loop is entered in the state in which it ends."""
    state = np.zeros(start.shape[1:], dtype=np.bool_)
    out = np.zeros_like(start)
    for _ in range(2 if loop else 1):
        for i in range(len(start)):
            state = start[i] | (state & keep[i])
            out[i] = state
    return out


def drop_short(planted: Bools, shortest_frames: float, loop: bool) -> Bools:
    """Without stretches (frames, points) of fewer than `shortest_frames` frames; a loop's stretches run across its seam."""
    out = planted.copy()
    for p in range(planted.shape[1]):
        for run in runs(planted[:, p], loop):
            if len(run) < shortest_frames and len(run) < len(planted):
                out[run, p] = False
    return out


def low_and_slow(height: Array, speed: Array, leg_m: float, slow: Array) -> tuple[Bools, Bools]:
    """Which points may begin and which may stay planted, two (frames, points).

    height, speed: (frames, points) over the ground, metres and metres a second; slow: (frames,) speed limit, metres a second.
    """
    start = (height < LOW_LEGS * leg_m) & (speed < slow[:, None])
    keep = (height < HIGH_LEGS * leg_m) & (speed < RELEASE * slow[:, None])
    return start, keep


def points_in_stance(paths: Array, feet: tuple[Foot, ...], carries: Bools, leg_m: float) -> Bools:
    """Planted points (frames, points): those of a foot in stance that are not much higher than its lowest one."""
    planted = np.zeros(paths.shape[:2], dtype=np.bool_)
    for f, foot in enumerate(feet):
        heights = paths[:, foot.points, 1]
        low = heights <= heights.min(axis=1, keepdims=True) + SOLE_SLACK * leg_m
        planted[:, foot.points] = low & carries[:, f : f + 1]
    return planted


def find_contacts(rig: Rig, motion: Motion, travel: Travel | None = None) -> Bools:
    """Which contact points are planted when, (frames, contact points).

    A made motion (its provenance has a prompt) takes each foot's stance from its fitted cycle where there is one; a file's motion, and
    one without a cycle, is judged by height and speed over the ground, the speed limit growing with the belt.
    """
    if not rig.contact_points:
        return np.zeros((motion.frames, 0), dtype=np.bool_)
    travel = estimate_travel(rig, motion) if travel is None else travel
    world = world_from_motion(rig.skeleton, motion)
    paths = contact_paths(rig, world)
    if is_made(motion):
        feet = feet_of(rig)
        stance = stance_by_cycle(rig, motion, in_place_world(rig, motion, travel), feet)
        if stance is not None:
            stride = travel.speed(motion.fps).mean() / stance.cycle.frequency / rest_hip_height(rig)
            return points_in_stance(paths, feet, stance.carries(float(stride)), leg_length(rig))
    return planted_by_speed(rig, motion, travel, paths)


def planted_by_speed(rig: Rig, motion: Motion, travel: Travel, paths: Array) -> Bools:
    """The rule for motions that are no made gaits: low and slow, with hysteresis, no short stretches.

    paths: (frames, points, 3) of the motion, metres.
    """
    over_ground = paths if travel.in_root else move_points(travel.path, paths)
    slow = np.maximum(SLOW_LEGS * leg_length(rig), SLOW_BELT * travel.speed(motion.fps))
    velocity = ground_velocities(over_ground, motion.fps, travel.path[-1] if motion.loop else None)
    speed = np.linalg.norm(velocity[..., [0, 2]], axis=-1)
    start, keep = low_and_slow(paths[..., 1] - ground_height(rig, motion, paths), speed, leg_length(rig), slow)
    count = unique_frames(motion)
    if is_made(motion):  # unrest of what the SDK made is no lift: the wider thresholds, and no short gaps either
        start = ~drop_short(~keep[:count], 2.0 * SHORTEST_S * motion.fps, motion.loop)
    planted = drop_short(hold(start[:count], keep[:count], motion.loop), SHORTEST_S * motion.fps, motion.loop)
    return np.concatenate([planted, planted[: motion.frames - count]])

"""Course: one cycle of a loop, or a whole clip, as coordinates, rates and accelerations at every step, with what stands when."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

from akd_sdk.bodies import Articulation
from akd_sdk.bodies.coordinates import Coordinates
from akd_sdk.gait import estimate_travel, find_contacts
from akd_sdk.gait.contacts import LOW_LEGS
from akd_sdk.gait.feet import contact_paths, feet_of, leg_length
from akd_sdk.gait.stance import fit_cycle, is_made
from akd_sdk.gait.travel import in_place_world
from akd_sdk.kinematics import rest_turns, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig
from akd_sdk.rotations import nearest_rotation

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

SMOOTH_S = 0.015
"""Standard deviation, seconds, of the low pass over the coordinates: key frames have corners that no body can follow."""


@dataclass(frozen=True)
class Course:
    """What is to be followed, once.

    Attributes:
        values: (steps + 1, coordinates); a loop ends in its first pose, moved on by the travel.
        rates, accelerations: of the same, per second and per second squared.
        planted: (steps + 1, limbs) which feet stand.
        limbs: their names.
        dt: seconds a step.
        loop: whether it is a cycle.
        stride: seconds of a stride, of the whole where there is no gait.
    """

    values: Array
    rates: Array
    accelerations: Array
    planted: Bools
    limbs: tuple[str, ...]
    dt: float
    loop: bool
    stride: float

    @property
    def steps(self) -> int:
        return len(self.values) - 1

    @property
    def step(self) -> Array:
        """(3,) x, z and heading from the beginning of a cycle to its end, in the axes of its beginning's character frame."""
        return self.values[-1, [0, 2, 3]] - self.values[0, [0, 2, 3]]


def body_turns(rig: Rig, articulation: Articulation, motion: Motion) -> Array:
    """World turns of bodies against rest (frames, bodies, 3, 3)."""
    joints = np.array([body.joint for body in articulation.bodies])
    world = world_from_motion(rig.skeleton, motion)[:, joints, :3, :3]
    return np.asarray(nearest_rotation(world) @ np.swapaxes(rest_turns(rig.skeleton)[joints], -1, -2))


def course_of(rig: Rig, coordinates: Coordinates, motion: Motion, dt: float) -> Course:
    """The course of a motion that goes over the ground; `dt` is fitted so that a loop has whole steps.

    Feet of a file's motion bear while they are down, though they skate: what is taken for a flight must be one.
    """
    frames = coordinates.of(body_turns(rig, coordinates.articulation, motion), motion.root)
    planted = find_contacts(rig, motion) if motion.contacts is None else motion.contacts
    if not is_made(motion):
        heights = contact_paths(rig, world_from_motion(rig.skeleton, motion))[..., 1]
        planted = planted | (heights < LOW_LEGS * leg_length(rig))
    limbs = tuple(dict.fromkeys(point.limb for point in rig.contact_points))
    feet = np.stack([planted[:, [p.limb == limb for p in rig.contact_points]].any(axis=1) for limb in limbs], axis=1)
    steps = max(1, round(motion.duration / dt))
    exact = motion.duration / steps if motion.frames > 1 else dt
    values, rates, accelerations = _sampled(frames, motion, steps)
    nearest = np.round(np.arange(steps + 1) * exact * motion.fps).astype(np.int64)
    planted = feet[np.minimum(nearest, motion.frames - 1)]
    return Course(values, rates, accelerations, planted, limbs, exact, motion.loop, stride_seconds(rig, motion))


def _sampled(frames: Array, motion: Motion, steps: int) -> tuple[Array, Array, Array]:
    """Smoothed coordinates (steps + 1, n) of those at frames, their rates and accelerations."""
    count = len(frames) - 1
    if count < 1:
        still = np.repeat(frames, steps + 1, axis=0)
        return still, np.zeros_like(still), np.zeros_like(still)
    pad = count if motion.loop else min(count, 1 + int(np.ceil(5.0 * SMOOTH_S * motion.fps)))
    if motion.loop:
        before, after = moved_on(frames[:-1], frames, -1), moved_on(frames[1:], frames, 1)
    else:
        before, after = 2.0 * frames[0] - frames[pad:0:-1], 2.0 * frames[-1] - frames[-2 : -pad - 2 : -1]
    spline = CubicSpline(np.arange(-pad, count + pad + 1) / motion.fps, np.concatenate([before, frames, after]))
    dt = motion.duration / steps
    margin = min(int(pad / motion.fps / dt), int(6.0 * SMOOTH_S / dt) + 2)
    fine = spline(np.arange(-margin, steps + margin + 1) * dt)
    smooth = gaussian_filter1d(fine, SMOOTH_S / dt, axis=0, mode="nearest")
    rates = np.gradient(smooth, dt, axis=0)
    accelerations = np.zeros_like(smooth)
    accelerations[1:-1] = (smooth[2:] - 2.0 * smooth[1:-1] + smooth[:-2]) / dt**2
    own = slice(margin, margin + steps + 1)
    return smooth[own], rates[own], accelerations[own]


def stride_seconds(rig: Rig, motion: Motion) -> float:
    """Seconds of a stride, of the whole motion where it has no gait."""
    still = in_place_world(rig, motion, estimate_travel(rig, motion))
    fitted = fit_cycle(rig, motion, still, feet_of(rig))
    return motion.duration if fitted is None else 1.0 / fitted.frequency


def moved_on(values: Array, cycle: Array, times: int) -> Array:
    """Coordinates (n, coordinates) of a cycle as they are some cycles later (earlier, if negative); `cycle` has its first and last."""
    first, last = cycle[0], cycle[-1]
    turn = float(last[3] - first[3])
    moved = values.copy()
    for _ in range(abs(times)):
        start, end, angle = (first, last, turn) if times > 0 else (last, first, -turn)
        moved[:, [0, 2]] = end[[0, 2]] + turned(moved[:, [0, 2]] - start[[0, 2]], angle)
        moved[:, 3] += angle
    return moved


def turned(places: Array, turn: Array | float) -> Array:
    """Ground places (n, 2: x, z) turned by angles about the vertical."""
    cosine, sine = np.cos(turn), np.sin(turn)
    return np.stack([cosine * places[:, 0] + sine * places[:, 1], -sine * places[:, 0] + cosine * places[:, 1]], axis=1)

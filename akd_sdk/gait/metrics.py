"""Metrics: how well a motion stands, walks and holds still, at human size and 30 frames a second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.gait.coherence import TEACHER_SWING, Cycle, coherence, gaits_of
from akd_sdk.gait.contacts import LOW_LEGS, find_contacts, ground_height
from akd_sdk.gait.edits import resample
from akd_sdk.gait.feet import contact_paths, feet_of, leg_length
from akd_sdk.gait.ground import move_points
from akd_sdk.gait.stance import fit_cycle
from akd_sdk.gait.travel import estimate_travel, in_place_world
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

FPS = 30.0


@dataclass(frozen=True)
class GaitFit:
    """How well a motion is one gait: `coherence` 0 to 1; `swing` of its feet over the teacher's mean for that gait and body."""

    coherence: float
    swing: float


@dataclass(frozen=True)
class MotionMetrics:
    """What is measured of a motion.

    Attributes:
        planted_share: share of contact points and frames that are planted.
        contact_duty: share of feet and frames with a planted point.
        skate_mm: mean horizontal movement of planted points over the ground, mm per 1/30 s at human size; None where nothing is planted.
        penetration_mean_percent: mean depth of contact points below the ground, % of leg length.
        penetration_worst_percent: worst depth.
        float_share: share of frames in which the reference has a planted point and the motion none near the ground; None without one.
        jitter: rms third difference of the anatomical joints' positions times fps³, m/s³ at human size.
        speed: mean speed of travel over the ground, metres a second, the character's own size.
        frequency_hz, duty, gaits: stride, duty and fit to each gait of such a body; None and empty where the motion is no gait.
    """

    planted_share: float
    contact_duty: float
    skate_mm: float | None
    penetration_mean_percent: float
    penetration_worst_percent: float
    float_share: float | None
    jitter: float
    speed: float
    frequency_hz: float | None
    duty: float | None
    gaits: Mapping[str, GaitFit]


def measure(rig: Rig, motion: Motion, reference: Motion | None = None) -> MotionMetrics:
    """Measures a motion; contacts are its own where it has them, else `find_contacts`'.

    reference: the motion that says when something should be planted (for `float_share`), of the same length.
    """
    motion = motion if motion.fps == FPS else resample(motion, FPS)
    travel = estimate_travel(rig, motion)
    planted = find_contacts(rig, motion, travel) if motion.contacts is None else motion.contacts
    world = world_from_motion(rig.skeleton, motion)
    paths = contact_paths(rig, world)
    over_ground = paths if travel.in_root else move_points(travel.path, paths)
    height = paths[..., 1] - ground_height(rig, motion, paths)
    depth = 100.0 * np.maximum(-height, 0.0) / leg_length(rig)
    feet = feet_of(rig)
    carries = [planted[:, foot.points].any(axis=1) for foot in feet]
    still = in_place_world(rig, motion, travel)
    cycle = fit_cycle(rig, motion, still, feet)
    return MotionMetrics(
        planted_share=float(planted.mean()) if planted.size else 0.0,
        contact_duty=float(np.mean(carries)) if carries else 0.0,
        skate_mm=_skate(rig, over_ground, planted, motion.fps),
        penetration_mean_percent=float(depth.mean()) if depth.size else 0.0,
        penetration_worst_percent=float(depth.max()) if depth.size else 0.0,
        float_share=None if reference is None else _float(rig, reference, height),
        jitter=_jitter(rig, world, motion.fps),
        speed=float(travel.speed(motion.fps).mean()),
        frequency_hz=None if cycle is None else cycle.frequency,
        duty=None if cycle is None else cycle.duty,
        gaits={} if cycle is None else _gaits(rig, cycle),
    )


def _skate(rig: Rig, over_ground: Array, planted: Bools, fps: float) -> float | None:
    """Mean horizontal step, mm at human size, of points planted in both of two neighbouring frames."""
    both = planted[1:] & planted[:-1]
    if not both.any():
        return None
    steps = np.linalg.norm(np.diff(over_ground[..., [0, 2]], axis=0), axis=-1)
    return float(1000.0 * rig.human_scale * steps[both].mean() * fps / FPS)


def _float(rig: Rig, reference: Motion, height: Array) -> float:
    reference = reference if reference.fps == FPS else resample(reference, FPS)
    wanted = find_contacts(rig, reference) if reference.contacts is None else reference.contacts
    count = min(len(wanted), len(height))
    stands = wanted[:count].any(axis=1)
    hovers = ~(height[:count] < LOW_LEGS * leg_length(rig)).any(axis=1)
    return float((stands & hovers).mean())


def _jitter(rig: Rig, world: Array, fps: float) -> float:
    anatomy = np.array([role in ("anatomy", "unknown") for role in rig.skeleton.roles] or [True] * rig.skeleton.count)
    positions = world[:, anatomy][..., :3, 3] * rig.human_scale
    if len(positions) < 4:
        return 0.0
    third = np.diff(positions, n=3, axis=0) * fps**3
    return float(np.sqrt((third**2).sum(axis=-1).mean()))


def _gaits(rig: Rig, cycle: Cycle) -> dict[str, GaitFit]:
    fits = {}
    for gait in gaits_of(cycle.limbs):
        teacher = TEACHER_SWING.get((rig.body, gait))
        fits[gait] = GaitFit(coherence(cycle, gait), cycle.swing / teacher if teacher else float("nan"))
    return fits

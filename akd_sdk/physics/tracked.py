"""Tracked: a motion under physics, and what it took."""

from __future__ import annotations

from dataclasses import dataclass

from akd_sdk.bodies import TrackRecord
from akd_sdk.gait import MotionMetrics
from akd_sdk.motion import Motion


@dataclass(frozen=True)
class Tracked:
    """The result of a tracking.

    Attributes:
        motion: the simulated states as a motion of the file's tree; frames, fps, loop and name are the input's.
        record: what happened over time.
        effort: "default" or "best".
        caps: largest help allowed, force in body weights and torque in body weights times pelvis height, norms.
        mean_force, peak_force: help used, body weights.
        mean_torque, peak_torque: help used, body weights times pelvis height.
        alone_s: when it fell without help, seconds from the start; None: it did not.
        before, after: metrics of the motion given and of the tracked one.
        bodies: rigid bodies. mass: kilograms. dt: seconds a step.
        cycles: how often a loop was run, 0 for what does not loop.
        closure_deg, closure_speed: how far the recorded cycle was from closing: largest joint angle, degrees, and the rms difference of
            joint velocities over their rms; 0 for what does not loop.
        seconds: CPU seconds.
        notes: what the user should know.
    """

    motion: Motion
    record: TrackRecord
    effort: str
    caps: tuple[float, float]
    mean_force: float
    peak_force: float
    mean_torque: float
    peak_torque: float
    alone_s: float | None
    before: MotionMetrics
    after: MotionMetrics
    bodies: int
    mass: float
    dt: float
    cycles: int
    closure_deg: float
    closure_speed: float
    seconds: float
    notes: tuple[str, ...] = ()

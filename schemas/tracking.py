"""Tracking: what became of a motion under gravity, friction and contact, and how much help that took."""

from __future__ import annotations

from typing import Literal

from akd_sdk.schemas.base import Schema
from akd_sdk.schemas.metrics import Metrics


class HelpUsed(Schema):
    """A force or a torque on the pelvis that no body has in the real world.

    Attributes:
        cap: the most that was allowed, 0 for none.
        mean: over the recorded time.
        peak: over the recorded time.
    """

    cap: float
    mean: float
    peak: float

AT_ONCE_S = 0.005
"""What two decimals show as no time at all."""


class Tracking(Schema):
    """How a motion was tracked in a simulation, or why it was not. What is not known of a failed tracking is null.

    Attributes:
        effort: "default", or "best" with a search for offsets on the targets.
        friction: of the ground.
        kept: whether the tracked motion is the one that was delivered.
        fault: why it was not kept.
        force: help, in body weights.
        torque: help, in body weights times the pelvis's height at rest.
        alone_s: seconds until it falls without any help; null: it does not.
        bodies: how many rigid bodies the character was.
        mass_kg: of all of them.
        dt_s: time step, seconds.
        cycles: how often a loop was run, one of them recorded; 0 for what is no loop.
        closure_deg: by how much the recorded cycle missed closing before the rest was spread over it, degrees at the worst joint; null
            for what is no loop.
        closure_speed: the same of joint speeds, rms over their rms.
        cpu_s: processor seconds of the tracking.
        before, after: metrics of the motion that was tracked, and of what came of it.
        notes: what is odd about the body or the tracking, one line each.
    """

    effort: Literal["default", "best"]
    friction: float
    kept: bool
    fault: str | None = None
    force: HelpUsed | None = None
    torque: HelpUsed | None = None
    alone_s: float | None = None
    bodies: int | None = None
    mass_kg: float | None = None
    dt_s: float | None = None
    cycles: int | None = None
    closure_deg: float | None = None
    closure_speed: float | None = None
    cpu_s: float | None = None
    before: Metrics | None = None
    after: Metrics | None = None
    notes: tuple[str, ...] = ()

    def summary(self) -> str:
        """One line for a person: the help that was needed, or why there is no tracking."""
        if not self.kept:
            return f"not tracked: {self.fault or 'no reason is known'}"
        if self.force is None or self.torque is None or not (self.force.cap or self.torque.cap):
            return "tracked without any help"
        alone = "stays up, but slips or strays"
        if self.alone_s is not None:
            alone = "falls at once" if self.alone_s < AT_ONCE_S else f"falls after {self.alone_s:.2f} s"
        return (
            f"tracked with help of {self.force.mean:.3f} body weights on average, {self.force.peak:.3f} at most "
            f"(torque {self.torque.mean:.3f} and {self.torque.peak:.3f} of weight times pelvis height); without help it {alone}"
        )

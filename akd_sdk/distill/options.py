"""Options of a distillation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from akd_sdk.errors import AkdError, PromptError

SHORTEST_S: Final = 0.5
"""Seconds; less than this is no motion that a person would name."""


@dataclass(frozen=True)
class DistillOptions:
    """How long, and how a prior's belief becomes joint curves.

    Attributes:
        seconds: length asked for; a looped gait gets the nearest length that holds whole strides.
        loop: the last frame is the first pose, moved on by the travel.
        fps: frames a second of the result.
        levels: noise levels, from no signal down.
        inner: optimiser steps a level.
        views: cameras a level.
        rate: learning rate of the coefficients, radians (and hip heights, scaled) a step.
        rate_decay: what the learning rate falls to over the second half of the levels, as a share. A constant rate leaves
            jitter of 4 to 8 Hz in every clip.
        bandwidth_hz: highest frequency of the curves.
        elevation_deg: range of camera elevations.
        smoothness: weight of the squared second difference of angles at 16 frames a second.
        effort: weight of squared angles: what no view sees stays at rest.
        twist: weight of squared twist, which points cannot see.
        limits: weight of squared excess over the joint limits.
        ground: weight of squared depth below the ground, hip heights.
    """

    seconds: float = 2.0
    loop: bool = False
    fps: float = 30.0
    levels: int = 40
    inner: int = 12
    views: int = 6
    rate: float = 0.04
    rate_decay: float = 0.02
    bandwidth_hz: float = 5.5
    elevation_deg: tuple[float, float] = (-5.0, 30.0)
    smoothness: float = 2e-4
    effort: float = 2e-3
    twist: float = 2e-2
    limits: float = 0.5
    ground: float = 60.0

    def checked(self, window_s: float) -> DistillOptions:
        """These options, or the error that names the first that cannot be; `window_s` is what the prior sees at once."""
        if not math.isfinite(self.seconds) or self.seconds <= 0.0:
            raise PromptError(f"{self.seconds:g} is no length", "--seconds", f"give {SHORTEST_S:g} to {window_s:g}")
        if self.seconds < SHORTEST_S:
            raise PromptError(f"{self.seconds:g} s is too short for a motion", "--seconds", f"give {SHORTEST_S:g} to {window_s:g}")
        if self.seconds > window_s and not self.loop:
            raise PromptError(
                f"{self.seconds:g} s is longer than the {window_s:g} s that the prior sees at once",
                "--seconds",
                "only loops can be longer: add --loop",
            )
        if self.seconds > 600.0:
            raise PromptError(f"{self.seconds:g} s is over ten minutes of one loop", "--seconds", "let the engine repeat the loop")
        if not math.isfinite(self.fps) or not 1.0 <= self.fps <= 240.0:
            raise AkdError(f"{self.fps:g} frames a second cannot be written", "--fps", "give 1 to 240")
        if self.seconds * self.fps < 2.0:
            fault = f"{self.seconds:g} s at {self.fps:g} frames a second are fewer than 3 frames"
            raise PromptError(fault, "--fps", f"give {2.0 / self.seconds:.3g} or more")
        return self

"""Options of a distillation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Final

from akd_sdk.errors import AkdError, PromptError

SHORTEST_S: Final = 0.5
"""Seconds; less than this is no motion that a person would name."""

MODES: Final = ("mas", "annealed", "random-t")
STEPS: Final = {"mas": 40, "annealed": 400, "random-t": 10_000}
"""Steps of each mode where none are asked for; those of `random-t` are AKD's."""
VIEWS: Final = {"tracks": 6, "pixels": 2}
MODE_OF: Final = {"tracks": "mas", "pixels": "annealed"}
"""Mode and views a step where none are asked for, by what the prior looks at."""


@dataclass(frozen=True)
class Stage:
    """A part of a distillation on pixels; all parts have the same number of steps.

    Attributes:
        size: height and width of the picture as a share of what the prior asks for.
        tile: side of the checkerboard's tiles in heights of the character.
        effort: what the weight of squared angles is multiplied by.
    """

    size: float = 1.0
    tile: float = 0.5
    effort: float = 1.0


COARSE_TO_FINE: Final = (Stage(tile=2.0, effort=100.0), Stage(tile=1.0, effort=10.0), Stage(tile=0.5))
"""Large tiles first, since small ones look alike from a tile further on; and limbs that are hardly seen yet stay near rest."""


@dataclass(frozen=True)
class PixelOptions:
    """How a character is filmed for a prior that looks at pixels, and what its curves are held to.

    Attributes:
        gaussians: how many cover the skin.
        look: "surface", the character itself, or "bones", its bones coloured by kinematic group.
        ground: whether there is a checkerboard to see.
        stages: coarse to fine; of one size, as models have one.
        elevation_deg: range of camera elevations.
        t_range: highest and lowest time asked for: times fall from the first to the second, or are drawn between them.
        smoothness: weight of AKD's smoothness loss, the mean size of the change of angular velocity, rad/s² (methods of AKD: second
            differences, here times fps²).
        boxes: weight of AKD's ground loss, the mean depth of the corners of bone boxes below the ground, hip heights.
        unlock: share of the steps over which faster functions of the curves are set free, one after another; a limb that follows the slow
            part of its swing first ends on the right side.
        effort: weight of squared angles.
        twist: weight of squared twist, of which pictures show little.
        limits: weight of squared excess over the joint limits.
    """

    gaussians: int = 2000
    look: str = "surface"
    ground: bool = True
    stages: tuple[Stage, ...] = COARSE_TO_FINE
    elevation_deg: tuple[float, float] = (5.0, 20.0)
    t_range: tuple[float, float] = (0.98, 0.02)
    smoothness: float = 1e-6
    boxes: float = 0.1
    unlock: float = 0.5
    effort: float = 3e-6
    twist: float = 1e-4
    limits: float = 2e-2


@dataclass(frozen=True)
class DistillOptions:
    """How long, and how a prior's belief becomes joint curves.

    Attributes:
        seconds: length asked for; a looped gait gets the nearest length that holds whole strides.
        loop: the last frame is the first pose, moved on by the travel.
        fps: frames a second of the result.
        mode: "mas" takes many optimiser steps at each of a few noise levels, "annealed" one step at each of many times that fall,
            "random-t" one step at each of very many random times, as AKD does; None: "mas" on tracks, "annealed" on pixels.
        steps: noise levels or times; None: 40, 400 or 10,000.
        inner: optimiser steps a level of "mas".
        views: cameras a step; None: 6 on tracks, 2 on pixels.
        rate: learning rate of the coefficients, radians (and hip heights, scaled) a step.
        rate_decay: what the learning rate falls to over the second half of the steps, as a share. A constant rate leaves
            jitter of 4 to 8 Hz in every clip.
        bandwidth_hz: highest frequency of the curves.
        elevation_deg: range of camera elevations on tracks.
        smoothness: weight of the squared second difference of angles at 16 frames a second, on tracks.
        effort: weight of squared angles: what no view sees stays at rest.
        twist: weight of squared twist, which points cannot see.
        limits: weight of squared excess over the joint limits.
        ground: weight of squared depth below the ground, hip heights.
        pixels: what is different where the prior looks at pixels.
    """

    seconds: float = 2.0
    loop: bool = False
    fps: float = 30.0
    mode: str | None = None
    steps: int | None = None
    inner: int = 12
    views: int | None = None
    rate: float = 0.04
    rate_decay: float = 0.02
    bandwidth_hz: float = 5.5
    elevation_deg: tuple[float, float] = (-5.0, 30.0)
    smoothness: float = 2e-4
    effort: float = 2e-3
    twist: float = 2e-2
    limits: float = 0.5
    ground: float = 60.0
    pixels: PixelOptions = field(default_factory=PixelOptions)

    def checked(self, window_s: float) -> DistillOptions:
        """These options, or the error that names the first that cannot be; `window_s` is what the prior sees at once, infinite
        where that is not known yet."""
        span = f"give {SHORTEST_S:g} to {window_s:g}" if math.isfinite(window_s) else f"give {SHORTEST_S:g} or more"
        if not math.isfinite(self.seconds) or self.seconds <= 0.0:
            raise PromptError(f"{self.seconds:g} is no length", "--seconds", span)
        if self.seconds < SHORTEST_S:
            raise PromptError(f"{self.seconds:g} s is too short for a motion", "--seconds", span)
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

    def settled(self, observes: str, window_s: float) -> DistillOptions:
        """These options checked, with what was left open filled in for a prior that looks at "tracks" or "pixels".

        Raises:
            PromptError: a length that cannot be made. AkdError: a mode, a number of steps or views that cannot be.
        """
        mode = self.mode or MODE_OF[observes]
        if mode not in MODES:
            raise AkdError(f"no mode is called {mode!r}", "--mode", f"known are {', '.join(MODES)}")
        if mode == "mas" and observes == "pixels":
            raise AkdError("mas needs a prior that looks at tracks", "--mode", "choose annealed or random-t")
        steps = STEPS[mode] if self.steps is None else self.steps
        views = VIEWS[observes] if self.views is None else self.views
        if not isinstance(steps, Integral) or steps < 1:
            raise AkdError(f"{steps} steps", "--steps", "give 1 or more")
        if not isinstance(views, Integral) or not 1 <= views <= 64:
            raise AkdError(f"{views} views", "--views", "give 1 to 64")
        self._check_numbers()
        if observes == "pixels":
            self._check_pixels()
        inner = self.inner if mode == "mas" else 1
        return replace(self, mode=mode, steps=steps, views=views, inner=inner).checked(window_s)

    def _check_numbers(self) -> None:
        for name, value in {"rate": self.rate, "bandwidth_hz": self.bandwidth_hz}.items():
            if not 0.0 < value < math.inf:
                raise AkdError(f"{value:g} is no {name}", name, "give a number over 0")
        if not isinstance(self.inner, Integral) or self.inner < 1:
            raise AkdError(f"{self.inner} optimiser steps a level", "inner", "give 1 or more")
        if not 0.0 <= self.rate_decay <= 1.0:
            raise AkdError(f"a learning rate that falls to {self.rate_decay:g} of itself", "rate_decay", "give a share, 0 to 1")

    def _check_pixels(self) -> None:
        high, low = self.pixels.t_range
        if not 0.0 <= low <= high <= 1.0:
            raise AkdError(f"times from {high:g} down to {low:g}", "t_range", "give two numbers from 1 down to 0")
        if self.pixels.look not in ("surface", "bones"):
            raise AkdError(f"no look is called {self.pixels.look!r}", "look", "known are surface and bones")
        if not self.pixels.stages or any(not (0.0 < s.size <= 1.0 and s.tile > 0.0) for s in self.pixels.stages):
            raise AkdError("a stage has no size or no tiles", "stages", "sizes are shares up to 1, tiles larger than 0")

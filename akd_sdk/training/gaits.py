"""The teacher's gaits: footfall phases, duty, stride frequency, excursion and lift, and how words change them.

Sources: duty factor and fore-hind phase describe symmetrical gaits (Hildebrand); gallops after Bertram and Gutmann,
J. R. Soc. Interface 6:549, 2009. The ranges of frequency, excursion and lift are choices.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.random import Generator

from akd_sdk.gait.coherence import PHASES
from akd_sdk.training.turns import Array


@dataclass(frozen=True)
class GaitRanges:
    """Ranges of one gait: duty, strides a second, stance excursion and lift in hip heights; whole strides of a loop by style."""

    duty: tuple[float, float]
    frequency: tuple[float, float]
    excursion: tuple[float, float]
    lift: tuple[float, float]
    whole: dict[str | None, tuple[int, ...]] = field(default_factory=dict)


QUADRUPED: Final = {
    "walk": GaitRanges((0.58, 0.70), (0.8, 1.4), (0.45, 0.75), (0.08, 0.16), {None: (2,), "slow": (1,), "fast": (3,)}),
    "trot": GaitRanges((0.40, 0.50), (1.4, 2.3), (0.50, 0.80), (0.12, 0.25), {None: (3, 4), "slow": (2,), "fast": (5,)}),
    "pace": GaitRanges((0.42, 0.52), (1.3, 2.1), (0.50, 0.80), (0.10, 0.22), {None: (3, 4), "slow": (2,), "fast": (5,)}),
    "gallop": GaitRanges((0.22, 0.33), (1.7, 2.6), (0.65, 1.00), (0.18, 0.32), {None: (4, 4, 5), "slow": (3,), "fast": (6,)}),
}
UPRIGHT: Final = {
    "walk": GaitRanges((0.58, 0.66), (0.75, 1.15), (0.55, 0.85), (0.06, 0.13), {None: (2,), "slow": (1,), "fast": (3,)}),
    "run": GaitRanges((0.28, 0.40), (1.25, 1.80), (0.60, 0.90), (0.22, 0.42), {None: (3,), "slow": (2,), "fast": (4,)}),
}
"""Gaits of bipeds and birds."""

PACE_OF_STYLE: Final = {None: (1.0, 1.0), "slow": (0.62, 0.78), "fast": (1.25, 1.45)}
"""By what a style word multiplies the stride frequency."""

SMALLEST_DUTY, LARGEST_DUTY = 0.18, 0.75


def ranges_of(kind: str, gait: str) -> GaitRanges:
    """The ranges of a gait for a kind of body."""
    return (QUADRUPED if kind == "quadruped" else UPRIGHT)[gait]


@dataclass(frozen=True)
class Stride:
    """One drawn gait: strides a second, duty, excursion and lift in hip heights, touch-down phase by leg."""

    gait: str
    frequency: float
    duty: float
    excursion: float
    lift: float
    phases: dict[str, float]


def draw_stride(rng: Generator, kind: str, gait: str, style: str | None, loop_s: float | None) -> Stride:
    """A random stride; with `loop_s` whole strides fill so many seconds."""
    ranges = ranges_of(kind, gait)
    if loop_s is None:
        speed = float(rng.uniform(*PACE_OF_STYLE[style]))
        frequency = float(rng.uniform(*ranges.frequency)) * speed
    else:
        # The table is for two seconds; other lengths hold as many strides as fit at that rate.
        strides = max(1, round(int(rng.choice(ranges.whole[style])) * loop_s / 2.0))
        frequency = strides / loop_s
        speed = frequency / float(np.mean(ranges.whole[None])) * 2.0 if style else 1.0
    duty = float(np.clip(rng.uniform(*ranges.duty) - 0.06 * (speed - 1.0), SMALLEST_DUTY, LARGEST_DUTY))
    return Stride(
        gait=gait,
        frequency=frequency,
        duty=duty,
        excursion=float(rng.uniform(*ranges.excursion)) * float(np.sqrt(speed)),
        lift=float(rng.uniform(*ranges.lift)),
        phases=_phases(rng, gait) if kind == "quadruped" else {"LH": 0.0, "RH": 0.5},
    )


def _phases(rng: Generator, gait: str) -> dict[str, float]:
    if gait != "gallop":
        shift = float(rng.uniform(-0.03, 0.03)) if gait == "walk" else 0.0
        return {limb: phase + (shift if limb[1] == "F" else 0.0) for limb, phase in PHASES[gait].items()}
    hind, fore, gap = float(rng.uniform(0.08, 0.18)), float(rng.uniform(0.08, 0.18)), float(rng.uniform(0.42, 0.54))
    pair = (gap, gap + fore)
    if rng.random() < 0.5:  # rotary instead of transverse
        pair = (pair[1], pair[0])
    phases = {"LH": 0.0, "RH": hind, "LF": pair[0], "RF": pair[1]}
    if rng.random() < 0.5:  # the other lead
        phases = {"LH": hind, "RH": 0.0, "LF": pair[1], "RF": pair[0]}
    return phases


def foot_path(phase: Array, duty: float, excursion: float) -> tuple[Array, Array]:
    """Where a foot is along its stride.

    Args:
        phase: (frames,) share of the stride since touch-down, 0 to 1.

    Returns:
        (frames,) offset forwards in hip heights: from half the excursion back at constant speed in stance, then a cubic
        forwards; and (frames,) progress of the swing, 0 in stance.
    """
    half = excursion / 2
    swing = np.clip((phase - duty) / (1 - duty), 0.0, 1.0)
    slope = -0.8 * excursion * (1 - duty) / duty
    u, u2, u3 = swing, swing**2, swing**3
    forward = half * (-(2 * u3 - 3 * u2 + 1) + (-2 * u3 + 3 * u2)) + slope * ((u3 - 2 * u2 + u) + (u3 - u2))
    stance = phase < duty
    return np.where(stance, half - excursion * phase / duty, forward), np.where(stance, 0.0, swing)

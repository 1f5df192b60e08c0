"""Is it the gait that was asked for: stride, phases, swing and duty of the feet, compared with the table of footfalls.

The figures of the teacher are printed by `python -m akd_sdk.training.reference`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PHASES: Final[Mapping[str, Mapping[str, float]]] = {
    "walk": {"LH": 0.0, "LF": 0.25, "RH": 0.5, "RF": 0.75},
    "trot": {"LH": 0.0, "LF": 0.5, "RH": 0.5, "RF": 0.0},
    "pace": {"LH": 0.0, "LF": 0.0, "RH": 0.5, "RF": 0.5},
}
"""Touch-down as a share of the stride after the left hind foot, symmetrical gaits of quadrupeds."""

_UPRIGHT: Final = {"LH": 0.0, "RH": 0.5}
_GALLOP_PAIR, _GALLOP_GAP = 0.13, 0.48

REFERENCE_SWING: Final = {"walk": 0.60, "trot": 0.65, "pace": 0.65, "gallop": 0.80, "run": 0.75}
"""Peak to peak of a foot in hip heights of which a quarter counts as a full swing."""

TEACHER_SWING: Final[Mapping[tuple[str, str], float]] = {
    ("quadruped", "walk"): 0.604,
    ("quadruped", "trot"): 0.670,
    ("quadruped", "pace"): 0.660,
    ("quadruped", "gallop"): 1.002,
    ("biped", "walk"): 0.687,
    ("biped", "run"): 0.816,
    ("bird", "walk"): 0.706,
    ("bird", "run"): 0.851,
}
"""Mean over the teacher's clips without a style word of the median peak to peak, hip heights, by body and gait."""

TEACHER_JITTER: Final[Mapping[tuple[str, str], float]] = {
    ("quadruped", "walk"): 507.0,
    ("quadruped", "trot"): 247.0,
    ("quadruped", "pace"): 235.0,
    ("quadruped", "gallop"): 130.0,
    ("biped", "walk"): 343.0,
    ("biped", "run"): 275.0,
    ("bird", "walk"): 367.0,
    ("bird", "run"): 242.0,
}
"""Median over the same clips, at 30 frames a second, of jitter / (median swing x stride frequency cubed), by body and gait."""

DUTY_LINE: Final = (2.37, -0.88)
"""Slope and offset of duty over the share of the cycle in which the foot moves backwards, fitted on the teacher's walks and runs."""

FREQUENCIES: Final = np.arange(0.4, 3.7, 0.02)
"""Strides a second that are tried."""

_STILL: Final = 1e-12
_FINE: Final = 240


@dataclass(frozen=True)
class Cycle:
    """The fitted cycle of the feet.

    Attributes:
        limbs: names of the feet, by akd_sdk.views.tokens.LIMBS.
        frequency: strides a second.
        phases: (limbs,) phase of the fundamental, radians: forward = A cos(2 pi f t + phase).
        shares: (limbs,) share of the variance that two harmonics explain.
        swings: (limbs,) peak to peak of the fitted cycle, in the unit of the input (hip heights for the reference values).
        backward: mean share of the fitted cycle in which a foot moves backwards.
        flat: mean share of a four-harmonic cycle in which a foot moves backwards faster than half of its fast speed.
    """

    limbs: tuple[str, ...]
    frequency: float
    phases: Array
    shares: Array
    swings: Array
    backward: float
    flat: float

    @property
    def swing(self) -> float:
        """Median peak to peak over the feet."""
        return float(np.median(self.swings))

    @property
    def duty(self) -> float:
        """Share of the stride in stance, by DUTY_LINE, 0 to 1."""
        return float(np.clip(DUTY_LINE[0] * self.backward + DUTY_LINE[1], 0.0, 1.0))


def _waves(frequency: float, times: Array, harmonics: int, trend: bool = True) -> Array:
    """(times, columns) 1, optionally t, and the harmonics' cosines and sines."""
    columns = [np.ones_like(times)] + ([times - times.mean()] if trend else [])
    for k in range(1, harmonics + 1):
        columns += [np.cos(2 * np.pi * frequency * k * times), np.sin(2 * np.pi * frequency * k * times)]
    return np.stack(columns, 1)


def _residual(frequency: float, times: Array, forward: Array) -> float:
    basis, _ = np.linalg.qr(_waves(frequency, times, 1))
    left = forward - basis @ (basis.T @ forward)
    return float((left**2).sum())


def _flat(frequency: float, times: Array, forward: Array) -> float:
    """Share of each foot's smoothed cycle at more than half of its fast backward speed, mean over the feet."""
    fine = np.arange(_FINE) / _FINE / frequency
    seen, drawn = _waves(frequency, times, 4, trend=False), _waves(frequency, fine, 4, trend=False)
    ridge = 1e-4 * len(times) * np.eye(seen.shape[1])
    ridge[0, 0] = 0.0
    speed = np.gradient(drawn @ np.linalg.solve(seen.T @ seen + ridge, seen.T @ forward), axis=0)
    return float((speed < 0.5 * np.percentile(speed, 10, axis=0)).mean())


def analyse_feet(limbs: tuple[str, ...], forward: Array, fps: float, frequencies: Array = FREQUENCIES) -> Cycle:
    """The cycle of the feet of a motion in place.

    Args:
        limbs: names of the feet.
        forward: (frames, limbs) how far each foot tip is before the root, hip heights.
        fps: frames a second.
        frequencies: strides a second to try; the one with the smallest residual of one harmonic and a trend is taken.
    """
    times = np.arange(len(forward)) / fps
    variance = ((forward - forward.mean(0)) ** 2).sum(0) + _STILL
    frequency = float(frequencies[int(np.argmin([_residual(f, times, forward) for f in frequencies]))])
    basis = _waves(frequency, times, 2)
    weights = np.linalg.lstsq(basis, forward, rcond=None)[0]
    shares = np.clip(1 - ((forward - basis @ weights) ** 2).sum(0) / variance, 0.0, 1.0)
    fine = np.arange(_FINE) / _FINE / frequency
    cycle = _waves(frequency, fine, 2)[:, 2:] @ weights[2:]
    return Cycle(
        limbs=limbs,
        frequency=frequency,
        phases=np.arctan2(-weights[3], weights[2]),
        shares=shares,
        swings=np.ptp(cycle, axis=0),
        backward=float((np.roll(cycle, -1, 0) < cycle).mean()),
        flat=_flat(frequency, times, forward),
    )


def analyse(positions: Array, feet: Mapping[str, int], fps: float, root: int = 0) -> Cycle:
    """The cycle of the feet from (frames, points, 3) positions in the character frame, hip heights; `feet` maps limbs to points."""
    forward = np.stack([positions[:, point, 2] - positions[:, root, 2] for point in feet.values()], 1)
    return analyse_feet(tuple(feet), forward, fps)


def gaits_of(limbs: tuple[str, ...]) -> tuple[str, ...]:
    """Gaits that bodies with these feet are judged by."""
    return ("walk", "trot", "pace", "gallop") if len(limbs) > 2 else ("walk", "run")


def footfalls(gait: str, limbs: tuple[str, ...]) -> list[Mapping[str, float]]:
    """Touch-down phases that count as the gait: one table, or four gallops (two leads, transverse and rotary)."""
    if len(limbs) <= 2:
        return [_UPRIGHT]
    if gait != "gallop":
        return [PHASES[gait]]
    pair, gap = _GALLOP_PAIR, _GALLOP_GAP
    leads = ((0.0, pair), (pair, 0.0))
    return [{"LH": a, "RH": b, "LF": gap + c, "RF": gap + d} for a, b in leads for c, d in leads]


def coherence(cycle: Cycle, gait: str) -> float:
    """How well the feet's phases, swings and regularity are those of the gait: 1 at best, 0 for still or unrelated feet."""
    strength = np.clip(cycle.swings / (0.25 * REFERENCE_SWING[gait]), 0.0, 1.0) * cycle.shares
    best = 0.0
    for phases in footfalls(gait, cycle.limbs):
        expected = np.array([phases[limb] for limb in cycle.limbs])
        best = max(best, float(abs((strength * np.exp(1j * (cycle.phases + 2 * np.pi * expected))).mean())))
    return best


def coherences(cycle: Cycle) -> dict[str, float]:
    """Coherence with every gait that such a body is judged by."""
    return {gait: coherence(cycle, gait) for gait in gaits_of(cycle.limbs)}

"""The frame rate of a clip that a file gives as keys at any times: its own where the keys lie on a grid, else one near 30."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TOLERANCE_S: Final = 1e-4
"""A key this near to a frame lies on it: files keep times in single precision."""

USUAL: Final = (24.0, 30.0, 25.0, 60.0, 48.0, 50.0)
"""Rates that are tried where the smallest step of reduced keys is not the frame."""

NEAR: Final = 30.0
SLOWEST: Final = 20.0
FASTEST: Final = 240.0


@dataclass(frozen=True)
class Rate:
    """Frames at i / fps for i in 0..frames - 1; `own`: the file's keys lie on frames."""

    fps: float
    frames: int
    own: bool


def frame_rate(keys: Array, told: float | None = None) -> Rate:
    """The rate for key times (n,) in seconds, sorted, none negative; the last frame falls on the last key.

    `told`: what the file says; it counts where the keys lie on its grid.
    """
    last = float(keys[-1])
    if last < TOLERANCE_S:
        return Rate(told or NEAR, 1, False)
    fps = told if told is not None and round(last * told) and _fits(keys, told) else _own(keys, last)
    if fps is not None:
        return Rate(fps, round(last * fps) + 1, True)
    steps = max(1, round(last * NEAR))
    return Rate(steps / last, steps + 1, False)


def _own(keys: Array, last: float) -> float | None:
    steps = np.diff(np.concatenate([[0.0], keys]))
    steps = steps[steps > TOLERANCE_S]
    for guess in (1.0 / float(steps.min()), *USUAL):
        count = round(last * guess)
        if count < 1:
            continue
        fps = count / last
        for exact in (float(round(fps)), fps):  # a whole rate where that fits as well
            if exact > 0.0 and abs(exact - fps) < 1e-3 * fps and _fits(keys, exact):
                fast = exact * _multiple(exact)
                if fast <= FASTEST:
                    return fast
    return None


def _fits(keys: Array, fps: float) -> bool:
    return bool(np.abs(keys - np.round(keys * fps) / fps).max() < TOLERANCE_S)


def _multiple(fps: float) -> int:
    """Keys further apart than a frame should be are frames of a faster grid."""
    return 1 if fps >= SLOWEST else max(1, round(NEAR / fps))

"""CurveBasis: the low-frequency bases in which joint curves are optimised; periodic ones make exact loops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

OPEN_MARGIN_S = 0.25
"""Cosines are level at both ends; an open basis has its ends this far outside its window, so that motion may start and end moving."""


@dataclass(frozen=True)
class CurveBasis:
    """A basis of functions of time on a window of `seconds`.

    Attributes:
        seconds: the window; a periodic basis repeats after it.
        bandwidth_hz: highest frequency.
        loop: Fourier series (exactly periodic) or cosine transform (open ends).
    """

    seconds: float
    bandwidth_hz: float
    loop: bool

    @property
    def count(self) -> int:
        """How many functions there are."""
        return len(self.hertz)

    @property
    def span(self) -> float:
        """Seconds over which the functions are orthogonal."""
        return self.seconds if self.loop else self.seconds + 2.0 * OPEN_MARGIN_S

    @property
    def hertz(self) -> Array:
        """(count,) cycles a second of each function."""
        if self.loop:
            harmonics = max(1, round(self.bandwidth_hz * self.span))
            return np.concatenate([[0.0], np.repeat(np.arange(1.0, harmonics + 1), 2)]) / self.span
        return np.arange(max(2, round(2.0 * self.bandwidth_hz * self.span)) + 1) / (2.0 * self.span)

    def sample(self, times: Array) -> Array:
        """The functions at `times` (n,), seconds -> (n, count)."""
        angle = 2.0 * np.pi * self.hertz * np.asarray(times, dtype=np.float64)[:, None]
        if not self.loop:
            return np.asarray(np.cos(angle + 2.0 * np.pi * self.hertz * OPEN_MARGIN_S))
        sines = np.arange(angle.shape[1]) % 2 == 0
        sines[0] = False
        return np.where(sines, np.sin(angle), np.cos(angle))

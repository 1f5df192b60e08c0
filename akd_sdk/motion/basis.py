"""CurveBasis: the low-frequency bases in which joint curves are optimised; periodic ones make exact loops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CurveBasis:
    """A basis of functions of time on a window of `seconds`.

    Attributes:
        seconds: the window; a periodic basis repeats after it.
        harmonics: highest frequency in cycles a window; 2 * harmonics + 1 functions.
        loop: Fourier series (exactly periodic) or cosine transform (open ends).
    """

    seconds: float
    harmonics: int
    loop: bool

    @property
    def count(self) -> int:
        return 2 * self.harmonics + 1

    @property
    def frequencies(self) -> Array:
        """(count,) cycles a window of each function."""
        if self.loop:
            return np.concatenate([[0.0], np.repeat(np.arange(1.0, self.harmonics + 1), 2)])
        return np.arange(self.count) / 2.0

    def sample(self, times: Array) -> Array:
        """The functions at `times` (n,), seconds -> (n, count); beyond the window a loop repeats, an open basis mirrors."""
        phase = np.asarray(times, dtype=np.float64)[:, None] / self.seconds
        if not self.loop:
            return np.asarray(np.cos(np.pi * np.arange(self.count) * phase))
        k = np.arange(1, self.harmonics + 1)
        waves = np.stack([np.cos(2 * np.pi * k * phase), np.sin(2 * np.pi * k * phase)], axis=-1)
        return np.concatenate([np.ones_like(phase), waves.reshape(len(phase), -1)], axis=1)

"""Noise levels and learning rates over a distillation."""

from __future__ import annotations

import math
from typing import Final

HIGHEST: Final = 30.0
LOWEST: Final = 0.05
"""Noise over signal of the first and the last level after the one without signal."""


def times(levels: int) -> list[float]:
    """Times in 0..1 of the levels: 1 (no signal), then noise over signal falling geometrically.

    The shape of a curve is decided between ratios of 1 and .1, where times that are linear spend almost no steps.
    """
    if levels < 2:
        return [1.0][:levels]
    ratios = [HIGHEST * (LOWEST / HIGHEST) ** (i / max(levels - 2, 1)) for i in range(levels - 1)]
    return [1.0, *(2.0 / math.pi * math.atan(r) for r in ratios)]


def rate_share(level: int, levels: int, decay: float) -> float:
    """Share of the learning rate at a level: 1 in the first half, then falling geometrically to `decay`."""
    half = levels // 2
    if level < half:
        return 1.0
    return float(decay ** ((level - half + 1) / max(levels - half, 1)))

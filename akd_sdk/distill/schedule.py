"""Times and learning rates over a distillation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from akd_sdk.distill.options import DistillOptions

HIGHEST: Final = 30.0
LOWEST: Final = 0.05
"""Noise over signal of the first and the last level after the one without signal."""

FREE_HZ: Final = 1.0
"""Functions as slow as this are free from the start, and the slowest in any case."""

Times = Callable[[int, torch.Generator], float]
"""Time in 0..1 of a step; random ones are drawn from the generator."""


def levels(count: int) -> list[float]:
    """Times in 0..1 of so many levels: 1 (no signal), then noise over signal falling geometrically.

    The shape of a curve is decided between ratios of 1 and .1, where times that are linear spend almost no steps.
    """
    if count < 2:
        return [1.0][:count]
    ratios = [HIGHEST * (LOWEST / HIGHEST) ** (i / max(count - 2, 1)) for i in range(count - 1)]
    return [1.0, *(2.0 / math.pi * math.atan(r) for r in ratios)]


def times_of(options: DistillOptions, observes: str) -> Times:
    """Times of the steps of settled options.

    On tracks annealed times are those of `levels`; on pixels they fall linearly over the range, as published for annealed score
    distillation. Random times are uniform over the range.
    """
    count = options.steps or 1
    high, low = options.pixels.t_range
    if options.mode == "random-t":
        return lambda _, generator: low + (high - low) * float(torch.rand(1, generator=generator))
    if observes == "tracks":
        falling = levels(count)
        return lambda step, _: falling[step]
    return lambda step, _: high + (low - high) * step / max(count - 1, 1)


def rate_share(step: int, steps: int, decay: float) -> float:
    """Share of the learning rate at a step: 1 in the first half, then falling geometrically to `decay`."""
    half = steps // 2
    if step < half:
        return 1.0
    return float(decay ** ((step - half + 1) / max(steps - half, 1)))


def free(hertz: NDArray[np.float64], share: float, unlock: float) -> NDArray[np.bool_]:
    """(functions,) which functions of the curves, of so many hertz, may move when a share of the steps is done; all after `unlock`."""
    if share >= unlock:
        return np.ones(len(hertz), dtype=np.bool_)
    slowest = max(FREE_HZ, float(hertz[hertz > 0.0].min(initial=np.inf)) if (hertz > 0.0).any() else 0.0)
    return np.asarray(hertz <= slowest + (float(hertz.max()) - slowest) * share / unlock + 1e-9)

"""Constants: tracks that one key says, or none at all where the joint's rest says it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.reduction.work import Line
from akd_sdk.rotations import quat_normalize

Array = NDArray[np.float64]
ROUNDS = 30


def at_rest(line: Line, weights: Array, budget: float) -> bool:
    """Whether the track stays within the budget of the joint's own rest value."""
    rest = line.rest
    if line.turns and float(rest @ line.values[0]) < 0.0:
        rest = -rest
    return bool((np.sqrt(((line.values - rest) ** 2).sum(axis=1)) * weights).max() <= budget)


def constant(line: Line, weights: Array, budget: float, rounds: int = ROUNDS) -> Array | None:
    """One value (3 or 4,) that stays within the budget of the track at all frames; None if none was found.

    The value is near the weighted minimax one: means reweighted towards the frames that are farthest off.
    """
    values = line.values
    away = np.sqrt(((values - values[0]) ** 2).sum(axis=1))
    far = int(away.argmax())
    if away[far] > budget / weights[0] + budget / weights[far]:
        return None
    value = values.mean(axis=0)
    best, least = value, np.inf
    for _ in range(rounds):
        error = np.sqrt(((values - value) ** 2).sum(axis=1)) * weights
        worst = float(error.max())
        if worst < least:
            best, least = value, worst
        if worst <= 0.0:
            break
        pull = (error / worst) ** 6 + 1e-6
        value = 0.5 * value + 0.5 * (values * pull[:, None]).sum(axis=0) / pull.sum()
    if line.turns:
        best = quat_normalize(best)
    error = np.sqrt(((values - best) ** 2).sum(axis=1)) * weights
    return best if float(error.max()) <= budget else None

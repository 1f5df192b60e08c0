"""Prune: keys tried one by one, those that the refit of their neighbours makes good left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.reduction.compiled import indices, launch, shared
from akd_sdk.exporters.reduction.plan import Price
from akd_sdk.exporters.reduction.state import State

Array = NDArray[np.float64]
COSINE = float(np.cos(np.radians(59.0) / 2.0))


def prune(state: State, price: Price, limit: float, *, rounds: int = 2, hopeless: float = 2.5, rounding: bool = False) -> int:
    """Leaves out every key that the error at frames stays below `limit` without; how many went."""
    groups, knots = _candidates(state, price)
    if not len(groups):
        return 0
    taken = np.zeros(len(groups), dtype=np.int32)
    launch(
        state.stage.module.prune, state.core, indices(groups), indices(knots), shared(taken),
        limit, hopeless, COSINE, 8, rounds, int(rounding),
    )  # fmt: skip
    return int(taken.sum())


def _candidates(state: State, price: Price) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Groups and frames of all inner knots, what seems cheapest to lose for its bytes first."""
    found: list[tuple[float, int, int]] = []
    for g, group in enumerate(state.plan.groups):
        knots = state.knots(g)
        if len(knots) < 3:
            continue
        cost = price.time + sum(price.value(state.stage.work.lines[i], i in state.plan.short) for i in group.lines)
        before, at, after = knots[:-2], knots[1:-1], knots[2:]
        share = (at - before) / (after - before)
        bump = np.zeros(len(at))
        for i in group.lines:
            row, weights = state.row[i], state.stage.levers.weights[i]
            a, b, v = state.value[row, before], state.value[row, after], state.value[row, at]
            b = np.where((a * b).sum(axis=1, keepdims=True) < 0.0, -b, b) if state.stage.work.lines[i].turns else b
            straight = a * (1.0 - share[:, None]) + b * share[:, None]
            if state.stage.work.lines[i].turns:
                straight /= np.linalg.norm(straight, axis=1, keepdims=True)
                v = v / np.linalg.norm(v, axis=1, keepdims=True)
                v = np.where((v * straight).sum(axis=1, keepdims=True) < 0.0, -v, v)
            bump = np.maximum(bump, np.sqrt(((v - straight) ** 2).sum(axis=1)) * weights[at])
        found += [(float(e) / cost, g, int(f)) for e, f in zip(bump, at, strict=True)]
    found.sort()
    return np.array([g for _, g, _ in found], dtype=np.int64), np.array([f for _, _, f in found], dtype=np.int64)

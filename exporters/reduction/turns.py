"""Turns: kept rotation keys are at most 60 degrees apart, so that every player takes the same way between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.reduction.repair import insert
from akd_sdk.exporters.reduction.state import State
from akd_sdk.exporters.reduction.truth import Keys
from akd_sdk.exporters.reduction.work import Work

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
WIDEST = float(np.radians(60.0))


def turned(values_xyzw: Array) -> Array:
    """(keys - 1,) angle in radians from each key to the next, over the shorter arc."""
    values = values_xyzw / np.linalg.norm(values_xyzw, axis=1, keepdims=True)
    near = np.where((values[1:] * values[:-1]).sum(axis=1, keepdims=True) < 0.0, -values[1:], values[1:])
    return np.asarray(4.0 * np.arcsin(np.clip(np.linalg.norm(near - values[:-1], axis=1) / 2.0, 0.0, 1.0)))


def widest_turn(work: Work, keys: Sequence[Keys | None]) -> float:
    """The widest turn, radians, between two keys that are more than a frame apart."""
    widest = 0.0
    for line, key in zip(work.lines, keys, strict=True):
        if key is not None and line.turns and not key.held and len(key.frames) > 1:
            widest = max(widest, float(turned(key.values)[np.diff(key.frames) > 1].max(initial=0.0)))
    return widest


def split_turns(state: State) -> int:
    """Adds a key half way along every turn that is too wide; how many."""
    added = 0
    for g, group in enumerate(state.plan.groups):
        lines = [i for i in group.lines if state.stage.work.lines[i].turns]
        wide = _wide(state, g, lines)
        while len(wide):
            for a, b in wide:
                insert(state, g, (a + b) // 2)
            added += len(wide)
            wide = _wide(state, g, lines)
    return added


def _wide(state: State, g: int, lines: list[int]) -> list[tuple[int, int]]:
    """Neighbouring knots, more than a frame apart, between which a line turns too far."""
    knots = state.knots(g)
    if len(knots) < 2 or not lines:
        return []
    angles = np.max([turned(state.value[state.row[i], knots]) for i in lines], axis=0)
    bad = np.flatnonzero((angles > WIDEST - 1e-3) & (np.diff(knots) > 1))
    return [(int(knots[i]), int(knots[i + 1])) for i in bad]

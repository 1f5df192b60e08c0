"""Repair: keys added where the error is too large, until it is not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.reduction.plan import Price
from akd_sdk.exporters.reduction.state import State

Array = NDArray[np.float64]
NEAR = 6
"""Frames on each side of an added key in which no other is added before the values are refitted."""
POWER = 8


def repair(state: State, price: Price, target: float, rounds: int, *, rounding: bool = False) -> bool:
    """Adds keys where the error at frames is above `target` (a share of the tolerance) and refits; whether it is at or below at last."""
    chains = _lines_above(state)
    for _ in range(rounds):
        errors = state.errors()
        if errors.max() <= target:
            return True
        touched = _insert_peaks(state, chains, price, errors, target)
        if not touched:
            return False
        state.sweep(POWER, rounding=rounding, rows=sorted(touched))
    return bool(state.errors().max() <= target)


def _insert_peaks(state: State, chains: list[list[int]], price: Price, errors: Array, target: float) -> set[int]:
    """One key at each peak of the error; the rows of the tracks that may take part in the refit."""
    left = errors.copy()
    touched: set[int] = set()
    for _ in range(max(NEAR, state.stage.work.frames // (2 * NEAR))):
        frame, joint = np.unravel_index(int(left.argmax()), left.shape)
        if left[frame, joint] <= target:
            break
        left[max(0, frame - NEAR) : frame + NEAR + 1] = 0.0
        best = _best_key(state, chains[joint], price, int(frame))
        if best is not None:
            insert(state, *best)
            touched |= {state.row[i] for i in chains[joint]} | {state.row[i] for i in state.groups[best[0]].lines}
    return touched


def _best_key(state: State, lines: list[int], price: Price, frame: int) -> tuple[int, int] | None:
    """Group and frame of the key that takes away most of a line's own error for its bytes."""
    best: tuple[float, int, int] | None = None
    for i in lines:
        row = state.row[i]
        g = int(state.group[row])
        low, high = _segment(state, g, frame)
        if high - low < 2:
            continue
        inside = np.arange(low + 1, high)
        own = _own_error(state, i, inside)
        cost = price.time + sum(price.value(state.stage.work.lines[q], q in state.plan.short) for q in state.groups[g].lines)
        gain = float(own.max()) / cost
        if best is None or gain > best[0]:
            best = (gain, g, int(inside[own.argmax()]))
    return None if best is None else (best[1], best[2])


def _segment(state: State, g: int, frame: int) -> tuple[int, int]:
    """The knots around a frame; of a knot's neighbours the wider segment."""
    low, high = int(state.left[g, frame]), int(state.right[g, frame])
    if low == frame and low > 0:
        before = int(state.left[g, low - 1])
        if low - before > high - low:
            return before, low
    return low, high


def _own_error(state: State, i: int, frames: NDArray[np.int64]) -> Array:
    line = state.stage.work.lines[i]
    grid = state.stage.frames
    played = {"translation": grid.moves, "rotation": grid.turns, "scale": grid.grows}[line.path][frames, line.joint]
    true = line.values[frames]
    if line.turns:
        played = np.where((played * true).sum(axis=1, keepdims=True) < 0.0, -played, played)
    return np.asarray(np.sqrt(((played - true) ** 2).sum(axis=1)) * state.stage.levers.weights[i][frames])


def insert(state: State, g: int, frame: int) -> None:
    """A knot where the group's lines are played as now."""
    grid = state.stage.frames
    a, b = int(state.left[g, frame]), int(state.right[g, frame])
    for i in state.groups[g].lines:
        line = state.stage.work.lines[i]
        now = {"translation": grid.moves, "rotation": grid.turns, "scale": grid.grows}[line.path][frame, line.joint]
        state.value[state.row[i], frame, : len(now)] = now
    state.right[g, a:frame] = frame
    state.left[g, frame:b] = frame


def _lines_above(state: State) -> list[list[int]]:
    """For each joint the lines with time lines of itself and all above it."""
    own: list[list[int]] = [[] for _ in range(state.stage.work.joints)]
    for group in state.plan.groups:
        for i in group.lines:
            own[state.stage.work.lines[i].joint].append(i)
    return [[i for k in chain for i in own[k]] for chain in state.stage.work.chains]

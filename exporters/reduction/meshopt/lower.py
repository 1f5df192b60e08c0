"""Bits taken away track by track as long as the error allows it: limbs that are not the worst have room left."""

from __future__ import annotations

from dataclasses import replace

from akd_sdk.exporters.reduction.meshopt.encoded import Stored
from akd_sdk.exporters.reduction.state import State

FEWEST_BITS = 5
LIMIT = 0.98
"""Share of the tolerance at frames; between them the error is a little larger."""
HIGHEST = 0.995
"""The same for a state that is nearer to the tolerance from the start."""
PASSES = 3


def lower_bits(state: State, stored: dict[int, Stored]) -> dict[int, Stored]:
    """Coarser storage of the state's tracks, values rounded to it; those with most keys are tried first."""
    lines = sorted(state.tracks, key=lambda i: (-len(state.knots(int(state.group[state.row[i]]))), i))
    out = dict(stored)
    limit = min(max(LIMIT, float(state.errors().max())), HIGHEST)
    for _ in range(PASSES):
        taken = 0
        for i in lines:
            coarser = _coarser(out[i])
            if coarser is not None and _bears(state, i, coarser, limit):
                out[i] = coarser
                taken += 1
        if not taken:
            break
    return out


def _coarser(stored: Stored) -> Stored | None:
    if stored.bits > FEWEST_BITS:
        return replace(stored, bits=stored.bits - 1)
    if stored.exponent is not None:
        return replace(stored, exponent=stored.exponent + 1)
    return None


def _bears(state: State, i: int, stored: Stored, limit: float) -> bool:
    """Rounds one track coarser; whether the error stays within the limit. If not, all is as before."""
    row = state.row[i]
    kept, bits, step = state.snapshot(), int(state.bits[row]), float(state.steps[row])
    state.bits[row] = max(stored.bits, 0)
    state.steps[row] = 0.0 if stored.exponent is None else 2.0**stored.exponent
    state.sweep(10, rounding=True, rows=[row])
    if state.errors().max() <= limit:
        return True
    state.sweep(10, rounding=True)
    if state.errors().max() <= limit:
        return True
    state.bits[row], state.steps[row] = bits, step
    state.restore(kept)
    return False

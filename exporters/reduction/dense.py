"""Dense forms: every frame of what moves, as int16 and float32: what the search must beat, and what there is when it fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from akd_sdk.exporters.reduction.planning import Planner
from akd_sdk.exporters.reduction.state import Stage, State
from akd_sdk.exporters.reduction.truth import Keys

STILL = 1e-4
"""Share of the tolerance within which a track counts as still in a dense form."""
SHORT_STEP = 1.5e-5
"""Largest error of a quaternion's component as int16."""
SHORT_SHARES = (0.6, 0.3, 0.15)
"""Shares of the tolerance that int16 may take of a single track before that is stored as float32, tried in turn."""


@dataclass(frozen=True)
class Form:
    """A dense form: what it is called, rotations stored as int16, within which share of the tolerance a track is still, and whether
    children are set against rounded parents."""

    name: str
    short: frozenset[int]
    still: float = STILL
    refitted: bool = False

    def keys(self, stage: Stage, planner: Planner) -> list[Keys | None]:
        state = State(stage, planner.dense(self.short, self.still))
        if self.refitted:
            state.sweep(10, rounding=True)
        return state.keys()


def short_levers(stage: Stage, turns: frozenset[int], share: float) -> frozenset[int]:
    """The rotations that as int16 take no more than this share of the tolerance."""
    allowed = share * stage.options.tolerance_m
    return frozenset(i for i in turns if stage.levers.weights[i].max() * SHORT_STEP <= allowed)


def dense_forms(stage: Stage, turns: frozenset[int]) -> Iterator[Form]:
    """Dense forms from the smallest to the exact one, which is the reference itself: int16 with each key rounded, int16 with children
    set against rounded parents, long levers in float32, all in float32."""
    if stage.options.int16:
        yield Form("dense int16", turns)
        yield Form("dense int16", turns, refitted=True)
        for some in dict.fromkeys(short_levers(stage, turns, share) for share in SHORT_SHARES):
            if some and some != turns:
                yield Form("dense int16", some, refitted=True)
    none: frozenset[int] = frozenset()
    yield Form("dense float32", none)
    yield Form("dense float32", none, still=0.0)

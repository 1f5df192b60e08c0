"""Plan: which tracks go, which are one key, and which share which time line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.reduction.work import Line, Work

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
COSINE_60 = float(np.cos(np.radians(30.0)))
"""Inner product of quaternions 60 degrees apart."""


@dataclass
class Group:
    """Lines that share the knots (frames) of one time line."""

    lines: list[int]
    knots: Ints


@dataclass
class Plan:
    """What becomes of every line.

    Attributes:
        groups: lines with keys on shared time lines.
        constants: value of lines of one key.
        dropped: lines at rest.
        held: knots of lines that are held from frame to frame.
        short: lines whose rotations are stored as int16.
    """

    groups: list[Group] = field(default_factory=list)
    constants: dict[int, Array] = field(default_factory=dict)
    dropped: list[int] = field(default_factory=list)
    held: dict[int, Ints] = field(default_factory=dict)
    short: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Price:
    """What keys cost, in bytes.

    Attributes:
        time: a key's time.
        turn: a rotation stored as int16.
        wide_turn: a rotation stored as float32.
        vector: a translation or scale.
        line: the JSON of another time line.
        channel: the JSON of a channel.
    """

    time: float = 4.0
    turn: float = 8.0
    wide_turn: float = 16.0
    vector: float = 12.0
    line: float = 105.0
    channel: float = 175.0

    def value(self, line: Line, short: bool) -> float:
        """Bytes of one value of a line."""
        return self.vector if not line.turns else self.turn if short else self.wide_turn

    def of(self, work: Work, plan: Plan) -> float:
        """Bytes of a plan, near enough to compare plans."""
        total = 0.0
        lines: set[bytes] = set()
        for group in plan.groups:
            total += len(group.knots) * sum(self.value(work.lines[i], i in plan.short) for i in group.lines)
            lines.add(group.knots.tobytes())
        for i, knots in plan.held.items():
            total += len(knots) * self.value(work.lines[i], i in plan.short)
            lines.add(knots.tobytes())
        total += sum(self.value(work.lines[i], i in plan.short) for i in plan.constants)
        if plan.constants:
            lines.add(np.zeros(1, dtype=np.int32).tobytes())
        total += sum(self.line + self.time * (len(knots) // 4) for knots in lines)
        return total + self.channel * (len(work.lines) - len(plan.dropped))


PLAIN = Price()


def held_knots(line: Line) -> Ints:
    """Frames where a held track changes, and the first."""
    changes = np.flatnonzero((line.values[1:] != line.values[:-1]).any(axis=1)) + 1
    return np.append(0, changes).astype(np.int32)


def spread(knots: Ints, frames: int) -> tuple[Ints, Ints]:
    """(frames,) the knot at or before each frame, and the next after it (the last has itself)."""
    at = np.searchsorted(knots, np.arange(frames), side="right") - 1
    return knots[at].astype(np.int32), knots[np.minimum(at + 1, len(knots) - 1)].astype(np.int32)


def every(frames: int) -> Ints:
    return np.arange(frames, dtype=np.int32)


def chosen(items: Sequence[Group], skipped: Sequence[Group]) -> list[Group]:
    """Those groups that are not one of the skipped ones."""
    return [item for item in items if not any(item is other for other in skipped)]


def pinned_frames(work: Work, i: int) -> Ints:
    """Frames of a line whose keys stay with the dense clip's values: both ends of a loop, and both frames of a turn of more than 60
    degrees in one frame, where what is played between hangs on the last bits of its keys."""
    line = work.lines[i]
    pinned = np.zeros(work.frames, dtype=np.bool_)
    if work.seam:
        pinned[[0, -1]] = True
    if line.turns and work.frames > 1:
        values = line.values / np.linalg.norm(line.values, axis=1, keepdims=True)
        wide = np.abs((values[1:] * values[:-1]).sum(axis=1)) < COSINE_60
        pinned[1:] |= wide
        pinned[:-1] |= wide
    return np.flatnonzero(pinned).astype(np.int32)

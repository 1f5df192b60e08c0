"""Reference: a course laid out in time; loops run over several cycles, begun a stride early."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.coordinates import Coordinates
from akd_sdk.physics.course import Course, moved_on, turned

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

SHORTEST_RUN_S = 4.0
"""Seconds for which a loop is run at least after the lead-in."""


@dataclass(frozen=True)
class Reference:
    """What is followed, step by step.

    Attributes:
        coordinates: of the articulation.
        course: the cycle or clip.
        values, rates: (steps + 1, coordinates), and their rates a second.
        flight: (steps + 1,) no foot is planted.
        lead: steps before the part that counts.
        cycles: how often a loop is run after the lead-in, 0 for what does not loop.
    """

    coordinates: Coordinates
    course: Course
    values: Array
    rates: Array
    flight: Bools
    lead: int
    cycles: int

    @property
    def dt(self) -> float:
        return self.course.dt

    @property
    def cycle(self) -> int:
        """Steps of a cycle, 0 for what does not loop."""
        return self.course.steps if self.cycles else 0

    @property
    def phase(self) -> Ints:
        """(steps + 1,) the step of the course at which each step is."""
        steps = np.arange(len(self.values)) - self.lead
        return steps % self.course.steps if self.cycles else steps


def lay_out(coordinates: Coordinates, course: Course) -> Reference:
    """A loop run for at least `SHORTEST_RUN_S` after a lead-in of a stride; a clip as it is."""
    flying = np.asarray(~course.planted.any(axis=1))
    if not course.loop:
        return Reference(coordinates, course, course.values, course.rates, flying, 0, 0)
    count = course.steps
    cycles = int(np.ceil(SHORTEST_RUN_S / (count * course.dt) - 1e-9))
    lead = min(count, round(course.stride / course.dt))
    turn = float(course.values[-1, 3] - course.values[0, 3])
    values, rates = [], []
    for lap in range(-1, cycles):
        part = slice(count - lead if lap < 0 else 0, count)
        values.append(moved_on(course.values[part], course.values, lap))
        rate = course.rates[part].copy()
        rate[:, [0, 2]] = turned(rate[:, [0, 2]], lap * turn)
        rates.append(rate)
    values.append(moved_on(course.values[-1:], course.values, cycles - 1))
    last = course.rates[-1:].copy()
    last[:, [0, 2]] = turned(last[:, [0, 2]], (cycles - 1) * turn)
    flight = np.concatenate([flying[count - lead : count], np.tile(flying[:count], cycles), flying[-1:]])
    return Reference(coordinates, course, np.concatenate(values), np.concatenate([*rates, last]), flight, lead, cycles)

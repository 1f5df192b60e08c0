"""Loops: which cycle of a simulation is recorded, how far it is from closing, and how the rest is spread over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.physics.course import turned
from akd_sdk.physics.reference import Reference
from akd_sdk.physics.simulate import Run

Array = NDArray[np.float64]

CLOSED_DEG, CLOSED_SPEED = 1.0, 0.05
"""A cycle closes within so many degrees and this share of its rates."""
SEAM_S = 0.15
"""Seconds before and after the seam in which rates are brought together."""


@dataclass(frozen=True)
class Cycle:
    """A recorded cycle.

    Attributes:
        first: step at which it begins.
        pose_deg: largest difference of joint angles and of the root's pitch and roll between its ends, degrees.
        speed: rms difference of the rates of its ends over the rms of its rates.
    """

    first: int
    pose_deg: float
    speed: float

    @property
    def closes(self) -> bool:
        return self.pose_deg <= CLOSED_DEG and self.speed <= CLOSED_SPEED


def best_cycle(reference: Reference, run: Run) -> Cycle:
    """The cycle whose ends are nearest, among those that lie after the lead-in."""
    count = reference.cycle
    firsts = np.arange(reference.lead, len(run.values) - count)
    gaps = run.values[firsts + count, 4:] - run.values[firsts, 4:]
    pose = np.degrees(np.abs(gaps).max(axis=1))
    changes = run.rates[firsts + count, 3:] - run.rates[firsts, 3:]
    speed = np.sqrt((changes**2).mean(axis=1)) / max(float(np.sqrt((run.rates[:, 3:] ** 2).mean())), 1e-9)
    best = int(np.argmin(pose / CLOSED_DEG + speed / CLOSED_SPEED))
    return Cycle(int(firsts[best]), float(pose[best]), float(speed[best]))


def closed(reference: Reference, run: Run, cycle: Cycle) -> Array:
    """Coordinates (cycle + 1 steps) that begin at the loop's own first frame and end in the same pose, moved on by the travel.

    What is missing between the cycle's ends is spread over it in straight lines; its heading is made that of the reference. What their
    rates lack is taken by the time about the seam, half of it on either side.
    """
    count, first = reference.cycle, cycle.first
    values = run.values[first : first + count + 1].copy()
    share = np.linspace(0.0, 1.0, count + 1)[:, None]
    turn = reference.values[first + count, 3] - reference.values[first, 3]
    gap = values[-1] - values[0]
    gap[3] -= turn
    gap[[0, 2]] = 0.0
    values[:, 3] -= share[:, 0] * gap[3]
    values[:, [0, 2]] = _steered(values[:, [0, 2]], -share[:, 0] * gap[3])
    keep = np.ones(values.shape[1], dtype=np.bool_)
    keep[[0, 2, 3]] = False
    values[:, keep] -= share * gap[keep]
    early, late = _bends(count, reference.dt)
    less = _rate_gap(run, first, count)
    values += 0.5 * early[:, None] * less
    less[[0, 2]] = turned(less[None, [0, 2]], turn)[0]
    values += 0.5 * late[:, None] * less
    return _placed(reference, _from_first_frame(values, (reference.lead - first) % count))


def _rate_gap(run: Run, first: int, count: int) -> Array:
    """(coordinates,) by how much rates at a cycle's end are more than at its beginning, seen from its beginning."""
    start, end = run.rates[first], run.rates[first + count].copy()
    end[[0, 2]] = turned(end[None, [0, 2]], run.values[first, 3] - run.values[first + count, 3])[0]
    return np.asarray(end - start)


def _bends(count: int, dt: float) -> tuple[Array, Array]:
    """(count + 1,) two curves: the first begins with a rate of 1 and dies away, the second ends with one of -1; both are 0 at the ends."""
    long = min(SEAM_S, 0.5 * count * dt)
    after = np.arange(count + 1) * dt
    early = np.where(after < long, after * (1.0 - np.minimum(after / long, 1.0)) ** 2, 0.0)
    return early, early[::-1]


def _placed(reference: Reference, values: Array) -> Array:
    """A cycle turned and moved to where the reference's is: same mean heading, same first place."""
    wanted = reference.course.values
    turn = float(np.mean(wanted[:, 3] - values[:, 3]))
    placed = values.copy()
    placed[:, 3] += turn
    placed[:, [0, 2]] = turned(values[:, [0, 2]] - values[0, [0, 2]], turn) + wanted[0, [0, 2]]
    return placed


def _steered(path: Array, turn: Array) -> Array:
    """A ground path (steps, 2: x, z) whose every step is turned by an angle about the vertical."""
    return np.concatenate([path[:1], path[:1] + np.cumsum(turned(np.diff(path, axis=0), turn[:-1]), axis=0)])


def _from_first_frame(values: Array, skip: int) -> Array:
    """A closed cycle (steps + 1) begun `skip` steps later, its end moved on to where the next cycle would be."""
    count = len(values) - 1
    places = skip + np.arange(count + 1)
    again = places >= count
    later = values[np.where(again, places - count, places)].copy()
    turn = float(values[-1, 3] - values[0, 3])
    later[np.flatnonzero(again)[:, None], [0, 2]] = values[-1, [0, 2]] + turned(later[again][:, [0, 2]] - values[0, [0, 2]], turn)
    later[again, 3] += turn
    return later

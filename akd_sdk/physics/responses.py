"""Responses: what shifts of feet do to a body in a short window, learnt from samples, and the feedback that follows from it.

In every window the deviations after it are taken as linear in those before it, the shifts in force and the shifts asked for; least squares
over samples give how, and Riccati's recursion the shifts that keep the deviations small at little cost (reduced-order linear feedback from
sampled controls, as Ding, Liu, van de Panne and Yin 2015 learn it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from akd_sdk.physics.course import turned
from akd_sdk.physics.steering import PLACE, ROOT_ERRORS, Steering

Array = NDArray[np.float64]

TRUST = np.array([0.05, 0.12, 0.12, 0.2, 0.25, 0.2, 0.3, 0.3, 0.3])
"""Deviations of the root, place left out, at which a sample counts less: it is another gait."""
LEAST_SPREAD = 0.003
"""Spread of what is regressed on, below which nothing is learnt from it."""
RIDGE = 3e-3
ROOT_COST = np.array([0.3, 0.3, 1.0, 10.0, 6.0, 6.0, 3.0, 2.0, 3.0, 0.5, 0.5, 0.5])
FOOT_COST = 1.0
SHIFT_COST, CHANGE_COST, SLIP_COST, LIFT_COST = 20.0, 10.0, 100.0, 100.0
"""Costs of squared deviations, shifts, their changes from window to window, ways that planted soles slip in one, and deviations of the
heights of those that swing at its end: they drag over the ground."""
LAPS = 3
"""Cycles over which costs are added up until a loop's feedback repeats itself."""


class Feet(NamedTuple):
    """(windows, legs) which stand from a window's beginning to its end, and which swing at its end."""

    stand: NDArray[np.bool_]
    swing: NDArray[np.bool_]


@dataclass
class Samples:
    """Of one window: (n, inputs of the regression) and (n, errors): changes of place, and the other deviations after it."""

    given: Array
    found: Array

    def add(self, given: Array, found: Array) -> None:
        """More of them."""
        self.given, self.found = np.concatenate([self.given, given]), np.concatenate([self.found, found])


@dataclass(frozen=True)
class Feedback:
    """Of one window: gain (inputs, state) and value (state, state), the cost still to come; a state is deviations, shifts in force, 1."""

    gain: Array
    value: Array


def sample_of(steering: Steering, window: tuple[int, int], before: Array, shifts: tuple[Array, Array], after: Array) -> tuple[Array, Array]:
    """What a regression takes from deviations before and after a window (runs, errors) and shifts in force and asked for."""
    moved, turn = steering.way(*window)
    way = turned(after[:, :2], turn) + moved - before[:, :2]
    cosine, sine = np.cos(before[:, 2]), np.sin(before[:, 2])
    own = np.stack([cosine * way[:, 0] - sine * way[:, 1], sine * way[:, 0] + cosine * way[:, 1]], axis=1) - moved
    found = np.concatenate([own, after[:, 2:PLACE] - before[:, 2:PLACE], after[:, PLACE:]], axis=1)
    return np.concatenate([before[:, PLACE:], *shifts], axis=1), found


def transitions(
    steering: Steering, samples: Sequence[Samples], groups: Sequence[Sequence[int]], windows: Sequence[tuple[int, int]]
) -> list[Array]:
    """(errors, errors + 2 inputs + 1) of every window: deviations after it from those before it, shifts in force, shifts asked for, and 1.

    groups: windows that share all but their constants, such as those of equal phases of strides.
    """
    made: list[Array] = [np.zeros(0)] * len(samples)
    for group in groups:
        weights = [np.exp(-0.5 * ((samples[i].given[:, : len(TRUST)] / TRUST) ** 2).sum(axis=1)) + 1e-6 for i in group]
        means = [tuple(w @ part / w.sum() for part in (samples[i].given, samples[i].found)) for i, w in zip(group, weights)]
        root = np.sqrt(np.concatenate(weights))[:, None]
        given = root * np.concatenate([samples[i].given - mean[0] for i, mean in zip(group, means)])
        found = root * np.concatenate([samples[i].found - mean[1] for i, mean in zip(group, means)])
        scale = np.maximum(given.std(axis=0), LEAST_SPREAD)
        scaled = given / scale
        slope = np.linalg.solve(scaled.T @ scaled + RIDGE * len(scaled) * np.eye(len(scale)), scaled.T @ found) / scale[:, None]
        for i, (at, then) in zip(group, means):
            moved, turn = steering.way(*windows[i])
            place = np.zeros((len(then), PLACE))
            place[:PLACE, :PLACE] = np.eye(PLACE)
            place[0, 2], place[1, 2] = moved[1], -moved[0]
            whole = np.concatenate([place, slope.T, (then - at @ slope)[:, None]], axis=1)
            whole[:2] = turned(whole[:2].T, -turn).T
            made[i] = whole
    return made


def state_cost(steering: Steering) -> Array:
    """(errors,) costs of squared deviations."""
    return np.concatenate([ROOT_COST, np.full(steering.errors - ROOT_ERRORS, FOOT_COST)])


def feedbacks(steering: Steering, made: Sequence[Array], feet: Feet, loop: bool, thrift: float = 1.0) -> list[Feedback]:
    """The feedback of every window from its transitions; thrift: how many times as dear shifts are."""
    errors, inputs = steering.errors, steering.inputs
    size = errors + inputs + 1
    costs = state_cost(steering)
    rises = [_rises(steering, row, size) for row in feet.swing]
    value = np.zeros((size, size))
    value[:errors, :errors] = np.diag(costs)
    result: list[Feedback] = [Feedback(np.zeros((inputs, size)), value)] * len(made)
    keep = np.zeros((inputs, size))
    keep[:, errors : errors + inputs] = np.eye(inputs)
    for _ in range(LAPS if loop else 1):
        for i in range(len(made) - 1, -1, -1):
            free, driven = _system(made[i], errors, inputs)
            whole = np.concatenate([free, driven], axis=1)
            slips = _soles(steering, feet.stand[i], size) @ (whole - np.eye(size, size + inputs))
            change = np.concatenate([-keep, np.eye(inputs)], axis=1)
            cost = whole.T @ value @ whole + SLIP_COST * slips.T @ slips + thrift * CHANGE_COST * change.T @ change
            cost[np.arange(errors), np.arange(errors)] += costs
            cost += whole.T @ (LIFT_COST * rises[i].T @ rises[i]) @ whole
            cost[np.arange(size, size + inputs), np.arange(size, size + inputs)] += thrift * SHIFT_COST
            gain = -np.linalg.solve(cost[size:, size:], cost[size:, :size])
            value = cost[:size, :size] + cost[:size, size:] @ gain
            value = 0.5 * (value + value.T)
            value[-1, -1] = 0.0  # what no feedback can change
            result[i] = Feedback(gain, value)
    return result


def _system(made: Array, errors: int, inputs: int) -> tuple[Array, Array]:
    """State after a window from that before it (size, size) and from the shifts asked for (size, inputs)."""
    size = errors + inputs + 1
    free, driven = np.zeros((size, size)), np.zeros((size, inputs))
    free[:errors, : errors + inputs], free[:errors, -1], free[-1, -1] = made[:, : errors + inputs], made[:, -1], 1.0
    driven[:errors], driven[errors : errors + inputs] = made[:, errors + inputs : -1], np.eye(inputs)
    return free, driven


def _soles(steering: Steering, planted: NDArray[np.bool_], size: int) -> Array:
    """(2 planted, size) where planted soles stand on the ground, of a state."""
    rows = []
    for leg in np.flatnonzero(planted):
        for root, foot in ((0, 0), (1, 2)):
            row = np.zeros(size)
            row[root], row[ROOT_ERRORS + 3 * leg + foot] = 1.0, 1.0
            rows.append(row)
    return np.array(rows).reshape(-1, size)


def _rises(steering: Steering, swings: NDArray[np.bool_], size: int) -> Array:
    """(swinging, size) how high swinging soles are against what they should, of a state."""
    rows = np.zeros((int(swings.sum()), size))
    for row, leg in zip(rows, np.flatnonzero(swings)):
        row[3], row[ROOT_ERRORS + 3 * leg + 1] = 1.0, 1.0
    return rows

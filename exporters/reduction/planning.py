"""Planning: from an error budget for every track to time lines, constants and dropped tracks."""

from __future__ import annotations

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.reduction.constants import at_rest, constant
from akd_sdk.exporters.reduction.groups import Reach, grouped, reach_of
from akd_sdk.exporters.reduction.levers import Levers
from akd_sdk.exporters.reduction.plan import Group, Plan, Price, every, held_knots, pinned_frames
from akd_sdk.exporters.reduction.work import Work

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
SHARE = {"rotation": 1.0, "translation": 0.5, "scale": 0.3}
"""A path's share of the budget: translations and scales add to what rotations do."""


class Planner:
    """Plans for one clip; reaches are kept by budget."""

    def __init__(self, module: ModuleType, work: Work, levers: Levers, nlerp: bool, tolerance_m: float) -> None:
        self.module, self.work, self.levers, self.nlerp, self.tolerance = module, work, levers, nlerp, tolerance_m
        self._reach: dict[tuple[int, float], Ints] = {}

    def plan(self, factors: Array, short: frozenset[int], price: Price) -> Plan:
        """The cheapest plan in which each line alone stays within its factor times its share of the tolerance."""
        plan = Plan(short=short)
        items = []
        for i, line in enumerate(self.work.lines):
            weights = self.levers.weights[i]
            budget = float(factors[i]) * SHARE[line.path] * self.tolerance
            if at_rest(line, weights, 0.0 if line.held else budget):
                plan.dropped.append(i)
            elif line.held:
                plan.held[i] = held_knots(line)
            elif (value := constant(line, weights, budget)) is not None:
                plan.constants[i] = value
            else:
                items.append(Reach(i, price.value(line, i in short), self._reach_of(i, budget)))
        plan.groups = grouped(self.module, items, price)
        return plan

    def dense(self, short: frozenset[int], still: float) -> Plan:
        """Every frame of what moves; what stays within `still` times the tolerance of rest or of its first value is dropped or one key."""
        plan = Plan(short=short)
        moving = []
        for i, line in enumerate(self.work.lines):
            weights, budget = self.levers.weights[i], still * self.tolerance
            if at_rest(line, weights, 0.0 if line.held else budget):
                plan.dropped.append(i)
            elif line.held:
                plan.held[i] = held_knots(line)
            elif (np.sqrt(((line.values - line.values[0]) ** 2).sum(axis=1)) * weights).max() <= budget:
                plan.constants[i] = line.values[0]
            else:
                moving.append(i)
        plan.groups = [Group(moving, every(self.work.frames))] if moving else []
        return plan

    def _reach_of(self, i: int, budget: float) -> Ints:
        key = (i, round(budget, 12))
        if key not in self._reach:
            line = self.work.lines[i]
            reach = reach_of(self.module, line, self.levers.weights[i], budget, self.nlerp)
            for frame in pinned_frames(self.work, i):  # no segment passes over a key that stays
                reach[:frame] = np.minimum(reach[:frame], frame)
            self._reach[key] = reach
        return self._reach[key]

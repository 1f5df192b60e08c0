"""Time lines: which tracks share one, from how far each frame of each track reaches."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.reduction.compiled import indices, launch, shared
from akd_sdk.exporters.reduction.plan import Group, Price, every
from akd_sdk.exporters.reduction.work import Line

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
WIDEST_TURN = np.radians(57.0)
"""Widest turn between two kept keys when knots are chosen; the refit moves values a little, and 60 degrees must hold after it."""
COSINE = float(np.cos(WIDEST_TURN / 2.0))


@dataclass(frozen=True)
class Reach:
    """A line, the bytes of one of its values, and the farthest frame that each of its frames reaches."""

    line: int
    bytes: float
    reach: Ints


def reach_of(module: ModuleType, line: Line, weights: Array, budget: float, nlerp: bool) -> Ints:
    """(frames,) the farthest frame to which each frame may go straight within the budget (metres), keys at most 60 degrees apart."""
    values = np.zeros((len(line.values), 4))
    values[:, : line.values.shape[1]] = line.values
    if line.turns:
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    out = np.zeros(len(values), dtype=np.int32)
    launch(module.reach, shared(values, "vec4d"), shared(weights), int(line.turns), budget, COSINE, int(nlerp), shared(out))
    return out


def walk(reach: Ints) -> Ints:
    """The fewest knots: from each the farthest frame that it reaches."""
    knots = [0]
    while knots[-1] < len(reach) - 1:
        knots.append(int(reach[knots[-1]]))
    return np.array(knots, dtype=np.int32)


def grouped(module: ModuleType, items: list[Reach], price: Price) -> list[Group]:
    """Lines merged into time lines pair by pair as long as that saves bytes, then those dearer than dense on one dense time line."""
    if not items:
        return []
    frames = len(items[0].reach)
    merging = _Merging(module, items, price)
    while merging.merge_best():
        pass
    return _with_dense(merging, frames, price)


class _Merging:
    """Agglomeration: groups i with reach (elementwise min), bytes a knot and knots."""

    def __init__(self, module: ModuleType, items: list[Reach], price: Price) -> None:
        self.module, self.price = module, price
        self.reach = np.ascontiguousarray(np.stack([item.reach for item in items]))
        self.bytes = np.array([item.bytes for item in items])
        self.lines: list[list[int]] = [[item.line] for item in items]
        count = len(items)
        self.alive = np.ones(count, dtype=np.bool_)
        self.knots = np.array([len(walk(item.reach)) for item in items])
        self.saving = np.full((count, count), -np.inf)
        for i in range(count - 1):
            self._price_pairs(i, np.arange(i + 1, count))

    def cost(self, bytes_a_knot: Array, knots: NDArray[np.int64]) -> Array:
        return (self.price.time + bytes_a_knot) * knots + self.price.line

    def merge_best(self) -> bool:
        """Merges the pair that saves most; False where none saves."""
        i, j = np.unravel_index(int(self.saving.argmax()), self.saving.shape)
        if self.saving[i, j] <= 0.0:
            return False
        self.reach[i] = np.minimum(self.reach[i], self.reach[j])
        self.bytes[i] += self.bytes[j]
        self.lines[i] += self.lines[j]
        self.alive[j] = False
        self.saving[j] = self.saving[:, j] = -np.inf
        self.knots[i] = len(walk(self.reach[i]))
        others = np.flatnonzero(self.alive)
        self._price_pairs(int(i), others[others != i])
        return True

    def _price_pairs(self, i: int, others: NDArray[np.int64]) -> None:
        """What merging group i with each of the others would save."""
        if not len(others):
            return
        counts = np.zeros(len(others), dtype=np.int32)
        first = np.full(len(others), i, dtype=np.int32)
        launch(self.module.walks, shared(self.reach), shared(first), indices(others), shared(counts))
        apart = self.cost(self.bytes[[i]], self.knots[[i]]) + self.cost(self.bytes[others], self.knots[others])
        saved = apart - self.cost(self.bytes[i] + self.bytes[others], counts.astype(np.int64))
        low, high = np.minimum(i, others), np.maximum(i, others)
        self.saving[low, high] = saved


def _with_dense(merging: _Merging, frames: int, price: Price) -> list[Group]:
    """The groups, those that are dearer than without a time line of their own joined on a dense one where that is cheaper."""
    alive = np.flatnonzero(merging.alive)
    cost = merging.cost(merging.bytes, merging.knots)
    dense = [i for i in alive if merging.bytes[i] * frames < cost[i]]
    full = price.time * frames + price.line
    if dense and sum(cost[i] for i in dense) <= sum(merging.bytes[i] * frames for i in dense) + full:
        dense = []
    groups = [Group(merging.lines[i], walk(merging.reach[i])) for i in alive if i not in dense]
    if dense:
        groups.append(Group([line for i in dense for line in merging.lines[i]], every(frames)))
    return groups

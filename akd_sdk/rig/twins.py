"""Twins: which joints are each other's mirror image, from the roots of the file's tree down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.evidence import Evidence
from akd_sdk.rig.mirror import Mirror, Subtrees

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

OFF_MIDDLE = 0.004
"""Body heights: subtrees whose middles lie nearer to the plane than this are no pair."""

PAIRING_SLACK = 0.01
"""Body heights by which a sibling may be farther from a joint's mirror image than the joint itself and still be its twin."""


def find_twins(evidence: Evidence, subtrees: Subtrees, mirror: Mirror) -> Ints:
    """(joints,) the twin of every joint, the joint itself in the middle.

    Siblings of a middle joint are paired with each other, children of twins across.
    """
    return _Pairing(evidence, subtrees, mirror).run()


@dataclass(frozen=True)
class _Pairing:
    evidence: Evidence
    subtrees: Subtrees
    mirror: Mirror

    def run(self) -> Ints:
        twin = np.arange(self.evidence.count)
        children = self.evidence.children
        families = [[int(j) for j in np.flatnonzero(self.evidence.parents < 0)]]
        crosses: list[tuple[list[int], list[int]]] = []
        while families or crosses:
            if families:
                family = families.pop()
                pairs = self._siblings(family)
                paired = {j for pair in pairs for j in pair}
                families.extend(children[j] for j in family if j not in paired and children[j])
            else:
                pairs = self._across(*crosses.pop())
            for a, b in pairs:
                twin[a], twin[b] = b, a
                crosses.append((children[a], children[b]))
        return twin

    def _siblings(self, family: list[int]) -> list[tuple[int, int]]:
        """Pairs of siblings, nearest first; those whose own mirror image is nearer than any sibling stay in the middle."""
        cost = self._cost(family, family)
        order = sorted(
            (float(cost[i, k]), i, k)
            for i in range(len(family))
            for k in range(i + 1, len(family))
            if self._opposite(family[i], family[k])
        )
        taken: set[int] = set()
        pairs = []
        for price, i, k in order:
            if i in taken or k in taken or price > 0.5 * float(cost[i, i] + cost[k, k]) + PAIRING_SLACK:
                continue
            taken |= {i, k}
            pairs.append((family[i], family[k]))
        return pairs

    def _across(self, left: list[int], right: list[int]) -> list[tuple[int, int]]:
        """The children of twins paired so that all together lie nearest to each other's mirror images."""
        if not left or not right:
            return []
        from scipy.optimize import linear_sum_assignment  # a third of a second that only reading a rig needs

        rows, columns = linear_sum_assignment(self._cost(left, right))
        return [(left[r], right[c]) for r, c in zip(rows, columns, strict=True)]

    def _opposite(self, a: int, b: int) -> bool:
        sides = self.mirror.across(self.subtrees.centres[[a, b]])
        return bool(sides[0] * sides[1] < 0.0 and np.abs(sides).min() > OFF_MIDDLE)

    def _cost(self, left: list[int], right: list[int]) -> Array:
        """(left, right) distance of each right joint from the mirror image of each left one, with unlike subtrees made dear."""
        positions, below = self.evidence.positions, self.subtrees
        apart = np.linalg.norm(self.mirror.reflect(positions[left])[:, None] - positions[right][None], axis=-1)
        middle = np.linalg.norm(self.mirror.reflect(below.centres[left])[:, None] - below.centres[right][None], axis=-1)
        sizes = np.abs(np.log(below.sizes[left][:, None] / below.sizes[right][None]))
        mass = np.abs(np.log((below.mass[left][:, None] + 1.0) / (below.mass[right][None] + 1.0)))
        return np.asarray(0.5 * apart + 0.5 * middle + 0.1 * sizes + 0.03 * np.minimum(mass, 4.0))

"""Mirror: an upright plane that maps a body to itself, and the subtrees of joints that it pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.evidence import Evidence

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Mirror:
    """An upright plane and the joints it pairs.

    Attributes:
        normal: (3,) horizontal unit vector across the plane; its sign has no meaning yet.
        offset: the plane is where `normal @ point == offset`, body heights.
        twin: (joints,) the joint on the other side, the joint itself in the middle.
        error: mean distance of the skin (of the joints without one) from its mirror image, body heights.
    """

    normal: Array
    offset: float
    twin: Ints
    error: float

    def across(self, points: Array) -> Array:
        """(...,) signed distance from the plane, along `normal`."""
        return np.asarray(points @ self.normal - self.offset)

    def reflect(self, points: Array) -> Array:
        """(..., 3) mirrored points."""
        return np.asarray(points - 2.0 * self.across(points)[..., None] * self.normal)


@dataclass(frozen=True)
class Subtrees:
    """What is compared between two subtrees: joint count, skin, middle and reach of each."""

    sizes: Ints
    mass: Array
    centres: Array


def subtrees_of(evidence: Evidence) -> Subtrees:
    """Measure what hangs on each joint in the file's tree, the joint included."""
    count = evidence.count
    sizes = np.ones(count, dtype=np.int64)
    mass = evidence.mass.copy()
    sums = evidence.positions.copy()
    for j in range(count - 1, -1, -1):
        p = int(evidence.parents[j])
        if p >= 0:
            sizes[p] += sizes[j]
            mass[p] += mass[j]
            sums[p] += sums[j]
    return Subtrees(sizes, mass, sums / sizes[:, None])

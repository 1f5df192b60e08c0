"""Limbs: paired branches of the body tree, told apart by where they begin and where they end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.evidence import Evidence
from akd_sdk.rig.mirror import Mirror
from akd_sdk.rig.solve_tree import BodyTree

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

ON_GROUND = 0.06
"""Body heights: a limb whose end is at most this much higher than the lowest one's stands on the ground too."""

SOLE_ON_GROUND = 0.04
"""Body heights: at least one pair comes this near, else the body stands on something that is no limb."""

LEG_DROP = 0.04
"""Body heights that a leg's first joint lies above its sole, at least."""


@dataclass(frozen=True)
class LimbPair:
    """Two branches that are each other's mirror image.

    Attributes:
        bases: first joint on the side of the mirror's normal, and on the other side.
        joints: all joints of the two branches, bases first.
        attach: the joint of the middle that they hang on.
        low: lowest height reached, body heights.
        base: height of the first joints.
        centre: (3,) middle of the two first joints.
        reach: farthest distance of a branch's skin (its joints without one) from its first joint.
    """

    bases: tuple[int, int]
    joints: tuple[tuple[int, ...], tuple[int, ...]]
    attach: int
    low: float
    base: float
    centre: Array
    reach: float

    @property
    def all_joints(self) -> list[int]:
        return [*self.joints[0], *self.joints[1]]


def find_pairs(evidence: Evidence, mirror: Mirror, tree: BodyTree, sides: Ints) -> list[LimbPair]:
    """Every pair of branches whose first joints hang on the middle, largest first."""
    pairs = []
    for j in np.flatnonzero(tree.body):
        twin = int(mirror.twin[j])
        if sides[j] <= 0 or twin == j or not tree.body[twin]:
            continue
        parent, other = int(tree.parents[j]), int(tree.parents[twin])
        if parent < 0 or other < 0 or sides[parent] != 0 or sides[other] != 0:
            continue
        pairs.append(_measure(evidence, tree, (int(j), twin), parent))
    return sorted(pairs, key=lambda pair: (-pair.reach, pair.bases))


def _measure(evidence: Evidence, tree: BodyTree, bases: tuple[int, int], attach: int) -> LimbPair:
    joints = (tuple(tree.below(bases[0])), tuple(tree.below(bases[1])))
    both = [*joints[0], *joints[1]]
    points = evidence.points_of(both)
    lows = [float(evidence.positions[both, 1].min())]
    reach = 0.0
    for base, branch in zip(bases, joints, strict=True):
        cloud = np.concatenate([evidence.points_of(list(branch)), evidence.positions[list(branch)]])
        reach = max(reach, float(np.linalg.norm(cloud - evidence.positions[base], axis=1).max()))
    if len(points):
        lows.append(float(points[:, 1].min()))
    return LimbPair(
        bases=bases,
        joints=joints,
        attach=attach,
        low=min(lows),
        base=float(evidence.positions[list(bases), 1].mean()),
        centre=np.asarray(evidence.positions[list(bases)].mean(0)),
        reach=reach,
    )


def find_legs(pairs: list[LimbPair], floor: float) -> tuple[list[LimbPair], str | None]:
    """The pairs that stand on the ground; of a body that floats, the lowest pair that points down. With a note if it floats."""
    drooping = [p for p in pairs if p.base - p.low > LEG_DROP and _points_down(p)]
    lowest = min((p.low for p in drooping), default=np.inf)
    if lowest - floor < SOLE_ON_GROUND:
        return _without_trifles([p for p in drooping if p.low - lowest < ON_GROUND]), None
    hanging = sorted(drooping, key=lambda p: p.base)
    if hanging and len(pairs) > 1 and all(hanging[0].base <= p.base and hanging[0].low <= p.low for p in pairs):
        return hanging[:1], "no limb reaches the ground; the lowest pair is taken for legs"
    return [], None


def _points_down(pair: LimbPair) -> bool:
    """Whether a branch hangs down from its base at least as much as it reaches sideways."""
    return pair.base - pair.low > 0.45 * pair.reach


def _without_trifles(legs: list[LimbPair]) -> list[LimbPair]:
    """Without toes, spurs or coat tails that also come near the ground: legs are alike in length and begin well above it."""
    tallest = max(p.base - p.low for p in legs)
    return [p for p in legs if p.base - p.low > 0.35 * tallest]

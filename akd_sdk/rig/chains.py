"""Chains: the joints of each limb and of the axis in order, without helpers, fingers apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.evidence import Evidence
from akd_sdk.rig.limbs import LimbPair
from akd_sdk.rig.naming import Labels
from akd_sdk.rig.parts import Parts
from akd_sdk.rig.skeleton import Chain

Array = NDArray[np.float64]

HELPER_SHARE = 0.35
"""A limb's first bone that leads sideways and is shorter than this share of the limb is a shoulder or hip helper, not a limb bone."""

FINGER_SHARE = 0.5
"""A branch that reaches at least this share of the longest of its siblings makes a hand of their parent."""

HEAD_SHARE = 0.35
"""The head is the last joint of the neck's chain with at least this share of the skin of the heaviest one."""


@dataclass(frozen=True)
class _Branches:
    evidence: Evidence
    parts: Parts

    def children(self, joint: int) -> list[int]:
        return self.parts.tree.children[joint]

    def reach(self, joint: int, start: int) -> float:
        """How far what hangs on a joint gets away from another joint: the skin, or the joints."""
        joints = self.parts.tree.below(joint)
        cloud = np.concatenate([self.evidence.points_of(joints), self.evidence.positions[joints]])
        return float(np.linalg.norm(cloud - self.evidence.positions[start], axis=1).max())

    def low(self, joint: int) -> float:
        joints = self.parts.tree.below(joint)
        return float(np.concatenate([self.evidence.points_of(joints), self.evidence.positions[joints]])[:, 1].min())


def find_chains(evidence: Evidence, parts: Parts, labels: Labels) -> tuple[Chain, ...]:
    """Spine, neck, tail, limbs and fingers, from their bases outwards. Tips are not set yet."""
    look = _Branches(evidence, parts)
    chains = []
    if len(parts.trunk) > 1:
        chains.append(Chain("spine", 0, tuple(parts.trunk[1:])))
    if parts.head:
        chains.append(Chain("neck", 0, tuple(_neck(look))))
    tail = [j for j in parts.tail if parts.sides[j] == 0]
    for base in [j for j in tail if int(parts.tree.parents[j]) not in tail]:
        chains.append(Chain("tail", 0, tuple(_middle_path(look, base, tail))))
    for pair, kind in ((parts.hind, "leg"), (parts.fore, _fore_kind(parts))):
        if pair:
            for branch in sorted(pair.joints, key=lambda branch: int(labels.sides[branch[0]])):
                chains.extend(_limb(look, labels, pair, branch, kind))
    return tuple(chains)


def _fore_kind(parts: Parts) -> str:
    if parts.body == "quadruped" or (parts.animal and parts.body == "unknown"):
        return "foreleg"
    return "wing" if parts.winged else "arm"


def _neck(look: _Branches) -> list[int]:
    """From the first joint of the neck to the head, along the heavier branch of the middle."""
    base = look.parts.head[0]
    path = _middle_path(look, base, look.parts.head)
    mass = look.evidence.mass[path]
    if mass.max() <= 0.0:
        return path
    last = int(np.flatnonzero(mass >= HEAD_SHARE * mass.max())[-1])
    return path[: last + 1]


def _middle_path(look: _Branches, base: int, within: list[int]) -> list[int]:
    path = [base]
    while True:
        onwards = [c for c in look.children(path[-1]) if c in within and look.parts.sides[c] == 0]
        if not onwards:
            return path
        path.append(max(onwards, key=lambda c: (float(look.evidence.mass[look.parts.tree.below(c)].sum()), look.reach(c, path[-1]))))


def _limb(look: _Branches, labels: Labels, pair: LimbPair, branch: tuple[int, ...], kind: str) -> list[Chain]:
    side = int(labels.sides[branch[0]])
    path = [branch[0]]
    fingers: list[int] = []
    while True:
        onwards = look.children(path[-1])
        if not onwards:
            break
        if kind in ("leg", "foreleg"):
            path.append(min(onwards, key=lambda c: (round(look.low(c), 3), -float(look.evidence.mass[c]))))
            continue
        reaches = sorted((look.reach(c, path[-1]) for c in onwards), reverse=True)
        if len(onwards) > 1 and len(path) > 1 and reaches[1] > FINGER_SHARE * reaches[0]:
            fingers = onwards
            break
        path.append(max(onwards, key=lambda c: look.reach(c, path[-1])))
    chains = [Chain(kind, side, tuple(_without_helper(look, path)))]
    chains += [Chain("finger", side, tuple(_longest(look, finger))) for finger in fingers]
    return chains


def _longest(look: _Branches, base: int) -> list[int]:
    path = [base]
    while look.children(path[-1]):
        path.append(max(look.children(path[-1]), key=lambda c: look.reach(c, path[-1])))
    return path


def _without_helper(look: _Branches, path: list[int]) -> list[int]:
    """Drop clavicles and the like: a short first bone that leads across the body."""
    points = look.evidence.positions[path]
    if len(path) < 3:
        return path
    bones = np.diff(points, axis=0)
    lengths = np.linalg.norm(bones, axis=1)
    sideways = abs(float(bones[0] @ look.parts.facing.left)) > 0.6 * lengths[0]
    return path[1:] if sideways and lengths[0] < HELPER_SHARE * lengths.sum() and len(path) > 3 else path

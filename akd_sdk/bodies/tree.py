"""Which joints become bodies: the anatomical tree, with what is small or no anatomy merged into what it follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig import Skeleton

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SMALL = 0.006
"""Share of the whole volume under which a branch (an ear, fingers, the end of a tail) is merged into what it hangs on."""


@dataclass(frozen=True)
class BodyTree:
    """Bodies depth first.

    Attributes:
        joints: (bodies,) the joint of each.
        parents: (bodies,) the body that each hangs on, -1 for the pelvis's.
        owners: (joints,) the body that each joint follows; what stays still counts to the pelvis's.
        moved: (joints,) whether it follows its owner, or stays still.
    """

    joints: Ints
    parents: Ints
    owners: Ints
    moved: NDArray[np.bool_]

    @property
    def count(self) -> int:
        return len(self.joints)

    def merged(self, body: int) -> tuple[int, ...]:
        """Joints that follow a body, its own not among them."""
        return tuple(int(j) for j in np.flatnonzero((self.owners == body) & self.moved) if j != self.joints[body])

    def below(self, body: int) -> range:
        """A body and all that hangs on it."""
        last = body + 1
        while last < self.count and self.parents[last] >= body:
            last += 1
        return range(body, last)


def anatomy_followed(skeleton: Skeleton) -> tuple[Ints, NDArray[np.bool_]]:
    """For each joint the joint of the body (the pelvis or what hangs on it) that it is or follows (joints,), and whether it does.

    Those that stay still count to the pelvis.
    """
    follows = np.full(skeleton.count, -1, dtype=np.int64)
    for j in skeleton.solve_order:
        parent = int(skeleton.solve_parents[j])
        own = j == skeleton.pelvis or (parent >= 0 and follows[parent] == parent and skeleton.roles[j] in ("anatomy", "unknown"))
        follows[j] = j if own else (follows[parent] if parent >= 0 else -1)
    moved = follows >= 0
    return np.where(moved, follows, skeleton.pelvis), moved


def body_tree(skeleton: Skeleton, volumes: Array, kept: frozenset[int]) -> BodyTree:
    """The bodies of a skeleton.

    volumes (joints,): of each joint of the body, with what follows it; kept: joints that stay bodies of their own however small they
    are (they carry feet), and with them all on the way from the pelvis.
    """
    follows, moved = anatomy_followed(skeleton)
    order = [int(j) for j in skeleton.solve_order if follows[j] == j]
    branch = np.zeros(skeleton.count)
    holds = np.zeros(skeleton.count, dtype=np.bool_)
    for j in reversed(order):
        branch[j] += volumes[j]
        holds[j] |= j in kept
        if j != skeleton.pelvis:
            parent = int(skeleton.solve_parents[j])
            branch[parent] += branch[j]
            holds[parent] |= holds[j]
    small = ~holds & (branch < SMALL * float(volumes.sum()))
    small[skeleton.pelvis] = False
    children: dict[int, list[int]] = {}
    for j in order:
        if j != skeleton.pelvis and not small[j]:
            children.setdefault(int(skeleton.solve_parents[j]), []).append(j)
    joints, parents = _depth_first(skeleton.pelvis, children)
    bodies = np.full(skeleton.count, -1, dtype=np.int64)
    bodies[joints] = np.arange(len(joints))
    for j in order:
        if bodies[j] < 0:
            bodies[j] = bodies[int(skeleton.solve_parents[j])]
    return BodyTree(np.array(joints), np.array(parents), bodies[follows], moved)


def _depth_first(root: int, children: dict[int, list[int]]) -> tuple[list[int], list[int]]:
    """Joints with every branch in one piece, and the place of each one's parent."""
    joints: list[int] = []
    parents: list[int] = []
    waiting = [(root, -1)]
    while waiting:
        joint, parent = waiting.pop()
        waiting.extend((child, len(joints)) for child in sorted(children.get(joint, ()), reverse=True))
        joints.append(joint)
        parents.append(parent)
    return joints, parents

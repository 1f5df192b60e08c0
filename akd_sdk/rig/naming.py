"""Groups, sides and roles of joints, from the parts of a body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.evidence import Evidence
from akd_sdk.rig.limbs import LimbPair
from akd_sdk.rig.parts import Parts

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

STRAIGHT_ON = np.cos(np.radians(20.0))
"""A bare last joint that leads on straighter than this is the end of its bone; one that turns off is a socket."""


TOE_ON = np.cos(np.radians(70.0))
"""The same for the last joint of a leg, where the sole turns from the bone before it."""


@dataclass(frozen=True)
class Labels:
    """`groups`, `roles` and `sides` (joints,); sides 0 middle, 1 left, 2 right."""

    groups: tuple[str, ...]
    roles: tuple[str, ...]
    sides: Ints


def label(evidence: Evidence, parts: Parts) -> Labels:
    """Name every joint's group, role and side."""
    count = evidence.count
    groups = ["none"] * count
    roles = _roles_off_body(evidence, parts)
    sides = np.zeros(count, dtype=np.int64)
    if parts.facing.certain:
        signed = parts.sides * parts.facing.left_sign
        sides = np.where(signed > 0, 1, np.where(signed < 0, 2, 0)).astype(np.int64)
    for j in np.flatnonzero(parts.tree.body).tolist():
        roles[j] = "anatomy"
    for j in parts.rest:
        groups[j], roles[j] = "unknown", "unknown"
    for name, joints in (("trunk" if parts.animal else "torso", parts.trunk), ("neck_head", parts.head), ("tail", parts.tail)):
        for j in joints:
            groups[j] = name
    for pair, hind in ((parts.hind, True), (parts.fore, False)):
        if pair:
            _name_limb(parts, pair, hind, groups, sides)
    for j in _ends(evidence, parts):
        parent = int(evidence.parents[j])
        groups[j], roles[j] = groups[parent], "anatomy"
        sides[j] = sides[parent]
    for j in range(count):
        if roles[j] in ("control", "ancestor", "socket"):
            sides[j] = sides[j] if roles[j] == "socket" else 0
    return Labels(tuple(groups), tuple(roles), sides)


def _name_limb(parts: Parts, pair: LimbPair, hind: bool, groups: list[str], sides: Ints) -> None:
    for branch in pair.joints:
        for j in branch:
            if sides[j] == 0:
                groups[j] = "unknown"
                continue
            side = "left" if sides[j] == 1 else "right"
            if parts.animal:
                groups[j] = f"{'hind' if hind else 'fore'}_{side}"
            else:
                groups[j] = f"{side}_{'leg' if hind else 'wing' if parts.winged else 'arm'}"


def _roles_off_body(evidence: Evidence, parts: Parts) -> list[str]:
    """Roles of what is no body: ancestors of the body, sockets on it, controls."""
    body = parts.tree.body
    above = np.zeros(evidence.count, dtype=bool)
    for j in range(evidence.count - 1, -1, -1):
        parent = int(evidence.parents[j])
        if parent >= 0 and (body[j] or above[j]):
            above[parent] = True
    roles: list[str] = []
    for j, parent in enumerate(evidence.parents):
        hangs = parent >= 0 and (body[parent] or roles[int(parent)] == "socket")
        roles.append("ancestor" if above[j] else "socket" if hangs else "control")
    return roles


def _ends(evidence: Evidence, parts: Parts) -> list[int]:
    """Bare last joints that lead straight on from a bone of the body and have no sibling: where exporters mark a bone's end."""
    body = parts.tree.body
    children = evidence.children
    found: list[int] = []
    for j, parent in enumerate(evidence.parents):
        if body[j] or children[j] or parent < 0 or not body[parent] or len(children[int(parent)]) != 1:
            continue
        before = int(parts.tree.parents[parent])
        if before < 0:
            continue
        come = evidence.positions[parent] - evidence.positions[before]
        go = evidence.positions[j] - evidence.positions[parent]
        lengths = float(np.linalg.norm(come) * np.linalg.norm(go))
        leg = parts.hind is not None and parent in parts.hind.all_joints  # nobody holds things with the feet, and toes turn
        if lengths > 1e-12 and float(come @ go) > (TOE_ON if leg else STRAIGHT_ON) * lengths:
            found.append(j)
    return found

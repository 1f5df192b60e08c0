"""Parts of a body: pelvis, trunk, neck and head, tail, legs and arms, with the names of their groups."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.evidence import Evidence
from akd_sdk.rig.facing import Facing, Shape, find_facing
from akd_sdk.rig.limbs import LimbPair, find_legs, find_pairs
from akd_sdk.rig.mirror import Mirror
from akd_sdk.rig.solve_tree import BodyTree, find_body_tree, sides_of

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

LEANING = 0.84
"""A trunk whose run along the ground is more than this many times its rise (40 degrees and flatter) is an animal's."""

WING_FLATNESS = 0.5
"""Skin of a wing's joints is thinner than this share of its width."""

ARM_REACH = 0.1
"""Body heights: shorter pairs on the trunk are no arms."""

LOPSIDED = 0.035
"""Body heights of mean distance from the mirror image beyond which a body counts as not symmetric."""

LONE_ARM_REACH = 0.25
"""The same where there are no legs to compare with: brows and horns are shorter."""

NECK_AHEAD = 0.1
"""Shares of the trunk's length that a neck's first bone lies ahead of the forelegs' base."""


@dataclass
class Parts:
    """What was told apart, in the pose looked at.

    Attributes:
        body: "biped", "quadruped", "bird" or "unknown".
        animal: whether groups have an animal's names (trunk, fore_left) or a human's (torso, left_arm).
        winged: whether the fore limbs are wings.
        tree: the body tree, hung up on the pelvis where there is one.
        pelvis: -1 where it was not found.
        hind: the legs of a biped, the hind legs of a quadruped.
        fore: arms, wings or forelegs.
        trunk: joints from the pelvis to where the fore limbs begin.
        head: joints of neck and head, with ears and the like.
        tail: joints of the tail.
        rest: joints of the body that are none of these.
        notes: what is doubtful, with the reason.
    """

    body: str
    animal: bool
    winged: bool
    tree: BodyTree
    facing: Facing
    sides: Ints
    pelvis: int = -1
    hind: LimbPair | None = None
    fore: LimbPair | None = None
    trunk: list[int] = field(default_factory=list)
    head: list[int] = field(default_factory=list)
    tail: list[int] = field(default_factory=list)
    rest: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def find_parts(evidence: Evidence, mirror: Mirror) -> Parts:
    """Tell the parts of a body apart."""
    tree = find_body_tree(evidence, mirror)
    sides = sides_of(evidence, mirror)
    pairs = find_pairs(evidence, mirror, tree, sides)
    floor = 0.0 if evidence.covered else float(evidence.positions[tree.body, 1].min())
    legs, floating = find_legs(pairs, floor)
    others = [p for p in pairs if p not in legs]
    facing = find_facing(Shape(evidence, mirror, tree, sides), legs, _on_trunk(others, legs))
    parts = Parts("unknown", False, False, tree, facing, sides, notes=[floating] if floating else [])
    ordered = sorted(legs, key=lambda pair: float(pair.centre @ facing.forward))
    if len(legs) in (1, 2):
        parts.hind = ordered[0]
        parts.pelvis = ordered[0].attach
        parts.tree = tree.rooted_at(parts.pelvis)
    if len(legs) == 2:
        parts.fore = ordered[1]
    elif _on_trunk(others, legs):
        parts.fore = _arms(parts.tree, _on_trunk(others, legs))
    _split_axis(evidence, parts)
    _judge(evidence, parts, len(legs))
    if mirror.error > LOPSIDED:
        return _nothing(parts, "no upright mirror plane was found: the body lies askew, or is not made of two like halves")
    if not legs and not _stands(evidence, parts):
        return _nothing(parts, "no pair of legs was found, and the body does not stand")
    return parts


def _stands(evidence: Evidence, parts: Parts) -> bool:
    """Whether what lies in the middle of a body without legs is higher than long, as in a figure cut off at the hips."""
    axis = evidence.positions[[*parts.trunk, *(j for j in parts.head if parts.sides[j] == 0)]]
    armed = parts.fore is not None and parts.fore.reach > LONE_ARM_REACH
    return armed and float(np.ptp(axis[:, 1])) > float(np.linalg.norm(np.ptp(axis[:, [0, 2]], axis=0)))


def _nothing(parts: Parts, note: str) -> Parts:
    """What is left to say of a body that is not understood."""
    joints = [int(j) for j in np.flatnonzero(parts.tree.body)]
    return Parts("unknown", False, False, parts.tree, parts.facing, np.zeros_like(parts.sides), rest=joints, notes=[note])


def _on_trunk(pairs: list[LimbPair], legs: list[LimbPair]) -> list[LimbPair]:
    """Pairs that could be arms: long enough, and beginning above the legs."""
    if not legs:
        return [p for p in pairs if p.reach > ARM_REACH]
    hips = max(legs, key=lambda leg: leg.base)
    return [p for p in pairs if p.reach > ARM_REACH and p.base > hips.base and np.linalg.norm(p.centre - hips.centre) > 0.08]


def _arms(tree: BodyTree, pairs: list[LimbPair]) -> LimbPair:
    """Of the pairs above the legs, the ones nearest to the pelvis along the tree (ears come later), then the longest."""
    return min(pairs, key=lambda pair: (len(tree.path_up(pair.attach)), -pair.reach))


def _split_axis(evidence: Evidence, parts: Parts) -> None:
    """Sort the joints of the middle, and what hangs on them, into trunk, head, tail and the rest."""
    tree, forward = parts.tree, parts.facing.forward
    limbs = {j for pair in (parts.hind, parts.fore) if pair for j in pair.all_joints}
    top = parts.fore.attach if parts.fore else tree.root
    trunk = tree.path_up(top)[::-1]
    four = parts.fore is not None and parts.hind is not None and parts.fore.base - parts.hind.base < 0.15 and _leans(parts)
    branches = [c for j in trunk for c in tree.children[j] if c not in trunk and c not in limbs and parts.sides[c] == 0]
    tails = [b for b in branches if _is_tail(evidence, parts, b)]
    heads = [b for b in branches if b not in tails]
    head = max(heads, key=lambda b: _headness(evidence, parts, b, forward if four else np.array([0.0, 1.0, 0.0])), default=-1)
    if head >= 0:
        head, trunk = _grow_trunk(evidence, parts, head, trunk)
    parts.trunk = trunk
    parts.head = tree.below(head) if head >= 0 else []
    parts.tail = [j for b in tails for j in tree.below(b)]
    known = limbs | set(parts.trunk) | set(parts.head) | set(parts.tail)
    parts.rest = [int(j) for j in np.flatnonzero(tree.body) if int(j) not in known]


def _leans(parts: Parts) -> bool:
    """Whether the trunk lies rather than stands."""
    if parts.hind is None or parts.fore is None:
        return False
    run = parts.fore.centre - parts.hind.centre
    return abs(float(run @ parts.facing.forward)) > LEANING * abs(float(run[1]))


def _is_tail(evidence: Evidence, parts: Parts, branch: int) -> bool:
    """Whether a branch of the middle leaves the trunk near the hips and leads back, not up."""
    if parts.hind is None:
        return False
    joints = parts.tree.below(branch)
    points = np.concatenate([evidence.points_of(joints), evidence.positions[joints]])
    path = parts.tree.path_up(int(parts.tree.parents[branch]))
    reach = parts.hind.base - parts.hind.low
    back = float((points.mean(0) - parts.hind.centre) @ parts.facing.forward)
    rise = float(points[:, 1].mean()) - parts.hind.base
    four = parts.fore is not None and _leans(parts)
    return len(path) <= 2 and back < -0.1 * reach and (four or back < -0.5 * rise)


def _headness(evidence: Evidence, parts: Parts, branch: int, towards: Array) -> float:
    """How far a branch leads in the direction that heads lie, by its skin and joints."""
    joints = parts.tree.below(branch)
    points = np.concatenate([evidence.points_of(joints), evidence.positions[joints]])
    share = float(evidence.mass[joints].sum() / max(float(evidence.mass.sum()), 1e-9))
    return float((points @ towards).mean()) + 0.5 * share


def _grow_trunk(evidence: Evidence, parts: Parts, head: int, trunk: list[int]) -> tuple[int, list[int]]:
    """Move joints from the foot of the neck to the trunk while they lie no farther than the fore limbs' base."""
    tree, trunk = parts.tree, list(trunk)
    if parts.fore is None or parts.hind is None:
        return head, trunk
    along = parts.facing.forward if _leans(parts) else np.array([0.0, 1.0, 0.0])
    fore = float(parts.fore.centre @ along)
    length = abs(fore - float(parts.hind.centre @ along))
    while True:
        ahead = [c for c in tree.children[head] if parts.sides[c] == 0]
        if not ahead or tree.parents[head] != trunk[-1]:
            return head, trunk
        following = max(ahead, key=lambda c: float(evidence.positions[c] @ along))
        middle = float((evidence.positions[head] + evidence.positions[following]) @ along) / 2.0
        lone_hub = len(trunk) == 1 and parts.fore.attach == parts.hind.attach
        limit = fore if lone_hub and not _leans(parts) else fore + NECK_AHEAD * length
        if middle > limit or any(parts.sides[c] != 0 and c not in parts.fore.all_joints for c in tree.children[head]):
            return head, trunk
        trunk.append(head)
        head = following


def _judge(evidence: Evidence, parts: Parts, leg_pairs: int) -> None:
    """The body's kind, and why it is unknown where it is."""
    if parts.fore is not None and leg_pairs < 2:
        parts.winged = _flatness(evidence, parts.fore) < WING_FLATNESS
    parts.animal = leg_pairs == 2 or (leg_pairs == 1 and _leans(parts) and not parts.winged)
    if leg_pairs == 2:
        parts.body = "quadruped"
    elif leg_pairs == 1:
        parts.body = "bird" if parts.winged or parts.animal else "biped"
    elif leg_pairs == 0:
        parts.notes.append("no pair of legs was found")
    else:
        parts.notes.append(f"{leg_pairs} pairs of legs were found, more than two are not known")
    if not parts.facing.certain:
        parts.body = "unknown"
        parts.notes.append("which way the character faces could not be told from feet, knees, head or tail, so left and right are unknown")
    if not parts.head and parts.body != "unknown":
        parts.notes.append("no head was found")


def _flatness(evidence: Evidence, pair: LimbPair) -> float:
    """Mean over a limb's joints of the skin's thinnest extent over its middle one, by the number of vertices."""
    ratios, counts = [], []
    for j in pair.all_joints:
        points = evidence.points_of([j])
        if len(points) < 8:
            continue
        extents = np.linalg.svd(points - points.mean(0), compute_uv=False)
        ratios.append(float(extents[2] / max(extents[1], 1e-12)))
        counts.append(len(points))
    return float(np.average(ratios, weights=counts)) if ratios else 1.0

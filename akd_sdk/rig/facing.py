"""Facing: which way along its mirror plane a body looks, from feet, knees, head and tail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.evidence import Evidence
from akd_sdk.rig.limbs import LimbPair
from akd_sdk.rig.mirror import Mirror
from akd_sdk.rig.solve_tree import BodyTree

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

CUE_WEIGHTS = {"feet": 2.0, "knees": 0.7, "ends": 1.2, "trunk": 1.0, "tail": 1.0, "hands": 0.5, "face": 0.5}
"""How much each cue counts; feet are the surest: toes point ahead on everything that walks. A face has more vertices than a nape."""

TAIL_LENGTH = 0.25
"""Body heights: a tail of one joint is at least this long; lamps and eyes are not."""

CERTAIN = 0.15
"""A sum of cues smaller than this says nothing."""


@dataclass(frozen=True)
class Facing:
    """Where a body looks, in the pose looked at.

    Attributes:
        forward: (3,) horizontal unit vector.
        left: (3,) horizontal unit vector to the body's left.
        left_sign: +1 if the body's left lies along the mirror's normal, else -1.
        certain: whether the cues say enough.
        cues: what each cue said, -1 to 1; positive for this forward.
    """

    forward: Array
    left: Array
    left_sign: int
    certain: bool
    cues: Mapping[str, float]


@dataclass(frozen=True)
class Shape:
    """A body measured and joined together: what the cues look at. `sides` (joints,) as of `sides_of`."""

    evidence: Evidence
    mirror: Mirror
    tree: BodyTree
    sides: Ints

    @property
    def ahead(self) -> Array:
        """(3,) one of the two directions along the mirror plane: forward if the body's left lies along the mirror's normal."""
        return np.cross(self.mirror.normal, np.array([0.0, 1.0, 0.0]))


def find_facing(shape: Shape, legs: list[LimbPair], others: list[LimbPair]) -> Facing:
    """Weigh the cues for one of the two directions along the mirror plane; `others` are the pairs that may be arms."""
    cues = {"feet": float(np.mean([_feet(shape, pair) for pair in legs])) if legs else 0.0}
    if len(legs) == 1:
        cues["knees"] = _knees(shape, legs[0])
        cues["trunk"] = _trunk(shape, legs[0], others)
        cues["tail"] = _tail(shape, legs[0], others)
    if len(legs) < 2:
        cues["hands"] = _hands(shape, others)
        cues["face"] = _face(shape)
    elif len(legs) == 2:
        cues["ends"] = _ends(shape, legs)
    ahead, mirror = shape.ahead, shape.mirror
    total = sum(CUE_WEIGHTS[name] * value for name, value in cues.items())
    sign = 1 if total >= 0.0 else -1
    return Facing(
        forward=sign * ahead,
        left=sign * mirror.normal,
        left_sign=sign,
        certain=abs(total) > CERTAIN,
        cues={name: sign * value for name, value in cues.items()},
    )


def _feet(shape: Shape, pair: LimbPair) -> float:
    """How far the sole's middle lies ahead of the shin's, over a tenth of the leg."""
    evidence, tree, ahead = shape.evidence, shape.tree, shape.ahead
    found = []
    tall = max(pair.base - pair.low, 1e-6)
    for base, branch in zip(pair.bases, pair.joints, strict=True):
        points = evidence.points_of(list(branch))
        height = (points[:, 1] - pair.low) / tall
        foot, shin = points[height < 0.1], points[(height > 0.16) & (height < 0.42)]
        if len(foot) >= 3 and len(shin) >= 3:
            found.append(_middle(foot, ahead) - _middle(shin, ahead))
        else:
            ends = sorted(branch, key=lambda j: float(evidence.positions[j, 1]))
            leaf = next((j for j in ends if j != base and evidence.positions[j, 1] - pair.low < 0.25 * tall), None)
            bone = evidence.positions[leaf] - evidence.positions[tree.parents[leaf]] if leaf is not None else np.zeros(3)
            if np.hypot(bone[0], bone[2]) > abs(bone[1]):  # a bone that lies: ball and toes
                found.append(float(bone @ ahead))
    return float(np.clip(np.mean(found) / (0.1 * tall), -1.0, 1.0)) if found else 0.0


def _middle(points: Array, along: Array) -> float:
    across = points @ along
    return float(across.min() + across.max()) / 2.0


def _knees(shape: Shape, pair: LimbPair) -> float:
    """How far the joint in the middle of a leg lies ahead of the line from hip to foot, over a twentieth of the leg."""
    evidence, tree, ahead = shape.evidence, shape.tree, shape.ahead
    tall = max(pair.base - pair.low, 1e-6)
    found = []
    for base, branch in zip(pair.bases, pair.joints, strict=True):
        foot = min(branch, key=lambda j: (len(tree.path_up(j)) < 3, float(evidence.positions[j, 1])))
        path = tree.path_up(foot)
        path = path[: path.index(base) + 1][::-1]
        if len(path) < 3:
            continue
        start, end = evidence.positions[path[0]], evidence.positions[path[min(2, len(path) - 1)]]
        share = (start[1] - evidence.positions[path[1], 1]) / max(start[1] - end[1], 1e-6)
        found.append(float((evidence.positions[path[1]] - start - np.clip(share, 0.0, 1.0) * (end - start)) @ ahead))
    return float(np.clip(np.mean(found) / (0.05 * tall), -1.0, 1.0)) if found else 0.0


def _hands(shape: Shape, others: list[LimbPair]) -> float:
    """How far the ends of the arms lie ahead of their beginnings, over a tenth of the body's height: elbows bend forward."""
    evidence, children = shape.evidence, shape.tree.children
    if not others:
        return 0.0
    leaves = [j for j in others[0].all_joints if not children[j]]
    return float(np.clip((evidence.positions[leaves].mean(0) - others[0].centre) @ shape.ahead / 0.1, -1.0, 1.0))


def _face(shape: Shape) -> float:
    """How far the vertices of the head's joint lie ahead of the middle of its extent, over a twentieth of the body's height."""
    evidence, tree, ahead = shape.evidence, shape.tree, shape.ahead
    middle = np.flatnonzero(tree.body & (shape.sides == 0))
    if not len(middle):
        return 0.0
    heights = evidence.positions[middle, 1]
    upper = middle[heights >= 0.5 * (heights.min() + heights.max())]
    head = upper[int(np.argmax(evidence.mass[upper]))]
    points = evidence.points_of([int(head)])
    if len(points) < 30:
        return 0.0
    return float(np.clip((float((points @ ahead).mean()) - _middle(points, ahead)) / 0.05, -1.0, 1.0))


def _trunk(shape: Shape, legs: LimbPair, others: list[LimbPair]) -> float:
    """Where the arms begin, ahead of or behind the hips, for a trunk that leans by more than 40 degrees."""
    if not others:
        return 0.0
    lean = others[0].centre - legs.centre
    along = float(lean @ shape.ahead)
    return float(np.sign(along)) if abs(along) > 0.84 * abs(float(lean[1])) else 0.0


def _tail(shape: Shape, legs: LimbPair, others: list[LimbPair]) -> float:
    """A branch of the middle that leaves the hips and leads away from the arms is a tail: it points back."""
    evidence, tree, ahead = shape.evidence, shape.tree, shape.ahead
    towards = set(tree.path_up(others[0].attach)) if others else set()
    best = 0.0
    for child in tree.children[legs.attach]:
        if shape.sides[child] != 0 or child in towards:
            continue
        branch = tree.below(child)
        points = np.concatenate([evidence.points_of(branch), evidence.positions[branch]])
        if points[:, 1].max() > evidence.positions[legs.attach, 1] + 0.35:
            continue
        if len(branch) < 2 and float(np.ptp(points @ ahead)) < TAIL_LENGTH:
            continue
        away = float((points.mean(0) - legs.centre) @ ahead)
        best = max(best, -away, key=abs)
    return float(np.clip(best / 0.15, -1.0, 1.0))


def _ends(shape: Shape, legs: list[LimbPair]) -> float:
    """Which end of a four-legged trunk carries the head: its heaviest joint has more skin than any of a tail; without skin, the higher."""
    evidence, tree, ahead = shape.evidence, shape.tree, shape.ahead
    centre = (legs[0].centre + legs[1].centre) / 2.0
    limbs = {j for pair in legs for j in pair.all_joints}
    axis = set(tree.path_up(legs[0].attach)) | set(tree.path_up(legs[1].attach))
    half = abs(float((legs[0].centre - legs[1].centre) @ ahead)) / 2.0
    worth = evidence.mass if evidence.covered else np.maximum(evidence.positions[:, 1] - 0.8 * centre[1], 0.0)
    heaviest = [1e-6, 1e-6]
    for j in np.flatnonzero(tree.body & (shape.sides == 0)):
        place = float((evidence.positions[j] - centre) @ ahead)
        if int(j) in limbs or int(j) in axis or abs(place) < 0.8 * half:
            continue
        end = 0 if place > 0.0 else 1
        heaviest[end] = max(heaviest[end], float(worth[j]))
    return (heaviest[0] - heaviest[1]) / (heaviest[0] + heaviest[1])

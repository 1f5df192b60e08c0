"""Limits of joint angles by anatomy: how far each joint of a limb bends from its rest pose.

Angles are flexion, abduction and twist about the anatomical frame. For a bone that hangs down, positive flexion swings it back, for
one that points ahead, down. Ranges are those of living animals and people widened by about a quarter; they keep knees and elbows from
bending backwards, and are no statement about any one species.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.skeleton import Chain

Array = NDArray[np.float64]

UNKNOWN = 2.6
"""Radians: joints of which nothing is known may turn this far about any axis, short of the rotation vector's pole."""

HINGE_SLACK = 0.15
"""Radians that a hinge may overstretch."""

CLEAR_BEND = 0.2
"""Radians: a hinge bent more than this at rest shows by itself which way it bends."""

BALL = {
    "hip": ((-2.1, 1.2), (-0.9, 0.9), (-0.9, 0.9)),
    "shoulder": ((-2.6, 1.8), (-2.0, 2.0), (-1.5, 1.5)),
    "foreleg": ((-1.8, 1.9), (-0.7, 0.7), (-0.6, 0.6)),
    "ankle": ((-1.1, 1.3), (-0.6, 0.6), (-0.9, 0.9)),
    "paw": ((-1.0, 2.6), (-0.6, 0.6), (-0.6, 0.6)),
    "hand": ((-1.7, 1.7), (-1.4, 1.4), (-2.0, 2.0)),
    "toe": ((-1.4, 1.4), (-0.4, 0.4), (-0.3, 0.3)),
    "finger": ((-1.8, 1.8), (-0.4, 0.4), (-0.3, 0.3)),
    "spine": ((-0.9, 0.9), (-0.6, 0.6), (-0.9, 0.9)),
    "neck": ((-1.3, 1.3), (-0.8, 0.8), (-1.0, 1.0)),
    "tail": ((-1.4, 1.4), (-1.0, 1.0), (-0.6, 0.6)),
    "wing": ((-1.8, 1.8), (-1.8, 1.8), (-1.2, 1.2)),
}
"""Lowest and highest flexion, abduction, twist, radians from rest."""

HINGE_RANGE = 2.6
"""Radians that a knee, hock or elbow bends from straight."""


def joint_limits(count: int, chains: tuple[Chain, ...], frames: Array, soled: bool) -> Array:
    """(joints, 3, 2) lowest and highest flexion, abduction, twist.

    frames (joints, 3, 3): world axes at rest as columns; soled: the body stands on its soles, so that a leg's third joint is an ankle
    and no hock.
    """
    limits = np.tile(np.array([-UNKNOWN, UNKNOWN]), (count, 3, 1))
    for chain in chains:
        for place, j in enumerate(chain.joints):
            limits[j] = _limit(chain, place, frames, soled)
    return limits


def _limit(chain: Chain, place: int, frames: Array, soled: bool) -> Array:
    hinge = _sense(chain, place, soled)
    return _hinge(chain, place, frames, hinge) if hinge else np.array(BALL[_ball(chain, place, soled)])


def _sense(chain: Chain, place: int, soled: bool) -> float:
    """The sign of flexion in which a hinge folds, 0 for what is no hinge."""
    last = len(chain.joints) - 1
    if place == 0 or (place == last and last > 1):
        return 0.0
    if chain.kind == "leg" and place == 2:
        return 0.0 if soled else -1.0
    return {("leg", 1): 1.0, ("foreleg", 1): -1.0, ("arm", 1): -1.0}.get((chain.kind, place), 0.0)


def _ball(chain: Chain, place: int, soled: bool) -> str:
    """Which of the ranges a joint has that is no hinge."""
    if chain.kind in ("spine", "neck", "tail", "wing", "finger"):
        return chain.kind
    if place == 0:
        return {"leg": "hip", "foreleg": "foreleg"}.get(chain.kind, "shoulder")
    if chain.kind == "arm":
        return "hand"
    if chain.kind == "leg" and soled:
        return "ankle" if place == 2 else "toe"
    return "toe" if place == len(chain.joints) - 1 and place > 2 else "paw"


def _hinge(chain: Chain, place: int, frames: Array, sense: float) -> Array:
    """One-sided flexion: from straight (with a little slack) to folded, counted from the bend at rest.

    A joint that is clearly bent at rest shows by itself which way it folds: a deer's foreleg begins at the wrist where a dog's has
    the elbow.
    """
    before, here = frames[chain.joints[place - 1]], frames[chain.joints[place]]
    bend = float(np.arctan2(np.cross(before[:, 1], here[:, 1]) @ here[:, 0], before[:, 1] @ here[:, 1]))
    if abs(bend) > CLEAR_BEND:
        sense = float(np.sign(bend))
    straight, folded = -sense * HINGE_SLACK - bend, sense * HINGE_RANGE - bend
    low, high = min(straight, folded), max(straight, folded)
    return np.array(((max(low, -UNKNOWN), min(high, UNKNOWN)), (-0.4, 0.4), (-0.5, 0.5)))

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
    "hip": ((-2.1, 1.2), (-0.9, 0.9), (-0.8, 0.8)),
    "shoulder": ((-2.6, 1.8), (-2.0, 2.0), (-1.5, 1.5)),
    "foreleg": ((-1.6, 1.4), (-0.7, 0.7), (-0.6, 0.6)),
    "ankle": ((-1.1, 1.3), (-0.5, 0.5), (-0.5, 0.5)),
    "hand": ((-1.5, 1.5), (-0.7, 0.7), (-1.4, 1.4)),
    "toe": ((-1.4, 1.4), (-0.4, 0.4), (-0.3, 0.3)),
    "spine": ((-0.8, 0.8), (-0.6, 0.6), (-0.6, 0.6)),
    "neck": ((-1.0, 1.0), (-0.8, 0.8), (-0.9, 0.9)),
    "tail": ((-1.0, 1.0), (-1.0, 1.0), (-0.5, 0.5)),
    "wing": ((-1.8, 1.8), (-1.8, 1.8), (-1.2, 1.2)),
}
"""Lowest and highest flexion, abduction, twist, radians from rest."""

HINGE_RANGE = 2.6
"""Radians that a knee, hock, elbow or wrist of a foreleg bends from straight."""


def joint_limits(count: int, chains: tuple[Chain, ...], frames: Array) -> Array:
    """(joints, 3, 2) lowest and highest flexion, abduction, twist; frames (joints, 3, 3) world axes at rest as columns."""
    limits = np.tile(np.array([-UNKNOWN, UNKNOWN]), (count, 3, 1))
    for chain in chains:
        for place, j in enumerate(chain.joints):
            limits[j] = _limit(chain, place, frames)
    return limits


def _limit(chain: Chain, place: int, frames: Array) -> Array:
    if chain.kind in ("spine", "neck", "tail", "wing"):
        return np.array(BALL[chain.kind])
    if chain.kind == "finger":
        return np.array(((-1.8, 1.8), (-0.4, 0.4), (-0.3, 0.3)))
    last = len(chain.joints) - 1
    if place == 0:
        return np.array(BALL[{"leg": "hip", "foreleg": "foreleg", "arm": "shoulder"}.get(chain.kind, "wing")])
    if chain.kind == "arm":
        return _hinge(chain, place, frames, -1.0) if place == 1 else np.array(BALL["hand"])
    if place == last and last > 1:
        return np.array(BALL["toe" if last > 2 else "ankle"])
    sense = {("leg", 1): 1.0, ("leg", 2): -1.0, ("foreleg", 1): -1.0, ("foreleg", 2): 1.0}.get((chain.kind, place))
    if sense is None or (chain.kind == "leg" and place == 2 and _points_ahead(frames, chain.joints[place])):
        return np.array(BALL["ankle"])
    return _hinge(chain, place, frames, sense)


def _points_ahead(frames: Array, joint: int) -> bool:
    """Whether a bone lies rather than stands: the foot of a body that walks on its soles."""
    return abs(float(frames[joint, 1, 1])) < 0.75


def _hinge(chain: Chain, place: int, frames: Array, sense: float) -> Array:
    """One-sided flexion: from straight (with a little slack) to folded, counted from the bend at rest."""
    before, here = frames[chain.joints[place - 1]], frames[chain.joints[place]]
    bend = float(np.arctan2(np.cross(before[:, 1], here[:, 1]) @ here[:, 0], before[:, 1] @ here[:, 1]))
    if abs(bend) > CLEAR_BEND:
        sense = float(np.sign(bend))
    straight, folded = -sense * HINGE_SLACK - bend, sense * HINGE_RANGE - bend
    low, high = min(straight, folded), max(straight, folded)
    return np.array(((max(low, -UNKNOWN), min(high, UNKNOWN)), (-0.3, 0.3), (-0.5, 0.5)))

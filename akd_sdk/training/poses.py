"""A carriage put on a body: trunk, neck, tail and arms by forward, legs by inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from akd_sdk.training.body import Arm, Body
from akd_sdk.training.carriage import ArmSwing, Carriage
from akd_sdk.training.legs import LegMotion, overreach, solve
from akd_sdk.training.turns import Array, about_x, about_y, about_z, turned

_DEEPEST_CROUCH: Final = 0.14
"""Hip heights by which the trunk is lowered, before strides are shortened, so that every foot reaches its stance."""

_TRIES: Final = 14
_SLACK: Final = 1e-4


@dataclass
class _Posing:
    """Positions being filled in, and the turns of pelvis and chest."""

    body: Body
    rest: Array
    positions: Array
    pelvis: Array
    chest: Array

    def place(self, joint: int, above: int, turn: Array) -> None:
        self.positions[:, joint] = self.positions[:, above] + turned(turn, self.rest[joint] - self.rest[above])


def pose(carriage: Carriage) -> Array | None:
    """(frames, joints, 3) positions in hip heights, or None where the legs cannot reach what the feet are to do.

    The trunk is lowered, then the stride shortened, until no foot in stance is out of its leg's reach: so feet in stance
    move at one speed and stay on the ground.
    """
    lowered, scale = 0.0, 1.0
    for _ in range(_TRIES):
        posing = _trunk(carriage, lowered)
        motions = carriage.legs(scale)
        hips = {name: _hip(posing, name, motions[name]) for name in carriage.body.legs}
        excess = max(overreach(leg.shape, hips[name], motions[name]) for name, leg in carriage.body.legs.items())
        if excess <= _SLACK:
            break
        if lowered < _DEEPEST_CROUCH:
            lowered += min(1.1 * excess + 0.004, 0.05)
        else:
            scale *= 0.9
    else:
        return None
    for name, leg in carriage.body.legs.items():
        for joint, points in zip(leg.joints, solve(leg.shape, hips[name], motions[name])):
            posing.positions[:, joint] = points
    _neck(posing, carriage)
    _tail(posing, carriage)
    for letter, arm in carriage.body.arms.items():
        _arm(posing, arm, 1.0 if letter == "L" else -1.0, carriage.arms[letter])
    return posing.positions


def _trunk(carriage: Carriage, lowered: float) -> _Posing:
    body, rest = carriage.body, carriage.body.rest
    positions = np.repeat(rest[None], carriage.frames, 0)
    whole = about_y(carriage.yaw) @ about_x(-carriage.pitch) @ about_z(carriage.roll)
    posing = _Posing(body, rest, positions, whole, whole)
    shift = carriage.shift - np.array([0.0, lowered, 0.0])
    joints = len(body.trunk) - 1
    if body.kind == "quadruped":
        centre = (rest[body.pelvis] + rest[body.chest]) / 2
        posing.pelvis = whole @ about_x(-carriage.tuck) @ about_y(-carriage.bend / 2)
        step = about_x(1.6 * carriage.tuck / joints) @ about_y(carriage.bend / joints)
    else:
        centre = rest[body.pelvis]
        posing.pelvis = whole @ about_x(0.3 * carriage.lean)
        turn = -carriage.yaw * carriage.counter / joints
        step = about_y(turn) @ about_x(0.7 * carriage.lean / joints) @ about_z(-carriage.roll / joints)
    turn = posing.pelvis
    for above, joint in zip(body.trunk, body.trunk[1:]):
        posing.place(joint, above, turn)
        turn = turn @ step
    posing.chest = turn
    held = positions[:, body.pelvis] if body.kind != "quadruped" else (positions[:, body.pelvis] + positions[:, body.chest]) / 2
    moved = centre + shift - held
    for joint in body.trunk:
        positions[:, joint] += moved
    if body.middle_root is not None:
        middle = (positions[:, body.pelvis] + positions[:, body.chest]) / 2
        positions[:, body.middle_root] = middle + turned(whole, rest[body.middle_root] - centre)
    return posing


def _hip(posing: _Posing, name: str, motion: LegMotion) -> Array:
    """(frames, 3) the leg's upper end; a girdle joint is placed on the way and lets the hip follow the foot a little."""
    leg, body = posing.body.legs[name], posing.body
    base, turn = (body.pelvis, posing.pelvis) if name[1] == "H" else (body.chest, posing.chest)
    hip = posing.positions[:, base] + turned(turn, posing.rest[leg.joints[0]] - posing.rest[base])
    if leg.girdle is not None:
        posing.place(leg.girdle, base, turn)
        if name[1] == "F":
            hip[:, 2] += 0.12 * (motion.tip[:, 2] - leg.shape.tip[2])
    return hip


def _neck(posing: _Posing, carriage: Carriage) -> None:
    body = posing.body
    count = max(len(body.neck), 1)
    step = about_y(carriage.turn / count) @ about_x(carriage.nod / count)
    above, turn = body.chest, posing.chest
    for joint in body.neck:
        posing.place(joint, above, turn)
        above, turn = joint, turn @ step
    posing.place(body.head, above, turn)
    if body.head_tip is not None:
        posing.place(body.head_tip, body.head, turn @ about_x(-carriage.nod * carriage.gaze) @ about_y(carriage.turn / 2))


def _tail(posing: _Posing, carriage: Carriage) -> None:
    above, turn = posing.body.pelvis, posing.pelvis
    for joint, (sideways, upwards) in zip(posing.body.tail, carriage.tail):
        posing.place(joint, above, turn)
        above, turn = joint, turn @ about_y(sideways) @ about_x(upwards)


def _arm(posing: _Posing, arm: Arm, sign: float, motion: ArmSwing) -> None:
    """The arm hangs from its shoulder, swung forwards and bent at the elbow, whatever its rest pose."""
    body, chest = posing.body, posing.chest
    if arm.collar is not None:
        posing.place(arm.collar, body.chest, chest)
    posing.place(arm.joints[0], body.chest, chest)
    for i, (above, joint) in enumerate(zip(arm.joints, arm.joints[1:])):
        spread = motion.spread * (1.0 if i == 0 else 0.5)
        swing = motion.swing if i == 0 else motion.swing + motion.elbow
        sideways, down = sign * np.sin(spread), np.cos(spread)
        heading = np.stack([np.full_like(swing, sideways), -down * np.cos(swing), down * np.sin(swing)], -1)
        posing.positions[:, joint] = posing.positions[:, above] + arm.lengths[i] * np.einsum("tab,tb->ta", chest, heading)

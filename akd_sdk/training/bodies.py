"""Random bodies: quadrupeds, bipeds (people and toy figures) and birds, as wide as real rigs were found to be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from akd_sdk.training.body import Arm, Body
from akd_sdk.training.legs import LegShape
from akd_sdk.training.turns import Array
from akd_sdk.views.tokens import MAX_TOKENS

MIDDLE = "middle"
_SIDES = (("L", "left", 1.0), ("R", "right", -1.0))


def draw_body(rng: Generator, kind: str) -> Body:
    """A random body of `kind` ("quadruped", "biped" or "bird") with at most MAX_TOKENS joints, none below the ground."""
    build = {"quadruped": _quadruped, "biped": _biped, "bird": _bird}[kind]
    while True:
        body = build(rng)
        if len(body.names) <= MAX_TOKENS and min(float(p[1]) for p in body.points) > -1e-9:
            return body


# ---- legs


@dataclass(frozen=True)
class _Span:
    """Lengths and angles of what is below a leg's two long bones."""

    lengths: tuple[float, ...]
    foot_angle: float
    toe_angle: float

    @property
    def height(self) -> float:
        return self._sum(np.cos)

    @property
    def forward(self) -> float:
        return self._sum(np.sin)

    def _sum(self, part: np.ufunc) -> float:
        return float(sum(n * part(a) for n, a in zip(self.lengths, (self.foot_angle, self.toe_angle))))


def _animal_span(rng: Generator, kind: str, segments: int) -> _Span:
    if segments == 2:
        return _Span((), 0.0, 0.0)
    if kind == "fore":
        length, angle = rng.uniform(0.1, 0.3), rng.uniform(-0.2, 0.5) if segments == 4 else rng.uniform(-0.1, 0.95)
    else:
        length, angle = rng.uniform(0.13, 0.38), rng.uniform(-0.2, 0.55) if segments == 4 else rng.uniform(-0.1, 0.9)
    if segments == 3:
        return _Span((length,), angle, 0.0)
    return _Span((length, rng.uniform(0.05, 0.19)), angle, rng.uniform(0.85, 1.5))


def _human_span(rng: Generator, segments: int, toy: bool) -> _Span:
    if segments == 2:
        return _Span((), 0.0, 0.0)
    height = rng.uniform(0.05, 0.2) if not toy else rng.uniform(0.08, 0.32)
    reach = rng.uniform(0.1, 0.36) if not toy else rng.uniform(0.2, 0.64)
    if segments == 3:
        return _Span((float(np.hypot(height, reach)),), float(np.arctan2(reach, height)), 0.0)
    ball = height * rng.uniform(0.1, 0.4)
    split = rng.uniform(0.5, 0.75)
    foot = (height - ball, reach * split)
    toe = (ball, reach * (1 - split))
    return _Span(
        (float(np.hypot(*foot)), float(np.hypot(*toe))), float(np.arctan2(foot[1], foot[0])), float(np.arctan2(toe[1], toe[0]))
    )


def _share(rng: Generator, kind: str) -> float:
    """Upper bone's share of the two long bones."""
    if kind == "human":
        return rng.uniform(0.42, 0.63)
    return rng.uniform(0.43, 0.57) if rng.random() < 0.6 else rng.uniform(0.26, 0.66)


def _leg(rng: Generator, kind: str, hip: Array, segments: int, toy: bool = False) -> LegShape:
    """A leg that stands from `hip` to the ground."""
    span = _human_span(rng, segments, toy) if kind == "human" else _animal_span(rng, kind, segments)
    extension = {"human": rng.uniform(0.95, 0.999), "bird": rng.uniform(0.75, 0.92)}.get(kind, rng.uniform(0.86, 0.99))
    if kind == "human":
        offset = span.forward * rng.uniform(0.75, 1.0) + rng.uniform(-0.06, 0.06)
    else:
        offset = span.forward * rng.uniform(0.3, 1.0) + rng.uniform(-0.08, 0.08) + (rng.uniform(-0.15, 0.05) if kind == "hind" else 0.0)
    total = float(np.hypot(hip[1] - span.height, offset - span.forward)) / extension
    share = _share(rng, kind)
    # The two long bones can always fold enough to make the chord that stands.
    share = float(np.clip(share, 0.5 - 0.45 * extension, 0.5 + 0.45 * extension))
    return LegShape(
        kind=kind,
        lengths=(total * share, total * (1 - share), *span.lengths),
        foot_angle=span.foot_angle,
        toe_angle=span.toe_angle,
        bend=-1 if kind == "fore" else 1,
        hip=hip,
        tip=np.array([hip[0] * rng.uniform(0.85, 1.0), 0.0, hip[2] + offset]),
    )


def _mirrored(shape: LegShape) -> LegShape:
    flip = np.array([-1.0, 1.0, 1.0])
    return LegShape(shape.kind, shape.lengths, shape.foot_angle, shape.toe_angle, shape.bend, shape.hip * flip, shape.tip * flip)


def _girdle(body: Body, name: str, parent: int, shape: LegShape, offset: Array | None) -> int | None:
    if offset is None:
        return None
    side = "left" if name[0] == "L" else "right"
    point = shape.hip + offset * np.array([np.sign(shape.hip[0]), 1.0, 1.0])
    return body.add(f"{name}girdle", parent, ("leg" if name[1] == "H" else "foreleg", side), 0.0, point)


def _leg_pair(body: Body, end: str, parent: int, shape: LegShape, girdle: Array | None) -> None:
    for letter, leg in (("L", shape), ("R", _mirrored(shape))):
        name = letter + end
        body.add_leg(name, leg, parent, _girdle(body, name, parent, leg, girdle))


# ---- axial chains


def _heading(angle: float, backwards: bool = False) -> Array:
    """Unit vector in the sagittal plane, `angle` above the horizon."""
    return np.array([0.0, np.sin(angle), -np.cos(angle) if backwards else np.cos(angle)])


def _neck_and_head(body: Body, rng: Generator, joints: int, step: Array, base: Array) -> Array:
    """Append the neck and the head joint from `base`; returns the head's position."""
    last, point = body.chest, base
    for i in range(joints):
        last = body.add(f"neck{i}", last, ("neck", MIDDLE), i / joints, point)
        body.neck.append(last)
        point = point + step * rng.uniform(0.8, 1.2)
    body.head = body.add("head", last, ("head", MIDDLE), 0.0, point)
    return point


def _tail(body: Body, rng: Generator, joints: int, length: float, angle: float, curl: float) -> None:
    last, point = body.pelvis, body.points[body.pelvis] + np.array([0.0, rng.uniform(-0.05, 0.2), -rng.uniform(0.03, 0.27)])
    for i in range(joints):
        last = body.add(f"tail{i}", last, ("tail", MIDDLE), i / max(joints - 1, 1), point)
        body.tail.append(last)
        point = point + length / joints * _heading(angle + curl * i, backwards=True)


# ---- quadrupeds


def _quadruped(rng: Generator) -> Body:
    body = Body("quadruped")
    slope = rng.uniform(-0.12, 0.12)
    pelvis, chest = _trunk_line(body, rng, slope)
    nose = rng.uniform(0.15, 1.15)
    necks = int(rng.integers(1, 4))
    step = rng.uniform(0.25, 0.75) / necks * _heading(nose)
    lead = np.array([0.0, rng.uniform(-0.02, 0.08), rng.uniform(0.0, 0.12) + (rng.uniform(0.1, 0.5) if rng.random() < 0.2 else 0.0)])
    head = _neck_and_head(body, rng, necks, step, chest + lead)
    if rng.random() < 0.8:
        muzzle = rng.uniform(0.15, 0.65) * _heading(rng.uniform(-0.7, 0.2))
        body.head_tip = body.add("muzzle", body.head, ("head", MIDDLE), 1.0, head + muzzle)
    tails = int(rng.integers(0, 6))
    if tails:
        _tail(body, rng, tails, rng.uniform(0.15, 1.0), rng.uniform(-1.3, 0.8), rng.uniform(-0.25, 0.25))
    width = rng.uniform(0.08, 0.26)
    hip = np.array([width, 1.0, pelvis[2] + rng.uniform(-0.1, 0.12)])
    hind = _leg(rng, "hind", hip, int(rng.choice([2, 3, 4], p=[0.15, 0.4, 0.45])))
    girdle = np.array([-width * rng.uniform(0.2, 0.9), rng.uniform(-0.05, 0.12), rng.uniform(-0.05, 0.1)]) if rng.random() < 0.12 else None
    _leg_pair(body, "H", body.pelvis, hind, girdle)
    ahead = rng.uniform(-0.08, 0.12) + (rng.uniform(0.05, 0.42) if rng.random() < 0.3 else 0.0)
    height = 1.0 + slope * rng.uniform(0, 1) - (rng.uniform(0, 0.3) if rng.random() < 0.5 else 0.0)
    hip = np.array([width * rng.uniform(0.8, 1.2), height, chest[2] + ahead])
    fore = _leg(rng, "fore", hip, int(rng.choice([2, 3, 4], p=[0.15, 0.55, 0.3])))
    girdle = np.array([0.0, rng.uniform(0.05, 0.2), rng.uniform(-0.1, 0.1)]) if rng.random() < 0.4 else None
    _leg_pair(body, "F", body.chest, fore, girdle)
    return body


def _trunk_line(body: Body, rng: Generator, slope: float) -> tuple[Array, Array]:
    """Append pelvis and spine; returns the positions of pelvis and chest."""
    length, segments = rng.uniform(0.7, 1.5), int(rng.integers(1, 5))
    height = 1.0 + rng.uniform(0.0, 0.15) - (rng.uniform(0, 0.24) if rng.random() < 0.5 else 0.0)
    pelvis = np.array([0.0, height, -length / 2])
    chest = np.array([0.0, height + slope, length / 2 * rng.uniform(0.5, 1.0)])
    sag = rng.uniform(-0.06, 0.06)
    if rng.random() < 0.1:
        middle = (pelvis + chest) / 2 + np.array([0.0, rng.uniform(-0.1, 0.1), 0.0])
        body.middle_root = body.add("middle", -1, ("root", MIDDLE), 0.0, middle)
        body.trunk.append(body.add("pelvis", body.middle_root, ("spine", MIDDLE), 0.0, pelvis))
    else:
        body.trunk.append(body.add("pelvis", -1, ("root", MIDDLE), 0.0, pelvis))
    even = rng.uniform(0.75, 1.35)
    for i in range(1, segments + 1):
        along = (i / segments) ** even
        point = pelvis + (chest - pelvis) * along + np.array([0.0, sag * np.sin(np.pi * along), 0.0])
        parent = body.middle_root if body.middle_root is not None and i == 1 else body.trunk[-1]
        body.trunk.append(body.add(f"spine{i}", parent, ("spine", MIDDLE), i / segments, point))
    return pelvis, chest


# ---- bipeds and birds


def _upright_trunk(body: Body, rng: Generator, pelvis: Array, step: Array) -> Array:
    """Append pelvis and spine towards `step` (the whole trunk); returns the chest's position."""
    body.trunk.append(body.add("pelvis", -1, ("root", MIDDLE), 0.0, pelvis))
    segments, even = int(rng.integers(1, 5)), rng.uniform(0.9, 1.35)
    for i in range(1, segments + 1):
        point = pelvis + step * (i / segments) ** even
        body.trunk.append(body.add(f"spine{i}", body.trunk[-1], ("spine", MIDDLE), i / segments, point))
    return body.points[body.chest]


def _biped(rng: Generator) -> Body:
    toy = bool(rng.random() < 0.35)
    body = Body("biped", toy=toy)
    pelvis = np.array([0.0, 1.0 + rng.uniform(-0.25, 0.2), rng.uniform(-0.05, 0.05)])
    lean, length = rng.uniform(-0.05, 0.1), rng.uniform(0.45, 1.0) if not toy else rng.uniform(0.55, 1.35)
    chest = _upright_trunk(body, rng, pelvis, length * np.array([0.0, np.cos(lean), np.sin(lean)]))
    necks = int(rng.integers(0, 3)) if not toy else int(rng.random() < 0.4)
    rise = rng.uniform(0.03, 0.2) if not toy else rng.uniform(0.05, 0.6)
    step = rng.uniform(0.06, 0.2) / max(necks, 1) * _heading(rng.uniform(1.3, 1.7))
    head = _neck_and_head(body, rng, necks, step, chest + np.array([0.0, rise, 0.0]))
    if rng.random() < 0.65:
        tip = rng.uniform(0.15, 0.6) if not toy else rng.uniform(0.3, 1.7)
        body.head_tip = body.add("crown", body.head, ("head", MIDDLE), 1.0, head + tip * _heading(rng.uniform(1.3, 1.7)))
    width = rng.uniform(0.06, 0.2) if not toy else rng.uniform(0.12, 0.36)
    hip = np.array([width, 1.0, pelvis[2] + rng.uniform(-0.03, 0.06)])
    shape = _leg(rng, "human", hip, int(rng.choice([2, 3, 4], p=[0.12, 0.6, 0.28])), toy)
    girdle = np.array([-width * rng.uniform(0.3, 0.9), rng.uniform(-0.05, 0.1), 0.0]) if rng.random() < 0.08 else None
    _leg_pair(body, "H", body.pelvis, shape, girdle)
    grow = 1.0 if not toy else rng.uniform(0.7, 1.5)
    _arms(body, rng, _ArmDraw("arm", grow, rng.uniform(0.14, 0.46) * max(grow, 0.8), rng.uniform(-0.15, 0.3 if toy else 0.12)))
    return body


def _bird(rng: Generator) -> Body:
    body = Body("bird")
    pelvis = np.array([0.0, 1.0 + rng.uniform(0, 0.2), 0.0])
    lean = rng.uniform(0.6, 1.45)
    heading = np.array([0.0, np.cos(lean), np.sin(lean)])
    chest = _upright_trunk(body, rng, pelvis, rng.uniform(0.3, 0.9) * heading)
    necks = int(rng.integers(1, 5))
    step = rng.uniform(0.2, 0.9) / necks * _heading(rng.uniform(0.5, 1.4))
    head = _neck_and_head(body, rng, necks, step, chest + heading * rng.uniform(0.0, 0.25) + np.array([0.0, 0.03, 0.0]))
    if rng.random() < 0.6:
        body.head_tip = body.add("beak", body.head, ("head", MIDDLE), 1.0, head + rng.uniform(0.1, 0.4) * _heading(rng.uniform(-0.4, 0.2)))
    tails = int(rng.integers(0, 6))
    if tails:
        _tail(body, rng, tails, rng.uniform(0.15, 1.0), rng.uniform(-0.5, 0.5), 0.0)
    hip = np.array([rng.uniform(0.09, 0.26), 1.0, pelvis[2] + rng.uniform(-0.05, 0.1)])
    _leg_pair(body, "H", body.pelvis, _leg(rng, "bird", hip, int(rng.choice([3, 4]))), None)
    if rng.random() < 0.5:
        grow = rng.uniform(0.3, 1.0)
        _arms(body, rng, _ArmDraw("arm" if grow > 0.5 else "wing", grow, rng.uniform(0.08, 0.28), 0.0))
    return body


@dataclass(frozen=True)
class _ArmDraw:
    """What a pair of arms is to be: group, growth of its lengths, half shoulder width, shoulder height over the chest."""

    group: str
    grow: float
    width: float
    rise: float


def _arms(body: Body, rng: Generator, draw: _ArmDraw) -> None:
    """Append a pair of arms, at rest hanging, in A pose or in T pose."""
    segments, collar = int(rng.integers(2, 4)), bool(rng.random() < 0.5)
    lengths = tuple(float(n) * draw.grow for n in (rng.uniform(0.25, 0.55), rng.uniform(0.22, 0.62), rng.uniform(0.08, 0.28)))[:segments]
    spread = float(rng.choice([rng.uniform(0.05, 0.4), rng.uniform(0.5, 1.0), rng.uniform(1.3, 1.6)]))
    bend, back = rng.uniform(-0.05, 0.3), rng.uniform(-0.08, 0.08)
    along = np.concatenate([[0.0], np.cumsum(lengths)]) / sum(lengths)
    base = body.points[body.chest] + np.array([0.0, draw.rise, back])
    for letter, side, sign in _SIDES:
        parent, label = body.chest, (draw.group, side)
        above = None
        if collar:
            above = parent = body.add(f"{letter}collar", parent, label, 0.0, base + np.array([sign * draw.width * 0.3, 0.0, 0.0]))
        point = base + np.array([sign * draw.width, 0.0, 0.0])
        joints = [body.add(f"{letter}A0", parent, label, float(along[0]), point)]
        for i, length in enumerate(lengths):
            heading = np.array([sign * np.sin(spread), -np.cos(spread), 0.0 if i == 0 else bend])
            point = point + length * heading / np.linalg.norm(heading)
            joints.append(body.add(f"{letter}A{i + 1}", joints[-1], label, float(along[i + 1]), point))
        body.arms[letter] = Arm(tuple(joints), lengths, above, draw.group == "wing")

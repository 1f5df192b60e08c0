"""Walking, trotting, pacing, galloping and running: feet, trunk, head, arms and tail over a stride."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from akd_sdk.training.body import Body
from akd_sdk.training.carriage import ArmSwing, Carriage, bump
from akd_sdk.training.gaits import Stride, foot_path
from akd_sdk.training.legs import LegMotion, LegShape
from akd_sdk.training.turns import Array

_TAU = 2 * np.pi


def stride_carriage(rng: Generator, body: Body, stride: Stride, times: Array) -> Carriage:
    """A body's motion in a stride at `times` (frames,) seconds, with random phase and random manners."""
    wave = _TAU * stride.frequency * times + rng.uniform(0, _TAU)
    feet = {name: _draw_foot(rng, leg.shape, stride, body) for name, leg in body.legs.items()}

    def legs(scale: float) -> dict[str, LegMotion]:
        return {name: foot.motion(wave / _TAU - stride.phases[name], scale) for name, foot in feet.items()}

    carriage = Carriage(body, len(times), np.zeros((len(times), 3)), legs)
    if stride.gait == "gallop":
        _gallop_trunk(rng, carriage, stride, wave)
    elif body.kind == "quadruped":
        _level_trunk(rng, carriage, stride, wave)
    else:
        _upright_trunk(rng, carriage, stride, wave)
    _head(rng, carriage, stride, wave)
    _tail(rng, carriage, wave)
    _arms(rng, carriage, stride, wave)
    return carriage


# ---- feet


@dataclass(frozen=True)
class _Foot:
    """The drawn manners of one foot."""

    shape: LegShape
    stride: Stride
    excursion: float
    middle: float
    width: float
    fold: float
    toe_fold: float
    heel: float
    human: bool

    def motion(self, turns: Array, scale: float) -> LegMotion:
        """The foot's motion; `turns` counts strides since its touch-down."""
        phase = turns % 1.0
        along, swing = foot_path(phase, self.stride.duty, self.excursion * scale)
        stance = phase < self.stride.duty
        height = self.stride.lift * bump(swing**0.85, 1.3)
        tip = np.stack([np.full_like(phase, self.shape.tip[0] * self.width), height, self.shape.tip[2] + self.middle + along], -1)
        foot, toe = self._human_angles(phase, swing, tip) if self.human else self._animal_angles(phase, swing)
        return LegMotion(tip, foot, toe, stance)

    def _human_angles(self, phase: Array, swing: Array, tip: Array) -> tuple[Array, Array]:
        """Heel first, flat, heel off about the toes; raises and advances the tip while the foot rolls on its heel."""
        duty = self.stride.duty
        late = np.clip((phase / duty - 0.55) / 0.45, 0.0, 1.0) * (phase < duty)
        early_swing = np.cos(np.clip(swing * 1.6, 0.0, 1.0) * np.pi / 2) ** 0.8
        off = self.fold * np.where(phase >= duty, early_swing, late**1.5)
        down = np.where(phase >= duty, bump(np.clip((swing - 0.55) / 0.9, 0.0, 1.0)), np.clip(1 - phase / (0.2 * duty), 0.0, 1.0))
        up = self.heel * down
        rest = np.array([self.shape.foot_angle, self.shape.toe_angle])[: self.shape.segments - 2]
        for length, angle in zip(self.shape.lengths[2:], rest):
            tip[:, 1] += length * (np.cos(angle) - np.cos(angle + up))
            tip[:, 2] += length * (np.sin(angle + up) - np.sin(angle))
        toe = self.shape.toe_angle + up - self.toe_fold * np.where(phase >= duty, early_swing * bump(swing, 0.5), 0.0)
        return self.shape.foot_angle - off + up, toe

    def _animal_angles(self, phase: Array, swing: Array) -> tuple[Array, Array]:
        """The metapodial and the toe fold sharply in the first third of the swing and unfold for touch-down."""
        duty = self.stride.duty
        late = np.clip((phase / duty - 0.6) / 0.4, 0.0, 1.0) ** 1.5 * (phase < duty) * 0.35
        rise = 0.35 + 0.65 * np.sin(np.clip(swing / 0.35, 0.0, 1.0) * np.pi / 2)
        fall = np.cos(np.clip((swing - 0.35) / 0.65, 0.0, 1.0) * np.pi / 2)
        fold = np.where(phase >= duty, np.where(swing < 0.35, rise, fall), late)
        return self.shape.foot_angle - self.fold * fold, self.shape.toe_angle - self.toe_fold * fold


def _draw_foot(rng: Generator, shape: LegShape, stride: Stride, body: Body) -> _Foot:
    human = shape.kind == "human" and shape.segments >= 3
    walking = stride.gait == "walk"
    fold, toe_fold = rng.uniform(0.5, 1.1), rng.uniform(0.4, 0.9)
    heel = rng.uniform(0.1, 0.35) * (1.0 if walking else 0.5)
    if human:
        fold = min(rng.uniform(0.5, 0.9) if walking else rng.uniform(0.7, 1.1), _largest_heel_rise(shape, rng.uniform(0.12, 0.22)))
        toe_fold *= 0.4
        heel *= min(1.0, 0.3 / shape.lengths[2])
    excursion = stride.excursion * rng.uniform(0.95, 1.05) * (0.85 if body.toy else 1.0)
    if shape.kind == "fore":
        excursion *= rng.uniform(0.92, 1.05)
    return _Foot(
        shape=shape,
        stride=stride,
        excursion=excursion,
        middle=rng.uniform(-0.05, 0.05),
        width=rng.uniform(0.75, 1.0),
        fold=fold,
        toe_fold=toe_fold,
        heel=heel,
        human=human,
    )


def _largest_heel_rise(shape: LegShape, rise: float) -> float:
    """Angle by which the foot may roll about its toes before the ankle has risen by `rise` hip heights."""
    end = min(1.0, float(np.cos(shape.foot_angle)) + rise / shape.lengths[2])
    return shape.foot_angle - float(np.arccos(end))


# ---- trunk


def _gallop_trunk(rng: Generator, carriage: Carriage, stride: Stride, wave: Array) -> None:
    phases, duty = stride.phases, stride.duty
    fore = _TAU * (np.mean([phases["LF"], phases["RF"]]) + duty / 2)
    hind = _TAU * (np.mean([phases["LH"], phases["RH"]]) + duty / 2)
    carriage.shift[:, 1] += rng.uniform(0.03, 0.09) * np.cos(wave - fore - np.pi * rng.uniform(0.7, 1.1)) - 0.03
    carriage.pitch = rng.uniform(0.04, 0.12) * np.cos(wave - hind - rng.uniform(-0.3, 0.6))
    carriage.tuck = rng.uniform(0.10, 0.35) * np.cos(wave - (hind - np.pi * duty - 0.3))


def _level_trunk(rng: Generator, carriage: Carriage, stride: Stride, wave: Array) -> None:
    middle, pacing, walking = np.pi * stride.duty, stride.gait == "pace", stride.gait == "walk"
    bob = rng.uniform(0.008, 0.03) * rng.choice([-0.8, 0.8]) if walking else rng.uniform(0.02, 0.06)
    carriage.shift[:, 1] -= bob * np.cos(2 * (wave - middle)) + 0.01
    carriage.roll = rng.uniform(0.0, 0.12 if pacing else 0.05) * np.cos(wave - middle)
    carriage.bend = rng.uniform(0.02, 0.12) * np.cos(wave - middle + (0.5 if pacing else 0.0))
    sway = rng.uniform(0.01, 0.05) if pacing else -rng.uniform(0.0, 0.02)
    carriage.shift[:, 0] += sway * np.cos(wave - middle)
    carriage.pitch = rng.uniform(0.0, 0.02) * np.cos(2 * wave + rng.uniform(0, _TAU))


def _upright_trunk(rng: Generator, carriage: Carriage, stride: Stride, wave: Array) -> None:
    middle, biped = np.pi * stride.duty, carriage.body.kind == "biped"
    if stride.gait == "walk":
        carriage.shift[:, 1] += rng.uniform(0.015, 0.035) * np.cos(2 * (wave - middle)) - 0.03
        carriage.shift[:, 0] += rng.uniform(0.01, 0.05) * np.cos(wave - middle)
        carriage.roll = -rng.uniform(0.02, 0.08) * np.cos(wave - middle)
        lean = rng.uniform(-0.02, 0.08)
    else:
        carriage.shift[:, 1] -= rng.uniform(0.03, 0.08) * np.cos(2 * (wave - middle)) + 0.02
        carriage.shift[:, 0] += rng.uniform(0.0, 0.02) * np.cos(wave - middle)
        carriage.roll = rng.uniform(0.0, 0.05) * np.cos(wave - middle)
        lean = rng.uniform(0.05, 0.3)
    carriage.yaw = -rng.uniform(0.04, 0.16) * np.cos(wave - 0.2)
    carriage.lean = np.full(carriage.frames, lean * (1.0 if biped else 0.4))
    carriage.counter = float(rng.uniform(1.2, 2.2))


# ---- head, tail, arms


def _head(rng: Generator, carriage: Carriage, stride: Stride, wave: Array) -> None:
    quadruped = carriage.body.kind == "quadruped"
    beat = 1 if stride.gait == "gallop" else 2
    held = rng.uniform(-0.25, 0.25) * (0.2 if carriage.body.kind == "biped" else 1.0)
    carriage.nod = held + rng.uniform(0.0, 0.10 if quadruped else 0.03) * np.cos(beat * wave + rng.uniform(0, _TAU))
    carriage.turn = rng.uniform(0.0, 0.05) * np.cos(wave + rng.uniform(0, _TAU))
    carriage.gaze = float(rng.uniform(0.4, 1.0))


def _tail(rng: Generator, carriage: Carriage, wave: Array) -> None:
    wag, lift, lag = rng.uniform(0.03, 0.22), rng.uniform(0, 0.1), rng.uniform(0.2, 0.9)
    held, start = rng.uniform(-0.15, 0.15), rng.uniform(0, _TAU)
    for i in range(len(carriage.body.tail)):
        carriage.tail.append((wag * np.cos(wave - lag * i + start), held + lift * np.cos(2 * wave - lag * i)))


def _arms(rng: Generator, carriage: Carriage, stride: Stride, wave: Array) -> None:
    walking = stride.gait == "walk"
    swing = rng.uniform(0.2, 0.6) if walking else rng.uniform(0.4, 0.9)
    elbow = rng.uniform(0.1, 0.6) if walking else rng.uniform(1.0, 1.8)
    give, held, late = swing * rng.uniform(0.1, 0.5), rng.uniform(-0.12, 0.1), rng.uniform(-0.1, 0.25)
    spread = rng.uniform(0.05, 0.75 if carriage.body.toy else 0.3)
    for letter, arm in carriage.body.arms.items():
        beat = np.cos(wave - (np.pi if letter == "L" else 0.0) - late)
        carriage.arms[letter] = ArmSwing(held + swing * (0.1 if arm.wing else 1.0) * beat, elbow + give * beat, spread)

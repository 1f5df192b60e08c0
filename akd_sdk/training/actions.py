"""Jumping and idling: feet, trunk, head, arms and tail of what is no gait."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from akd_sdk.training.body import Body
from akd_sdk.training.carriage import ArmSwing, Carriage, bump
from akd_sdk.training.legs import LegMotion
from akd_sdk.training.turns import Array

_TAU = 2 * np.pi


def jump_carriage(rng: Generator, body: Body, times: Array) -> Carriage:
    """Crouch, flight and landing within two seconds, from standing to standing; both pairs of feet leave together."""
    start, crouch_s, air_s, land_s = rng.uniform(0.12, 0.4), rng.uniform(0.3, 0.45), rng.uniform(0.42, 0.62), rng.uniform(0.35, 0.48)
    depth, height = rng.uniform(0.15, 0.32), rng.uniform(0.3, 0.65)
    down = np.clip((times - start) / crouch_s, 0.0, 1.0)
    air = np.clip((times - start - crouch_s) / air_s, 0.0, 1.0)
    land = np.clip((times - start - crouch_s - air_s) / land_s, 0.0, 1.0)
    crouch = depth * (bump(down, 1.2) + 0.8 * bump(land**0.7, 1.1))
    up = 4 * height * air * (1 - air)
    tuck, reach = rng.uniform(0.06, 0.25) * height, rng.uniform(0.0, 0.15) if body.kind == "quadruped" else 0.0
    folds = {name: rng.uniform(0.4, 0.8) for name in body.legs}
    still = np.ones(len(times))

    def legs(scale: float) -> dict[str, LegMotion]:
        motions = {}
        for name, leg in body.legs.items():
            tip = np.repeat(leg.shape.tip[None], len(times), 0)
            tip[:, 1] += up + tuck * bump(air)
            tip[:, 2] += reach * scale * bump(air) * (1 if name[1] == "F" else -1)
            fold = folds[name] * bump(air, 0.8) * (leg.shape.segments >= 3)
            grounded = (air <= 0) | (air >= 1)
            motions[name] = LegMotion(tip, leg.shape.foot_angle - fold, leg.shape.toe_angle * still, grounded)
        return motions

    carriage = Carriage(body, len(times), np.zeros((len(times), 3)), legs)
    carriage.shift[:, 1] += up - crouch
    if body.kind == "quadruped":
        carriage.pitch = rng.uniform(0.05, 0.3) * np.sin(_TAU * air)
    else:
        carriage.lean = rng.uniform(0.2, 0.6) * crouch / depth
    carriage.nod = 0.3 * crouch * rng.uniform(-1, 1)
    carriage.gaze = float(rng.uniform(0.4, 1.0))
    wag, lag = rng.uniform(0.03, 0.15), rng.uniform(0.2, 0.9)
    carriage.tail = [(wag * crouch / depth, -0.2 * np.roll(up, round(2 * lag * i)) / height) for i in range(len(body.tail))]
    back, forth, elbow, spread = rng.uniform(0.2, 1.0), rng.uniform(0.5, 2.6), rng.uniform(0.1, 0.6), rng.uniform(0.05, 0.3)
    reach_up = bump(np.clip((times - start - crouch_s * 0.6) / (air_s + crouch_s * 0.6), 0.0, 1.0))
    for letter, arm in body.arms.items():
        swing = (forth * reach_up - back * crouch / depth) * (0.2 if arm.wing else 1.0)
        carriage.arms[letter] = ArmSwing(swing, elbow * still, spread)
    return carriage


def idle_carriage(rng: Generator, body: Body, times: Array, loop_s: float | None) -> Carriage:
    """Breathing, shifting weight and looking about on feet that do not move; with `loop_s` it repeats after so many seconds."""

    def beat(low: float, high: float) -> Array:
        """A sine of a rate in the range, or of the nearest that fits the loop, at a random phase."""
        rate = rng.uniform(low, high)
        if loop_s is not None:
            rate = max(1, round(rate * loop_s)) / loop_s
        return np.cos(_TAU * rate * times + rng.uniform(0, _TAU))

    still = np.ones(len(times))

    def legs(_: float) -> dict[str, LegMotion]:
        return {
            name: LegMotion(
                np.repeat(leg.shape.tip[None], len(times), 0), leg.shape.foot_angle * still, leg.shape.toe_angle * still, still > 0
            )
            for name, leg in body.legs.items()
        }

    carriage = Carriage(body, len(times), np.zeros((len(times), 3)), legs)
    breath = beat(0.2, 0.5)
    carriage.shift[:, 1] += rng.uniform(0.004, 0.015) * breath - 0.01
    carriage.shift[:, 0] += rng.uniform(0.0, 0.03) * beat(0.1, 0.25)
    carriage.yaw, carriage.roll = rng.uniform(0, 0.03) * beat(0.1, 0.25), rng.uniform(0, 0.02) * beat(0.1, 0.25)
    carriage.lean = rng.uniform(-0.02, 0.04) * still * (1.0 if body.kind == "biped" else 0.4)
    held = rng.uniform(-0.25, 0.25) * (0.2 if body.kind == "biped" else 1.0)
    carriage.nod, carriage.turn = held + rng.uniform(0, 0.12) * beat(0.1, 0.6), rng.uniform(0, 0.4) * beat(0.06, 0.5)
    carriage.gaze = float(rng.uniform(0.4, 1.0))
    wag, lift, held = rng.uniform(0.03, 0.22), rng.uniform(0, 0.1), rng.uniform(-0.15, 0.15)
    waves = [(beat(0.3, 1.2), breath) for _ in body.tail[:1]] * len(body.tail)
    carriage.tail = [(wag * sideways, held + lift * upwards) for sideways, upwards in waves]
    swing, elbow, spread = rng.uniform(0, 0.04), rng.uniform(0.05, 0.5), rng.uniform(0.05, 0.6 if body.toy else 0.3)
    for letter in body.arms:
        carriage.arms[letter] = ArmSwing(swing * breath, elbow * still, spread)
    return carriage

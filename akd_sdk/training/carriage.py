"""How the trunk, head, arms and tail go with an action: curves over time, one number a frame each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from akd_sdk.training.body import Body
from akd_sdk.training.legs import LegMotion
from akd_sdk.training.turns import Array


@dataclass(frozen=True)
class ArmSwing:
    """Swing about the shoulder, bend at the elbow and spread from the body, (frames,) radians each."""

    swing: Array
    elbow: Array
    spread: float


@dataclass
class Carriage:
    """The whole of a drawn motion, (frames,) each, before it is put on a body.

    Attributes:
        shift: (frames, 3) movement of the trunk's centre, hip heights.
        pitch, yaw, roll: turns of the trunk, radians; pitch is nose up.
        tuck: flexion of the trunk, radians, spread over a quadruped's spine.
        bend: sideways bend of a quadruped's spine, radians.
        lean: forward lean of an upright trunk, radians.
        counter: by how much an upright chest turns against the hips.
        nod, turn: of the head.
        gaze: share of the nod that the head takes back.
        tail: turn (sideways, up) of each tail joint.
        arms: by side letter.
        legs: makes the feet's motions; its argument scales the excursion.
    """

    body: Body
    frames: int
    shift: Array
    legs: Callable[[float], dict[str, LegMotion]]
    pitch: Array = field(default_factory=lambda: np.zeros(0))
    yaw: Array = field(default_factory=lambda: np.zeros(0))
    roll: Array = field(default_factory=lambda: np.zeros(0))
    tuck: Array = field(default_factory=lambda: np.zeros(0))
    bend: Array = field(default_factory=lambda: np.zeros(0))
    lean: Array = field(default_factory=lambda: np.zeros(0))
    counter: float = 1.5
    nod: Array = field(default_factory=lambda: np.zeros(0))
    turn: Array = field(default_factory=lambda: np.zeros(0))
    gaze: float = 0.7
    tail: list[tuple[Array, Array]] = field(default_factory=list)
    arms: dict[str, ArmSwing] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("pitch", "yaw", "roll", "tuck", "bend", "lean", "nod", "turn"):
            if not getattr(self, name).size:
                setattr(self, name, np.zeros(self.frames))


def bump(progress: Array, power: float = 1.0) -> Array:
    """Half a sine from 0 to 1, zero outside."""
    inside = np.clip(progress, 0.0, 1.0)
    return np.where((progress > 0) & (progress < 1), np.abs(np.sin(np.pi * inside)) ** power, 0.0)

"""Legs of the teacher's bodies: their shape, and two-bone inverse kinematics under given last segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.training.turns import Array


@dataclass(frozen=True)
class LegShape:
    """One leg, hip to foot tip, in the sagittal plane.

    Attributes:
        kind: "hind", "fore", "human" or "bird".
        lengths: 2, 3 or 4 segment lengths: upper, lower, metapodial or foot, toe; hip heights.
        foot_angle: rest angle of the third segment from straight down, radians, positive forwards.
        toe_angle: the same of the fourth.
        bend: 1 where the knee points forwards, -1 backwards.
        hip: (3,) rest position.
        tip: (3,) rest position of the foot tip, on the ground.
    """

    kind: str
    lengths: tuple[float, ...]
    foot_angle: float
    toe_angle: float
    bend: int
    hip: Array
    tip: Array

    @property
    def segments(self) -> int:
        return len(self.lengths)

    @property
    def reach(self) -> float:
        """Longest distance from hip to the end of the second segment."""
        return 0.999 * (self.lengths[0] + self.lengths[1])


@dataclass(frozen=True)
class LegMotion:
    """What a foot is to do: (frames, 3) tips, (frames,) angles of the last two segments, and which frames are stance."""

    tip: Array
    foot_angle: Array
    toe_angle: Array
    stance: NDArray[np.bool_]


def _above(point: Array, length: float, angle: Array) -> Array:
    """The upper end of a segment whose lower end is `point`."""
    return point - np.stack([np.zeros_like(angle), -length * np.cos(angle), length * np.sin(angle)], -1)


def knee_target(leg: LegShape, motion: LegMotion) -> list[Array]:
    """Points from the end of the second segment down to the tip, each (frames, 3)."""
    points = [motion.tip]
    if leg.segments == 4:
        points.insert(0, _above(points[0], leg.lengths[3], motion.toe_angle))
    if leg.segments >= 3:
        points.insert(0, _above(points[0], leg.lengths[2], motion.foot_angle))
    return points


def overreach(leg: LegShape, hip: Array, motion: LegMotion) -> float:
    """By how much the stance asks for more than the leg's length, hip heights; negative where it reaches."""
    gap = knee_target(leg, motion)[0] - hip
    distance = np.hypot(gap[:, 1], gap[:, 2])
    return float((distance[motion.stance] - leg.reach).max()) if motion.stance.any() else -1.0


def solve(leg: LegShape, hip: Array, motion: LegMotion) -> list[Array]:
    """Positions of hip, knee and what follows down to the tip, each (frames, 3).

    A target out of reach is moved along its line from the hip, and everything below goes with it.
    """
    below = knee_target(leg, motion)
    upper, lower = leg.lengths[:2]
    gap = below[0] - hip
    distance = np.hypot(gap[:, 1], gap[:, 2]) + 1e-9
    reached = np.clip(distance, abs(upper - lower) * 1.02 + 1e-4, leg.reach)
    uy, uz = gap[:, 1] / distance, gap[:, 2] / distance
    along = (upper**2 + reached**2 - lower**2) / (2 * reached)
    across = np.sqrt(np.maximum(upper**2 - along**2, 0.0)) * leg.bend
    share = upper / (upper + lower)
    knee = np.stack(
        [hip[:, 0] * (1 - share) + below[0][:, 0] * share, hip[:, 1] + uy * along + uz * across, hip[:, 2] + uz * along - uy * across], -1
    )
    moved = np.stack([np.zeros_like(uy), uy, uz], -1) * (reached - distance)[:, None]
    return [hip, knee, *(point + moved for point in below)]

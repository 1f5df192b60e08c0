"""Placement: where a foot stands in each of its stances; a sole rolls over heel and toe about one spot and one heading."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.gait.ground import compose_ground, ground_matrices, inverse_ground, move_points
from akd_sdk.gait.smoothing import runs

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

FLAT_RAD = 0.2
"""Pitch of a planted sole up to which it lies flat; a larger one is lessened by as much, without a kink."""
SHARED_LEGS = 0.004
"""Difference of heights, leg lengths, over which heel and toe share the weight."""


@dataclass(frozen=True)
class FootMotion:
    """A foot over time, in place.

    Attributes:
        position: (frames, 3) of the joint that carries the foot, metres.
        turn: (frames, 3, 3) world rotation of that joint against rest.
        offsets: (frames, points, 3) from the joint to the foot's contact points in the world axes at rest (turned by `turn` they lead to
            the points), metres.
        peg: whether the sole cannot turn by itself.
        edge: (frames, edge points, 3) like `offsets`, to the sole's outermost vertices; they do not carry but must not go under the ground.
    """

    position: Array
    turn: Array
    offsets: Array
    peg: bool = False
    edge: Array | None = None

    @property
    def lowest(self) -> Array:
        """(frames, points, 3) offsets to all that must not go under the ground."""
        return self.offsets if self.edge is None else np.concatenate([self.offsets, self.edge], axis=1)

    @property
    def sole(self) -> Array:
        """(frames, 3), the middle of the contact points, metres."""
        return np.asarray(self.points().mean(axis=1))

    def points(self) -> Array:
        """(frames, points, 3), metres."""
        return np.asarray(self.position[:, None] + np.einsum("fij,fkj->fki", self.turn, self.offsets))


@dataclass(frozen=True)
class Floor:
    """What feet stand on: `path` (frames, 3), the travel; `lap` (3,), its step after which a loop begins anew, None without a loop;
    `fps`; `facing` (3, 3), character frame to world; `height` of the ground and `leg` length, metres; `lifts`, whether fast feet are to
    leave it and come down straight; `rolls`, whether soles may be pitched while they stand; `clearance`, metres over the ground that a
    foot has at least in the middle of a swing."""

    path: Array
    lap: Array | None
    fps: float
    facing: Array
    height: float
    leg: float
    lifts: bool = False
    rolls: bool = True
    clearance: float = 0.0


def place_foot(foot: FootMotion, planted: Bools, floor: Floor) -> FootMotion:
    """The foot with its place put right in every stance (frames with a planted point); other frames are as they were.

    planted: (frames, points). In each stance one heading and one spot are kept (the mean of what the motion has), the roll is taken
    out, and the pitch decides which point carries: heel, both, or toe. Carrying points are on the ground and do not move over it. A sole
    of which every point is planted in every frame lies flat: it has no step to roll over. A peg keeps its turn.
    """
    never_rolls = bool(planted.all())
    position, turn = foot.position.copy(), foot.turn.copy()
    for run in runs(np.asarray(planted.any(axis=1)), floor.lap is not None):
        path = path_of(run, floor)
        stands = replace(foot, position=foot.position[run], turn=foot.turn[run], offsets=foot.offsets[run])
        position[run], turn[run] = _stand(stands, planted[run], path, replace(floor, rolls=not never_rolls))
    return replace(foot, position=position, turn=turn)


def path_of(run: Ints, floor: Floor) -> Array:
    """The travel (n, 3) at a run's frames; those after a loop's seam lie one lap further."""
    path = floor.path[run].copy()
    wrapped = np.flatnonzero(np.diff(run) < 0)
    if len(wrapped) and floor.lap is not None:
        for i in range(int(wrapped[0]) + 1, len(run)):
            path[i] = compose_ground(floor.lap, path[i])
    return path


def _stand(foot: FootMotion, planted: Bools, path: Array, floor: Floor) -> tuple[Array, Array]:
    """Positions and turns, in place, of a foot through one stance."""
    over_ground = ground_matrices(path)[:, :3, :3] @ foot.turn
    if foot.peg:
        turn = over_ground
        spread = np.einsum("fij,fkj->fki", turn, foot.offsets).mean(axis=0)
    else:
        heading, pitch = _heading_and_pitch(over_ground, floor.facing)
        turn = _turn(np.full(len(pitch), heading), _flattened(pitch) if floor.rolls else np.zeros_like(pitch), floor.facing)
        spread = foot.offsets.mean(axis=0) @ _turn(np.array([heading]), np.zeros(1), floor.facing)[0].T
    arms = np.einsum("fij,fkj->fki", turn, foot.offsets)
    share = shares(arms[..., 1], floor.leg)
    weight = share * (planted.any(axis=1, keepdims=True))
    points = move_points(path, foot.points())
    spot = np.einsum("fk,fki->i", weight, points - spread) / weight.sum()
    position = np.einsum("fk,fki->fi", share, spot + spread - arms)
    position[:, 1] = floor.height - arms[..., 1].min(axis=1)
    back = inverse_ground(path)
    return move_points(back, position[:, None])[:, 0], ground_matrices(back)[:, :3, :3] @ turn


def _heading_and_pitch(turn: Array, facing: Array) -> tuple[float, Array]:
    """The mean heading and the pitches (frames,) of turns against rest (frames, 3, 3), radians, in the character frame."""
    angles = Rotation.from_matrix(facing.T @ turn @ facing).as_euler("YXZ")
    return float(np.arctan2(np.sin(angles[:, 0]).mean(), np.cos(angles[:, 0]).mean())), angles[:, 1]


def _turn(heading: Array, pitch: Array, facing: Array) -> Array:
    """World turns (frames, 3, 3) of heading and pitch without roll."""
    angles = np.column_stack([heading, pitch, np.zeros_like(pitch)])
    return np.asarray(facing @ Rotation.from_euler("YXZ", angles).as_matrix() @ facing.T)


def _flattened(pitch: Array) -> Array:
    return np.asarray(pitch - FLAT_RAD * np.tanh(pitch / FLAT_RAD))


def shares(heights: Array, leg_m: float) -> Array:
    """How much each point (frames, points) carries: all by the lowest, shared between points of nearly one height."""
    weight = np.exp(-(heights - heights.min(axis=1, keepdims=True)) / (SHARED_LEGS * leg_m))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))

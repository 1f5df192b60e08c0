"""Coordinates of an articulation: root and hinge angles of a motion, and bodies for coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.bodies.articulation import Articulation

Array = NDArray[np.float64]

ROOT = 6
"""Coordinates of the root: x, y, z from rest along the character's axes, metres; yaw, pitch, roll, radians, intrinsic."""


@dataclass(frozen=True)
class Coordinates:
    """Between turns of bodies against rest and coordinates (frames, 6 + 3 (bodies - 1)).

    A hinged joint's three angles are flexion, abduction and twist, intrinsic in this order, about a neutral pose, so that the pole of
    the middle one is out of reach.

    Attributes:
        articulation: whose.
        facing: (3, 3) character frame to world.
        neutral: (bodies, 3, 3) the pose about which a body's joint works, in its hinge frame.
    """

    articulation: Articulation
    facing: Array
    neutral: Array

    @classmethod
    def about(cls, articulation: Articulation, facing: Array, turns: Array) -> Coordinates:
        """Coordinates about the mean of a motion's turns (frames, bodies, 3, 3)."""
        neutral = np.tile(np.eye(3), (len(articulation.bodies), 1, 1))
        local = relative(articulation, turns)
        for i, frame in enumerate(hinge_frames(articulation)):
            if i:
                neutral[i] = Rotation.from_matrix(frame.T @ local[:, i] @ frame).mean().as_matrix()
        return cls(articulation, facing, neutral)

    @property
    def count(self) -> int:
        return ROOT + 3 * (len(self.articulation.bodies) - 1)

    def of(self, turns: Array, root: Array) -> Array:
        """Coordinates of body turns (frames, bodies, 3, 3) and the root's world path (frames, 3), continuous over time."""
        values = np.zeros((len(turns), self.count))
        values[:, :3] = (root - self.articulation.bodies[0].origin) @ self.facing
        inner = self.facing.T @ turns[:, 0] @ self.facing
        values[:, 3:ROOT] = Rotation.from_matrix(inner).as_euler("YXZ")
        local = relative(self.articulation, turns)
        for i, frame in enumerate(hinge_frames(self.articulation)):
            if i:
                own = np.swapaxes(self.neutral[i], 0, 1) @ frame.T @ local[:, i] @ frame
                values[:, self.slot(i)] = Rotation.from_matrix(own).as_euler("XZY")
        values[:, 3:] = np.unwrap(values[:, 3:], axis=0)
        return values

    def slot(self, body: int) -> slice:
        """Where a body's three angles are."""
        return slice(3 + 3 * body, 6 + 3 * body)

    def bodies(self, values: Array) -> tuple[Array, Array]:
        """Turns (frames, bodies, 3, 3) and origins (frames, bodies, 3), metres, of coordinates (frames, n)."""
        chain = self.articulation.bodies
        turns = np.empty((len(values), len(chain), 3, 3))
        origins = np.empty((len(values), len(chain), 3))
        turns[:, 0] = self.facing @ Rotation.from_euler("YXZ", values[:, 3:ROOT]).as_matrix() @ self.facing.T
        origins[:, 0] = chain[0].origin + values[:, :3] @ self.facing.T
        for i, frame in enumerate(hinge_frames(self.articulation)):
            if i:
                parent = chain[i].parent
                own = Rotation.from_euler("XZY", values[:, self.slot(i)]).as_matrix()
                turns[:, i] = turns[:, parent] @ frame @ self.neutral[i] @ own @ frame.T
                origins[:, i] = origins[:, parent] + turns[:, parent] @ (chain[i].origin - chain[parent].origin)
        return turns, origins


def hinge_frames(articulation: Articulation) -> Array:
    """(bodies, 3, 3) right-handed frames: columns flexion, twist, abduction axes at rest in the world."""
    return np.stack([body.axes[:, [0, 2, 1]] for body in articulation.bodies])


def relative(articulation: Articulation, turns: Array) -> Array:
    """Turns (frames, bodies, 3, 3) against the parent body's; the root's own."""
    parents = articulation.parents
    local = turns.copy()
    hung = np.flatnonzero(parents >= 0)
    local[:, hung] = np.swapaxes(turns[:, parents[hung]], -1, -2) @ turns[:, hung]
    return local

"""Articulation: a character as rigid bodies and joints, for simulation and for engines that simulate."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import RigError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """What of a body touches the ground.

    Attributes:
        kind: "box" or "capsule".
        centre: (3,) from the body's origin, metres, world axes at rest.
        axes: (3, 3) rotation; columns are the shape's own axes. A capsule lies along its second column, a box stands on its second.
        half: (3,) half extents of a box along its axes, metres; of a capsule (radius, half length without the caps, radius).
    """

    kind: str
    centre: Array
    axes: Array
    half: Array

    def lowest(self, turns: Array, positions: Array) -> Array:
        """(frames,) height of the lowest point for the body's turns (frames, 3, 3) and origins (frames, 3), metres."""
        up = np.einsum("fij,ik->fjk", turns, np.array([[0.0], [1.0], [0.0]]))[..., 0]  # the world's up in the body's axes
        along = up @ self.axes
        centre = positions[:, 1] + up @ self.centre
        if self.kind == "box":
            return np.asarray(centre - np.abs(along) @ self.half)
        return np.asarray(centre - np.abs(along[:, 1]) * self.half[1] - self.half[0])


@dataclass(frozen=True)
class Body:
    """A rigid body of the anatomical tree. Its axes are the world's at rest, its origin is its joint.

    Attributes:
        name: of its joint.
        joint: the skeleton's joint that moves it.
        parent: index of the body it hangs on, -1 for the pelvis's.
        origin: (3,) position of its joint at rest, metres, world.
        mass: kilograms.
        centre: (3,) centre of mass from the origin, metres.
        inertia: (3, 3) about the centre of mass, kg m².
        shape: collider.
        foot: LH, RH, LF or RF where it holds contact points of that limb, else "".
        merged: joints of the skeleton that follow it rigidly, its own not among them.
        axes: (3, 3) columns: flexion, abduction and twist axes at rest in the world, right-handed as flexion, twist, abduction on the
            left and in the middle; on the right abduction and twist are turned round, so that equal angles are mirror images.
        limits: (3, 2) lowest and highest flexion, abduction, twist from rest, radians.
    """

    name: str
    joint: int
    parent: int
    origin: Array
    mass: float
    centre: Array
    inertia: Array
    shape: Shape
    foot: str = ""
    merged: tuple[int, ...] = ()
    axes: Array = field(default_factory=lambda: np.eye(3))
    limits: Array = field(default_factory=lambda: np.tile(np.array([-np.pi, np.pi]), (3, 1)))


@dataclass(frozen=True)
class Articulation:
    """Bodies, depth first: parents before children, every subtree in one piece.

    Attributes:
        name: of the character.
        bodies: the first is the pelvis's, whose joint is free.
        stiffness: (bodies, 3) N m/rad for flexion, abduction, twist; zero for the root.
        damping: (bodies, 3) N m s/rad.
        armature: (bodies, 3) kg m² added to every hinge's inertia.
        height: metres, of the character.
        ground_at_rest: height of the lowest sole at rest, metres; of the lowest skin where there are no feet.
        notes: what was guessed or is odd (open mesh, top-heavy), for the report.
    """

    name: str
    bodies: tuple[Body, ...]
    stiffness: Array
    damping: Array
    armature: Array
    height: float
    ground_at_rest: float
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.bodies or self.bodies[0].parent != -1:
            raise RigError("an articulation begins with its root body")
        if any(not 0 <= body.parent < i for i, body in enumerate(self.bodies[1:], 1)):
            raise RigError("bodies of an articulation come after their parents")

    @property
    def parents(self) -> NDArray[np.int64]:
        return np.array([body.parent for body in self.bodies])

    @property
    def mass(self) -> float:
        """Kilograms, of all bodies."""
        return float(sum(body.mass for body in self.bodies))

    @property
    def root_height(self) -> float:
        """Metres from the soles to the pelvis at rest."""
        return float(self.bodies[0].origin[1] - self.ground_at_rest)

    @property
    def weight(self) -> float:
        """Newton."""
        return 9.81 * self.mass

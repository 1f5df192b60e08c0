"""Feet of an articulation: how a character stands, what of its soles each body carries, and where they point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.articulation import Shape
from akd_sdk.bodies.rest_skin import skin_points
from akd_sdk.bodies.tree import BodyTree
from akd_sdk.rig import Rig
from akd_sdk.rig.evidence import standing_pose
from akd_sdk.rotations import nearest_rotation

Array = NDArray[np.float64]

SHORTEST = 1e-3
"""Heights of the character: heel and toe nearer than this do not tell where a foot points."""


@dataclass(frozen=True)
class Stance:
    """The pose in which soles are level: the one that was bound, where the rest pose is another (a leap, say).

    Attributes:
        points: (n, 3) vertices of the `RestSkin`, world, metres.
        origins: (joints, 3) world, metres.
        turns: (joints, 3, 3) world rotations from this pose to the rest pose.
    """

    points: Array
    origins: Array
    turns: Array


@dataclass(frozen=True)
class Foot:
    """What a body carries of a foot, in the stance.

    Attributes:
        points: (n, 3) heel and toe, those that it carries, world, metres.
        heading: (3,) horizontal unit vector from heel to toe.
        length: from heel to toe, metres.
        origin: (3,) of the body, world, metres.
        turn: (3, 3) of the body from the stance to rest.
    """

    points: Array
    heading: Array
    length: float
    origin: Array
    turn: Array


def stance_of(rig: Rig) -> Stance:
    """How a rig stands."""
    rest, world = rig.skeleton.rest_world, standing_pose(rig.skeleton, rig.skins)
    turns = nearest_rotation(rest[:, :3, :3]) @ np.swapaxes(nearest_rotation(world[:, :3, :3]), 1, 2)
    return Stance(skin_points(rig, world), world[:, :3, 3], np.asarray(turns))


def feet_of(rig: Rig, stance: Stance, tree: BodyTree, limbs: Sequence[str]) -> tuple[Foot | None, ...]:
    """For each body its part of the foot of `limbs` (bodies,), None for those that are no feet."""
    contacts = rig.contact_points
    joints = np.array([point.joint for point in contacts], dtype=np.int64)
    places = rig.skeleton.points_at_rest(joints, np.array([point.offset for point in contacts]).reshape(-1, 3))
    away = places - rig.skeleton.rest_world[joints, :3, 3]
    places = stance.origins[joints] + np.einsum("nji,nj->ni", stance.turns[joints], away)
    feet: list[Foot | None] = []
    for body, limb in enumerate(limbs):
        if not limb:
            feet.append(None)
            continue
        ends = {point.kind: places[i] for i, point in enumerate(contacts) if point.limb == limb}
        along = (ends["toe"] - ends["heel"]) * np.array([1.0, 0.0, 1.0]) if len(ends) == 2 else np.zeros(3)
        length = float(np.linalg.norm(along))
        heading = along / length if length > SHORTEST * rig.height else rig.forward
        joint = int(tree.joints[body])
        feet.append(Foot(places[tree.owners[joints] == body], heading, length, stance.origins[joint], stance.turns[joint]))
    return tuple(feet)


def sole_height(shapes: Sequence[Shape], origins: Array, feet: Sequence[Foot | None], lowest: float) -> float:
    """Height of the lowest sole at rest, metres, for bodies at `origins` (bodies, 3); `lowest` where there are no feet."""
    upright = np.eye(3)[None]
    soles = [float(shape.lowest(upright, origins[i][None])[0]) for i, shape in enumerate(shapes) if feet[i] is not None]
    return min(soles, default=lowest)

"""Feet of an articulation: which points of the sole each body carries, where they point, and how high they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.articulation import Shape
from akd_sdk.bodies.tree import BodyTree
from akd_sdk.rig import Rig

Array = NDArray[np.float64]

SHORTEST = 1e-3
"""Heights of the character: heel and toe nearer than this do not tell where a foot points."""


@dataclass(frozen=True)
class Foot:
    """What a body carries of a foot: points (n, 3) of its sole, world at rest, metres; heading (3,) horizontal unit vector from heel to
    toe; length from heel to toe, metres."""

    points: Array
    heading: Array
    length: float


def feet_of(rig: Rig, tree: BodyTree, limbs: Sequence[str]) -> tuple[Foot | None, ...]:
    """For each body its part of the foot of `limbs` (bodies,), None for those that are no feet."""
    contacts = rig.contact_points
    joints = np.array([point.joint for point in contacts], dtype=np.int64)
    places = rig.skeleton.points_at_rest(joints, np.array([point.offset for point in contacts]).reshape(-1, 3))
    feet: list[Foot | None] = []
    for body, limb in enumerate(limbs):
        if not limb:
            feet.append(None)
            continue
        ends = {point.kind: places[i] for i, point in enumerate(contacts) if point.limb == limb}
        along = (ends.get("toe", np.zeros(3)) - ends.get("heel", np.zeros(3))) * (len(ends) == 2)
        along = along * np.array([1.0, 0.0, 1.0])
        length = float(np.linalg.norm(along))
        heading = along / length if length > SHORTEST * rig.height else rig.forward
        feet.append(Foot(places[tree.owners[joints] == body], np.asarray(heading), length))
    return tuple(feet)


def sole_height(shapes: Sequence[Shape], origins: Array, limbs: Sequence[str], lowest: float) -> float:
    """Height of the lowest sole at rest, metres; `lowest` where there are no feet."""
    upright = np.eye(3)[None]
    soles = [float(shape.lowest(upright, origins[i][None])[0]) for i, shape in enumerate(shapes) if limbs[i]]
    return min(soles, default=lowest)

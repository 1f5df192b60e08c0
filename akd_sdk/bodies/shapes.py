"""Colliders: boxes for feet, with the sole where the skin has it, and capsules along the bones for the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.articulation import Shape
from akd_sdk.bodies.feet import Foot, Stance
from akd_sdk.bodies.inertia import DENSITY, Masses, gathered, strongest
from akd_sdk.bodies.rest_skin import RestSkin
from akd_sdk.bodies.tree import BodyTree
from akd_sdk.kinematics import anatomical_axes
from akd_sdk.rig import Rig

Array = NDArray[np.float64]

THINNEST = 0.002
"""Least half extent of a shape, in heights of the character."""

SOLE = 0.1
"""Heights of the character: skin of a foot that is no higher over its lowest point makes the box."""

BARE = 0.2
"""Half width and half height of a foot without skin over its length."""

ALONG = (2.0, 98.0)
"""Percentiles along the bone between which a capsule reaches."""

AROUND = 60.0
"""Percentile of the distances from the bone that is a capsule's radius."""


def shapes_of(rig: Rig, skin: RestSkin, tree: BodyTree, standing: tuple[Stance, Sequence[Foot | None]], masses: Masses) -> list[Shape]:
    """The collider of each body: its own skin is that of which it moves more than any other body does.

    standing: how the character stands and, for each body, the foot that it is part of.
    """
    stance, feet = standing
    owners = strongest(gathered(skin.weights, tree.owners, tree.count))
    bones = anatomical_axes(rig.skeleton)[tree.joints, :, 2]
    shapes = []
    for body, foot in enumerate(feet):
        if foot is not None:
            shapes.append(foot_box(stance.points[owners == body], foot, rig.height))
        else:
            ball = float(np.cbrt(0.75 * masses.masses[body] / (np.pi * DENSITY)))
            origin = rig.skeleton.rest_world[tree.joints[body], :3, 3]
            shapes.append(bone_capsule(skin.points[owners == body], bones[body], origin, ball, rig.height))
    return shapes


def foot_box(points: Array, foot: Foot, height: float) -> Shape:
    """The box of a foot: its lower skin (n, 3) and the points of its sole, upright, turned to where it points, its bottom at the lowest.

    points: world, in the stance, metres; height: the character's, metres.
    """
    up = np.array([0.0, 1.0, 0.0])
    axes = np.stack([np.cross(up, foot.heading), up, foot.heading], axis=1)
    least = THINNEST * height if len(points) else max(BARE * foot.length, THINNEST * height)
    points = np.concatenate([points, foot.points])
    low = points[points[:, 1] <= points[:, 1].min() + SOLE * height] @ axes
    bottom, top = low.min(axis=0), low.max(axis=0)
    half = np.maximum(0.5 * (top - bottom), least)
    centre = 0.5 * (top + bottom)
    centre[1] = bottom[1] + half[1]
    return Shape("box", foot.turn @ (axes @ centre - foot.origin), foot.turn @ axes, half)


def bone_capsule(points: Array, bone: Array, origin: Array, ball: float, height: float) -> Shape:
    """The capsule along a bone around the skin (n, 3) that its body moves; without skin a ball of this radius at the joint.

    points, origin (3,): world, metres; bone (3,): unit; height: the character's, metres.
    """
    axes = _along(bone)
    if len(points) < 4:
        return Shape("capsule", np.zeros(3), axes, np.array([ball, 0.0, ball]))
    local = points @ axes
    first, last = np.percentile(local[:, 1], ALONG)
    middle = 0.5 * (local.min(axis=0) + local.max(axis=0))
    middle[1] = 0.5 * (first + last)
    away = np.linalg.norm((local - middle)[:, [0, 2]], axis=1)
    centre, steep = axes @ middle, abs(float(axes[1, 1]))
    room = float(centre[1] - points[:, 1].min())  # up to the centre: the ground must not feel the capsule before the skin
    radius = max(min(float(np.percentile(away, AROUND)), room), THINNEST * height)
    length = min(0.5 * float(last - first) - radius, max(room - radius, 0.0) / max(steep, 1e-9))
    return Shape("capsule", centre - origin, axes, np.array([radius, max(length, 0.0), radius]))


def _along(bone: Array) -> Array:
    """(3, 3) right-handed axes of which the second is the bone."""
    spare = np.eye(3)[int(np.argmin(np.abs(bone)))]
    x = np.cross(bone, spare)
    x /= np.linalg.norm(x)
    return np.stack([x, bone, np.cross(x, bone)], axis=1)

"""Colliders: boxes for feet, with the sole where the skin has it, and capsules along the bones for the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.articulation import Shape

Array = NDArray[np.float64]

THINNEST = 0.002
"""Least half extent of a shape, in heights of the character."""

SOLE = 0.1
"""Heights of the character: skin of a foot that is no higher over its lowest point makes the box."""

ALONG = (2.0, 98.0)
"""Percentiles along the bone between which a capsule reaches."""

AROUND = 60.0
"""Percentile of the distances from the bone that is a capsule's radius."""


def foot_box(points: Array, heading: Array, origin: Array, height: float) -> Shape:
    """The box of a foot: its lower skin (n, 3), upright, turned to where the foot points, its bottom at the lowest point.

    points, origin (3,): world, metres; heading (3,): horizontal; height: the character's, metres.
    """
    up = np.array([0.0, 1.0, 0.0])
    axes = np.stack([np.cross(up, heading), up, heading], axis=1)
    low = points[points[:, 1] <= points[:, 1].min() + SOLE * height] @ axes
    bottom, top = low.min(axis=0), low.max(axis=0)
    half = np.maximum(0.5 * (top - bottom), THINNEST * height)
    centre = 0.5 * (top + bottom)
    centre[1] = bottom[1] + half[1]
    return Shape("box", axes @ centre - origin, axes, half)


def bone_capsule(points: Array, bone: Array, origin: Array, radius: float, height: float) -> Shape:
    """The capsule along a bone around the skin (n, 3) that its body moves; without skin a ball of `radius` at the joint.

    points, origin (3,): world, metres; bone (3,): unit; height: the character's, metres.
    """
    axes = _along(bone)
    if len(points) < 4:
        return Shape("capsule", np.zeros(3), axes, np.array([radius, 0.0, radius]))
    local = points @ axes
    first, last = np.percentile(local[:, 1], ALONG)
    middle = 0.5 * (local.min(axis=0) + local.max(axis=0))
    middle[1] = 0.5 * (first + last)
    away = np.linalg.norm((local - middle)[:, [0, 2]], axis=1)
    radius = max(float(np.percentile(away, AROUND)), THINNEST * height)
    reach = max(0.5 * float(last - first), 0.0)
    radius = max(min(radius, _deepest(points, axes, axes @ middle, reach)), THINNEST * height)
    return Shape("capsule", axes @ middle - origin, axes, np.array([radius, max(reach - radius, 0.0), radius]))


def _deepest(points: Array, axes: Array, centre: Array, reach: float) -> float:
    """The largest radius with which a capsule of this whole reach stays over the lowest of the points."""
    steep = abs(float(axes[1, 1]))
    room = float(centre[1]) - float(points[:, 1].min())
    return room if room <= reach else min(room, (room - steep * reach) / max(1.0 - steep, 1e-9))


def _along(bone: Array) -> Array:
    """(3, 3) right-handed axes of which the second is the bone."""
    spare = np.eye(3)[int(np.argmin(np.abs(bone)))]
    x = np.cross(bone, spare)
    x /= np.linalg.norm(x)
    return np.stack([x, bone, np.cross(x, bone)], axis=1)

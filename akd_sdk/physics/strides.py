"""Strides: how far feet are, under the body, from where a reference has them: a run that misses them has another gait."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.physics.course import turned
from akd_sdk.physics.loads import corners
from akd_sdk.physics.reference import Reference

Array = NDArray[np.float64]

RATE = 60.0
GAIT = 0.9
"""Share of a clip up to which its stride is one."""
LEAST_SWING = 0.05
"""Pelvis heights: feet that swing by less are measured by it."""


def misstep(reference: Reference, values: Array, first: int, last: int) -> float:
    """Largest deviation of a foot's path under the body from the reference's, both about their means, as a share of its swing (rms).

    Of gaits alone, 0 of others: a jump may land sooner or later and be no other motion.

    values: (steps + 1, coordinates) of a run; first, last: steps between which is looked.
    """
    if reference.course.stride >= GAIT * reference.course.steps * reference.dt and not reference.cycles:
        return 0.0
    every = max(1, round(1.0 / (RATE * reference.dt)))
    steps = np.arange(first, last + 1, every)
    made, meant = (_paths(reference, rows[steps]) for rows in (values, reference.values))
    swing = np.sqrt(((meant - meant.mean(axis=0)) ** 2).sum(axis=-1).mean(axis=0))
    away = made - meant
    missed = np.sqrt(((away - away.mean(axis=0)) ** 2).sum(axis=-1).mean(axis=0))
    least = LEAST_SWING * reference.coordinates.articulation.root_height
    return float((missed / np.maximum(swing, least)).max(initial=0.0))


def _paths(reference: Reference, values: Array) -> Array:
    """Middles of feet's colliders (frames, feet, 3) from the root, metres along the axes of the character's heading."""
    coordinates = reference.coordinates
    turns, origins = coordinates.bodies(values)
    paths = []
    for i, body in enumerate(coordinates.articulation.bodies):
        if body.foot:
            sole = corners(body.shape).mean(axis=0) if body.shape.kind == "box" else body.shape.centre
            path = (origins[:, i] + turns[:, i] @ sole - origins[:, 0]) @ coordinates.facing
            path[:, [0, 2]] = turned(path[:, [0, 2]], -values[:, 3])
            paths.append(path)
    return np.stack(paths, axis=1) if paths else np.zeros((len(values), 0, 3))

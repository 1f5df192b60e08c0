"""Slip: how fast soles move over the ground while their feet should stand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.physics.loads import corners
from akd_sdk.physics.reference import Reference

Array = NDArray[np.float64]

RATE = 60.0
TOUCHING = 0.02
"""Height, pelvis heights, under which a sole is down."""


def slip_speed(reference: Reference, values: Array, first: int, last: int) -> float:
    """Mean speed over the ground of the lowest corner of soles that are down and whose feet should stand, pelvis heights a second.

    values: (steps + 1, coordinates) of a run; first, last: steps between which is looked. 0 where no foot stands.
    """
    articulation, course = reference.coordinates.articulation, reference.course
    every = max(1, round(1.0 / (RATE * reference.dt)))
    steps = np.arange(first, last + 1, every)
    turns, origins = reference.coordinates.bodies(values[steps])
    planted = course.planted[reference.phase[steps]]
    total, count = 0.0, 0
    for limb, name in enumerate(course.limbs):
        soles = [i for i, body in enumerate(articulation.bodies) if body.foot == name and body.shape.kind == "box"]
        if not soles:
            continue
        points = np.concatenate(
            [origins[:, i, None] + corners(articulation.bodies[i].shape) @ np.swapaxes(turns[:, i], -1, -2) for i in soles], axis=1
        )
        lowest = points[:-1, :, 1].argmin(axis=1)
        frames = np.arange(len(lowest))
        moved = points[1:][frames, lowest] - points[:-1][frames, lowest]
        low = points[..., 1].min(axis=1) < TOUCHING * articulation.root_height
        stands = planted[1:, limb] & planted[:-1, limb] & low[1:] & low[:-1]
        total += float(np.linalg.norm(moved[:, [0, 2]], axis=1)[stands].sum())
        count += int(stands.sum())
    return total / max(count, 1) / (every * reference.dt) / articulation.root_height

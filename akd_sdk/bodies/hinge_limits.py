"""Limits of hinges: the anatomical ones about a joint's neutral pose, wide enough for the motion that is to be followed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.bodies.coordinates import Coordinates

Array = NDArray[np.float64]

SLACK_RAD = 0.1
"""How far beyond the motion itself a hinge may go where the motion leaves the anatomical limits."""


def hinge_limits(coordinates: Coordinates, reference: Array) -> Array:
    """(bodies, 3, 2) lowest and highest flexion, abduction and twist about the neutral pose, radians.

    reference: (frames, coordinates) of the motion; where it leaves the anatomy's limits, they give way.
    """
    articulation = coordinates.articulation
    limits = np.stack([body.limits for body in articulation.bodies])
    for i in range(1, len(articulation.bodies)):
        neutral = Rotation.from_matrix(coordinates.neutral[i]).as_rotvec()[[0, 2, 1]]  # hinge frames: flexion, twist, abduction
        own = reference[:, coordinates.slot(i)]
        limits[i] -= neutral[:, None]
        limits[i, :, 0] = np.minimum(limits[i, :, 0], own.min(axis=0) - SLACK_RAD)
        limits[i, :, 1] = np.maximum(limits[i, :, 1], own.max(axis=0) + SLACK_RAD)
    return limits

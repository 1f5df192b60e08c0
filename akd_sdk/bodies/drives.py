"""How strongly the joints are driven: gains and armature, scaled by the body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.inertia import Masses, about
from akd_sdk.bodies.tree import BodyTree

Array = NDArray[np.float64]

GRAVITY = 9.81

BEARING = 3.0
"""N m/rad over body weight times pelvis height, for joints that bear the body: those on the way to a foot."""

BEARING_DAMPING_S = 0.02
"""Damping over stiffness of those, seconds."""

HANGING = 625.0
"""1/s²: stiffness over the inertia of what hangs on a joint, for all others (25 rad/s)."""

HANGING_RATIO = 0.7
"""Damping ratio of those."""

ARMATURE = 0.003
"""kg m² over the body's mass times pelvis height squared, on every hinge: feet are light against what drives them, and chatter without."""


@dataclass(frozen=True)
class Drives:
    """(bodies, 3) for flexion, abduction, twist, zero for the root: stiffness N m/rad, damping N m s/rad, armature kg m²."""

    stiffness: Array
    damping: Array
    armature: Array


def drives_of(tree: BodyTree, masses: Masses, axes: Array, origins: Array, feet: Sequence[str], height: float) -> Drives:
    """The drives of bodies whose joints lie at `origins` (bodies, 3) with hinge axes (bodies, 3, 3) as columns, world at rest.

    feet: the foot that each body is part of, or ""; height: metres from the soles to the pelvis.
    """
    stiffness, damping, armature = (np.zeros((tree.count, 3)) for _ in range(3))
    armature[1:] = ARMATURE * masses.total * height**2
    for body in range(1, tree.count):
        below = tree.below(body)
        if any(feet[b] for b in below):
            stiffness[body] = BEARING * masses.total * GRAVITY * height
            damping[body] = BEARING_DAMPING_S * stiffness[body]
        else:
            hanging = np.einsum("ia,ij,ja->a", axes[body], about(masses, below, origins[body]), axes[body]) + armature[body]
            stiffness[body] = HANGING * hanging
            damping[body] = 2.0 * HANGING_RATIO * np.sqrt(HANGING) * hanging
    return Drives(stiffness, damping, armature)

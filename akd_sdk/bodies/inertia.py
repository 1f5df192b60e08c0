"""Masses, centres and inertias of bodies from points inside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSITY = 1000.0
"""kg/m³: of water, and nearly of animals."""

LIGHTEST = 0.002
"""Share of the whole mass that a body has at least: lighter ones shake in a simulation."""

LEAST_RADIUS = 0.01
"""Of the character's height: a body turns no more easily than a solid sphere of its mass and this radius."""


@dataclass(frozen=True)
class Masses:
    """masses (bodies,) kg; centres (bodies, 3) world, metres; inertias (bodies, 3, 3) about them, kg m², world axes; lifted (bodies,)
    whose mass was raised to the least."""

    masses: Array
    centres: Array
    inertias: Array
    lifted: NDArray[np.bool_]


def masses_of(points: Array, owners: Ints, volume: float, spare: Array, height: float) -> Masses:
    """Masses of bodies at the density of water, those too light raised, the sum kept.

    points (p, 3) and the body that each belongs to (p,); volume: m³ of a point; spare (bodies, 3): centres of bodies without points;
    height: the character's, metres.
    """
    bodies = len(spare)
    counts = np.bincount(owners, minlength=bodies).astype(np.float64)
    total = DENSITY * volume * len(points)
    raw = DENSITY * volume * counts
    lifted = raw < LIGHTEST * total
    masses = np.where(lifted, LIGHTEST * total, raw)
    free = masses[~lifted].sum()
    masses[~lifted] *= (total - masses[lifted].sum()) / free if free > 0.0 else 1.0
    sums = np.stack([np.bincount(owners, points[:, i], bodies) for i in range(3)], axis=1)
    centres = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1.0)[:, None], spare)
    away = points - centres[owners]
    products = np.stack([np.bincount(owners, away[:, i] * away[:, k], bodies) for i in range(3) for k in range(3)], axis=1)
    spread = products.reshape(-1, 3, 3) / np.maximum(counts, 1.0)[:, None, None]
    spread += np.eye(3) * (LEAST_RADIUS * height) ** 2 / 5.0
    inertias = masses[:, None, None] * (np.trace(spread, axis1=1, axis2=2)[:, None, None] * np.eye(3) - spread)
    return Masses(masses, centres, inertias, lifted)


def about(masses: Masses, bodies: range, point: Array) -> Array:
    """(3, 3) inertia of several bodies as one about a point (3,), world axes, kg m²."""
    chosen = slice(bodies.start, bodies.stop)
    away = masses.centres[chosen] - point
    square = (away**2).sum(axis=1)[:, None, None] * np.eye(3) - away[:, :, None] * away[:, None, :]
    return np.asarray((masses.inertias[chosen] + masses.masses[chosen][:, None, None] * square).sum(axis=0))

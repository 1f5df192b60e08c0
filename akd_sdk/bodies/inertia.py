"""Masses, centres and inertias of bodies from points inside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from akd_sdk.bodies.volume import Flesh

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

DENSITY = 1000.0
"""kg/m³: of water, and nearly of animals."""

LIGHTEST = 0.002
"""Share of the whole mass that a body has at least: lighter ones shake in a simulation."""

LEAST_RADIUS = 0.01
"""Of the character's height: a body turns no more easily than a solid ball of its mass and this radius."""

DECIDED = 2.0
"""Power of the weights by which a point is shared among bodies: 1 gives an ear a good part of a skull that it hardly moves, infinity
leaves nothing to a hip whose weights are everywhere the second largest, and makes left and right unlike on a hair's breadth."""


@dataclass(frozen=True)
class Masses:
    """Of bodies: masses (bodies,) kg; centres (bodies, 3) world, metres; inertias (bodies, 3, 3) about them, kg m², world axes; lifted
    (bodies,) whose mass was raised to the least."""

    masses: Array
    centres: Array
    inertias: Array
    lifted: NDArray[np.bool_]

    @property
    def total(self) -> float:
        """Kilograms."""
        return float(self.masses.sum())


def gathered(weights: csr_matrix, groups: Ints, count: int) -> csr_matrix:
    """(n, count) weights of groups for weights of joints (n, joints) and the group of each joint (joints,)."""
    return csr_matrix(weights @ csr_matrix((np.ones(len(groups)), (np.arange(len(groups)), groups)), shape=(len(groups), count)))


def strongest(shares: csr_matrix) -> Ints:
    """(n,) the column of each row's largest entry, 0 for empty rows."""
    entries = shares.tocoo()
    order = np.lexsort((entries.data, entries.row))
    found = np.zeros(entries.shape[0], dtype=np.int64)
    found[entries.row[order]] = entries.col[order]  # of entries with one row the last is kept, which is the largest
    return found


def shared(flesh: Flesh, groups: Ints, count: int) -> csr_matrix:
    """(p, count) how much of each point inside belongs to each group of joints, groups (joints,); rows sum to 1."""
    shares = gathered(flesh.weights, groups, count).power(DECIDED)
    return csr_matrix(shares.multiply(1.0 / np.maximum(np.asarray(shares.sum(axis=1)), 1e-12)))


def masses_of(flesh: Flesh, owners: Ints, spare: Array, height: float) -> Masses:
    """Masses of bodies at the density of water, those too light raised, the sum kept.

    owners (joints,): the body that each joint belongs to; spare (bodies, 3): where bodies that hold nothing have their mass, world;
    height: the character's, metres.
    """
    shares = shared(flesh, owners, len(spare))
    counts = np.asarray(shares.sum(axis=0)).ravel()
    whole = np.maximum(counts, 1e-9)[:, None]
    held = counts > 0.0
    centres = np.where(held[:, None], np.asarray(shares.T @ flesh.points) / whole, spare)
    middle = flesh.points.mean(axis=0)
    away = flesh.points - middle
    products = np.asarray(shares.T @ (away[:, :, None] * away[:, None, :]).reshape(-1, 9)) / whole
    arms = centres - middle
    spread = products.reshape(-1, 3, 3) - (arms[:, :, None] * arms[:, None, :]) * held[:, None, None]
    masses, lifted = _raised(DENSITY * flesh.volume * counts)
    values, axes = np.linalg.eigh(spread)
    values = np.maximum(values, (LEAST_RADIUS * height) ** 2 / 5.0)
    inertias = masses[:, None, None] * np.einsum("bik,bk,bjk->bij", axes, values.sum(axis=1, keepdims=True) - values, axes)
    return Masses(masses, centres, inertias, lifted)


def _raised(masses: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Masses (bodies,) with none under the least share, their sum kept, and which were raised."""
    total = float(masses.sum())
    least = min(LIGHTEST, 0.5 / len(masses)) * total
    lifted = masses < least
    rest = float(masses[~lifted].sum())
    return np.where(lifted, least, masses * (total - least * int(lifted.sum())) / rest), lifted


def about(masses: Masses, bodies: range, point: Array) -> Array:
    """(3, 3) inertia of several bodies as one about a point (3,), world axes, kg m²."""
    chosen = slice(bodies.start, bodies.stop)
    away = masses.centres[chosen] - point
    square = (away**2).sum(axis=1)[:, None, None] * np.eye(3) - away[:, :, None] * away[:, None, :]
    return np.asarray((masses.inertias[chosen] + masses.masses[chosen][:, None, None] * square).sum(axis=0))

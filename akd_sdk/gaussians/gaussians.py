"""Gaussians that ride on a skeleton: where they are at rest, how they look, and how joints carry them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Gaussians:
    """Skinned Gaussians. With W the (3, 4) world transforms of the joints, a centre moves to `sum_k weights_k W[joints_k] [arms_k, 1]`
    and a covariance S to `A S A^T` with `A = sum_k W[joints_k] axes_k`; at rest these are the means and the identity.

    Attributes:
        means: (n, 3) metres, world, rest pose.
        covariances: (n, 3, 3) square metres, the same.
        colours: (n, 3) sRGB in 0..1, as displayed.
        opacities: (n,) in 0..1.
        joints: (n, k) influences; unused ones are joint 0 with zeros.
        weights: (n, k) sum to 1. An influence of weight 0 may still turn the covariance, where its weight grows beside the centre.
        arms: (n, k, 3) the centre in the frame of the joint, its unit.
        axes: (n, k, 4, 3) the joint's share of A, the weights and their slope along the surface in it.
    """

    means: Array
    covariances: Array
    colours: Array
    opacities: Array
    joints: Ints
    weights: Array
    arms: Array
    axes: Array

    @property
    def count(self) -> int:
        return len(self.means)

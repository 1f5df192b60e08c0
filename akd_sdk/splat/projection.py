"""Projection of Gaussians to the picture, and the cut-offs that all backends share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from akd_sdk.splat.cloud import Matched

NEAR_M: Final = 0.01
"""Gaussians whose centre is nearer to the camera plane, or behind it, are not drawn."""
BLUR_PX2: Final = 0.3
"""Added to the variances in the picture, so that no Gaussian is smaller than a pixel."""
MARGIN: Final = 0.3
"""The projection is linearised at most this share of the picture's half angle beyond its edge."""
LEAST_ALPHA: Final = 1.0 / 255.0
"""Contributions below it are left out."""
MOST_ALPHA: Final = 0.999
"""No contribution covers more; above it no gradient goes to the Gaussian's shape and opacity."""
LEAST_LIGHT: Final = 1e-4
"""A contribution that would leave no more light than this, and all behind it, are left out."""


@dataclass(frozen=True)
class Projected:
    """Gaussians in pictures; the exponent of one is `q = (a dx^2 + c dy^2) / 2 + b dx dy` of the offset from centre to pixel.

    Attributes:
        centres: (pictures, gaussians, 2) pixels.
        conics: (pictures, gaussians, 3) a, b and c, per square pixel.
        variances: (pictures, gaussians, 2) along the picture's axes, square pixels.
        cuts: (pictures, gaussians) exponents above it are not drawn; negative where a Gaussian is not drawn at all. No gradient.
        order: (pictures, gaussians) indices from near to far by depth. No gradient.
    """

    centres: Tensor
    conics: Tensor
    variances: Tensor
    cuts: Tensor
    order: Tensor


def project(given: Matched) -> Projected:
    """Perspective projection, linear about each centre (as published for Gaussian splatting, and as gsplat does it)."""
    cloud, camera = given.cloud, given.camera
    rotation, translation = camera.camera_from_world[..., :3], camera.camera_from_world[..., 3]
    height, width = camera.size
    focal = camera.focal[:, None]
    x, y, z = (cloud.means @ rotation.transpose(1, 2) + translation[:, None]).unbind(-1)
    drawn = z.detach() > NEAR_M
    depth = torch.where(drawn, z, 1.0)
    x, y, scale = x / depth, y / depth, focal / depth
    centres = torch.stack([focal * x + width / 2, focal * y + height / 2], -1)
    x_edge, y_edge = ((1 + MARGIN) / 2 * side / focal for side in (width, height))
    x, y = torch.minimum(torch.maximum(x, -x_edge), x_edge), torch.minimum(torch.maximum(y, -y_edge), y_edge)
    right, down, ahead = (list(row[..., None].unbind(1)) for row in rotation.unbind(1))
    across, downward = ([scale * (r - at * a) for r, a in zip(row, ahead)] for row, at in ((right, x), (down, y)))
    xx, xy, yy = _flatten(cloud.covariances, across, downward)
    xx, yy = xx + BLUR_PX2, yy + BLUR_PX2
    area = xx * yy - xy * xy
    with torch.no_grad():
        drawn = drawn & (area > 0) & (xx > 0) & torch.isfinite(area + centres.sum(-1))
    area = torch.where(drawn, area, 1.0)
    conics = torch.stack([yy / area, -xy / area, xx / area], -1)
    with torch.no_grad():
        cuts = torch.where(drawn, torch.log(cloud.opacities.clamp(min=0.0) / LEAST_ALPHA), -math.inf)
        order = torch.argsort(z, dim=-1, stable=True)
    return Projected(centres, conics, torch.stack([xx, yy], -1), cuts, order)


def _flatten(covariances: Tensor, across: list[Tensor], down: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Variance across, covariance and variance down, from the symmetric part of covariances (pictures, gaussians, 3, 3).

    `across` and `down` are the derivative of a pixel's place by a point of the world, three numbers each, (pictures, gaussians).
    Written out number by number: torch is slow at products of many matrices of 3 x 3.
    """
    matrix = [row.unbind(-1) for row in ((covariances + covariances.transpose(-1, -2)) / 2).unbind(-2)]
    by_across = [_dot(row, across) for row in matrix]
    by_down = [_dot(row, down) for row in matrix]
    return _dot(across, by_across), _dot(across, by_down), _dot(down, by_down)


def _dot(one: Sequence[Tensor], other: Sequence[Tensor]) -> Tensor:
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]

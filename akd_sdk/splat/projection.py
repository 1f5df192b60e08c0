"""Projection of Gaussians to the picture, and the cut-offs that all backends share."""

from __future__ import annotations

import math
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
    x, y = x / depth, y / depth
    centres = torch.stack([focal * x + width / 2, focal * y + height / 2], -1)
    x_edge, y_edge = ((1 + MARGIN) * side / 2 / focal for side in (width, height))
    x, y = torch.minimum(torch.maximum(x, -x_edge), x_edge), torch.minimum(torch.maximum(y, -y_edge), y_edge)
    scale = (focal / depth)[..., None]
    rows = rotation[:, None]
    across = scale * (rows[..., 0, :] - x[..., None] * rows[..., 2, :])
    down = scale * (rows[..., 1, :] - y[..., None] * rows[..., 2, :])
    by_across = (cloud.covariances * across[..., None, :]).sum(-1)
    by_down = (cloud.covariances * down[..., None, :]).sum(-1)
    xx = (across * by_across).sum(-1) + BLUR_PX2
    yy = (down * by_down).sum(-1) + BLUR_PX2
    xy = ((across * by_down).sum(-1) + (down * by_across).sum(-1)) / 2
    area = xx * yy - xy * xy
    drawn = drawn & (area.detach() > 0) & (xx.detach() > 0)
    area = torch.where(drawn, area, 1.0)
    conics = torch.stack([yy / area, -xy / area, xx / area], -1)
    with torch.no_grad():
        cuts = torch.where(drawn, torch.log(cloud.opacities / LEAST_ALPHA), -math.inf)
        order = torch.argsort(z, dim=-1, stable=True)
    return Projected(centres, conics, torch.stack([xx, yy], -1), cuts, order)

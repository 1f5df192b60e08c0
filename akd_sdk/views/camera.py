"""Orthographic cameras that follow the character's root, as the embedded prior sees it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Cameras:
    """Cameras around the character.

    Azimuth 0 looks at the face; at a quarter turn the character faces the right edge of the image.

    Attributes:
        azimuth: (views,) radians, turn of the camera about the vertical.
        elevation: (views,) radians, height of the camera above the horizon.
    """

    azimuth: Tensor
    elevation: Tensor

    @property
    def count(self) -> int:
        return int(self.azimuth.shape[0])

    @property
    def rows(self) -> Tensor:
        """(views, 3, 3) image right, image up and the direction towards the viewer, as rows in the character frame."""
        ca, sa = torch.cos(self.azimuth), torch.sin(self.azimuth)
        ce, se = torch.cos(self.elevation), torch.sin(self.elevation)
        nil = torch.zeros_like(ca)
        right = torch.stack([ca, nil, sa], -1)
        up = torch.stack([sa * se, ce, -ca * se], -1)
        viewer = torch.stack([-sa * ce, se, ca * ce], -1)
        return torch.stack([right, up, viewer], -2)

    @property
    def params(self) -> Tensor:
        """(views, 4) sine and cosine of azimuth and elevation: what a prior is told about the camera."""
        return torch.stack(
            [torch.sin(self.azimuth), torch.cos(self.azimuth), torch.sin(self.elevation), torch.cos(self.elevation)], -1
        )

    @classmethod
    def ring(cls, views: int, elevation_rad: tuple[float, float], generator: torch.Generator) -> Cameras:
        """`views` cameras, evenly spaced from a random azimuth, each at a random elevation within the range."""
        turn = torch.rand(1, generator=generator)
        azimuth = (turn + torch.arange(views) / views) * (2.0 * math.pi)
        low, high = elevation_rad
        return cls(azimuth, torch.rand(views, generator=generator) * (high - low) + low)

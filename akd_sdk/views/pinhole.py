"""Pinhole cameras: where a picture is taken from, and what size it has."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from akd_sdk.errors import AkdError

SMALLEST, LARGEST = 2, 8192
"""Pixels a side of a picture."""


@dataclass(frozen=True)
class Pinhole:
    """A batch of pinhole cameras, one a picture.

    Camera axes are x right, y down, z into the scene: `point_camera = camera_from_world @ [point_world, 1]`, and the pixel is
    `u = focal x / z + width / 2`, `v = focal y / z + height / 2`, pixel centres at .5.

    Attributes:
        camera_from_world: (batch, 3, 4) rotation and translation, metres; may carry a gradient.
        focal: (batch,) pixels.
        size: height and width in pixels.
    """

    camera_from_world: Tensor
    focal: Tensor
    size: tuple[int, int]

    def __post_init__(self) -> None:
        height, width = self.size
        if not (SMALLEST <= height <= LARGEST and SMALLEST <= width <= LARGEST):
            raise AkdError(f"{width} x {height} is no picture", "size", f"give {SMALLEST} to {LARGEST} pixels a side")

    @property
    def count(self) -> int:
        return int(self.camera_from_world.shape[0])

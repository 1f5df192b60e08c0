"""A checkerboard ground seen by pinhole cameras, free of aliasing and differentiable in the camera."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from akd_sdk.errors import AkdError
from akd_sdk.views.pinhole import Pinhole

Axes = tuple[Tensor, Tensor, Tensor]
"""What a thing is along x, y and z."""

CORNER: Final = (0.37, 0.29)
"""Where a corner of four tiles lies, in tiles along x and z: the axes of the world, on which characters walk, run along no edge."""
FINEST_TILES: Final = 0.8
"""Tiles a pixel is wide where the contrast of the checkerboard has lost two thirds; beyond, the mean of a pixel alone would flicker."""
CLEAR_HEIGHTS: Final = 30.0
"""Heights of the camera of distance over which the ground goes over into the sky by two thirds."""
FOOTPRINT: Final = 1.25
"""Width of the filter in pixels; one would leave edges that step from pixel to pixel without a slope."""
CHUNK_PIXELS: Final = 2_000_000
"""Pixels worked on at once: bounds the memory of long, large videos."""
LEAST_DROP: Final = 1e-9
"""Slope of a ray below the horizon under which it counts as level."""


@dataclass(frozen=True)
class GroundColours:
    """sRGB in 0..1 of the light and the dark tiles and of the sky, which is also the background where there is no ground."""

    light: tuple[float, float, float] = (0.86, 0.86, 0.84)
    dark: tuple[float, float, float] = (0.62, 0.63, 0.65)
    sky: tuple[float, float, float] = (0.80, 0.86, 0.93)


DAYLIGHT: Final = GroundColours()


def checkerboard(camera: Pinhole, tile_m: float | None, height_m: float = 0.0, colours: GroundColours = DAYLIGHT) -> Tensor:
    """The level ground at `height_m` as the cameras see it, tiles along the axes of the world.

    The colour of a pixel is the mean over its footprint on the ground, so that the picture is continuous in the camera, and the
    gradient is right: the checkerboard shows how the camera travels. Contrast fades where tiles become small, and with distance the
    ground goes over into the sky.

    Args:
        camera: above the ground; `camera_from_world` and `focal` may carry gradients.
        tile_m: side of a tile in metres; None for the sky alone.
        height_m: of the ground, metres.
        colours: of tiles and sky.

    Returns:
        (batch, height, width, 3) sRGB in 0..1.

    Raises:
        AkdError: a camera below the ground, no positive size of tiles.
    """
    height, width = camera.size
    matrices = camera.camera_from_world
    if tile_m is None:
        return _colour(colours.sky, matrices).expand(camera.count, height, width, 3)
    if not 0.0 < tile_m < float("inf"):
        raise AkdError(f"tiles of {tile_m} m", "tile_m", "give a positive size in metres")
    eyes = -(matrices[..., :3].mT @ matrices[..., 3:])[..., 0]
    above = float((eyes[:, 1].detach() - height_m).min()) if camera.count else 1.0
    if not above > 0.0:
        raise AkdError(f"a camera is {-above:.3g} m below the ground", "camera", "raise it, or lower the ground")
    step = max(1, CHUNK_PIXELS // (height * width))
    parts = []
    for start in range(0, camera.count, step):
        some = slice(start, start + step)
        inputs = (matrices[some], eyes[some], camera.focal[some])
        if camera.count > step and torch.is_grad_enabled() and any(value.requires_grad for value in inputs):
            parts.append(checkpoint(_seen, *inputs, camera.size, (tile_m, height_m), colours, use_reentrant=False))
        else:
            parts.append(_seen(*inputs, camera.size, (tile_m, height_m), colours))
    return torch.cat(parts) if parts else matrices.new_zeros(0, height, width, 3)


def _seen(
    matrices: Tensor, eyes: Tensor, focal: Tensor, size: tuple[int, int], ground: tuple[float, float], colours: GroundColours
) -> Tensor:
    """(batch, height, width, 3) what the cameras see; `ground` is the side of a tile and the height."""
    tile_m, height_m = ground
    rays, across, down = _rays(matrices, focal, size)
    level = rays[1] >= -LEAST_DROP
    reach = (eyes[:, 1] - height_m)[:, None, None] / torch.where(level, 1.0, -rays[1])
    pattern, far, fine = torch.ones_like(reach), torch.zeros_like(reach), torch.zeros_like(reach)
    for axis, corner in ((0, CORNER[0]), (2, CORNER[1])):
        start = eyes[:, axis] / tile_m - corner
        start = start - 2.0 * torch.floor(start.detach() / 2.0)  # the pattern repeats: small numbers keep their digits
        tiles = reach / tile_m
        away = tiles * rays[axis]
        slant = away * (tile_m / (eyes[:, 1] - height_m))[:, None, None]
        # How far the point on the ground moves for a pixel to the right and a pixel down, in tiles.
        moves = [torch.abs(step[axis] + slant * step[1]) for step in (across, down)]
        footprint = (moves[0] + moves[1]) * tiles
        pattern = pattern * _mean_wave(start[:, None, None] + away, FOOTPRINT * footprint)
        far, fine = far + away * away, fine + footprint * footprint
    reached = torch.sqrt(far + 1e-12) * (tile_m / CLEAR_HEIGHTS / (eyes[:, 1] - height_m))[:, None, None]
    clear = torch.where(level, 0.0, torch.exp(-reached))
    contrast = torch.where(level, 0.0, pattern * torch.exp(-fine / FINEST_TILES**2) * clear)
    light, dark, sky = (_colour(rgb, matrices) for rgb in (colours.light, colours.dark, colours.sky))
    parts = torch.stack([0.5 * (light + dark) - sky, 0.5 * (light - dark)])
    return sky + torch.stack([clear, contrast], -1) @ parts


def _rays(matrices: Tensor, focal: Tensor, size: tuple[int, int]) -> tuple[Axes, Axes, Axes]:
    """In the world: the rays (batch, height, width), and how they change for a pixel to the right and a pixel down."""
    height, width = size
    columns = torch.arange(width, dtype=matrices.dtype, device=matrices.device) + (0.5 - 0.5 * width)
    rows = torch.arange(height, dtype=matrices.dtype, device=matrices.device) + (0.5 - 0.5 * height)
    right, under, ahead = matrices[:, :, :3, None, None].unbind(1)
    across, down = right / focal[:, None, None, None], under / focal[:, None, None, None]
    rays = (ahead + columns * across) + rows[:, None] * down
    x, y, z = (part.unbind(1) for part in (rays, across, down))
    return (x[0], x[1], x[2]), (y[0], y[1], y[2]), (z[0], z[1], z[2])


def _mean_wave(at: Tensor, width: Tensor) -> Tensor:
    """Mean over at ± width / 2 of the square wave that is 1 from 0 to 1 and -1 from 1 to 2, and so on."""
    half = 0.5 * torch.clamp_min(width, 1e-4)
    return (_triangle(at + half) - _triangle(at - half)) / (2.0 * half)


def _triangle(at: Tensor) -> Tensor:
    """The integral of the square wave: up from 0 to 1, down from 1 to 2."""
    turned = at - 2.0 * torch.floor(at.detach() / 2.0)
    return 1.0 - torch.abs(turned - 1.0)


def _colour(rgb: tuple[float, float, float], like: Tensor) -> Tensor:
    return torch.tensor(rgb, dtype=like.dtype, device=like.device)

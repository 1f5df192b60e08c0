"""Splatting in plain dense torch: every Gaussian at every pixel; slow, short, and the oracle of the fast backends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.utils.checkpoint import checkpoint

from akd_sdk.splat.cloud import Cloud, Matched, matched
from akd_sdk.splat.memory import told_what_fits
from akd_sdk.splat.projection import LEAST_LIGHT, MOST_ALPHA, project
from akd_sdk.views.pinhole import Pinhole

CHUNK: Final = 1 << 21
"""Pairs of Gaussian and pixel held at once: small enough to stay near the caches. Some twenty numbers are held for each."""


class TorchSplatter:
    """Dense splatting on any device, in float32 or float64; memory is bounded by `chunk`, time is not."""

    name: Final = "torch"

    def __init__(self, device: str = "cpu", chunk: int = CHUNK) -> None:
        self.device, self.chunk = device, chunk

    def __call__(self, cloud: Cloud, camera: Pinhole, background: Tensor) -> Tensor:
        """See `Splatter`."""
        given = matched(cloud, camera, background, self.device, cloud.means.dtype)
        with told_what_fits(camera, cloud.count):
            return self._draw(given)

    def _draw(self, given: Matched) -> Tensor:
        cloud, camera = given.cloud, given.camera
        projected = project(given)
        shape = (camera.count, *camera.size, 3)
        behind = given.background.expand(shape).reshape(camera.count, -1, 3)
        columns = [projected.centres, projected.conics, cloud.opacities[..., None], projected.cuts[..., None]]
        ordered = torch.take_along_dim(torch.cat(columns, -1), projected.order[..., None], 1)
        colours = cloud.colours[projected.order]
        places = _pixel_centres(camera.size, ordered)
        parts = list(_parts(camera.count, len(places), cloud.count, self.chunk))
        made = []
        for pictures, pixels in parts:
            inputs = (ordered[pictures], colours[pictures], places[pixels], behind[pictures, pixels])
            made.append(_blend(*inputs) if len(parts) == 1 else checkpoint(_blend, *inputs, use_reentrant=False))
        return torch.cat([part.reshape(-1, 3) for part in made]).reshape(shape)


def _pixel_centres(size: tuple[int, int], like: Tensor) -> Tensor:
    """(height * width, 2) x and y."""
    y, x = (torch.arange(side, dtype=like.dtype, device=like.device) + 0.5 for side in size)
    return torch.stack([x.expand(len(y), -1), y[:, None].expand(-1, len(x))], -1).reshape(-1, 2)


def _parts(pictures: int, pixels: int, gaussians: int, chunk: int) -> Iterator[tuple[slice, slice]]:
    """Whole pictures, as many as fit, or spans of pixels of one picture; at least one pixel at once."""
    step = max(1, min(pixels, chunk // max(gaussians, 1)))
    if step < pixels:
        for picture in range(pictures):
            for first in range(0, pixels, step):
                yield slice(picture, picture + 1), slice(first, first + step)
        return
    several = max(1, chunk // max(pixels * gaussians, 1))
    for picture in range(0, pictures, several):
        yield slice(picture, picture + several), slice(0, pixels)


def _blend(ordered: Tensor, colours: Tensor, places: Tensor, behind: Tensor) -> Tensor:
    """Colours (pictures, pixels, 3) of Gaussians sorted from near to far, before `behind`."""
    u, v, a, b, c, opacity, cut = (column[:, None] for column in ordered.unbind(-1))
    dx = places[:, :1] - u
    dy = places[:, 1:] - v
    q = 0.5 * (a * dx * dx + c * dy * dy) + b * dx * dy
    alpha = (opacity * torch.exp(-q)).clamp(max=MOST_ALPHA)
    with torch.no_grad():
        seen = q <= cut
        seen &= torch.cumprod(torch.where(seen, 1.0 - alpha, 1.0), -1) > LEAST_LIGHT
    alpha = torch.where(seen, alpha, 0.0)
    light = torch.cumprod(pad(1.0 - alpha, (1, 0), value=1.0), -1)
    return (alpha * light[..., :-1]) @ colours + light[..., -1:] * behind

"""Splatting by Warp kernels, on CPU and CUDA, with gradients written by hand."""

from __future__ import annotations

import logging
from typing import Any, Final

import torch
from torch import Tensor

from akd_sdk.errors import BackendError
from akd_sdk.splat.cloud import Cloud, matched
from akd_sdk.splat.projection import project
from akd_sdk.views.pinhole import Pinhole

LOG = logging.getLogger(__name__)


class WarpSplatter:
    """Splatting in float32 on the device of the cloud; other floats are converted there and back."""

    name: Final = "warp"

    def __init__(self, device: str = "cpu") -> None:
        self.device = device
        try:
            import warp as wp
        except ImportError as error:
            raise BackendError("the package warp-lang is not installed", "warp", "pip install warp-lang") from error
        wp.config.log_level = wp.LOG_WARNING
        from akd_sdk.splat import kernels

        wp.init()  # type: ignore[no-untyped-call]  # of warp
        self._kernels = kernels
        self._wp = wp

    def __call__(self, cloud: Cloud, camera: Pinhole, background: Tensor) -> Tensor:
        """See `Splatter`."""
        given = matched(cloud, camera, background)
        projected = project(given)
        with torch.no_grad():
            reach = torch.sqrt((2 * projected.cuts.clamp(min=0.0))[..., None] * projected.variances)
        opacities = given.cloud.opacities
        columns = [projected.centres, projected.conics, opacities[..., None], projected.cuts[..., None], reach]
        splats = torch.cat(columns, -1)
        image, light = _Blend.apply(splats.float(), given.cloud.colours.float(), projected.order, camera.size, self._kernels)  # type: ignore[no-untyped-call]
        pictures: Tensor = image.to(splats.dtype) + light.to(splats.dtype)[..., None] * given.background
        return pictures


class _Blend(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, splats: Tensor, colours: Tensor, order: Tensor, size: tuple[int, int], kernels: Any) -> tuple[Tensor, Tensor]:
        pictures, count, _ = splats.shape
        height, width = size
        splats, colours = splats.detach().contiguous(), colours.detach().contiguous()
        lists = order.to(torch.int32).reshape(-1)
        starts = torch.arange(pictures, dtype=torch.int32, device=splats.device) * count
        bounds = torch.stack([starts, starts + count], -1)
        image = torch.zeros(pictures * height * width * 3, device=splats.device)
        light = torch.ones(pictures * height * width, device=splats.device)
        last = torch.zeros(pictures * height * width, dtype=torch.int32, device=splats.device)
        wp = kernels.wp
        grid = kernels.Grid()
        grid.height, grid.width = height, width
        grid.block = grid.tile = max(height, width)
        grid.gaussians = count
        arrays = [wp.from_torch(t) for t in (splats, colours, lists, bounds, image, light, last)]
        if count:
            wp.launch(kernels.blend, dim=(pictures, 1, 1), inputs=[grid, *arrays], device=arrays[0].device)
        ctx.save_for_backward(splats, colours, lists, bounds, light, last)
        ctx.size, ctx.kernels, ctx.grid = size, kernels, grid
        shape = (pictures, height, width)
        return image.reshape(*shape, 3), light.clone().reshape(shape)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        seen, dimmed = grads
        splats, colours, lists, bounds, light, last = ctx.saved_tensors
        wp = ctx.kernels.wp
        gradients = torch.zeros_like(splats)
        seen = seen.contiguous().reshape(-1)
        light = light.clone()
        behind = light * dimmed.reshape(-1)
        arrays = [wp.from_torch(t) for t in (splats, colours, lists, bounds, seen, last, light, behind, gradients)]
        if splats.shape[1]:
            wp.launch(ctx.kernels.blend_back, dim=(splats.shape[0], 1, 1), inputs=[ctx.grid, *arrays], device=arrays[0].device)
        d_colours = gradients[..., 6:9].sum(0)
        d_splats = torch.cat([gradients[..., :6], torch.zeros_like(gradients[..., 6:])], -1)
        return d_splats, d_colours, None, None, None

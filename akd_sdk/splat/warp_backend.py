"""Splatting by Warp kernels, on CPU and CUDA, with gradients written by hand."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import pairwise
from typing import Any, Final

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from akd_sdk.errors import BackendError
from akd_sdk.splat.cloud import Cloud, Matched, matched
from akd_sdk.splat.memory import told_what_fits
from akd_sdk.splat.projection import project
from akd_sdk.splat.quiet import without_line
from akd_sdk.splat.tiles import Blocks
from akd_sdk.views.pinhole import Pinhole

LOG = logging.getLogger(__name__)

TILE: Final = 16
"""Pixels a side of what shares a list of Gaussians on CUDA; on the CPU it is the whole picture."""
WORTH_A_THREAD: Final = 500
"""Gaussians, over all pictures, that keep a CPU thread busy for longer than it takes to call it."""

NO_DRIVER: Final = "Could not find or load the NVIDIA CUDA driver"
"""What Warp says on every machine without CUDA; whoever draws on the CPU need not hear it."""


class WarpSplatter:
    """Splatting in float32; other floats are converted there and back.

    On the CPU pictures are shared out to threads, as many as torch has; results do not depend on it.
    """

    name: Final = "warp"

    def __init__(self, device: str = "cpu", *, threads: int | None = None, blocks: Blocks | None = None) -> None:
        """Loads the kernels; the first time on a machine they are compiled, which takes some seconds.

        Raises:
            BackendError: the package is missing, or its folder of compiled kernels cannot be written.
        """
        self.device, self._threads = device, threads
        cuda = torch.device(device).type == "cuda"
        self.blocks = blocks or (Blocks(1, TILE) if cuda else Blocks())
        self._warp, self._kernels = _load_kernels(device)
        self._pool = None if cuda else ThreadPoolExecutor(thread_name_prefix="splat")

    def __call__(self, cloud: Cloud, camera: Pinhole, background: Tensor) -> Tensor:
        """See `Splatter`."""
        given = matched(cloud, camera, background, self.device, torch.float32)
        with told_what_fits(camera, cloud.count):
            seen = given.cloud
            inputs = (seen.means, seen.covariances, seen.colours, seen.opacities, given.camera.camera_from_world)
            image, light = _Splatting.apply(*inputs, self, given.camera)  # type: ignore[no-untyped-call]  # torch's own stub
            pictures: Tensor = image + light[..., None] * given.background
            return pictures.to(cloud.means.dtype)

    def launch(
        self, kernel: str, across: tuple[int, ...], size: tuple[int, int], shared: Sequence[Tensor], sliced: Sequence[Tensor]
    ) -> None:
        """Runs a kernel over pictures x `across`, for pictures of that height and width.

        `shared` goes whole to all threads; `sliced`, the Gaussians of the pictures first, has the pictures as first axis and is shared out.
        """
        wp, device = self._warp, self.device
        grid = self._kernels.Grid()
        grid.height, grid.width = size
        grid.block, grid.tile = self.blocks.sides(size)
        stream = None if self._pool is not None else wp.stream_from_torch(torch.cuda.current_stream(device))

        def part(first: int, end: int) -> None:
            arrays = [wp.from_torch(tensor, return_ctype=True) for tensor in (*shared, *(tensor[first:end] for tensor in sliced))]
            wp.launch(getattr(self._kernels, kernel), dim=(end - first, *across), inputs=[grid, *arrays], device=device, stream=stream)

        spans = self._spans(*sliced[0].shape[:2])
        others = [self._pool.submit(part, *span) for span in spans[1:]] if self._pool is not None else []
        part(*spans[0])
        for other in others:
            other.result()

    def _spans(self, pictures: int, gaussians: int) -> list[tuple[int, int]]:
        """First and end of the pictures of each thread."""
        wanted = 1 if self._pool is None else self._threads or torch.get_num_threads()
        threads = max(1, min(wanted, pictures, pictures * gaussians // WORTH_A_THREAD))
        return list(pairwise(pictures * part // threads for part in range(threads + 1)))


class _Splatting(torch.autograd.Function):
    """From Gaussians and cameras to the colour that they add to pictures, and the light that they leave for the background."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Tensor, Tensor]:
        """Of means, covariances, colours, opacities, camera_from_world, the splatter, and the camera."""
        *tensors, splatter, camera = given
        means, covariances, colours, opacities, view = (tensor.detach().contiguous() for tensor in tensors)
        projected = project(Matched(Cloud(means, covariances, colours, opacities), camera, means.new_zeros(3)))
        reach = torch.sqrt((2 * projected.cuts.clamp(min=0.0))[..., None] * projected.variances)
        columns = [projected.centres, projected.conics, opacities[..., None], projected.cuts[..., None], reach[..., 1:]]
        splats = torch.cat(columns, -1)
        lists, bounds = splatter.blocks.lists(projected, reach, camera.size)
        pictures, (height, width) = camera.count, camera.size
        image, light = means.new_zeros(pictures, height * width, 3), means.new_ones(pictures, height * width)
        last = torch.zeros_like(light, dtype=torch.int32)
        shared, sliced = [colours, lists], [splats, bounds, image, light, last]
        splatter.launch("blend", splatter.blocks.count(camera.size), camera.size, shared, sliced)
        ctx.save_for_backward(means, covariances, colours, view, camera.focal.detach(), splats, lists, bounds, light, last)
        ctx.splatter, ctx.camera = splatter, camera
        return image.reshape(pictures, height, width, 3), light.reshape(pictures, height, width)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, seen: Tensor, dimmed: Tensor) -> tuple[Tensor | None, ...]:
        with told_what_fits(ctx.camera, ctx.saved_tensors[0].shape[1]):
            return _carry_back(ctx, seen, dimmed)


def _carry_back(ctx: Any, seen: Tensor, dimmed: Tensor) -> tuple[Tensor | None, ...]:
    means, covariances, colours, view, focal, splats, lists, bounds, light, last = ctx.saved_tensors
    splatter, size = ctx.splatter, ctx.camera.size
    d_splats = splats.new_zeros(*splats.shape[:2], 9)
    behind = light * dimmed.reshape(light.shape)
    seen = seen.reshape(len(light), -1, 3).contiguous()
    used = [splats, bounds, seen, last, light.clone(), behind, d_splats]
    splatter.launch("blend_back", splatter.blocks.count(size), size, [colours, lists], used)
    d_means, d_covariances, d_view = torch.zeros_like(means), torch.zeros_like(covariances), torch.zeros_like(view)
    used = [splats, d_splats, means, covariances, view, focal, d_means, d_covariances, d_view]
    splatter.launch("project_back", means.shape[1:2], size, [], used)
    return d_means, d_covariances, d_splats[..., 6:].sum(0), d_splats[..., 5], d_view, None, None


def _load_kernels(device: str) -> tuple[Any, Any]:
    """The package warp and our kernels, ready on the device (Any: warp has no types of its own)."""
    try:
        import warp as wp
    except ImportError as error:
        raise BackendError("the package warp-lang is not installed", "warp", "pip install warp-lang") from error
    wp.config.log_level = wp.LOG_WARNING
    try:
        with without_line(NO_DRIVER) if torch.device(device).type == "cpu" else nullcontext():
            wp.init()  # type: ignore[no-untyped-call]  # of warp
        from akd_sdk.splat import kernels

        LOG.info("loading the splatting kernels; they are compiled once on a machine, which takes some seconds")
        wp.load_module(kernels, device=device)
    except (OSError, RuntimeError) as error:
        fault = f"the splatting kernels cannot be compiled: {error}"
        raise BackendError(fault, "warp", "name a folder that can be written in the environment variable WARP_CACHE_PATH") from error
    return wp, kernels

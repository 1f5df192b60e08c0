"""The call to gsplat against its installed source: its own checks, its own projection on the CPU, and a blend in place of its CUDA part."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import torch
from splat_scenes import random_scene
from torch import Tensor

from akd_sdk.errors import BackendError
from akd_sdk.splat import gsplat_backend, load_splatter
from akd_sdk.splat.gsplat_backend import GsplatSplatter

rendering = pytest.importorskip("gsplat.rendering", reason="gsplat is an extra")
torch_parts = pytest.importorskip("gsplat.cuda._torch_impl")


def blend_slowly(
    means: Tensor, conics: Tensor, colours: Tensor, opacities: Tensor, depths: Tensor, size: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """Front to back, Gaussian after Gaussian; all with leading axes of pictures."""
    y, x = torch.meshgrid(torch.arange(size[0]) + 0.5, torch.arange(size[1]) + 0.5, indexing="ij")
    order = depths.argsort(-1)
    lead = (*means.shape[:-2], 1, 1)
    light, image, full = (
        torch.ones(*means.shape[:-2], *size),
        torch.zeros(*means.shape[:-2], *size, 3),
        torch.zeros(*means.shape[:-2], *size, dtype=torch.bool),
    )
    for place in range(order.shape[-1]):
        at = order[..., place : place + 1]
        centre, conic, colour = (torch.take_along_dim(t, at[..., None], -2)[..., 0, :] for t in (means, conics, colours))
        dx, dy = x - centre[..., 0].view(lead), y - centre[..., 1].view(lead)
        a, b, c = (conic[..., k].view(lead) for k in range(3))
        exponent = 0.5 * (a * dx**2 + c * dy**2) + b * dx * dy
        alpha = (torch.take_along_dim(opacities, at, -1).view(lead) * torch.exp(-exponent)).clamp(max=0.999)
        alpha = torch.where((alpha >= 1 / 255) & (depths.gather(-1, at).view(lead) > 0.01) & ~full, alpha, 0.0)
        full = full | (light * (1 - alpha) <= 1e-4)
        alpha = torch.where(full, 0.0, alpha)
        image = image + (light * alpha)[..., None] * colour.view(*lead, 3)
        light = light * (1 - alpha)
    return image, 1 - light[..., None]


@pytest.fixture
def gsplat_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> GsplatSplatter:
    """The backend with gsplat's `rasterization` itself, whose four CUDA calls are replaced."""
    seen: dict[str, Any] = {}

    def projection(
        means: Tensor, covars: Tensor, quats: None, scales: None, viewmats: Tensor, Ks: Tensor, width: int, height: int, **options: Any
    ) -> Any:
        full = covars[..., [0, 1, 2, 1, 3, 4, 2, 4, 5]].unflatten(-1, (3, 3))
        seen.update(options)
        chosen = {name: options[name] for name in ("eps2d", "near_plane")}
        parts = torch_parts._fully_fused_projection(means, full, viewmats, Ks, width, height, **chosen)
        seen["depths"] = parts[2]
        return parts

    def rasterize(means2d: Tensor, conics: Tensor, colors: Tensor, opacities: Tensor, width: int, height: int, *_: Any, **__: Any) -> Any:
        return blend_slowly(means2d, conics, colors, opacities, seen["depths"], (height, width))

    monkeypatch.setattr(rendering, "fully_fused_projection", projection)
    monkeypatch.setattr(rendering, "isect_tiles", lambda *_, **__: (None, None, None))
    monkeypatch.setattr(rendering, "isect_offset_encode", lambda _, images, wide, high: torch.zeros(images, high, wide))
    monkeypatch.setattr(rendering, "rasterize_to_pixels", rasterize)
    splatter = object.__new__(GsplatSplatter)
    splatter.device, splatter._rasterize = "cpu", rendering.rasterization
    return splatter


@pytest.mark.parametrize(("spread_m", "size"), [(0.4, (16, 24)), (2.5, (20, 20))])
def test_gsplat_is_called_so_that_it_agrees_with_the_twin(
    gsplat_on_the_cpu: GsplatSplatter, spread_m: float, size: tuple[int, int]
) -> None:
    scene = random_scene(3, 40, size, spread_m=spread_m)
    drawn, gradients = scene.draw_and_differentiate(gsplat_on_the_cpu)
    expected, by_twin = scene.draw_and_differentiate(load_splatter("torch"))
    torch.testing.assert_close(drawn, expected, rtol=0, atol=1e-5)
    for name, gradient in by_twin.items():
        torch.testing.assert_close(gradients[name], gradient, rtol=0, atol=1e-4 * float(gradient.abs().max()))


def test_no_gaussians_leave_the_background(gsplat_on_the_cpu: GsplatSplatter) -> None:
    scene = random_scene(2, 4, (8, 10))
    none = replace(
        scene, means=scene.means[:, :0], covariances=scene.covariances[:, :0], colours=scene.colours[:0], opacities=scene.opacities[:0]
    )
    assert torch.equal(none.draw(gsplat_on_the_cpu), scene.background)


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is here")
def test_without_cuda_it_is_refused_before_anything_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gsplat_backend, "_find_rasterization", lambda: pytest.fail("gsplat was asked for its CUDA part"))
    with pytest.raises(BackendError, match="gsplat draws on CUDA devices only"):
        GsplatSplatter("cuda")


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is here")
def test_a_compiled_part_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    uncompiled = ModuleType("gsplat.cuda._backend")
    uncompiled.__dict__["_C"] = None  # what gsplat has where it finds no toolkit
    monkeypatch.setitem(sys.modules, uncompiled.__name__, uncompiled)
    with pytest.raises(BackendError, match=r"gsplat's CUDA part is not compiled.*akd-sdk\[cuda\]"):
        gsplat_backend._find_rasterization()

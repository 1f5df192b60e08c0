"""The Warp kernels against the plain dense twin: pictures and gradients, also where there is little or nothing to see."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from splat_scenes import Scene, random_scene
from torch import Tensor

from akd_sdk.splat import load_splatter
from akd_sdk.splat.tiles import Blocks
from akd_sdk.splat.twin import TorchSplatter
from akd_sdk.splat.warp_backend import WarpSplatter

PICTURE_TOLERANCE = 1e-5
"""Of colours in 0..1; ten times under what is promised, and far above float noise."""
GRADIENT_TOLERANCE = 1e-4
"""Of the largest gradient of its kind, likewise."""


def leaf(tensor: Tensor) -> Tensor:
    return tensor.detach().clone().requires_grad_()


def assert_same(scene: Scene, one: object = None, other: object = None) -> tuple[Tensor, dict[str, Tensor]]:
    """Pictures and gradients of two backends (warp and the twin) agree; those of the first are given back."""
    fast, by_fast = scene.draw_and_differentiate(one or load_splatter("warp"))  # type: ignore[arg-type]
    slow, by_slow = scene.draw_and_differentiate(other or load_splatter("torch"))  # type: ignore[arg-type]
    assert fast.shape == slow.shape
    torch.testing.assert_close(fast, slow, rtol=0, atol=PICTURE_TOLERANCE)
    for name, gradient in by_slow.items():
        assert torch.isfinite(gradient).all(), name
        scale = float(gradient.abs().max()) if gradient.numel() else 0.0
        torch.testing.assert_close(
            by_fast[name], gradient, rtol=0, atol=GRADIENT_TOLERANCE * scale, msg=lambda text, name=name: f"{name}: {text}"
        )
    return fast, by_fast


@pytest.mark.parametrize(("frames", "gaussians", "size"), [(4, 42, (32, 32)), (2, 300, (33, 47)), (1, 1, (16, 16)), (3, 60, (2, 2))])
def test_warp_agrees_with_the_twin(frames: int, gaussians: int, size: tuple[int, int]) -> None:
    _, gradients = assert_same(random_scene(frames, gaussians, size))
    assert all(float(gradient.abs().max()) > 0 for gradient in gradients.values())


@pytest.mark.parametrize("deviation_m", [1e-4, 0.5])
def test_warp_agrees_with_the_twin_on_specks_and_on_gaussians_larger_than_the_picture(deviation_m: float) -> None:
    assert_same(random_scene(2, 50, (24, 40), deviation_m=deviation_m))


def test_warp_agrees_with_the_twin_where_opaque_layers_take_all_light() -> None:
    scene = random_scene(2, 200, (32, 32), deviation_m=0.2)
    scene = replace(scene, opacities=leaf(0.9 + 0.1 * scene.opacities))
    pictures, _ = assert_same(scene)
    gone = replace(scene, background=leaf(scene.background * 0))
    assert float((pictures - gone.draw(load_splatter("warp")).detach()).abs().amax(-1).min()) < 1e-2  # somewhere no background is left


def test_warp_agrees_with_the_twin_where_a_gaussian_covers_all_that_it_may() -> None:
    """Opaque and wider than the picture: alpha is held at .999, and no gradient goes to shape and opacity."""
    scene = random_scene(2, 1, (16, 16))
    wide = replace(scene, covariances=leaf(1e4 * torch.eye(3).expand(2, 1, 3, 3)), opacities=leaf(torch.ones(1)))
    pictures, gradients = assert_same(wide)
    torch.testing.assert_close(pictures, (0.999 * wide.colours[0] + 0.001 * wide.background).detach(), rtol=0, atol=1e-6)
    assert all(float(gradients[name].abs().max()) == 0.0 for name in ("opacities", "covariances", "means", "view"))
    assert float(gradients["colours"].abs().max()) > 0.0


def test_warp_agrees_with_the_twin_where_gaussians_surround_the_camera() -> None:
    scene = random_scene(3, 150, (32, 24), spread_m=3.0)
    depth = (scene.means @ scene.view[:, 2, :3, None])[..., 0] + scene.view[:, 2, 3:]
    assert bool((depth < 0).any())
    assert bool((depth > 0).any())
    _, gradients = assert_same(scene)
    assert float(gradients["means"][depth < 0.01].abs().max()) == 0.0


def test_gaussians_of_zero_opacity_are_not_seen_and_get_no_gradient() -> None:
    scene = random_scene(2, 40, (24, 24))
    opacities = scene.opacities.detach().clone()
    opacities[::2] = 0.0
    with_them, gradients = assert_same(replace(scene, opacities=opacities.requires_grad_()))
    assert all(
        float(gradients[name].select(-1 if name == "opacities" else 1 if name != "colours" else 0, 0).abs().max()) == 0
        for name in ("opacities", "means", "covariances", "colours")
    )
    kept = slice(1, None, 2)
    fewer = Scene(
        **{
            **vars(scene),
            "means": leaf(scene.means[:, kept]),
            "covariances": leaf(scene.covariances[:, kept]),
            "colours": leaf(scene.colours[kept]),
            "opacities": leaf(opacities[kept]),
        }
    )
    torch.testing.assert_close(fewer.draw(load_splatter("warp")).detach(), with_them, rtol=0, atol=1e-6)


def test_where_nothing_is_seen_the_picture_is_the_background() -> None:
    scene = random_scene(2, 30, (16, 24))
    nothing = replace(
        scene,
        means=leaf(scene.means[:, :0]),
        covariances=leaf(scene.covariances[:, :0]),
        colours=leaf(scene.colours[:0]),
        opacities=leaf(scene.opacities[:0]),
    )
    behind = replace(scene, view=leaf(torch.cat([scene.view[..., :3], scene.view[..., 3:] - torch.tensor([[0.0], [0.0], [100.0]])], -1)))
    aside = replace(scene, view=leaf(torch.cat([scene.view[..., :3], scene.view[..., 3:] + torch.tensor([[100.0], [0.0], [0.0]])], -1)))
    for unseen in (nothing, behind, aside):
        pictures, gradients = assert_same(unseen)
        assert torch.equal(pictures, scene.background.detach())
        assert torch.equal(gradients["background"], scene.weights)
        assert float(gradients["view"].abs().max()) == 0.0


def test_pictures_are_shared_out_to_threads_without_a_trace() -> None:
    scene = random_scene(5, 400, (24, 24))
    alone, by_alone = scene.draw_and_differentiate(WarpSplatter(threads=1))
    shared, by_shared = scene.draw_and_differentiate(WarpSplatter(threads=3))
    assert torch.equal(alone, shared)
    assert all(torch.equal(by_alone[name], by_shared[name]) for name in by_alone)


@pytest.mark.parametrize("blocks", [Blocks(1, 16), Blocks(4, 8), Blocks(16, 16), Blocks(8)], ids=str)
def test_blocks_and_tiles_as_on_cuda_give_the_same(blocks: Blocks) -> None:
    assert_same(random_scene(2, 120, (33, 47)), WarpSplatter(blocks=blocks))
    assert_same(random_scene(2, 60, (20, 20), spread_m=3.0), WarpSplatter(blocks=blocks))


def test_chunks_of_the_twin_give_the_same() -> None:
    scene = random_scene(3, 30, (17, 19))
    for chunk in (30 * 17, 30 * 17 * 19 // 3, 30 * 17 * 19 * 2):
        assert_same(scene, TorchSplatter(chunk=chunk))


def test_views_look_at_the_frames_in_turn() -> None:
    scene = random_scene(4, 40, (16, 16))
    halves = replace(
        scene, means=leaf(scene.means[:2]), covariances=leaf(scene.covariances[:2]), opacities=leaf(scene.opacities.repeat(2, 1))
    )
    pictures, gradients = assert_same(halves)
    whole = replace(
        halves,
        means=leaf(halves.means.repeat(2, 1, 1)),
        covariances=leaf(halves.covariances.repeat(2, 1, 1, 1)),
        opacities=leaf(scene.opacities),
    )
    by_picture, picture_gradients = whole.draw_and_differentiate(load_splatter("warp"))
    assert torch.equal(pictures, by_picture)
    torch.testing.assert_close(gradients["means"], picture_gradients["means"].reshape(2, 2, -1, 3).sum(0))


def test_one_colour_behind_all_is_as_good_as_a_picture_of_it() -> None:
    scene = random_scene(2, 30, (16, 24))
    colour = torch.tensor([0.2, 0.5, 0.8])
    plain, _ = assert_same(replace(scene, background=leaf(colour)))
    assert torch.equal(plain, replace(scene, background=colour.expand(2, 16, 24, 3)).draw(load_splatter("warp")).detach())


def test_float64_is_drawn_by_warp_in_float32_and_given_back_as_float64() -> None:
    scene = random_scene(2, 30, (16, 24))
    wide, gradients = scene.to(torch.float64).draw_and_differentiate(load_splatter("warp"))
    assert wide.dtype == torch.float64
    assert gradients["means"].dtype == torch.float64
    assert torch.equal(wide.float(), scene.draw(load_splatter("warp")).detach())

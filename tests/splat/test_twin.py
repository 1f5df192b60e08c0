"""The dense twin against what is known without it: formulas by hand, finite differences, and gsplat's own projection."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from splat_scenes import Scene, random_scene

from akd_sdk.splat import Cloud, load_splatter
from akd_sdk.splat.cloud import matched
from akd_sdk.splat.projection import project
from akd_sdk.splat.twin import TorchSplatter
from akd_sdk.views.pinhole import Pinhole

TWIN = TorchSplatter()


def by_hand(scene: Scene, picture: int) -> np.ndarray:
    """One picture, pixel by pixel and Gaussian by Gaussian, as the method is written."""
    means, covariances = scene.means[picture].detach().numpy(), scene.covariances[picture].detach().numpy()
    colours, opacities = scene.colours.detach().numpy(), scene.opacities.detach().numpy()
    view, focal, (height, width) = scene.view[picture].detach().numpy(), float(scene.focal[picture]), scene.size
    seen = means @ view[:, :3].T + view[:, 3]
    image = np.zeros((height, width, 3))
    for row in range(height):
        for column in range(width):
            light = 1.0
            for i in np.argsort(seen[:, 2]):
                x, y, z = seen[i]
                if z <= 0.01:
                    continue
                edge_x, edge_y = 1.3 * width / 2 / focal, 1.3 * height / 2 / focal
                held_x, held_y = np.clip(x / z, -edge_x, edge_x), np.clip(y / z, -edge_y, edge_y)
                flat = focal / z * np.array([[1.0, 0.0, -held_x], [0.0, 1.0, -held_y]]) @ view[:, :3]
                spread = flat @ covariances[i] @ flat.T + 0.3 * np.eye(2)
                away = np.array([column + 0.5 - focal * x / z - width / 2, row + 0.5 - focal * y / z - height / 2])
                alpha = min(0.999, opacities[i] * math.exp(-away @ np.linalg.solve(spread, away) / 2))
                if alpha < 1 / 255:
                    continue
                if light * (1 - alpha) <= 1e-4:
                    break
                image[row, column] += light * alpha * colours[i]
                light *= 1 - alpha
            image[row, column] += light * scene.background[picture, row, column].detach().numpy()
    return image


@pytest.mark.parametrize("spread_m", [0.4, 2.5])
def test_pictures_are_those_made_by_hand(spread_m: float) -> None:
    scene = random_scene(2, 40, (9, 11), spread_m=spread_m, deviation_m=0.2).to(torch.float64)
    drawn = scene.draw(TWIN).detach().numpy()
    for picture in range(2):
        np.testing.assert_allclose(drawn[picture], by_hand(scene, picture), rtol=0, atol=1e-10)


def test_one_gaussian_before_the_camera_has_the_colours_of_the_formula() -> None:
    eye = torch.eye(3, dtype=torch.float64)
    cloud = Cloud(
        torch.zeros(1, 1, 3, dtype=torch.float64),
        0.04 * eye[None, None],
        torch.ones(1, 3, dtype=torch.float64),
        torch.tensor([0.5], dtype=torch.float64),
    )
    view = torch.cat([eye, torch.tensor([[0.0], [0.0], [2.0]], dtype=torch.float64)], -1)[None]
    picture = TWIN(cloud, Pinhole(view, torch.tensor([20.0], dtype=torch.float64), (11, 11)), torch.zeros(3, dtype=torch.float64))
    variance = (20.0 / 2.0) ** 2 * 0.04 + 0.3
    for away in (0, 1, 3):
        assert float(picture[0, 5, 5 + away, 0]) == pytest.approx(0.5 * math.exp(-(away**2) / 2 / variance), abs=1e-12)


def test_what_is_nearer_than_a_centimetre_is_not_drawn_and_all_else_is() -> None:
    eye = torch.eye(3, dtype=torch.float64)
    view = torch.cat([eye, torch.zeros(3, 1, dtype=torch.float64)], -1)[None]
    camera = Pinhole(view, torch.tensor([20.0], dtype=torch.float64), (5, 5))
    for depth, drawn in ((0.009, False), (0.011, True), (0.1, True)):
        mean = torch.tensor([[[0.0, 0.0, depth]]], dtype=torch.float64)
        cloud = Cloud(mean, 1e-6 * eye[None, None], torch.ones(1, 3, dtype=torch.float64), torch.tensor([0.5], dtype=torch.float64))
        middle = float(TWIN(cloud, camera, torch.zeros(3, dtype=torch.float64))[0, 2, 2, 0])
        assert middle == pytest.approx(0.5 if drawn else 0.0, abs=1e-12)


@pytest.mark.parametrize("spread_m", [0.4, 2.5])
def test_gradients_are_central_differences(spread_m: float) -> None:
    scene = random_scene(2, 8, (6, 7), spread_m=spread_m, deviation_m=0.15, seed=5).to(torch.float64)

    def drawn(*leaves: torch.Tensor) -> torch.Tensor:
        return replace(scene, **dict(zip(scene.leaves, leaves))).draw(TWIN)

    assert torch.autograd.gradcheck(drawn, tuple(scene.leaves.values()), eps=1e-7, atol=1e-5, rtol=1e-4, fast_mode=True)


def test_gradients_through_chunks_are_central_differences() -> None:
    scene = random_scene(1, 5, (5, 6), deviation_m=0.15).to(torch.float64)

    def drawn(means: torch.Tensor) -> torch.Tensor:
        return replace(scene, means=means).draw(TorchSplatter(chunk=5 * 7))

    assert torch.autograd.gradcheck(drawn, (scene.means,), eps=1e-7, atol=1e-5, rtol=1e-4, fast_mode=True)


def test_projection_is_that_of_gsplat() -> None:
    projection = pytest.importorskip("gsplat.cuda._torch_impl", reason="gsplat is an extra")._fully_fused_projection
    scene = random_scene(3, 400, (48, 64), spread_m=2.0).to(torch.float64)
    cloud = Cloud(scene.means, scene.covariances, scene.colours, scene.opacities)
    ours = project(matched(cloud, Pinhole(scene.view, scene.focal, scene.size), scene.background, "cpu", torch.float64))
    view = torch.cat([scene.view, torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.float64).expand(3, 1, 4)], 1)[:, None]
    lens = torch.diag_embed(torch.stack([scene.focal, scene.focal, torch.ones_like(scene.focal)], -1))[:, None].clone()
    lens[..., 0, 2], lens[..., 1, 2] = 32.0, 24.0
    radii, centres, depths, conics, _ = projection(scene.means, scene.covariances, view, lens, 64, 48, near_plane=0.01)
    seen = (radii > 0).all(-1)[:, 0]
    assert 100 < int(seen.sum()) < seen.numel()
    assert bool((ours.cuts[depths[:, 0] < 0.01] < 0).all())
    torch.testing.assert_close(ours.centres[seen], centres[:, 0][seen], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(ours.conics[seen], conics[:, 0][seen], rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(torch.take_along_dim(depths[:, 0], ours.order, -1), depths[:, 0].sort(-1).values)


def test_warp_has_the_gradients_of_central_differences() -> None:
    """Not by way of the twin's autograd: differences of the twin's pictures in float64."""
    scene = random_scene(1, 12, (12, 12), deviation_m=0.12)
    _, gradients = scene.draw_and_differentiate(load_splatter("warp"))
    exact = scene.to(torch.float64)
    generator = torch.Generator().manual_seed(3)
    for name in scene.leaves:
        direction = torch.randn(exact.leaves[name].shape, generator=generator, dtype=torch.float64)
        if name == "covariances":
            direction = direction + direction.transpose(-1, -2)
        step = 1e-6
        ahead, back = (
            (replace(exact, **{name: exact.leaves[name] + sign * step * direction}).draw(TWIN) * exact.weights).sum() for sign in (1, -1)
        )
        expected = float((ahead - back).detach()) / (2 * step)
        assert float((gradients[name].double() * direction).sum()) == pytest.approx(expected, rel=1e-3), name

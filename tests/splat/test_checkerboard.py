"""The checkerboard: where it is, free of aliasing, and with the gradient that lets travel be seen."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from akd_sdk.errors import AkdError
from akd_sdk.splat import ground
from akd_sdk.splat.ground import CORNER, GroundColours, checkerboard
from akd_sdk.views.pinhole import Pinhole

COLOURS = GroundColours((0.9, 0.8, 0.7), (0.3, 0.2, 0.1), (0.4, 0.6, 0.9))
TILE = 0.4


def looking(eyes: Tensor, *, yaw: float = 0.3, pitch: float = 0.35, size: tuple[int, int] = (40, 56), focal: float = 50.0) -> Pinhole:
    """Cameras at `eyes` (batch, 3) that look down by `pitch`, float64."""
    cy, sy, cp, sp = math.cos(yaw), math.sin(yaw), math.cos(pitch), math.sin(pitch)
    ahead = np.array([sy * cp, -sp, cy * cp])
    right = np.array([-cy, 0.0, sy])
    axes = torch.from_numpy(np.stack([right, np.cross(ahead, right), ahead]))
    matrices = torch.cat([axes.expand(len(eyes), 3, 3), -(axes @ eyes[..., None])], -1)
    return Pinhole(matrices, torch.full((len(eyes),), focal, dtype=torch.float64), size)


def eye(x: float = 0.2, y: float = 1.1, z: float = -0.3) -> Tensor:
    return torch.tensor([[x, y, z]], dtype=torch.float64)


def seen_by_samples(camera: Pinhole, samples: int = 24) -> np.ndarray:
    """(h, w) the pattern, 1 on light and -1 on dark tiles, averaged over points of each pixel; NaN where a ray meets no ground."""
    matrix, focal = camera.camera_from_world[0].numpy(), float(camera.focal[0])
    rotation, origin = matrix[:, :3], -matrix[:, :3].T @ matrix[:, 3]
    height, width = camera.size
    inner = (np.arange(samples) + 0.5) / samples
    u = (np.arange(width)[:, None] + inner).reshape(-1) - width / 2.0
    v = (np.arange(height)[:, None] + inner).reshape(-1) - height / 2.0
    rays = np.stack([*np.meshgrid(u / focal, v / focal), np.ones((len(v), len(u)))], -1) @ rotation
    with np.errstate(divide="ignore"):
        reach = np.where(rays[..., 1] < 0.0, -origin[1] / rays[..., 1], np.nan)
    cells = sum(np.floor((origin[a] + reach * rays[..., a]) / TILE - c) for a, c in ((0, CORNER[0]), (2, CORNER[1])))
    pattern = np.where(np.mod(cells, 2.0) == 0.0, 1.0, -1.0) + 0.0 * reach
    return np.asarray(pattern.reshape(height, samples, width, samples).mean(axis=(1, 3)))


@pytest.fixture
def clear_air(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing fades with distance."""
    monkeypatch.setattr(ground, "FINEST_TILES", 1e15)
    monkeypatch.setattr(ground, "CLEAR_HEIGHTS", 1e15)


@pytest.mark.usefixtures("clear_air")
def test_tiles_lie_where_sampled_rays_find_them() -> None:
    camera = looking(eye(), pitch=0.7, focal=90.0)
    expected = seen_by_samples(camera)
    light, dark = np.array(COLOURS.light), np.array(COLOURS.dark)
    pattern = (checkerboard(camera, TILE, colours=COLOURS)[0].numpy() - 0.5 * (light + dark)) / (0.5 * (light - dark))
    assert np.ptp(pattern, axis=2).max() < 1e-9, "all colours show the same pattern"
    error = np.abs(pattern[..., 0] - expected)
    assert error.mean() < 0.08, "the filter is a little wider than a pixel"
    assert (error[np.abs(expected) == 1.0] < 0.05).mean() > 0.9
    assert (np.sign(pattern[..., 0]) == np.sign(expected))[np.abs(expected) > 0.5].all()


@pytest.mark.usefixtures("clear_air")
def test_the_pattern_comes_back_after_two_tiles_and_is_reversed_after_one() -> None:
    picture, two, one = (checkerboard(looking(eye(x=0.2 + k * TILE)), TILE, colours=COLOURS) for k in (0, 2, 1))
    torch.testing.assert_close(two, picture, rtol=0.0, atol=1e-9)
    tiles = picture[:, 25:]
    mean = torch.tensor(np.add(COLOURS.light, COLOURS.dark) / 2.0)
    assert (tiles - mean).abs().max() > 0.2
    torch.testing.assert_close((tiles + one[:, 25:]), (2.0 * mean).expand_as(tiles), rtol=0.0, atol=1e-9)


def test_the_pattern_stays_sharp_far_from_the_origin_in_float32() -> None:
    near, far = looking(eye()), looking(eye(x=0.2 + 1000 * TILE, z=-0.3 - 2000 * TILE))
    single = Pinhole(far.camera_from_world.float(), far.focal.float(), far.size)
    difference = checkerboard(single, TILE, colours=COLOURS).double() - checkerboard(near, TILE, colours=COLOURS)
    assert difference.abs().max() < 0.01


def test_small_moves_of_the_camera_change_little_everywhere() -> None:
    """Aliasing would make far tiles flash."""
    pictures = checkerboard(looking(eye() + torch.linspace(0.0, 0.02, 9, dtype=torch.float64)[:, None], pitch=0.15), TILE, colours=COLOURS)
    assert (pictures[1:] - pictures[:-1]).abs().max() < 0.05
    far = pictures[0, :, :, 0][16:18]
    assert far.std() < 0.02, "just below the horizon tiles have become one colour"


def test_the_horizon_is_no_edge_and_the_sky_is_above_it() -> None:
    picture = checkerboard(looking(eye(), pitch=0.0, size=(200, 8), focal=200.0), TILE, colours=COLOURS)[0]
    sky = torch.tensor(COLOURS.sky, dtype=torch.float64)
    torch.testing.assert_close(picture[:100], sky.expand(100, 8, 3))
    torch.testing.assert_close(picture[100], sky.expand(8, 3), rtol=0.0, atol=1e-3)
    assert (picture[190] - sky).abs().max() > 0.1


def test_colours_stay_colours() -> None:
    picture = checkerboard(looking(eye(), pitch=0.1), TILE)
    assert float(picture.min()) >= 0.0
    assert float(picture.max()) <= 1.0


@pytest.mark.parametrize("pitch", [0.05, 0.35, 0.9])
def test_the_gradient_in_the_camera_agrees_with_central_differences(pitch: float) -> None:
    generator = torch.Generator().manual_seed(5)
    camera = looking(torch.cat([eye(), eye(3.3, 0.6, 8.1)]), pitch=pitch)
    looks = torch.rand(2, *camera.size, 3, dtype=torch.float64, generator=generator)

    def value(matrices: Tensor, focal: Tensor) -> Tensor:
        return (checkerboard(Pinhole(matrices, focal, camera.size), TILE, colours=COLOURS) * looks).sum()

    matrices, focal = camera.camera_from_world.clone().requires_grad_(), camera.focal.clone().requires_grad_()
    of_matrices, of_focal = torch.autograd.grad(value(matrices, focal), (matrices, focal))
    matrices, focal = matrices.detach(), focal.detach()
    step = 1e-7
    for index in np.ndindex(2, 3, 4):
        moved = torch.zeros_like(matrices)
        moved[index] = step
        slope = (value(matrices + moved, focal) - value(matrices - moved, focal)) / (2.0 * step)
        assert float(of_matrices[index]) == pytest.approx(slope.item(), rel=1e-4, abs=1e-3)
    step = 1e-5
    slope = (value(matrices, focal + step) - value(matrices, focal - step)) / (2.0 * step)
    assert float(of_focal.sum()) == pytest.approx(slope.item(), rel=1e-4, abs=1e-3)


def test_travel_is_seen_on_the_ground_and_not_without_it() -> None:
    for tile, seen in ((TILE, True), (None, False)):
        eyes = eye().requires_grad_()
        picture = checkerboard(looking(eyes), tile)
        if seen:
            (gradient,) = torch.autograd.grad(picture[0, :, :28].sum(), eyes)
            assert gradient.abs().min() > 1e-3
        else:
            assert not picture.requires_grad
            torch.testing.assert_close(picture[0, 3, 5].double(), torch.tensor(GroundColours().sky, dtype=torch.float64))


def test_a_raised_ground_is_the_ground_of_a_lower_camera() -> None:
    raised = checkerboard(looking(eye(y=1.6)), TILE, 0.5)
    torch.testing.assert_close(raised, checkerboard(looking(eye(y=1.1)), TILE))


def test_chunks_of_long_videos_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    eyes = (eye() + torch.linspace(0.0, 1.0, 5, dtype=torch.float64)[:, None]).requires_grad_()
    whole = checkerboard(looking(eyes), TILE)
    (expected,) = torch.autograd.grad(whole.square().sum(), eyes)
    monkeypatch.setattr(ground, "CHUNK_PIXELS", 2 * 40 * 56)
    parts = checkerboard(looking(eyes), TILE)
    (gradient,) = torch.autograd.grad(parts.square().sum(), eyes)
    torch.testing.assert_close(parts, whole, rtol=0.0, atol=0.0)
    torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize("tile", [0.0, -1.0, math.nan, math.inf])
def test_tiles_without_size_are_refused(tile: float) -> None:
    with pytest.raises(AkdError, match="tile_m: tiles of"):
        checkerboard(looking(eye()), tile)


def test_a_camera_below_the_ground_is_refused() -> None:
    with pytest.raises(AkdError, match=r"a camera is 0.4 m below the ground"):
        checkerboard(looking(eye(y=0.1)), TILE, 0.5)

"""Films of the samples: what is seen of a pose, of travel and of the ground, and the gradient that comes back."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from akd_sdk.errors import AkdError
from akd_sdk.gaussians import bone_gaussians, surface_gaussians
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.splat import GroundColours, Scene, load_splatter
from akd_sdk.views.camera import Cameras
from akd_sdk.views.orbit import Framing
from akd_sdk.views.shot import Shot

SIZE = (48, 64)
FPS = 8.0


@pytest.fixture(scope="module")
def dog(samples: Path) -> Rig:
    return open_rig(samples / "quadruped.glb")


@pytest.fixture(scope="module")
def scene(dog: Rig) -> Scene:
    return Scene(dog, surface_gaussians(dog, 500), load_splatter("warp"))


@pytest.fixture(scope="module")
def exact(dog: Rig) -> Scene:
    """In float64."""
    return Scene(dog, bone_gaussians(dog), load_splatter("torch"), dtype=torch.float64)


def shot(frames: int, tile_m: float | None = 0.2, size: tuple[int, int] = SIZE, *turns: tuple[float, float]) -> Shot:
    azimuth, elevation = torch.tensor(turns or ((math.pi / 2.0, 0.15), (0.8, 0.3)), dtype=torch.float64).T
    return Shot(Cameras(azimuth, elevation), torch.arange(frames) / FPS, size, tile_m)


def standing(rig: Rig, moves: np.ndarray) -> tuple[Tensor, Tensor]:
    """The rest pose moved by (frames, 3), and the path of its pelvis."""
    world = torch.from_numpy(rig.skeleton.rest_world).repeat(len(moves), 1, 1, 1)
    world[:, :, :3, 3] += torch.from_numpy(moves)[:, None]
    return world, world[:, rig.skeleton.pelvis, :3, 3]


def coat(video: Tensor) -> np.ndarray:
    """(views, frames, h, w) pixels of the body: redder than ground and sky."""
    return np.asarray((video[..., 0] - video[..., 2] > 0.1).numpy())


def middles(video: Tensor) -> np.ndarray:
    """(views, frames, 2) mean row and column of the body."""
    places = np.stack(np.meshgrid(np.arange(video.shape[2]), np.arange(video.shape[3]), indexing="ij"), -1)
    seen = coat(video)
    return np.asarray((seen[..., None] * places).sum(axis=(2, 3)) / seen.sum(axis=(2, 3))[..., None])


def test_a_film_has_views_frames_and_colours(dog: Rig, scene: Scene) -> None:
    video = scene.film(*standing(dog, np.zeros((3, 3)))[:1], shot(3), standing(dog, np.zeros((3, 3)))[1])
    assert video.shape == (2, 3, *SIZE, 3)
    assert video.dtype == torch.float32
    assert float(video.min()) >= 0.0
    assert float(video.max()) <= 1.0 + 1e-6
    assert (coat(video).mean(axis=(2, 3)) > 0.05).all(), "the dog is seen in every picture"
    np.testing.assert_allclose(middles(video), np.broadcast_to([24.0, 32.0], (2, 3, 2)), atol=6.0)


def test_the_side_view_shows_the_head_on_the_right_and_the_feet_below(dog: Rig, scene: Scene) -> None:
    world, root = standing(dog, np.zeros((1, 3)))
    seen = coat(scene.film(world, shot(1, None, SIZE, (math.pi / 2.0, 0.0)), root))[0, 0]
    rows = np.flatnonzero(seen.any(axis=1))
    top, bottom = seen[rows[:3]].any(axis=0), seen[rows[-3:]].any(axis=0)
    assert np.flatnonzero(top).mean() > 32.0, "the head is the highest"
    feet = np.flatnonzero(bottom)
    assert np.diff(feet).max() > 5, "there is air between fore and hind feet"


def test_steady_travel_is_seen_by_the_ground_alone(dog: Rig, scene: Scene) -> None:
    still = standing(dog, np.zeros((9, 3)))
    gone = standing(dog, np.linspace(0.0, 1.05, 9)[:, None] * dog.forward)
    differences = []
    for tile in (None, 0.2):
        a, b = (scene.film(world, shot(9, tile), root) for world, root in (still, gone))
        differences.append(float((a - b).abs().max()))
    assert differences[0] < 1e-3
    assert differences[1] > 0.1


@pytest.mark.parametrize("axis", [0, 1])
def test_bobbing_and_swaying_stay_visible(dog: Rig, scene: Scene, axis: int) -> None:
    frames = 17
    wave = 0.06 * np.sin(2.0 * np.pi * 2.0 * np.arange(frames) / FPS)
    moves = np.linspace(0.0, 1.0, frames)[:, None] * dog.forward + wave[:, None] * np.eye(3)[1 if axis else 0]
    world, root = standing(dog, moves + np.array([0.0, 0.06, 0.0]))
    view = (math.pi / 2.0, 0.1) if axis else (0.0, 0.1)
    middle = middles(scene.film(world, shot(frames, None, SIZE, view), root, loop=True))[0]
    along = middle[:, 0 if axis else 1]
    straight = along - np.linspace(along[0], along[-1], frames)
    seen = (straight[:-1] @ wave[:-1]) / (np.linalg.norm(wave[:-1]) ** 2) * 0.06
    assert abs(seen) > 1.5, "pixels of amplitude"
    assert np.sign(seen) == (-1 if axis else 1), "rows count down; what is left is on the right of who looks at the face"


def test_what_is_below_the_ground_is_hidden(dog: Rig) -> None:
    made = surface_gaussians(dog, 500)
    at_rest, root = standing(dog, np.zeros((1, 3)))
    knee = float(dog.height) * 0.25
    raised = Scene(dog, made, load_splatter("warp"), ground_m=knee)
    view = shot(1, 0.2, SIZE, (math.pi / 2.0, 0.1))
    whole, cut = (coat(s.film(at_rest, view, root))[0, 0] for s in (Scene(dog, made, load_splatter("warp")), raised))
    assert cut.sum() < 0.95 * whole.sum()
    lowest = np.flatnonzero(whole.any(axis=1))[-1]
    assert np.flatnonzero(cut.any(axis=1))[-1] < lowest - 3
    top = np.flatnonzero(whole.any(axis=1))[0]
    np.testing.assert_array_equal(cut[: top + 8], whole[: top + 8])


def test_the_gradient_of_pose_and_path_agrees_with_central_differences(dog: Rig, exact: Scene) -> None:
    generator = torch.Generator().manual_seed(1)
    frames = 3
    world, root = standing(dog, np.linspace(0.0, 0.3, frames)[:, None] * dog.forward + np.array([0.0, 0.05, 0.0]))
    view = shot(frames, 0.2, (20, 26))
    looks = torch.rand(2, frames, 20, 26, 3, dtype=torch.float64, generator=generator)

    def value(world: Tensor, root: Tensor) -> Tensor:
        return (exact.film(world, view, root) * looks).sum()

    leaves = world[:, :, :3].clone().requires_grad_(), root.clone().requires_grad_()
    gradients = torch.autograd.grad(value(*leaves), leaves)
    plain = tuple(leaf.detach() for leaf in leaves)
    checked = 0
    for which, step in ((0, 1e-6), (0, 1e-6), (0, 1e-6), (1, 1e-6), (1, 1e-6)):
        way = torch.randn(plain[which].shape, dtype=torch.float64, generator=generator)
        ends = [value(*(leaf + sign * step * way if k == which else leaf for k, leaf in enumerate(plain))) for sign in (1.0, -1.0)]
        slope = float(ends[0] - ends[1]) / (2.0 * step)
        assert float((gradients[which] * way).sum()) == pytest.approx(slope, rel=1e-4, abs=1e-4)
        checked += abs(slope) > 1e-2
    assert checked == 5


def test_travel_has_a_gradient_only_where_there_is_a_ground(dog: Rig, exact: Scene) -> None:
    """The character and the camera move together: without tiles nothing is seen of it."""
    frames = 5
    slopes = []
    for tile in (None, 0.2):
        speed = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
        world, root = standing(dog, np.zeros((frames, 3)))
        path = speed * (torch.arange(frames, dtype=torch.float64)[:, None] / FPS) * torch.from_numpy(dog.forward)
        moved = torch.cat([world[:, :, :3, :3], world[:, :, :3, 3:] + path[:, None, :, None]], -1)
        video = exact.film(moved, shot(frames, tile, (20, 26)), root + path)
        looks = torch.rand(video.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
        (slope,) = torch.autograd.grad((video * looks).sum(), speed)
        slopes.append(abs(float(slope)))
    assert slopes[0] < 1e-9
    assert slopes[1] > 1e-2


def test_warp_films_what_the_twin_films(dog: Rig) -> None:
    made = bone_gaussians(dog)
    world, root = standing(dog, np.linspace(0.0, 0.3, 2)[:, None] * dog.forward)
    a, b = (Scene(dog, made, load_splatter(name)).film(world, shot(2), root) for name in ("warp", "torch"))
    torch.testing.assert_close(a, b, rtol=0.0, atol=1e-4)


def test_a_film_of_one_frame_and_without_ground_is_a_picture_on_plain_background(dog: Rig) -> None:
    colours = GroundColours(sky=(0.1, 0.2, 0.3))
    world, root = standing(dog, np.zeros((1, 3)))
    video = Scene(dog, surface_gaussians(dog, 500), load_splatter("warp"), colours=colours).film(world, shot(1, None), root)
    torch.testing.assert_close(video[:, :, 0, 0], torch.tensor([0.1, 0.2, 0.3]).expand(2, 1, 3))


def test_a_camera_inside_the_body_is_refused(dog: Rig) -> None:
    near = Scene(dog, bone_gaussians(dog), load_splatter("warp"), framing=Framing(0.4, (0.9, 0.8), distance_m=0.2))
    world, root = standing(dog, np.zeros((1, 3)))
    with pytest.raises(AkdError, match="is inside it"):
        near.film(world, shot(1), root)


def test_a_camera_below_the_ground_is_refused(dog: Rig, scene: Scene) -> None:
    world, root = standing(dog, np.zeros((1, 3)))
    with pytest.raises(AkdError, match="below the ground"):
        scene.film(world, shot(1, 0.2, SIZE, (0.0, -0.6)), root)


def test_poses_paths_and_times_must_fit(dog: Rig, scene: Scene) -> None:
    world, root = standing(dog, np.zeros((2, 3)))
    for bad in ((world, shot(3), root), (world[:1], shot(2), root), (world, shot(2), root[:1]), (world, shot(2), root[:, :2])):
        with pytest.raises(AkdError, match="do not fit"):
            scene.film(*bad)


def test_poses_that_are_not_finite_are_refused(dog: Rig, scene: Scene) -> None:
    world, root = standing(dog, np.zeros((1, 3)))
    world[0, 3, 0, 3] = math.nan
    with pytest.raises(AkdError, match="not finite"):
        scene.film(world, shot(1), root)


def test_a_ground_without_height_is_refused(dog: Rig) -> None:
    with pytest.raises(AkdError, match="ground_m: a ground at nan"):
        Scene(dog, bone_gaussians(dog), load_splatter("warp"), ground_m=math.nan)

"""Cameras around a character: on the side they say, looking at the followed point, with all of the character in the picture."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from akd_sdk.errors import AkdError, RigError
from akd_sdk.readers import open_rig
from akd_sdk.views.camera import Cameras
from akd_sdk.views.orbit import FILL, Framing, framing_of, orbit
from akd_sdk.views.pinhole import Pinhole

FRAMING = Framing(0.5, (0.9, 0.8))
SIZE = (48, 64)


def views(*turns: tuple[float, float]) -> Cameras:
    azimuth, elevation = torch.tensor(turns, dtype=torch.float64).T
    return Cameras(azimuth, elevation)


def pixels(camera: Pinhole, points: np.ndarray) -> np.ndarray:
    """(batch, n, 2) pixels of world points (n, 3), by the definition of the camera."""
    matrices = camera.camera_from_world.numpy()
    seen = np.einsum("bij,nj->bni", matrices[..., :3], points) + matrices[:, None, :, 3]
    assert (seen[..., 2] > 0.0).all()
    height, width = camera.size
    return camera.focal.numpy()[:, None, None] * seen[..., :2] / seen[..., 2:] + np.array([width, height]) / 2.0


def eyes(camera: Pinhole) -> np.ndarray:
    matrices = camera.camera_from_world.numpy()
    return np.asarray(-np.einsum("bji,bj->bi", matrices[..., :3], matrices[..., 3]))


FACINGS = [np.eye(3), np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])]


@pytest.mark.parametrize("facing", FACINGS)
def test_azimuth_zero_sees_the_face_and_a_quarter_turn_sees_it_facing_right(facing: np.ndarray) -> None:
    camera = orbit(views((0.0, 0.0), (math.pi / 2.0, 0.0)), torch.zeros(1, 3, dtype=torch.float64), facing, FRAMING, SIZE)
    at_height = np.array([0.0, FRAMING.height_m, 0.0])
    forward, left, up = facing @ [0.0, 0.0, 1.0], facing @ [1.0, 0.0, 0.0], np.array([0.0, 1.0, 0.0])
    front, side = pixels(camera, np.array([at_height, at_height + 0.1 * forward, at_height + 0.1 * left, at_height + 0.1 * up]))
    middle = np.array([SIZE[1] / 2.0, SIZE[0] / 2.0])
    np.testing.assert_allclose([front[0], front[1], side[0], side[2]], [middle] * 4, atol=1e-9)
    assert front[2, 0] > middle[0] + 1.0, "its left is at the right of who looks at its face"
    assert side[1, 0] > middle[0] + 1.0
    assert front[3, 1] < middle[1] - 1.0, "up is up"
    np.testing.assert_allclose((eyes(camera)[0] - at_height) / np.linalg.norm(eyes(camera)[0] - at_height), forward, atol=1e-12)


def test_perspective_cameras_agree_with_the_orthographic_rows() -> None:
    cameras = views((0.3, 0.1), (2.0, 0.3), (-1.1, 0.0))
    camera = orbit(cameras, torch.zeros(1, 3, dtype=torch.float64), np.eye(3), FRAMING, SIZE)
    rows = cameras.rows.numpy()
    points = np.random.default_rng(0).normal(size=(20, 3)) * 1e-4 + [0.0, FRAMING.height_m, 0.0]
    flat = np.einsum("vci,ni->vnc", rows[:, :2], points - [0.0, FRAMING.height_m, 0.0]) * [1.0, -1.0]
    seen = pixels(camera, points) - np.array([SIZE[1], SIZE[0]]) / 2.0
    scale = seen.std() / flat.std()
    np.testing.assert_allclose(seen, scale * flat, atol=1e-7 * scale)


def test_elevation_raises_the_camera() -> None:
    camera = orbit(views((0.7, math.radians(20.0))), torch.zeros(1, 3, dtype=torch.float64), np.eye(3), FRAMING, SIZE)
    offset = eyes(camera)[0] - [0.0, FRAMING.height_m, 0.0]
    assert math.degrees(math.asin(offset[1] / np.linalg.norm(offset))) == pytest.approx(20.0)


def test_cameras_follow_over_the_ground_and_not_up_and_down() -> None:
    centres = torch.tensor([[0.0, 0.7, 0.0], [0.2, 0.9, 1.5]], dtype=torch.float64)
    camera = orbit(views((0.4, 0.1), (1.0, 0.2)), centres, np.eye(3), FRAMING, SIZE)
    assert camera.count == 4
    moved = eyes(camera).reshape(2, 2, 3)
    np.testing.assert_allclose(moved[:, 1] - moved[:, 0], [[0.2, 0.0, 1.5]] * 2, atol=1e-12)
    rotations = camera.camera_from_world.numpy()[:, :, :3].reshape(2, 2, 3, 3)
    np.testing.assert_array_equal(rotations[:, 0], rotations[:, 1])


def test_cameras_turn_with_a_facing_that_turns() -> None:
    facing = torch.from_numpy(np.stack(FACINGS))
    camera = orbit(views((0.0, 0.0)), torch.zeros(2, 3, dtype=torch.float64), facing, FRAMING, SIZE)
    directions = eyes(camera) - [0.0, FRAMING.height_m, 0.0]
    np.testing.assert_allclose(directions / np.linalg.norm(directions, axis=1)[:, None], [[0, 0, 1], [1, 0, 0]], atol=1e-12)


@pytest.mark.parametrize("size", [(64, 64), (48, 96), (96, 48)])
@pytest.mark.parametrize("name", ["quadruped.glb", "biped.glb"])
def test_the_character_fills_the_picture_from_everywhere_and_is_never_cut(samples: Path, name: str, size: tuple[int, int]) -> None:
    rig = open_rig(samples / name)
    framing = framing_of(rig)
    root = torch.from_numpy(rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3].copy())[None]
    around = views(*((k * math.pi / 6.0, e) for k in range(12) for e in (0.1, 0.35)))
    points = np.concatenate([skin.at_rest(rig.skeleton.rest_world) for skin in rig.skins])
    seen = pixels(orbit(around, root, rig.facing, framing, size), points)
    low, high = seen.min(axis=1), seen.max(axis=1)
    assert (low > 0.0).all()
    assert (high < [size[1], size[0]]).all()
    share = ((high - low) / [size[1], size[0]]).max(axis=1)
    assert 0.8 * FILL < share.max() < 1.3 * FILL, "the near side is larger than the middle"


def test_wide_lenses_come_near_and_not_into_the_character() -> None:
    near = orbit(views((0.0, 0.0)), torch.zeros(1, 3), np.eye(3), Framing(0.5, (0.9, 0.8), fov_deg=110.0), SIZE)
    assert np.linalg.norm(eyes(near)[0] - [0.0, 0.5, 0.0]) > 0.61


def test_the_gradient_reaches_the_followed_path() -> None:
    centres = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    camera = orbit(views((0.4, 0.1)), centres, np.eye(3), FRAMING, SIZE)
    camera.camera_from_world.square().sum().backward()  # type: ignore[no-untyped-call]  # torch does not type it
    assert centres.grad is not None
    assert centres.grad[:, [0, 2]].abs().min() > 0.0
    assert centres.grad[:, 1].abs().max() == 0.0


def test_a_camera_inside_the_body_is_refused() -> None:
    inside = Framing(0.5, (0.9, 0.8), distance_m=0.3)
    with pytest.raises(AkdError, match=r"inside it.*ask for more than 0.602 m"):
        orbit(views((0.0, 0.0)), torch.zeros(1, 3), np.eye(3), inside, SIZE)


@pytest.mark.parametrize("size", [(0, 64), (64, 1), (-3, 64), (64, 9000)])
def test_no_picture_without_pixels(size: tuple[int, int]) -> None:
    with pytest.raises(AkdError, match="is no picture"):
        orbit(views((0.0, 0.0)), torch.zeros(1, 3), np.eye(3), FRAMING, size)


@pytest.mark.parametrize("bad", [{"extent_m": (0.0, 1.0)}, {"extent_m": (1.0, math.nan)}, {"fov_deg": 180.0}, {"height_m": math.inf}])
def test_framings_of_nothing_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(AkdError, match=r"cannot be filmed|field of view"):
        Framing(**{"height_m": 0.5, "extent_m": (1.0, 1.0), **bad})  # type: ignore[arg-type]  # one bad value in turn


def test_a_character_without_skin_cannot_be_framed(samples: Path) -> None:
    with pytest.raises(RigError, match="no skin to film"):
        framing_of(replace(open_rig(samples / "biped.glb"), skins=()))

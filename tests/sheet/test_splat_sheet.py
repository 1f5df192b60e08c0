"""Sheets drawn by Gaussians: the same figures at the same places as the mesh, on tiles that stay where they are."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage
from scipy.spatial.transform import Rotation

from akd_sdk.errors import AkdError, RigError
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.sheet import contact_sheet, splats
from akd_sdk.sheet.ground import LEFT, RIGHT
from akd_sdk.sheet.raster import rasterise
from akd_sdk.sheet.splats import Distant, splat_stage
from akd_sdk.splat import checkerboard

CELL = (160, 180)
FRAMES = 31


@pytest.fixture(autouse=True)
def few_gaussians(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for small pictures."""
    monkeypatch.setattr(splats, "GAUSSIANS", 3000)


def moving(rig: Rig, *, travel_m: float = 0.0, nod: float = 0.0) -> Motion:
    """The rest pose carried forward evenly; `nod` turns all joints but the root a little, to and fro."""
    swing = 0.5 * nod * np.sin(np.linspace(0.0, 2.0 * np.pi, FRAMES))
    turned = np.tile(rig.skeleton.rest.rotations, (FRAMES, 1, 1))
    if nod:
        about_x = Rotation.from_rotvec(swing[:, None] * [1.0, 0.0, 0.0])
        for joint in range(1, rig.skeleton.count):
            turned[:, joint] = (Rotation.from_quat(turned[:, joint]) * about_x).as_quat()
    path = np.linspace(0.0, travel_m, FRAMES)[:, None] * rig.forward
    travel = np.zeros((FRAMES, 3))
    travel[:, :2] = path[:, [0, 2]]
    root = rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3] + path
    return Motion(name="moving", rotations=turned, root=root, fps=30.0, travel=travel)


@pytest.fixture(scope="module")
def dog(samples: Path) -> Rig:
    return open_rig(samples / "quadruped.glb")


def coat(picture: Image.Image) -> np.ndarray:
    """Pixels of the body: redder than ground, sky and dots."""
    values = np.asarray(picture).astype(int)
    return (values[..., 0] - values[..., 2] > 22) & (values[..., 0] < 222)


@pytest.mark.parametrize("name", ["quadruped.glb", "biped.glb"])
def test_gaussians_cover_what_the_mesh_covers(samples: Path, name: str) -> None:
    rig = open_rig(samples / name)
    stage, draw = splat_stage(rig, moving(rig, nod=0.25), 4, (300, 300))
    for view, moment in ((0, 1), (1, 3)):
        flat = stage.canvas(view, moment)
        extents = [np.linalg.norm(np.ptp(points, axis=0)) for points in stage.model.points]
        canvas = Distant(flat.size, flat.rows, flat.centre, flat.origin, flat.scale, splats.DISTANCE * 0.5 * float(max(extents)))
        seen = rasterise(canvas.place(stage.model.points[moment])[stage.model.triangles].astype(np.float32), canvas.size)
        mesh = np.zeros(canvas.size, dtype=bool)
        mesh[seen.rows, seen.columns] = True
        painted = ndimage.binary_fill_holes(painted_over(canvas, stage.framing.tick, draw(stage, view, moment)))
        inner, outer = ndimage.binary_erosion(mesh, iterations=2), ndimage.binary_dilation(mesh, iterations=3)
        assert painted[inner].mean() > 0.97
        assert painted[~outer].mean() < 0.01


def painted_over(canvas: Distant, tile_m: float, picture: Image.Image) -> np.ndarray:
    """Pixels that are not as the empty ground."""
    ground = checkerboard(canvas.camera(), tile_m, float(canvas.centre[1]), splats.COLOURS)[0].numpy() * 255.0
    return np.asarray(np.abs(np.asarray(picture) - ground).max(axis=2) > 12.0)


def test_a_distant_canvas_and_its_camera_place_points_alike() -> None:
    turn = math.radians(20.0)
    rows = np.array([[1.0, 0.0, 0.0], [0.0, math.cos(turn), -math.sin(turn)], [0.0, math.sin(turn), math.cos(turn)]])
    canvas = Distant((120, 200), rows, np.array([0.3, -0.1, 2.0]), (70.0, 90.0), 55.0, 9.0)
    points = np.random.default_rng(0).normal(size=(30, 3)) + canvas.centre
    camera = canvas.camera()
    matrix = camera.camera_from_world[0].double().numpy()
    seen = points @ matrix[:, :3].T + matrix[:, 3]
    pixels = float(camera.focal[0]) * seen[:, :2] / seen[:, 2:] + [100.0, 60.0]
    np.testing.assert_allclose(canvas.place(points)[:, :2], pixels, atol=1e-3)
    np.testing.assert_allclose(canvas.place(canvas.centre)[:2], canvas.origin, atol=1e-9)


def test_a_sheet_of_gaussians_is_laid_out_as_one_of_the_mesh(dog: Rig) -> None:
    splat, mesh = (contact_sheet(dog, moving(dog), columns=7, cell=CELL, renderer=name) for name in ("splat", "mesh"))
    assert splat.width == mesh.width
    assert abs(splat.height - mesh.height) < 0.1 * mesh.height
    labels, count = ndimage.label(coat(splat))
    sizes = ndimage.sum(coat(splat), labels, np.arange(1, count + 1))
    assert (sizes > 0.04 * CELL[0] * CELL[1]).sum() == 14


def test_the_same_input_gives_the_same_sheet(dog: Rig) -> None:
    first, second = (contact_sheet(dog, moving(dog), columns=2, cell=CELL, renderer="splat") for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_travel_moves_the_tiles_and_not_the_character(dog: Rig) -> None:
    stages = [splat_stage(dog, moving(dog, travel_m=metres), 5, CELL) for metres in (0.0, 1.3)]
    pictures = [draw(stage, 0, 2) for stage, draw in stages]
    assert (coat(pictures[0]) == coat(pictures[1])).mean() > 0.99
    feet = [np.asarray(picture).astype(int)[-12:] for picture in pictures]
    assert np.abs(feet[0] - feet[1]).max() > 15, "tiles went by"


def test_feet_stand_on_the_tiles_and_get_dots_of_their_side(dog: Rig) -> None:
    stage, draw = splat_stage(dog, moving(dog), 2, (300, 300))
    picture = np.asarray(draw(stage, 1, 0)).astype(int)
    for colour in (LEFT, RIGHT):
        assert (np.abs(picture - colour).max(axis=2) < 12).sum() > 30


def test_a_character_without_skin_is_refused(dog: Rig) -> None:
    with pytest.raises(RigError, match="no skinned triangles"):
        contact_sheet(replace(dog, skins=()), moving(dog), renderer="splat")


def test_a_renderer_that_is_not_known_is_refused(dog: Rig) -> None:
    with pytest.raises(AkdError, match=r"renderer: no renderer is called 'ray'; known are mesh, splat"):
        contact_sheet(dog, moving(dog), renderer="ray")

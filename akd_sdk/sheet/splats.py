"""Figures of a sheet made of the character's own Gaussians, on a checkerboard: as a prior that looks at pixels sees them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from akd_sdk.gait.travel import with_travel
from akd_sdk.gaussians import surface_gaussians
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig
from akd_sdk.sheet.framing import Views, round_length
from akd_sdk.sheet.ground import Canvas, draw_contacts
from akd_sdk.sheet.stage import Stage, stage_of
from akd_sdk.splat import GroundColours, Scene, load_splatter
from akd_sdk.views.pinhole import Pinhole

Array = NDArray[np.float64]

GAUSSIANS: Final = 20_000
"""Enough that a figure as large as a cell shows none of them."""
DISTANCE: Final = 8.0
"""Radii of the character between it and the camera: far enough that its near parts stay in the picture."""
TILE_SHARE: Final = 0.5
"""Side of a tile over the character's height, at most."""
COLOURS: Final = GroundColours(light=(0.82, 0.83, 0.84), dark=(0.68, 0.69, 0.72))
"""Softer than for priors: people look at the character."""
SPLAT_VIEWS: Views = (("side", math.pi / 2.0, math.radians(9.0)), ("three quarters", math.pi / 4.0, math.radians(18.0)))
"""As for the mesh, but high enough that tiles are seen from the side, too."""


@dataclass(frozen=True)
class Distant(Canvas):
    """A canvas seen through a lens: the plane through `centre` as before, what is nearer than it larger. `distance` is in metres."""

    distance: float = 1.0

    def place(self, points: Array | NDArray[np.float32]) -> Array:
        """As for any canvas."""
        flat = super().place(points)
        middle = 0.5 * np.array([self.size[1], self.size[0]])
        nearer = self.distance / (self.distance - flat[..., 2:])
        return np.concatenate([middle + (flat[..., :2] - middle) * nearer, flat[..., 2:]], axis=-1)

    def camera(self) -> Pinhole:
        """The same as a pinhole camera."""
        height, width = self.size
        aside, above = (0.5 * width - self.origin[0]) / self.scale, (self.origin[1] - 0.5 * height) / self.scale
        target = self.centre + aside * self.rows[0] + above * self.rows[1]
        axes = self.rows * np.array([[1.0], [-1.0], [-1.0]])
        shift = np.array([0.0, 0.0, self.distance]) - axes @ target
        matrix = torch.from_numpy(np.concatenate([axes, shift[:, None]], axis=1)).float()
        return Pinhole(matrix[None], torch.tensor([self.scale * self.distance], dtype=torch.float32), self.size)


def splat_stage(rig: Rig, motion: Motion, columns: int, cell: tuple[int, int]) -> tuple[Stage, Callable[[Stage, int, int], Image.Image]]:
    """The stage of a sheet of Gaussians, and what draws a view of a moment on it (or on one like it, of another size).

    Motions that walk in place walk over the ground as their feet ask for: tiles stay where they are.
    Raises as `contact_sheet` does.
    """
    moved = with_travel(rig, motion) if rig.skeleton.pelvis >= 0 else motion
    stage = stage_of(rig, moved, columns, cell, SPLAT_VIEWS)
    tile = round_length(TILE_SHARE * rig.height)
    stage = replace(stage, framing=replace(stage.framing, tick=tile))
    ground_m = float(stage.framing.centres[0, 1])
    scene = Scene(rig, surface_gaussians(rig, GAUSSIANS), load_splatter("auto"), ground_m=ground_m, colours=COLOURS)
    world = torch.from_numpy(world_from_motion(rig.skeleton, moved)[stage.framing.frames]).float()
    extents = np.array([np.ptp(points, axis=0) for points in stage.model.points])
    distance = DISTANCE * 0.5 * float(np.linalg.norm(extents, axis=1).max())

    def draw(stage: Stage, view: int, moment: int) -> Image.Image:
        flat = stage.canvas(view, moment)
        canvas = Distant(flat.size, flat.rows, flat.centre, flat.origin, flat.scale, distance)
        with torch.no_grad():
            pixels = scene.pictures(world[moment : moment + 1], canvas.camera(), tile)[0]
        picture = Image.fromarray((pixels * 255.0).round().clamp(0, 255).to(torch.uint8).numpy())
        draw_contacts(picture, canvas, stage.planted[moment])
        return picture

    return stage, draw

"""Contact shadows: the ground is darker where the character is close to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, gaussian_filter1d

from akd_sdk.sheet.ground import Canvas
from akd_sdk.sheet.model import Model
from akd_sdk.sheet.raster import Visible, rasterise

Floats = NDArray[np.float32]

DARKEST = 0.5
REACH = 0.05
"""Share of the character's height over which the shadow loses two thirds of its strength."""
COARSE = 4
"""Pixels a sample of the shadow on a ground seen from above: it is blurred anyway."""


def strip_shadow(stage: Floats, canvas: Canvas, visible: Visible, height: float) -> None:
    """Darkens a strip of the stage (h, w, 3) below the line of a ground seen edge-on, by the lowest pixel of each column."""
    rows, columns = canvas.size
    lowest = np.full(columns, -np.inf)
    np.maximum.at(lowest, visible.columns, visible.rows + 1.0)
    gap = np.maximum(canvas.origin[1] - lowest, 0.0) / (canvas.scale * REACH * height)
    dark = gaussian_filter1d(np.exp(-gap), rows / 150.0)
    top, deep = round(canvas.origin[1]), max(3, rows // 40)
    fade = np.linspace(1.0, 0.0, deep, endpoint=False)
    area = stage[top : top + deep]
    area *= (1.0 - DARKEST * fade[: len(area), None, None] * dark[None, :, None]).astype(np.float32)


def floor_shadow(stage: Floats, canvas: Canvas, model: Model, moment: int, height: float) -> None:
    """Darkens the stage (h, w, 3) where the lowest part above a point of the ground is near it."""
    points = model.points[moment].astype(np.float64)
    level = points[:, 1] - canvas.centre[1]
    points[:, 1] = canvas.centre[1]
    placed = canvas.place(points)
    placed[:, :2] /= COARSE
    placed[:, 2] = -level
    size = (-(-canvas.size[0] // COARSE), -(-canvas.size[1] // COARSE))
    seen = rasterise(placed[model.triangles].astype(np.float32), size)
    dark = np.zeros(size, dtype=np.float32)
    dark[seen.rows, seen.columns] = np.exp(-np.maximum(-seen.depth, 0.0) / (REACH * height))
    dark = gaussian_filter(dark, canvas.size[0] / 150.0 / COARSE)
    fine = np.repeat(np.repeat(dark, COARSE, axis=0), COARSE, axis=1)[: canvas.size[0], : canvas.size[1]]
    stage *= 1.0 - DARKEST * fine[..., None]

"""The stage of a sheet: which moments are shown, in what scale, and where in the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from akd_sdk.motion import Motion
from akd_sdk.rig import Rig
from akd_sdk.sheet.framing import VIEWS, Framing, Views, bounds, framing_of, shown_frames
from akd_sdk.sheet.ground import Canvas, planted_points
from akd_sdk.sheet.model import Model, model_of

Array = NDArray[np.float64]

MARGIN = 12
FOOT = 30
"""Pixels below the ground line: marks, contact dots and the time."""


@dataclass(frozen=True)
class Stage:
    """What all pictures of a sheet share."""

    rig: Rig
    model: Model
    framing: Framing
    planted: list[list[tuple[Array, bool]]]
    cell: tuple[int, int]
    scale: float
    lows: tuple[Array, ...]
    highs: tuple[Array, ...]

    def canvas(self, view: int, moment: int, fineness: int = 1) -> Canvas:
        """The place of a picture, with `fineness` pixels for each of its own in both directions."""
        width, height = (fineness * side for side in self.cell)
        low, high = self.lows[view], self.highs[view]
        scale = fineness * self.scale
        ground = height + fineness * round((scale * min(low[1], 0.0)) / fineness - FOOT)
        left = 0.5 * (width - scale * (high[0] - low[0])) - scale * low[0]
        return Canvas((height, width), self.framing.rows(view, moment), self.framing.centres[moment], (float(left), float(ground)), scale)


def stage_of(rig: Rig, motion: Motion, columns: int, cell: tuple[int, int], views: Views = VIEWS) -> Stage:
    """Scale and size of the pictures of `views`: as large as the cell allows for everything that is shown.

    Raises RigError: no skin to draw, a motion of another skeleton.
    """
    frames = shown_frames(motion, columns)
    model = model_of(rig, motion, [int(f) for f in frames])
    framing = replace(framing_of(rig, motion, frames), views=views)
    lows, highs = zip(*(bounds(model, framing, view) for view in range(len(views))))
    stage = Stage(rig, model, framing, planted_points(rig, motion, framing), cell, 1.0, lows, highs)
    return _fitted(stage, cell)


def alike(stages: Sequence[Stage], cell: tuple[int, int]) -> list[Stage]:
    """The same stages in one scale, with pictures of one size: two motions of a character beside each other."""
    views = range(len(stages[0].lows))
    lows = tuple(np.minimum.reduce([stage.lows[view] for stage in stages]) for view in views)
    highs = tuple(np.maximum.reduce([stage.highs[view] for stage in stages]) for view in views)
    return [_fitted(replace(stage, lows=lows, highs=highs), cell) for stage in stages]


def _fitted(stage: Stage, cell: tuple[int, int]) -> Stage:
    """The stage with the scale and the height of pictures that its bounds ask for; no larger than `cell`."""
    lows, highs = stage.lows, stage.highs
    wide = max(float(high[0] - low[0]) for low, high in zip(lows, highs))
    tall = max(float(high[1] - low[1]) for low, high in zip(lows, highs))
    room = cell[1] - FOOT - 2 * MARGIN
    scale = min((cell[0] - 2 * MARGIN) / max(wide, 1e-9), room / max(tall, 1e-9))
    height = max(80, int(np.ceil(scale * tall)) + FOOT + 2 * MARGIN)
    return replace(stage, cell=(cell[0], height), scale=scale)

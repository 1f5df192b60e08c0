"""Contact sheets: the character itself at moments of a clip, from the side and from three quarters."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from akd_sdk.errors import AkdError, ExportError
from akd_sdk.formats.atomic import staged
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig
from akd_sdk.sheet.framing import VIEWS, Framing, bounds, framing_of, shown_frames
from akd_sdk.sheet.ground import LEFT, RIGHT, Canvas, draw_contacts, draw_ground, planted_points
from akd_sdk.sheet.model import Model, model_of
from akd_sdk.sheet.raster import rasterise
from akd_sdk.sheet.shading import shade
from akd_sdk.sheet.shadow import floor_shadow, strip_shadow

Array = NDArray[np.float64]

SUPERSAMPLING = 2
BLOCK_COLUMNS = 6
"""Pictures side by side; more moments go on in further blocks of rows below."""
LONGEST_NAME = 300
"""Characters of a title; no sheet shows more."""
MARGIN = 12
TITLE = 40
FOOT = 30
"""Pixels below the ground line: marks, contact dots and the time."""
FAR_DEPTHS = (0.1, 0.35)
"""For each view, the share of the height behind the middle of the body at which colours have faded as much as they will."""
PAPER, INK, PALE = (250, 250, 250), (40, 42, 46), (110, 112, 118)


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

    def canvas(self, view: int, moment: int) -> Canvas:
        """The place of a picture at the fine resolution."""
        width, height = (SUPERSAMPLING * side for side in self.cell)
        low, high = self.lows[view], self.highs[view]
        scale = SUPERSAMPLING * self.scale
        ground = height + SUPERSAMPLING * round((scale * min(low[1], 0.0)) / SUPERSAMPLING - FOOT)
        left = 0.5 * (width - scale * (high[0] - low[0])) - scale * low[0]
        return Canvas((height, width), self.framing.rows(view, moment), self.framing.centres[moment], (float(left), float(ground)), scale)


def contact_sheet(rig: Rig, motion: Motion, *, columns: int = 12, cell: tuple[int, int] = (300, 370)) -> Image.Image:
    """The character at `columns` moments of a motion, one row from its right side and one from three quarters, six a block.

    All pictures share one scale and follow the travel; marks on the ground go by with it, also where a motion walks in place. Dots lie
    below planted contact points, which are found where the motion does not say. `cell` is the width and the largest height of a picture
    in pixels.
    Raises RigError: no skin to draw, a motion of another skeleton; AkdError: no columns, a cell too small to see anything in.
    """
    if columns < 1:
        raise AkdError(f"{columns} columns", "columns", "ask for at least one")
    if min(cell) < 80:
        raise AkdError(f"a cell of {cell[0]} x {cell[1]} pixels is too small", "cell", "ask for at least 80 x 80")
    stage = _stage(rig, motion, columns, cell)
    wide, tall = stage.cell
    across = min(columns, BLOCK_COLUMNS)
    blocks = -(-columns // BLOCK_COLUMNS)
    gap = MARGIN // 2
    size = (2 * MARGIN + across * wide + (across - 1) * gap, TITLE + MARGIN + blocks * (len(VIEWS) * (tall + gap) + MARGIN))
    sheet = Image.new("RGB", size, PAPER)
    _title(sheet, rig, motion, stage)
    for moment in range(columns):
        block, column = divmod(moment, BLOCK_COLUMNS)
        for view in range(len(VIEWS)):
            top = TITLE + MARGIN // 2 + block * (len(VIEWS) * (tall + gap) + MARGIN) + view * (tall + gap)
            picture = draw_picture(stage, view, moment)
            _caption(picture, f"{stage.framing.frames[moment] / motion.fps:.2f} s", VIEWS[view][0] if column == 0 else "")
            sheet.paste(picture, (MARGIN + column * (wide + gap), top))
    return sheet


def _stage(rig: Rig, motion: Motion, columns: int, cell: tuple[int, int]) -> Stage:
    """Scale and size of the pictures: as large as the cell allows for everything that is shown."""
    frames = shown_frames(motion, columns)
    model = model_of(rig, motion, [int(f) for f in frames])
    framing = framing_of(rig, motion, frames)
    lows, highs = zip(*(bounds(model, framing, view) for view in range(len(VIEWS))))
    wide = max(float(high[0] - low[0]) for low, high in zip(lows, highs))
    tall = max(float(high[1] - low[1]) for low, high in zip(lows, highs))
    room = cell[1] - FOOT - 2 * MARGIN
    scale = min((cell[0] - 2 * MARGIN) / max(wide, 1e-9), room / max(tall, 1e-9))
    height = max(80, int(np.ceil(scale * tall)) + FOOT + 2 * MARGIN)
    return Stage(rig, model, framing, planted_points(rig, motion, framing), (cell[0], height), scale, lows, highs)


def draw_picture(stage: Stage, view: int, moment: int) -> Image.Image:
    """One figure on its ground, without words."""
    canvas = stage.canvas(view, moment)
    corners = canvas.place(stage.model.points[moment])[stage.model.triangles].astype(np.float32)
    visible = rasterise(corners, canvas.size)
    half_width = 0.22 * stage.rig.height
    pixels = draw_ground(canvas, stage.framing, moment, half_width).astype(np.float32) / 255.0
    if canvas.level:
        strip_shadow(pixels, canvas, visible, stage.rig.height)
    else:
        floor_shadow(pixels, canvas, stage.model, moment, stage.rig.height)
    pixels[visible.rows, visible.columns] = shade(stage.model, moment, canvas.rows, visible, FAR_DEPTHS[view] * stage.rig.height)
    fine = Image.fromarray(np.floor(pixels * 255.0 + 0.5).clip(0, 255).astype(np.uint8))
    draw_contacts(fine, canvas, stage.planted[moment])
    return fine.resize(stage.cell, Image.Resampling.BOX)


def _caption(picture: Image.Image, time: str, view: str) -> None:
    pen = ImageDraw.Draw(picture)
    pen.text((picture.width - 8, 6), time, INK, ImageFont.load_default(14), anchor="ra")
    if view:
        pen.text((8, 6), view, PALE, ImageFont.load_default(13))


def _title(sheet: Image.Image, rig: Rig, motion: Motion, stage: Stage) -> None:
    """Rig, clip, length; on the right, as far as there is room, what marks and dots mean."""
    pen = ImageDraw.Draw(sheet)
    large, small = ImageFont.load_default(20), ImageFont.load_default(14)
    name = "".join(c if c.isprintable() else " " for c in f"{rig.name}: {motion.name}")[:LONGEST_NAME]
    pen.text((MARGIN, 12), name, INK, large)
    start = MARGIN + pen.textlength(name, large) + 18
    end = float(sheet.width - MARGIN)
    loop = ", loop" if motion.loop else ""
    length = f"{motion.duration:.2f} s, {motion.frames} frames at {motion.fps:.4g} fps{loop}"
    legend: list[tuple[str, tuple[int, int, int] | None]] = [(f"marks every {stage.framing.tick:g} m", None)]
    legend += [("right foot planted", RIGHT), ("left foot planted", LEFT)] if rig.contact_points else [("no feet known", None)]
    for words, dot in [(length, None), *legend]:
        room = pen.textlength(words, small) + (18 if dot else 0)
        if end - start < room:
            return
        if words == length:
            pen.text((start, 17), words, PALE, small)
            start += room + 24
            continue
        pen.text((end, 17), words, PALE, small, anchor="ra")
        if dot:
            pen.ellipse((end - room, 20, end - room + 10, 30), fill=dot)
        end -= room + 22


def save_sheet(image: Image.Image, path: str | PathLike[str], *, force: bool = False) -> Path:
    """Write a sheet as PNG, whole or not at all; its path.

    Raises ExportError: its name does not end in .png, it exists and `force` is off, the folder cannot be written.
    """
    if Path(path).suffix.lower() != ".png":
        raise ExportError("is no name of a PNG", path, "a contact sheet is a .png")
    with staged(path, force=force) as draft:
        image.save(draft, format="PNG", optimize=False)
    return Path(path)

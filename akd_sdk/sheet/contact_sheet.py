"""Contact sheets: the character itself at moments of a clip, from the side and from three quarters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from akd_sdk.errors import AkdError, ExportError
from akd_sdk.formats.atomic import staged
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig
from akd_sdk.sheet.ground import LEFT, RIGHT, draw_contacts, draw_ground
from akd_sdk.sheet.raster import rasterise
from akd_sdk.sheet.shading import shade
from akd_sdk.sheet.shadow import floor_shadow, strip_shadow
from akd_sdk.sheet.stage import MARGIN, Stage, alike, stage_of

Painter = Callable[[Stage, int, int], Image.Image]
"""What draws a view (second) of a moment (third) on a stage."""

RENDERERS: Final = ("mesh", "splat")
"""How figures are drawn: their skin with light and shadows, or as a prior sees them, by Gaussians on a checkerboard."""

SUPERSAMPLING = 2
BLOCK_COLUMNS = 6
"""Pictures side by side; more moments go on in further blocks of rows below."""
LONGEST_NAME = 300
"""Characters of a title; no sheet shows more."""
TITLE = 40
FAR_DEPTHS = (0.1, 0.35)
"""For each view, the share of the height behind the middle of the body at which colours have faded as much as they will."""
BEFORE_AFTER = ("untracked", "tracked")
"""What the rows of two motions are called."""
PAPER, INK, PALE = (250, 250, 250), (40, 42, 46), (110, 112, 118)


@dataclass(frozen=True)
class _Row:
    """A row of pictures: a view of a motion, and its name."""

    stage: Stage
    draw: Painter
    view: int
    name: str


def contact_sheet(
    rig: Rig,
    motion: Motion,
    *,
    before: Motion | None = None,
    columns: int = 12,
    cell: tuple[int, int] = (300, 370),
    renderer: str = "mesh",
) -> Image.Image:
    """The character at `columns` moments of a motion, one row from its right side and one from three quarters, six a block.

    All pictures share one scale and follow the travel; marks on the ground go by with it, also where a motion walks in place. Dots lie
    below planted contact points, which are found where the motion does not say. With `before`, the motion before it was tracked, each
    row has its like above it. `cell` is the width and the largest height of a picture in pixels, `renderer` one of RENDERERS; Gaussians
    do not show what morphs.
    Raises RigError: no skin to draw, a motion of another skeleton; AkdError: no columns, a cell too small to see anything in, no such
    renderer; BackendError: Gaussians cannot be splatted here.
    """
    if columns < 1:
        raise AkdError(f"{columns} columns", "columns", "ask for at least one")
    if min(cell) < 80:
        raise AkdError(f"a cell of {cell[0]} x {cell[1]} pixels is too small", "cell", "ask for at least 80 x 80")
    motions = [motion] if before is None else [before, motion]
    rows = _rows([_drawn_by(renderer, rig, one, columns, cell) for one in motions], cell)
    stage = rows[-1].stage
    wide, tall = stage.cell
    across = min(columns, BLOCK_COLUMNS)
    blocks = -(-columns // BLOCK_COLUMNS)
    gap = MARGIN // 2
    block_height = len(rows) * (tall + gap) + MARGIN
    sheet = Image.new("RGB", (2 * MARGIN + across * wide + (across - 1) * gap, TITLE + MARGIN + blocks * block_height), PAPER)
    _title(sheet, rig, motion, (stage, renderer))
    for moment in range(columns):
        block, column = divmod(moment, BLOCK_COLUMNS)
        for k, row in enumerate(rows):
            picture = row.draw(row.stage, row.view, moment)
            time = f"{row.stage.framing.frames[moment] / motion.fps:.2f} s"
            _caption(picture, time, row.name if column == 0 else "", halo=2 if renderer == "splat" else 0)
            top = TITLE + MARGIN // 2 + block * block_height + k * (tall + gap)
            sheet.paste(picture, (MARGIN + column * (wide + gap), top))
    return sheet


def _rows(drawn: list[tuple[Stage, Painter]], cell: tuple[int, int]) -> list[_Row]:
    """The rows of a block: each view of one motion, or of two in one scale, the one before tracking above the other."""
    views = drawn[0][0].framing.views
    if len(drawn) == 1:
        stage, draw = drawn[0]
        return [_Row(stage, draw, view, name) for view, (name, *_) in enumerate(views)]
    stages = alike([stage for stage, _ in drawn], cell)
    return [
        _Row(stage, draw, view, f"{name}, {which}")
        for view, (name, *_) in enumerate(views)
        for stage, (_, draw), which in zip(stages, drawn, BEFORE_AFTER)
    ]


def _drawn_by(renderer: str, rig: Rig, motion: Motion, columns: int, cell: tuple[int, int]) -> tuple[Stage, Painter]:
    """The stage, and what draws a view of a moment on it."""
    if renderer == "mesh":
        return stage_of(rig, motion, columns, cell), draw_picture
    if renderer == "splat":
        from akd_sdk.sheet.splats import splat_stage

        return splat_stage(rig, motion, columns, cell)
    raise AkdError(f"no renderer is called {renderer!r}", "renderer", f"known are {', '.join(RENDERERS)}")


def draw_picture(stage: Stage, view: int, moment: int) -> Image.Image:
    """One figure on its ground, without words."""
    canvas = stage.canvas(view, moment, SUPERSAMPLING)
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


def _caption(picture: Image.Image, time: str, view: str, halo: int = 0) -> None:
    """Time and view in the corners, with a rim of so many pixels where they stand on a pattern."""
    pen = ImageDraw.Draw(picture)
    pen.text((picture.width - 8, 6), time, INK, ImageFont.load_default(14), anchor="ra", stroke_width=halo, stroke_fill=PAPER)
    if view:
        pen.text((8, 6), view, INK if halo else PALE, ImageFont.load_default(13), stroke_width=halo, stroke_fill=PAPER)


def _title(sheet: Image.Image, rig: Rig, motion: Motion, drawn: tuple[Stage, str]) -> None:
    """Rig, clip, length; on the right, as far as there is room, what marks or tiles and dots mean."""
    stage, renderer = drawn
    pen = ImageDraw.Draw(sheet)
    large, small = ImageFont.load_default(20), ImageFont.load_default(14)
    name = "".join(c if c.isprintable() else " " for c in f"{rig.name}: {motion.name}")[:LONGEST_NAME]
    pen.text((MARGIN, 12), name, INK, large)
    start = MARGIN + pen.textlength(name, large) + 18
    end = float(sheet.width - MARGIN)
    loop = ", loop" if motion.loop else ""
    length = f"{motion.duration:.2f} s, {motion.frames} frames at {motion.fps:.4g} fps{loop}"
    marks = f"{'tiles of' if renderer == 'splat' else 'marks every'} {stage.framing.tick:g} m"
    legend: list[tuple[str, tuple[int, int, int] | None]] = [(marks, None)]
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

"""Plots of a tracking over time: feet, help, centre of mass and support, before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from akd_sdk.bodies import TrackRecord
from akd_sdk.errors import ExportError
from akd_sdk.formats.atomic import staged
from akd_sdk.sheet.axes import FINE, INK, PALE, Axes, Colour

Array = NDArray[np.float64]

SIZE: Final = (1200, 900)
PAPER: Final[Colour] = (250, 250, 250)
BEFORE: Final[Colour] = (128, 130, 136)
FLIGHT: Final[Colour] = (222, 234, 250)
SUPPORT: Final[Colour] = (186, 220, 194)
COM: Final[Colour] = (70, 50, 150)
FORCE: Final[Colour] = (190, 40, 50)
TORQUE: Final[Colour] = (20, 120, 130)
GROUND: Final[Colour] = (120, 112, 100)
FEET: Final[dict[str, tuple[str, Colour]]] = {
    "LF": ("left fore", (230, 130, 20)),
    "RF": ("right fore", (40, 120, 215)),
    "LH": ("left hind", (190, 80, 10)),
    "RH": ("right hind", (20, 70, 170)),
}
"""What feet are called, and their colours: left warm, right cold, as the dots of a contact sheet."""

LEFT, RIGHT, TOP, BOTTOM = 64, 20, 70, 48
"""Margins, pixels."""
HEADING, GAP = 27, 5
"""Pixels of the words over a panel, and between two feet."""
LEAST_CM, LEAST_HELP, LEAST_M = 3.0, 0.02, 0.02
"""The least range of feet, help and lengths that is shown, so that millimetres do not look like leaps."""
ROOM: Final = 0.08
"""Share of a range that is left free above and below."""
LONGEST: Final = 300
"""Characters of a title; no plot shows more."""
FURTHEST: Final = 1.5
"""How far from the centre of mass the motion before is shown, in widths of the support: a drift of metres would hide all else."""


@dataclass(frozen=True)
class _Panel:
    """A row of the plot: words and keys above it, none where it belongs to the row before; its share of the height; its range."""

    heading: str
    keys: tuple[tuple[str, Colour], ...]
    share: float
    values: tuple[float, float]
    draw: Callable[[Axes], None]


def track_plot(record: TrackRecord, title: str, remark: str = "", caps: tuple[float, float] | None = None) -> Image.Image:
    """What a tracking did, over time: the height of every foot, the help used, the centre of mass, and where it was over the support.

    The motion that was tracked is drawn thin and grey; where it has no foot on the ground all is shaded. `title` and a smaller `remark`
    stand above. `caps` are the norms of force and torque that were allowed, in body weights and body weights times pelvis height.
    """
    times = np.arange(len(record.com)) / record.fps
    panels = [*_feet(record, times), _help(record, times, caps), _height(record, times), *_support(record, times)]
    picture = Image.new("RGB", (FINE * SIZE[0], FINE * SIZE[1]), PAPER)
    _words(picture, title, remark)
    free = SIZE[1] - TOP - BOTTOM - sum(HEADING if panel.heading else GAP for panel in panels)
    whole = sum(panel.share for panel in panels)
    top = TOP
    for panel in panels:
        if panel.heading:
            _heading(picture, panel, top)
        top += HEADING if panel.heading else GAP
        height = int(free * panel.share / whole)
        axes = Axes.empty((SIZE[0] - LEFT - RIGHT, height), (0.0, float(times[-1])), panel.values)
        axes.shade(times, record.flight, FLIGHT)
        axes.grid()
        panel.draw(axes)
        axes.onto(picture, (LEFT, top), numbers=panel is panels[-1])
        top += height
    return picture.resize(SIZE, Image.Resampling.BOX)


def save_plot(image: Image.Image, path: str | PathLike[str], *, force: bool = False) -> Path:
    """Write a plot as PNG, whole or not at all; its path.

    Raises ExportError: its name does not end in .png, it exists and `force` is off, the folder cannot be written.
    """
    if Path(path).suffix.lower() != ".png":
        raise ExportError("is no name of a PNG", path, "a plot is a .png")
    with staged(path, force=force) as draft:
        image.save(draft, format="PNG", optimize=False)
    return Path(path)


def _feet(record: TrackRecord, times: Array) -> list[_Panel]:
    """A panel a foot, all in one scale."""
    after, before = 100.0 * record.heights, 100.0 * record.heights_before
    values = _range(np.concatenate([after, before, np.zeros((1, after.shape[1]))]), LEAST_CM)
    words = "height of each foot's lowest point over the ground, cm; in colour: after"
    keys = ("before", BEFORE), ("flight before", FLIGHT)
    panels = []
    two = not {"LF", "RF"} & set(record.feet)
    order = sorted(range(len(record.feet)), key=lambda k: [*FEET, record.feet[k]].index(record.feet[k]))
    for row, k in enumerate(order):
        name, colour = FEET.get(record.feet[k], (record.feet[k], COM))
        name = name.replace("hind", "foot") if two else name

        def draw(axes: Axes, k: int = k, name: str = name, colour: Colour = colour) -> None:
            axes.level(0.0, GROUND)
            axes.line(times, before[:, k], BEFORE, 1.3)
            axes.line(times, after[:, k], colour, 2.0)
            axes.words(name, colour)

        panels.append(_Panel("" if row else words, () if row else keys, 3.2 / len(record.feet), values, draw))
    return panels


def _help(record: TrackRecord, times: Array, caps: tuple[float, float] | None) -> _Panel:
    """Norms of force and torque, and what was allowed."""
    norms = [np.linalg.norm(values, axis=1) for values in (record.force, record.torque)]
    colours = (FORCE, TORQUE)
    allowed = [cap for cap in caps or () if cap > 0.0]
    most = max(LEAST_HELP, *(float(norm.max()) for norm in norms), *allowed)

    def draw(axes: Axes) -> None:
        for cap, colour in zip(caps or (), colours):
            if cap > 0.0:
                axes.level(cap, colour, dashed=True, width=1.5)
        for norm, colour in zip(norms, colours):
            axes.line(times, norm, colour, 2.0)
        if not any(norm.any() for norm in norms):
            axes.words("none was used")

    keys = (("force, body weights", FORCE), ("torque, body weights x pelvis height", TORQUE))
    return _Panel("help on the pelvis" + ("; dashed: allowed" if allowed else ""), keys, 1.4, (0.0, most * (1.0 + ROOM)), draw)


def _height(record: TrackRecord, times: Array) -> _Panel:
    """The centre of mass over the ground."""
    after, before = record.com[:, 1], record.com_before[:, 1]

    def draw(axes: Axes) -> None:
        axes.line(times, before, BEFORE, 1.3)
        axes.line(times, after, COM, 2.0)

    keys = (("before", BEFORE), ("after", COM))
    return _Panel("height of the centre of mass, m", keys, 1.2, _range(np.concatenate([after, before]), LEAST_M), draw)


def _support(record: TrackRecord, times: Array) -> list[_Panel]:
    """Along the way and across it: what touches the ground, seen from the centre of mass above it."""
    gone = np.ptp(record.com[:, [0, 2]], axis=0)
    along = int(np.argmax(gone)) if gone.max() > 0.0 else 1
    return [
        _support_along(record, times, axis, "along" if axis == along else "across", bool(axis == along)) for axis in (along, 1 - along)
    ]


def _support_along(record: TrackRecord, times: Array, axis: int, way: str, first: bool) -> _Panel:
    """One axis of the ground: x or z."""
    here = record.com[:, 2 * axis]
    low, high = record.support[:, 0, axis] - here, record.support[:, 1, axis] - here
    before = record.com_before[:, 2 * axis] - here
    known = np.concatenate([low, high])
    known = known[np.isfinite(known)]
    width = max(float(np.ptp(known)) if len(known) else 0.0, LEAST_M)
    near = np.clip(before, -FURTHEST * width, FURTHEST * width)
    values = _range(np.concatenate([known, near, [0.0]]), LEAST_M)

    def draw(axes: Axes) -> None:
        axes.band(times, low, high, SUPPORT)
        axes.level(0.0, COM, width=2.0)
        axes.line(times, before, BEFORE, 1.3)

    name = "xz"[axis]
    keys = (("centre of mass before", BEFORE), ("centre of mass", COM), ("what touches the ground", SUPPORT)) if first else ()
    return _Panel(f"support from the centre of mass, {way} the way ({name}), m", keys, 1.2, values, draw)


def _range(values: Array, least: float) -> tuple[float, float]:
    """Lowest and highest of values, at least `least` apart, with some room."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    more = max(0.0, 0.5 * (least - (high - low)))
    low, high = low - more, high + more
    room = ROOM * (high - low)
    return low - room, high + room


def _words(picture: Image.Image, title: str, remark: str) -> None:
    """The title and a smaller line above, and what runs along below."""
    pen = ImageDraw.Draw(picture)
    for words, top, size, colour in ((title, 10, 20, INK), (remark, 40, 14, PALE)):
        font = ImageFont.load_default(FINE * size)
        shown = "".join(c if c.isprintable() else " " for c in words)[:LONGEST]
        while pen.textlength(shown, font) > FINE * (SIZE[0] - LEFT - RIGHT):
            shown = shown[:-1]
        pen.text((FINE * LEFT, FINE * top), shown, colour, font)
    at = (FINE * (SIZE[0] + LEFT - RIGHT) // 2, FINE * (SIZE[1] - 8))
    pen.text(at, "time, s", INK, ImageFont.load_default(FINE * 13), anchor="ms")


def _heading(picture: Image.Image, panel: _Panel, top: int) -> None:
    """The words over a panel, and the keys of its colours on the right."""
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(FINE * 13)
    line = FINE * (top + HEADING - 7)
    pen.text((FINE * LEFT, line), panel.heading, INK, font, anchor="ls")
    end = float(FINE * (SIZE[0] - RIGHT))
    for words, colour in panel.keys:
        pen.text((end, line), words, PALE, font, anchor="rs")
        end -= pen.textlength(words, font) + 6 * FINE
        pen.rectangle((end - 14 * FINE, line - 8 * FINE, end, line - FINE), fill=colour)
        end -= 30 * FINE

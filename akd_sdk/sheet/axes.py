"""Axes: a rectangle of a picture that shows numbers over time, with lines, bands, shading and labelled ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Colour = tuple[int, int, int]

FINE: Final = 2
"""Pixels drawn for each that is seen, in both directions."""
INK, PALE, GRID, PANEL = (40, 42, 46), (95, 98, 105), (224, 226, 230), (255, 255, 255)
TICK_ROOM, LEAST_ROOM = 24, 12
"""Pixels that a tick of the vertical axis is given, and at least, where there are few."""
FEWEST_TICKS: Final = 3
MOST_TICKS: Final = 10
"""On the horizontal axis."""


@dataclass(frozen=True)
class Axes:
    """What is drawn in pixels of `area`, (width, height) fine ones: `times` from left to right, `values` from the bottom up."""

    area: Image.Image
    times: tuple[float, float]
    values: tuple[float, float]

    @classmethod
    def empty(cls, size: tuple[int, int], times: tuple[float, float], values: tuple[float, float]) -> Axes:
        """Axes of a size in seen pixels. Ranges of no length get one."""
        (start, end), (low, high) = times, values
        area = Image.new("RGB", (FINE * size[0], FINE * size[1]), PANEL)
        return cls(area, (start, end if end > start else start + 1.0), (low, high if high > low else low + 1.0))

    def grid(self) -> None:
        """A pale line at every tick of the values."""
        for value in self.ticks():
            self.level(value, GRID)

    def place(self, time: float, value: float) -> tuple[float, float]:
        """Fine pixels of a moment and a value."""
        (start, end), (low, high) = self.times, self.values
        width, height = self.area.size
        return (time - start) / (end - start) * (width - 1), (high - value) / (high - low) * (height - 1)

    def ticks(self) -> list[float]:
        """Round values between the lowest and the highest, as many as there is room for; three at least, where round ones are so near."""
        most = max(1, self.area.height // (FINE * TICK_ROOM))
        found: list[float] = []
        while len(found) < FEWEST_TICKS and most <= self.area.height // (FINE * LEAST_ROOM):
            found = round_steps(self.values, most)
            most += 1
        return found

    def line(self, times: Array, values: Array, colour: Colour, width: float = 2.0) -> None:
        """A line through values (n,) at times (n,); it is broken where they are not finite."""
        pen = ImageDraw.Draw(self.area)
        for run in _stretches(np.isfinite(values)):
            points = [self.place(float(times[i]), float(values[i])) for i in run]
            thick = max(1, round(FINE * width))
            if len(points) > 1:
                pen.line(points, colour, thick, joint="curve")
            else:
                x, y = points[0]
                pen.ellipse((x - thick, y - thick, x + thick, y + thick), fill=colour)

    def band(self, times: Array, low: Array, high: Array, colour: Colour) -> None:
        """What lies between two lines, filled; each moment as wide as its distance to the next, so that a single one is seen."""
        pen = ImageDraw.Draw(self.area)
        half = 0.5 * float(np.median(np.diff(times))) if len(times) > 1 else 0.5 * (self.times[1] - self.times[0])
        for run in _stretches(np.isfinite(low) & np.isfinite(high)):
            first, last = float(times[run[0]]) - half, float(times[run[-1]]) + half
            along = [first, *(float(times[i]) for i in run), last]
            below, above = ([float(side[run[0]]), *(float(side[i]) for i in run), float(side[run[-1]])] for side in (low, high))
            there = [self.place(t, v) for t, v in zip(along, above)]
            back = [self.place(t, v) for t, v in zip(reversed(along), reversed(below))]
            pen.polygon([*there, *back], fill=colour, outline=colour)

    def shade(self, times: Array, on: Bools, colour: Colour) -> None:
        """The background behind the moments that are `on` (n,)."""
        floor, ceiling = np.full(len(times), self.values[0]), np.full(len(times), self.values[1])
        self.band(times, np.where(on, floor, np.nan), ceiling, colour)

    def level(self, value: float, colour: Colour, *, dashed: bool = False, width: float = 1.0) -> None:
        """A horizontal line across."""
        pen = ImageDraw.Draw(self.area)
        y = self.place(0.0, value)[1]
        dash = 7 * FINE
        starts = range(0, self.area.width, 2 * dash if dashed else self.area.width)
        for x in starts:
            pen.line((x, y, x + (dash if dashed else self.area.width), y), colour, max(1, round(FINE * width)))

    def words(self, text: str, colour: Colour = PALE, size: int = 13) -> None:
        """Words in the corner above on the left."""
        font = ImageFont.load_default(FINE * size)
        ImageDraw.Draw(self.area).text((6 * FINE, 3 * FINE), text, colour, font, stroke_width=FINE, stroke_fill=PANEL)

    def onto(self, picture: Image.Image, corner: tuple[int, int], *, numbers: bool) -> None:
        """Put these axes into a picture (of fine pixels) with their upper left corner at seen pixels `corner`: a frame, values on the
        left and, with `numbers`, times below."""
        left, top = FINE * corner[0], FINE * corner[1]
        picture.paste(self.area, (left, top))
        pen, font = ImageDraw.Draw(picture), ImageFont.load_default(FINE * 12)
        pen.rectangle((left, top, left + self.area.width, top + self.area.height), outline=PALE, width=FINE)
        steps = self.ticks()
        for value, text in zip(steps, labels(steps)):
            y = top + self.place(0.0, value)[1]
            pen.line((left - 4 * FINE, y, left, y), PALE, FINE)
            pen.text((left - 7 * FINE, y), text, INK, font, anchor="rm")
        moments = round_steps(self.times, MOST_TICKS)
        for moment, text in zip(moments, labels(moments)):
            x, bottom = left + self.place(moment, 0.0)[0], top + self.area.height
            pen.line((x, bottom, x, bottom + 4 * FINE), PALE, FINE)
            if numbers:
                pen.text((x, bottom + 6 * FINE), text, INK, font, anchor="ma")


def round_steps(ends: tuple[float, float], most: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between two values, at most `most` + 1 of them."""
    low, high = ends
    least = (high - low) / most
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least * (1.0 - 1e-9))
    return [k * step for k in range(math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6) + 1)]


def labels(values: list[float]) -> list[str]:
    """Numbers as they stand beside an axis, all with the same decimals."""
    step = values[1] - values[0] if len(values) > 1 else abs(values[0]) if values else 1.0
    places = max(0, -math.floor(math.log10(step) + 1e-9)) if step > 0.0 else 0
    return [f"{value + 0.0:.{places}f}" for value in values]


def _stretches(on: Bools) -> list[range]:
    """Runs of moments that are on."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], on, [False]]).astype(np.int8)))
    return [range(int(start), int(end)) for start, end in edges.reshape(-1, 2)]

"""Plots of trackings: every curve is where its numbers say, and what cannot be drawn is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from track_records import trot_record

from akd_sdk.errors import ExportError
from akd_sdk.sheet import save_plot, track_plot
from akd_sdk.sheet.axes import FINE, PANEL, Axes, labels, round_steps
from akd_sdk.sheet.plot import BEFORE, COM, FEET, FLIGHT, FORCE, LEFT, RIGHT, SIZE, SUPPORT, TORQUE

RED, BLUE = (200, 0, 0), (0, 0, 200)


def painted(image: Image.Image, colour: tuple[int, int, int], near: int = 6) -> NDArray[np.bool_]:
    return np.asarray(np.abs(np.asarray(image).astype(int) - colour).max(axis=2) <= near)


def test_a_point_is_where_its_time_and_value_are() -> None:
    axes = Axes.empty((200, 100), (1.0, 3.0), (-1.0, 4.0))
    assert axes.place(1.0, 4.0) == (0.0, 0.0)
    assert axes.place(3.0, -1.0) == (200 * FINE - 1, 100 * FINE - 1)
    axes.line(np.array([1.0, 2.0, 3.0]), np.array([-1.0, 4.0, -1.0]), RED, 1.0)
    rows, columns = np.nonzero(painted(axes.area, RED))
    peak = columns[rows <= 2]
    assert abs(peak.mean() - 100 * FINE) < 3 * FINE
    slope = np.polyfit(columns[columns < 90 * FINE], rows[columns < 90 * FINE], 1)[0]
    assert slope == pytest.approx(-1.0, rel=0.03)  # 100 pixels up in 100 pixels of time


def test_a_line_is_broken_where_nothing_is_known() -> None:
    axes = Axes.empty((100, 50), (0.0, 4.0), (0.0, 1.0))
    axes.line(np.arange(5.0), np.array([0.5, 0.5, np.nan, 0.5, 0.5]), RED)
    drawn = painted(axes.area, RED).any(axis=0)
    assert drawn[: 48].all()
    assert not drawn[54:146].any()
    assert drawn[152:].all()


def test_a_band_fills_what_lies_between_and_single_moments_are_seen() -> None:
    axes = Axes.empty((100, 50), (0.0, 10.0), (0.0, 1.0))
    low = np.full(11, np.nan)
    low[4] = 0.2
    axes.band(np.arange(11.0), low, np.full(11, 0.8), BLUE)
    rows, columns = np.nonzero(painted(axes.area, BLUE))
    assert np.ptp(columns) == pytest.approx(10 * FINE, abs=3)
    assert (rows.min(), rows.max()) == (pytest.approx(0.2 * 100, abs=2), pytest.approx(0.8 * 100, abs=2))


@pytest.mark.parametrize(
    ("ends", "most", "steps"),
    [
        ((0.0, 2.0), 10, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2", "1.4", "1.6", "1.8", "2.0"]),
        ((-0.4, 7.1), 3, ["0", "5"]),
        ((0.334, 0.371), 4, ["0.34", "0.35", "0.36", "0.37"]),
        ((-0.3, 1234.0), 5, ["0", "500", "1000"]),
        ((0.0, 0.093), 4, ["0.00", "0.05"]),
        ((-0.0101, 0.0101), 3, ["-0.01", "0.00", "0.01"]),
    ],
)
def test_ticks_are_round(ends: tuple[float, float], most: int, steps: list[str]) -> None:
    assert labels(round_steps(ends, most)) == steps


@pytest.mark.parametrize("values", [(0.0, 0.0), (3.0, 3.0), (-1e-9, 1e-9), (0.0, 1e6)])
def test_any_range_has_ticks_inside_it(values: tuple[float, float]) -> None:
    axes = Axes.empty((100, 60), (0.0, 0.0), values)
    ticks = axes.ticks()
    assert len(ticks) >= 2
    assert all(axes.values[0] - 1e-12 <= tick <= axes.values[1] * (1 + 1e-9) + 1e-12 for tick in ticks)


@pytest.fixture(scope="module")
def plot() -> Image.Image:
    return track_plot(trot_record(), "fox: trot", "some remark", (0.087, 0.052))


def test_a_plot_is_as_large_as_a_screen_shows(plot: Image.Image) -> None:
    assert plot.size == SIZE


def test_everything_that_is_recorded_is_drawn_in_its_colour(plot: Image.Image) -> None:
    drawn = np.asarray(plot)[:, LEFT : SIZE[0] - RIGHT]
    area = Image.fromarray(drawn)
    for colour in (BEFORE, COM, FLIGHT, FORCE, SUPPORT, TORQUE, *(colour for _, colour in FEET.values())):
        assert painted(area, colour, 12).any(axis=0).sum() > 100, f"{colour} is seen along the time"


def rows_of(image: Image.Image, colour: tuple[int, int, int], *, column: int) -> NDArray[np.int64]:
    """Rows of a column of pixels that have a colour."""
    return np.flatnonzero(painted(image, colour, 20)[:, column - 1 : column + 2].any(axis=1))


def test_help_is_as_high_under_its_cap_as_the_numbers_say() -> None:
    image = track_plot(trot_record(help_bw=0.05), "x", caps=(0.1, 0.0))
    at = LEFT + round((SIZE[0] - LEFT - RIGHT) * 0.3 / 2.0)  # 0.3 s: no flight
    line, bottom = float(rows_of(image, FORCE, column=at).max()), float(np.nonzero(painted(image, TORQUE))[0].max())  # 0 in flight
    dashes = np.flatnonzero(painted(image, FORCE, 20)[: int(line) - 5, LEFT + 5 : SIZE[0] - RIGHT - 5].sum(axis=1) > 300)
    cap = float(dashes.mean())
    assert (bottom - line) / (bottom - cap) == pytest.approx(0.5, abs=0.03)


def test_no_help_is_said_to_be_none() -> None:
    none, some = (track_plot(trot_record(help_bw=value), "x", caps=(0.1, 0.1)) for value in (0.0, 0.001))
    assert np.any(np.asarray(none) != np.asarray(some))
    assert not painted(none, FORCE, 12)[:, LEFT + 5 : 600].sum(axis=1).max() > 560, "no line but the dashed cap"


def test_flight_is_shaded_in_every_panel(plot: Image.Image) -> None:
    at = LEFT + round((SIZE[0] - LEFT - RIGHT) * 1.04 / 2.0)  # 1.04 s: in flight
    stands = LEFT + round((SIZE[0] - LEFT - RIGHT) * 1.25 / 2.0)
    assert painted(plot, FLIGHT)[:, at].sum() > 400
    assert painted(plot, FLIGHT)[80:, stands].sum() == 0
    assert painted(plot, SUPPORT)[80:, at].sum() == 0
    assert painted(plot, SUPPORT)[80:, stands].sum() > 60


def test_bipeds_get_two_panels_of_feet_that_are_higher() -> None:
    two = track_plot(trot_record(("LH", "RH")), "x")
    four = track_plot(trot_record(), "x")
    heights = [len(rows_of(image, PANEL, column=LEFT + 900)) for image in (two, four)]
    assert heights[0] > heights[1], "less is spent on gaps between feet"


def test_a_drift_of_metres_leaves_the_support_readable() -> None:
    record = trot_record()
    gone = record.com_before + np.linspace(0.0, 5.0, len(record.com))[:, None] * [0.0, 0.0, 1.0]
    image = track_plot(replace(record, com_before=gone), "x")
    at = LEFT + round((SIZE[0] - LEFT - RIGHT) * 0.3 / 2.0)
    assert painted(image, SUPPORT)[80:, at].sum() > 40


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_shortest_motions_are_drawn_too(frames: int) -> None:
    assert track_plot(trot_record(frames=frames), "x").size == SIZE


def test_a_motion_that_never_touches_the_ground_is_drawn() -> None:
    record = trot_record()
    none = replace(record, support=np.full_like(record.support, np.nan), flight=np.ones(len(record.com), dtype=bool))
    image = track_plot(none, "x")
    assert not painted(image, SUPPORT)[80:, LEFT + 5 : 700].any()


def test_any_title_can_stand_above_it(plot: Image.Image) -> None:
    assert track_plot(trot_record(), "a\0\n狐" * 500, "y" * 5000).size == plot.size


def test_the_same_record_gives_the_same_plot(plot: Image.Image) -> None:
    assert track_plot(trot_record(), "fox: trot", "some remark", (0.087, 0.052)).tobytes() == plot.tobytes()


def test_saving_writes_a_whole_png_and_refuses_what_is_none_or_exists(plot: Image.Image, tmp_path: Path) -> None:
    path = save_plot(plot, tmp_path / "plot.png")
    with Image.open(path) as back:
        assert back.tobytes() == plot.tobytes()
    with pytest.raises(ExportError, match="exists"):
        save_plot(plot, path)
    save_plot(plot, path, force=True)
    with pytest.raises(ExportError, match=r"a plot is a \.png"):
        save_plot(plot, tmp_path / "plot.jpg")
    assert [file.name for file in tmp_path.iterdir()] == ["plot.png"]

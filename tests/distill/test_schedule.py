"""Times of the three modes, and the options that choose them."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch

from akd_sdk.distill import DistillOptions
from akd_sdk.distill.options import PixelOptions, Stage
from akd_sdk.distill.schedule import levels, rate_share, times_of
from akd_sdk.errors import AkdError


def test_levels_begin_without_signal_and_noise_falls_geometrically() -> None:
    times = levels(12)
    ratios = [math.tan(0.5 * math.pi * t) for t in times[1:]]
    assert times[0] == 1.0
    assert ratios[0] == pytest.approx(30.0)
    assert ratios[-1] == pytest.approx(0.05)
    steps = [b / a for a, b in pairwise(ratios)]
    assert max(steps) == pytest.approx(min(steps))


def test_on_pixels_times_fall_linearly_over_the_range() -> None:
    times = times_of(DistillOptions(steps=5).settled("pixels", 2.0), "pixels")
    generator = torch.Generator()
    assert [times(k, generator) for k in range(5)] == pytest.approx([0.98, 0.74, 0.5, 0.26, 0.02])


@pytest.mark.parametrize("observes", ["tracks", "pixels"])
def test_random_times_fill_the_range_and_follow_the_seed(observes: str) -> None:
    times = times_of(DistillOptions(mode="random-t", steps=4000).settled(observes, 2.0), observes)
    drawn, again = ([times(k, g) for k in range(4000)] for g in (torch.Generator().manual_seed(3), torch.Generator().manual_seed(3)))
    assert drawn == again
    assert min(drawn) >= 0.02
    assert max(drawn) <= 0.98
    assert sum(drawn) / 4000 == pytest.approx(0.5, abs=0.02)


def test_what_is_left_open_depends_on_what_the_prior_looks_at() -> None:
    tracks, pixels = (DistillOptions().settled(observes, 2.0) for observes in ("tracks", "pixels"))
    assert (tracks.mode, tracks.steps, tracks.views, tracks.inner) == ("mas", 40, 6, 12)
    assert (pixels.mode, pixels.steps, pixels.views, pixels.inner) == ("annealed", 400, 2, 1)
    assert DistillOptions(mode="random-t").settled("pixels", 2.0).steps == 10_000


def test_the_rate_falls_in_the_second_half_only() -> None:
    shares = [rate_share(k, 10, 0.02) for k in range(10)]
    assert shares[:5] == [1.0] * 5
    assert shares[-1] == pytest.approx(0.02)
    assert shares[5:] == sorted(shares[5:], reverse=True)


@pytest.mark.parametrize(
    ("options", "observes", "path"),
    [
        (DistillOptions(mode="sds"), "tracks", "--mode"),
        (DistillOptions(mode="mas"), "pixels", "--mode"),
        (DistillOptions(steps=0), "tracks", "--steps"),
        (DistillOptions(views=0), "tracks", "--views"),
        (DistillOptions(views=65), "pixels", "--views"),
        (DistillOptions(steps=2.5), "tracks", "--steps"),  # type: ignore[arg-type]
        (DistillOptions(views=1.5), "tracks", "--views"),  # type: ignore[arg-type]
        (DistillOptions(inner=0), "tracks", "inner"),
        (DistillOptions(rate=-1.0), "tracks", "rate"),
        (DistillOptions(rate=float("nan")), "pixels", "rate"),
        (DistillOptions(bandwidth_hz=0.0), "tracks", "bandwidth_hz"),
        (DistillOptions(rate_decay=2.0), "tracks", "rate_decay"),
        (DistillOptions(pixels=PixelOptions(t_range=(0.1, 0.9))), "pixels", "t_range"),
        (DistillOptions(pixels=PixelOptions(look="wire")), "pixels", "look"),
        (DistillOptions(pixels=PixelOptions(stages=())), "pixels", "stages"),
        (DistillOptions(pixels=PixelOptions(stages=(Stage(size=0.0),))), "pixels", "stages"),
        (DistillOptions(pixels=PixelOptions(stages=(Stage(tile=-1.0),))), "pixels", "stages"),
    ],
)
def test_options_that_cannot_be_are_named(options: DistillOptions, observes: str, path: str) -> None:
    with pytest.raises(AkdError) as refused:
        options.settled(observes, 2.0)
    assert refused.value.path == path


def test_before_a_prior_is_read_a_length_that_is_too_short_has_no_upper_end() -> None:
    with pytest.raises(AkdError, match=r"give 0\.5 or more"):
        DistillOptions(seconds=0.1).settled("pixels", math.inf)

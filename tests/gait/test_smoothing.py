"""Smooth curves: laws of the fills, open and periodic."""

from __future__ import annotations

import numpy as np
import pytest

from akd_sdk.gait.smoothing import blend_through, smooth_above, smooth_fit


def stance(count: int = 40) -> np.ndarray:
    fixed = np.zeros(count, dtype=bool)
    fixed[5:15] = fixed[25:33] = True
    return fixed


@pytest.mark.parametrize("loop", [False, True])
def test_fixed_frames_are_kept_exactly(loop: bool) -> None:
    values = np.random.default_rng(0).normal(size=(40, 3))
    curve = blend_through(values, stance(), 3.0, loop)
    assert np.array_equal(curve[stance()], values[stance()])


@pytest.mark.parametrize("loop", [False, True])
def test_a_fade_begins_with_the_slope_of_what_is_fixed(loop: bool) -> None:
    changes = []
    for finer in (1, 10):  # the same curve at a higher frame rate: a kink would keep its change of slope
        fixed = np.repeat(stance(), finer)
        values = 0.05 * (np.arange(40 * finer) / finer - 10.0)[:, None]
        curve = blend_through(values, fixed, 3.0 * finer, loop)[:, 0]
        last = np.flatnonzero(fixed)[np.flatnonzero(np.diff(np.flatnonzero(fixed)) > 1)[0]]
        slope = np.diff(curve[last - 1 : last + 2]) * finer
        changes.append(abs(slope[1] - slope[0]) / 0.05)
    assert changes[1] < 0.1
    assert changes[1] < 0.2 * changes[0]


def test_the_fade_dies_out_far_from_what_is_fixed() -> None:
    fixed = np.zeros(200, dtype=bool)
    fixed[:10] = True
    curve = blend_through(np.ones((200, 1)), fixed, 3.0, False)[:, 0]
    assert np.abs(curve[40:]).max() < 1e-3


def test_a_periodic_curve_does_not_know_its_seam() -> None:
    values = np.random.default_rng(1).normal(size=(40, 2))
    curve = blend_through(values, stance(), 3.0, True)
    rolled = blend_through(np.roll(values, 11, axis=0), np.roll(stance(), 11), 3.0, True)
    assert np.abs(np.roll(curve, 11, axis=0) - rolled).max() < 1e-12


def test_nothing_fixed_changes_nothing() -> None:
    assert not blend_through(np.ones((10, 1)), np.zeros(10, dtype=bool), 2.0, True).any()


@pytest.mark.parametrize("loop", [False, True])
def test_smooth_above_is_above_and_keeps_what_is_fixed(loop: bool) -> None:
    lowest = 0.1 * np.sin(np.arange(40) * 0.5)
    curve = smooth_above(lowest, np.zeros(40), stance(), 2.0, loop)
    assert (curve[~stance()] >= lowest[~stance()] - 1e-9).all()
    assert not curve[stance()].any()


def test_smooth_above_leaves_what_is_high_enough() -> None:
    assert not smooth_above(np.full(30, -0.1), np.zeros(30), np.zeros(30, dtype=bool), 2.0, True).any()


def test_smooth_fit_follows_smooth_values_and_irons_noise() -> None:
    frames = np.arange(120)
    wave = np.sin(2 * np.pi * frames / 60.0)[:, None]
    noisy = wave + np.random.default_rng(2).normal(size=(120, 1)) * 0.1
    fitted = smooth_fit(noisy, np.ones(120), 3.0, True)
    assert np.sqrt(np.mean((fitted - wave) ** 2)) < 0.05
    assert np.abs(np.diff(fitted, n=3, axis=0)).max() < 0.1 * np.abs(np.diff(noisy, n=3, axis=0)).max()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_frames_give_numbers(count: int) -> None:
    fixed = np.zeros(count, dtype=bool)
    fixed[0] = True
    for loop in (False, True):
        assert np.isfinite(blend_through(np.ones((count, 1)), fixed, 2.0, loop)).all()
        assert np.isfinite(smooth_fit(np.ones((count, 1)), np.ones(count), 2.0, loop)).all()
        assert np.isfinite(smooth_above(np.ones(count), np.zeros(count), fixed, 2.0, loop)).all()

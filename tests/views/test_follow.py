"""The path that a camera takes: straight travel is kept, bobbing is not, and a loop meets itself."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter1d

from akd_sdk.errors import AkdError
from akd_sdk.views.follow import FOLLOW_S, smooth_path


def times(frames: int, fps: float) -> np.ndarray:
    return np.arange(frames) / fps


@pytest.mark.parametrize("period", [False, True])
@pytest.mark.parametrize(("frames", "fps"), [(1, 8.0), (2, 8.0), (3, 8.0), (9, 8.0), (49, 8.0), (61, 30.0)])
def test_straight_travel_is_kept_exactly(frames: int, fps: float, period: bool) -> None:
    path = torch.from_numpy(times(frames, fps)[:, None] * [0.3, -0.1, 1.4] + [5.0, 1.0, -7.0])
    torch.testing.assert_close(smooth_path(path, fps, period=period), path, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(("period", "share"), [(False, 0.13), (True, 1e-4)])  # without a loop a few strides tilt the line a little
@pytest.mark.parametrize("phase", [0.0, 0.4, 1.5, 2.5])
def test_bobbing_at_two_hertz_is_taken_out_of_the_path(phase: float, period: bool, share: float) -> None:
    t = times(61, 30.0)
    straight = np.stack([0 * t, 0 * t + 0.9, 1.2 * t], 1)
    bobbing = straight + 0.05 * np.sin(2.0 * np.pi * 2.0 * t + phase)[:, None]
    left = smooth_path(torch.from_numpy(bobbing), 30.0, period=period).numpy() - straight
    assert np.ptp(left, axis=0).max() < share * 0.1, "of 100 mm up and down"


def test_slow_turns_are_followed_without_delay() -> None:
    t = times(241, 30.0)
    slow = np.sin(2.0 * np.pi * 0.125 * t)
    smooth = smooth_path(torch.from_numpy(slow[:, None]), 30.0, period=True).numpy()[:, 0]
    gain = np.exp(-0.5 * (2.0 * np.pi * 0.125 * FOLLOW_S) ** 2)
    np.testing.assert_allclose(smooth, gain * slow, atol=2e-4)


def test_a_loop_agrees_with_a_periodic_filter_and_meets_itself() -> None:
    rng = np.random.default_rng(3)
    residual = rng.normal(size=(40, 3))
    path = np.concatenate([residual, residual[:1]]) + np.linspace(0.0, 2.0, 41)[:, None]
    smooth = smooth_path(torch.from_numpy(path), 20.0, period=True).numpy()
    expected = gaussian_filter1d(residual, FOLLOW_S * 20.0, axis=0, mode="wrap", truncate=4.0)
    np.testing.assert_allclose(smooth[:-1] - np.linspace(0.0, 2.0, 41)[:-1, None], expected, atol=1e-9)
    np.testing.assert_allclose(smooth[-1] - smooth[0], [2.0] * 3, atol=1e-12)


def test_open_ends_agree_with_a_mirrored_filter_of_what_is_not_linear() -> None:
    rng = np.random.default_rng(4)
    path = np.cumsum(rng.normal(size=(33, 2)), axis=0)
    window = np.sin(np.pi * (np.arange(33) + 0.5) / 33)
    line = np.stack([np.polyval(np.polyfit(np.arange(33), column, 1, w=window), np.arange(33)) for column in path.T], 1)
    expected = line + gaussian_filter1d(path - line, FOLLOW_S * 16.0, axis=0, mode="mirror", truncate=4.0)
    np.testing.assert_allclose(smooth_path(torch.from_numpy(path), 16.0, period=False).numpy(), expected, atol=1e-9)


def test_the_smooth_path_carries_the_gradient_of_the_path() -> None:
    path = torch.randn(7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    assert torch.autograd.gradcheck(lambda p: smooth_path(p, 8.0, period=True), path)


@pytest.mark.parametrize(("shape", "fps"), [((0, 3), 8.0), ((3,), 8.0), ((4, 3), 0.0), ((4, 3), float("nan"))])
def test_paths_that_cannot_be_followed_are_refused(shape: tuple[int, ...], fps: float) -> None:
    with pytest.raises(AkdError, match=r"a path has shape|fps is"):
        smooth_path(torch.zeros(shape), fps, period=False)

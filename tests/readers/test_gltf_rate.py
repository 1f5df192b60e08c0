"""Frame rates: the file's own where its keys lie on a grid, else near 30 with the end on a frame."""

from __future__ import annotations

import numpy as np
import pytest

from akd_sdk.readers.gltf.rate import frame_rate


def single(times: np.ndarray) -> np.ndarray:
    """As files keep them."""
    return np.asarray(times, dtype=np.float32).astype(np.float64)


@pytest.mark.parametrize("fps", [20.0, 24.0, 25.0, 29.97, 30.0, 48.0, 50.0, 60.0, 120.0, 240.0])
@pytest.mark.parametrize("first", [0, 1, 7])
def test_dense_keys_keep_their_rate(fps: float, first: int) -> None:
    rate = frame_rate(single(np.arange(first, 200) / fps))
    assert rate.own
    assert rate.fps == pytest.approx(fps, rel=1e-6)
    assert rate.frames == 200


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0])
def test_reduced_keys_show_their_grid(fps: float) -> None:
    keys = single(np.array([0, 5, 12, 31, 40]) / fps)
    rate = frame_rate(keys)
    assert rate.own
    assert np.abs(keys * rate.fps - np.round(keys * rate.fps)).max() < 1e-3
    assert (rate.frames - 1) / rate.fps == pytest.approx(40 / fps, abs=1e-4)


@pytest.mark.parametrize(("step", "fps"), [(1.0, 30.0), (0.5, 30.0), (0.1, 30.0), (1 / 12, 24.0), (1 / 15, 30.0)])
def test_slow_keys_lie_on_a_faster_grid(step: float, fps: float) -> None:
    rate = frame_rate(single(np.arange(5) * step))
    assert (rate.own, rate.fps) == (True, pytest.approx(fps))
    assert (rate.frames - 1) / rate.fps == pytest.approx(4 * step)


def test_keys_at_any_times_end_on_a_frame_near_30() -> None:
    generator = np.random.default_rng(11)
    for _ in range(50):
        keys = single(np.sort(generator.uniform(0.0, generator.uniform(0.5, 5.0), 17)))
        rate = frame_rate(keys)
        assert not rate.own
        assert (rate.frames - 1) / rate.fps == pytest.approx(keys[-1], rel=1e-12)
        assert abs(rate.fps - 30.0) < 30.0 / (2 * keys[-1] * 30.0) + 1.0


def test_one_key_is_one_frame() -> None:
    assert frame_rate(np.array([0.0])).frames == 1
    assert frame_rate(np.array([1e-6])).frames == 1


def test_a_late_single_key_holds_from_the_start() -> None:
    rate = frame_rate(single(np.array([0.5])))
    assert (rate.frames - 1) / rate.fps == pytest.approx(0.5)


def test_a_tiny_duration_is_a_single_step() -> None:
    rate = frame_rate(np.array([0.0, 0.001]))
    assert rate.frames == 2
    assert rate.fps == pytest.approx(1000.0)


def test_a_rate_that_the_file_tells_counts_where_keys_lie_on_it() -> None:
    keys = single(np.array([0, 30, 60]) / 60)
    assert frame_rate(keys).fps == pytest.approx(30.0)
    assert frame_rate(keys, 60.0).fps == 60.0
    assert frame_rate(keys, 60.0).frames == 61
    assert frame_rate(keys, 17.0).fps == pytest.approx(30.0)

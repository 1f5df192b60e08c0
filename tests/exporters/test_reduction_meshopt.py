"""Compressed keys: the filters are meshoptimizer's, views hold what players are told, the tolerance is a promise here too."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from reduction_oracle import errors, made_clip, made_rig
from scipy.spatial.transform import Rotation

from akd_sdk.errors import ExportError
from akd_sdk.exporters.reduction import ReductionOptions, reduce
from akd_sdk.exporters.reduction.meshopt import Compressed, compress
from akd_sdk.exporters.reduction.meshopt.filters import (
    decode_quaternions,
    decode_steps,
    encode_quaternions,
    encode_steps,
    step_exponent,
)

pytest.importorskip("meshoptimizer", reason="meshoptimizer is not installed (the extra `compress`)")

from akd_sdk.exporters.reduction.meshopt.codec import decode, encode, library

RIGS = {
    "plain": made_rig(),
    "armature 100 times too large": made_rig(file_unit=0.01, root_scale=100.0),
    "2 mm tall": made_rig(size=0.002),
    "100 m tall": made_rig(size=100.0),
}


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


@pytest.mark.parametrize("bits", [5, 8, 12, 16])
def test_quaternions_are_filtered_as_the_library_does(bits: int) -> None:
    turns = Rotation.random(500, random_state=2).as_quat()
    ours = encode_quaternions(turns, bits)
    theirs = np.zeros_like(ours)
    single = np.ascontiguousarray(turns, dtype=np.float32)
    library().meshopt_encodeFilterQuat(
        pointer(theirs), ctypes.c_size_t(len(turns)), ctypes.c_size_t(8), ctypes.c_int(bits), pointer(single)
    )
    assert np.abs(ours.astype(int) - theirs).max() <= 1  # the library rounds in float32
    assert (ours == theirs).mean() > 0.99
    decoded = ours.copy()
    library().meshopt_decodeFilterQuat(pointer(decoded), ctypes.c_size_t(len(turns)), ctypes.c_size_t(8))
    assert np.abs(decode_quaternions(ours).astype(int) - decoded).max() <= 1
    off = (Rotation.from_quat(decode_quaternions(ours).astype(float)) * Rotation.from_quat(turns).inv()).magnitude()
    assert off.max() < 4.0 * 2.0 ** (1 - bits) + 2e-4


def test_what_the_filter_gives_back_is_given_back_again() -> None:
    turns = Rotation.random(2000, random_state=3).as_quat()
    for bits in range(5, 17):
        once = decode_quaternions(encode_quaternions(decode_quaternions(encode_quaternions(turns, bits)) / 32767.0, bits)) / 32767.0
        again = decode_quaternions(encode_quaternions(once, bits)) / 32767.0
        again *= np.sign((once * again).sum(axis=1))[:, None]
        changed = (once != again).any(axis=1).mean()
        assert changed <= (0.03 if bits < 8 else 0.006 if bits < 12 else 0.0)  # where two components are as large, the other is left out


@pytest.mark.parametrize("step", [1e-6, 3e-4, 0.02])
def test_steps_are_read_back_by_the_library(step: float) -> None:
    values = np.random.default_rng(1).normal(0.0, 1.0, (200, 3))
    exponent = step_exponent(step, float(np.abs(values).max()))
    assert exponent is not None
    stored = encode_steps(values, exponent)
    theirs = stored.copy()
    library().meshopt_decodeFilterExp(pointer(theirs), ctypes.c_size_t(len(values)), ctypes.c_size_t(12))
    np.testing.assert_array_equal(theirs.view(np.float32), decode_steps(stored))
    assert np.abs(decode_steps(stored) - values).max() <= step / 2.0


def test_values_that_24_bits_do_not_hold_have_no_step() -> None:
    assert step_exponent(1e-6, 1e4) is None
    assert step_exponent(0.0, 1.0) is None


@pytest.mark.parametrize("version", [0, 1])
def test_the_codec_gives_back_what_it_was_given(version: int) -> None:
    rows = np.random.default_rng(0).integers(-300, 300, (500, 4)).cumsum(axis=0).astype("<i2")
    data = encode(rows, version)
    assert len(data) < rows.nbytes
    assert decode(data, 500, 8) == rows.tobytes()


def unpacked(packed: Compressed) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Line, times and values of each channel, from the views' bytes alone."""
    views = []
    for view in packed.encoded.views:
        raw = np.frombuffer(decode(view.data, view.count, view.stride), np.uint8).copy()
        if view.filter == "QUATERNION":
            library().meshopt_decodeFilterQuat(pointer(raw), ctypes.c_size_t(view.count), ctypes.c_size_t(view.stride))
        elif view.filter == "EXPONENTIAL":
            library().meshopt_decodeFilterExp(pointer(raw), ctypes.c_size_t(view.count), ctypes.c_size_t(view.stride))
        extension = view.extension(0, 0)
        assert (extension["count"], extension["byteStride"], extension.get("filter", "NONE")) == (view.count, view.stride, view.filter)
        views.append(raw)
    out = []
    for channel in packed.encoded.channels:
        times = views[channel.times.view].view("<f4")[channel.times.first : channel.times.first + channel.times.count]
        stride = packed.encoded.views[channel.values.view].stride
        raw = views[channel.values.view].reshape(-1, stride)[channel.values.first : channel.values.first + channel.values.count]
        values = raw.copy().view("<i2") / 32767.0 if channel.short else raw.copy().view("<f4").astype(np.float64)
        out.append((channel.line, times, values))
    return out


@pytest.mark.parametrize("tolerance", [1e-5, 1e-4, 1e-3, 5e-3])
@pytest.mark.parametrize("name", list(RIGS))
def test_players_get_the_clip_within_the_tolerance(name: str, tolerance: float) -> None:
    rig = RIGS[name]
    clip = made_clip(rig, offset=3000.0 if name == "plain" else 0.0, scaled=True)
    packed = compress(rig, clip, ReductionOptions(tolerance_m=tolerance))
    worst = errors(rig, clip, packed.clip).max()
    assert worst <= tolerance * (1.0 + 1e-6)
    assert packed.report.worst_m == pytest.approx(worst, rel=1e-3, abs=1e-3 * tolerance)
    for line, times, values in unpacked(packed):
        key = packed.encoded.keys[line]
        assert key is not None
        np.testing.assert_array_equal(times, (key.frames / clip.fps).astype(np.float32))
        read = key.values / (rig.source.scale * rig.human_scale) if values.shape[1] == 3 and line in moves(packed) else key.values
        np.testing.assert_allclose(values, read, atol=1.1 / 32767.0 if values.shape[1] == 4 else 1e-6 * np.abs(read).max())


def moves(packed: Compressed) -> set[int]:
    """Lines that are translations: tracks are in the lines' order."""
    order = [channel.line for channel in packed.encoded.channels]
    return {line for line, track in zip(sorted(order), packed.clip.tracks, strict=True) if track.path == "translation"}


def test_compressed_keys_are_smaller_than_plain_ones() -> None:
    rig = RIGS["plain"]
    clip = made_clip(rig)
    options = ReductionOptions(tolerance_m=1e-3)
    plain, packed = reduce(rig, clip, options).report, compress(rig, clip, options).report
    assert packed.bytes < 0.6 * (plain.bytes - plain.json_bytes)
    longer = compress(rig, clip, replace(options, effort="best")).report
    newer = compress(rig, clip, options, extension="KHR_meshopt_compression").report
    assert longer.bytes <= packed.bytes
    assert newer.bytes < packed.bytes


def test_an_unknown_extension_is_an_error() -> None:
    rig = RIGS["plain"]
    with pytest.raises(ExportError, match="unknown extension"):
        compress(rig, made_clip(rig), extension="ZIP")

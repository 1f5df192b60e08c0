"""Samplers of animations: values against scipy's slerp and Hermite splines, and keys that are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gltf_build import Gltf, Post, turn
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf import Animation, load, read_animations

TIMES = np.array([0.0, 0.25, 1.0, 1.5])
ASKED = np.array([-1.0, 0.0, 0.1, 0.25, 0.6, 0.999, 1.0, 1.3, 1.5, 9.0])


def animation(file: Gltf, folder: Path) -> Animation:
    return read_animations(load(file.save(folder / "file.glb")))[0]


def single(folder: Path, path: str, times: Any, values: Any, mode: str) -> Animation:
    file = Gltf()
    node = file.node(name="Hand")
    file.animation([(node, path, times, values, mode)], name="Wave")
    return animation(file, folder)


def test_linear_translations_are_straight_lines(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    channel = single(tmp_path, "translation", TIMES, values, "LINEAR").channels[0]
    expected = np.stack([np.interp(ASKED, TIMES, values[:, i]) for i in range(3)], axis=-1)
    assert np.allclose(channel.at(ASKED), expected, atol=1e-12)


def test_linear_rotations_are_great_arcs_the_short_way(tmp_path: Path) -> None:
    values = Rotation.random(4, rng=2).as_quat()
    flipped = values * [[1], [-1], [1], [-1]]
    channel = single(tmp_path, "rotation", TIMES, flipped, "LINEAR").channels[0]
    keys = Rotation.from_quat(flipped.astype(np.float32).astype(float))
    expected = Slerp(TIMES, keys)(np.clip(ASKED, 0.0, 1.5))
    difference = (Rotation.from_quat(channel.at(ASKED)) * expected.inv()).magnitude()
    assert difference.max() < 1e-7


def test_step_holds_until_the_next_key(tmp_path: Path) -> None:
    channel = single(tmp_path, "scale", TIMES, np.arange(12.0).reshape(4, 3), "STEP").channels[0]
    assert list(channel.at(ASKED)[:, 0]) == [0, 0, 0, 3, 3, 3, 6, 6, 9, 9]


def test_a_frame_beside_a_key_takes_the_key(tmp_path: Path) -> None:
    times = np.array([0, 1 / 30, 2 / 30], dtype=np.float32)
    channel = single(tmp_path, "translation", times, np.arange(9.0).reshape(3, 3), "STEP").channels[0]
    assert list(channel.at(np.arange(3) / 30, snap=1e-4)[:, 0]) == [0, 3, 6]
    assert list(channel.at(np.arange(3) / 30 - 0.01, snap=1e-4)[:, 0]) == [0, 0, 3]


def test_cubic_splines_are_hermite_splines(tmp_path: Path) -> None:
    keys = np.random.default_rng(4).normal(size=(4, 3, 3)).astype(np.float32)
    channel = single(tmp_path, "translation", TIMES, keys.reshape(12, 3), "CUBICSPLINE").channels[0]
    inside = np.linspace(0.0, 1.5, 41)
    expected = np.empty((41, 3))
    for k in range(3):  # in and out tangents may differ, so scipy gets one piece at a time
        piece = CubicHermiteSpline(TIMES[k : k + 2], keys[k : k + 2, 1], np.stack([keys[k, 2], keys[k + 1, 0]]))
        part = (inside >= TIMES[k]) & (inside <= TIMES[k + 1])
        expected[part] = piece(inside[part])
    assert np.allclose(channel.at(inside), expected, atol=1e-12)


def test_cubic_rotations_are_unit_and_meet_their_keys(tmp_path: Path) -> None:
    keys = np.random.default_rng(5).normal(size=(4, 3, 4))
    keys[:, 1] = Rotation.random(4, rng=6).as_quat()
    channel = single(tmp_path, "rotation", TIMES, keys.reshape(12, 4), "CUBICSPLINE").channels[0]
    assert np.allclose(np.linalg.norm(channel.at(np.linspace(-1, 3, 50)), axis=-1), 1.0, atol=1e-12)
    assert np.allclose(channel.at(TIMES), keys[:, 1], atol=1e-6)


@pytest.mark.parametrize("mode", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_one_key_is_a_pose(tmp_path: Path, mode: str) -> None:
    keys = np.array([[9.0] * 4, [0.0, 0.0, 0.0, 1.0], [9.0] * 4])
    channel = single(tmp_path, "rotation", [0.5], keys if mode == "CUBICSPLINE" else keys[1:2], mode).channels[0]
    assert np.array_equal(channel.at(ASKED), np.tile([0.0, 0.0, 0.0, 1.0], (10, 1)))


def test_morph_weights_have_a_column_a_target(tmp_path: Path) -> None:
    weights = np.arange(8.0).reshape(4, 2)
    channel = single(tmp_path, "weights", TIMES, weights, "LINEAR").channels[0]
    assert np.array_equal(channel.at(TIMES), weights)
    cubic = np.repeat(weights[:, None], 3, axis=1)
    channel = single(tmp_path, "weights", TIMES, cubic.reshape(-1), "CUBICSPLINE").channels[0]
    assert np.array_equal(channel.at(TIMES), weights)


def test_normalised_integers_are_rotations(tmp_path: Path) -> None:
    file = Gltf()
    node = file.node()
    file.animation([(node, "rotation", [0.0, 1.0], np.zeros((2, 4)), "LINEAR")])
    output = file.accessor([[0, 0, 0, 32767], [0, 23170, 0, 23170]], "i2", normalized=True)
    file.json["animations"][0]["samplers"][0]["output"] = output
    found = animation(file, tmp_path).channels[0].at(np.array([0.0, 1.0]))
    assert np.allclose(found, [[0, 0, 0, 1], turn("y", 90)], atol=1e-7)


def test_channels_without_a_node_or_of_other_kinds_are_counted(tmp_path: Path) -> None:
    file = Gltf()
    node = file.node()
    file.animation([(node, "translation", [0.0, 1.0], np.zeros((2, 3)), "LINEAR")] * 3)
    channels = file.json["animations"][0]["channels"]
    del channels[0]["target"]["node"]
    channels[1]["target"]["path"] = "pointer"
    found = animation(file, tmp_path)
    assert (len(found.channels), found.ignored) == (1, 2)


def _sampler(**changes: Any) -> Callable[[Gltf], None]:
    return lambda file: file.json["animations"][0]["samplers"][0].update(changes)


def _channel(**changes: Any) -> Callable[[Gltf], None]:
    return lambda file: file.json["animations"][0]["channels"][0].update(changes)


def _keys(times: Any, values: Any, mode: str = "LINEAR") -> Callable[[Gltf], None]:
    def change(file: Gltf) -> None:
        sampler = {"input": file.accessor(times), "output": file.accessor(values), "interpolation": mode}
        file.json["animations"][0]["samplers"][0] = sampler

    return change


FAULTS: dict[str, tuple[Callable[[Gltf], None], str]] = {
    "falling times": (_keys([0.0, 0.5, 0.4], np.eye(4)[:3]), "do not increase"),
    "equal times": (_keys([0.0, 0.5, 0.5], np.eye(4)[:3]), "do not increase"),
    "negative times": (_keys([-0.5, 0.5], np.eye(4)[:2]), "before 0"),
    "NaN times": (_keys([0.0, np.nan], np.eye(4)[:2]), "not finite"),
    "NaN values": (_keys([0.0, 1.0], np.full((2, 4), np.nan)), "not finite"),
    "too few values": (_keys([0.0, 0.5, 1.0], np.eye(4)[:2]), "2 values for 3 key times"),
    "too few for a spline": (_keys([0.0, 1.0], np.ones((2, 4)), "CUBICSPLINE"), "2 values for 2 key times"),
    "another width": (_keys([0.0, 1.0], np.ones((2, 3))), "of type VEC3, expected VEC4"),
    "zero rotation": (_keys([0.0, 1.0], np.zeros((2, 4))), "length zero"),
    "no such sampler": (_channel(sampler=7), "there are only 1"),
    "no such node": (_channel(target={"node": 99, "path": "rotation"}), "there are only"),
    "no target": (_channel(target=[]), "not an object"),
    "no input": (_sampler(input=99), "there are only"),
    "no output": (_sampler(output=None), "not a whole number"),
    "interpolation": (_sampler(interpolation="BEZIER"), "BEZIER"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_keys_that_are_none_are_refused_by_animation_and_channel(tmp_path: Path, case: str) -> None:
    change, reason = FAULTS[case]
    file = Post()
    file.animation([(1, "rotation", [0.0, 1.0], np.eye(4)[2:], "LINEAR")], name="Wave")
    change(file)
    with pytest.raises(ReadError, match=reason) as refused:
        animation(file, tmp_path)
    assert "animation 'Wave'" in str(refused.value)

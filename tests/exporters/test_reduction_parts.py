"""Parts of the reduction: compiled and plain errors agree, keys reach as far as they may, files hold the keys without waste."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion
from numpy.typing import NDArray
from reduction_oracle import decoded, errors, made_clip, made_rig, with_tracks
from scipy.spatial.transform import Rotation, Slerp

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, Track, export
from akd_sdk.exporters.gltf import key_data
from akd_sdk.exporters.reduction import ReductionOptions, reduce
from akd_sdk.exporters.reduction.compiled import kernels
from akd_sdk.exporters.reduction.groups import Reach, grouped, reach_of, walk
from akd_sdk.exporters.reduction.plan import PLAIN, spread
from akd_sdk.exporters.reduction.search import EFFORT, Search, on_grid
from akd_sdk.exporters.reduction.work import Line
from akd_sdk.readers import open_rig

Array = NDArray[np.float64]


@pytest.mark.parametrize("players", [("slerp",), ("nlerp",)])
def test_compiled_errors_are_those_of_plain_arithmetic(players: tuple[str, ...]) -> None:
    rig = made_rig(file_unit=0.01, root_scale=100.0)
    clip = made_clip(rig, scaled=True)
    search = Search(rig, clip, ReductionOptions(tolerance_m=1e-3, players=players), kernels())  # type: ignore[arg-type]
    state = search.attempt(1.0, search.turns, EFFORT["fast"])
    assert state is not None
    compiled = state.finer_errors().max() * 1e-3
    assert search.judge.measure(state.keys()).worst == pytest.approx(compiled, rel=1e-4)
    assert state.planned().groups


def test_reach_is_the_farthest_that_stays_within_the_budget() -> None:
    rng = np.random.default_rng(4)
    turns = Rotation.from_rotvec(np.cumsum(rng.normal(0.0, 0.02, (40, 3)), axis=0) + np.arange(40)[:, None] * 0.02).as_quat()
    line = Line(0, "rotation", turns, False, np.array([0.0, 0.0, 0.0, 1.0]))
    weights, budget = np.full(40, 2.0), 0.05
    reach = reach_of(kernels(), line, weights, budget, False)

    def stays(a: int, b: int) -> bool:
        between = Slerp([a, b], Rotation.from_quat(turns[[a, b]]))(np.arange(a, b + 1)).as_quat()
        near = between * np.sign((between * turns[a : b + 1]).sum(axis=1))[:, None]
        return bool((np.linalg.norm(near - turns[a : b + 1], axis=1) * 2.0 <= budget + 1e-12).all())

    for a, b in enumerate(reach[:-1]):
        assert stays(a, int(b))
        assert b == 39 or not stays(a, int(b) + 1)


def test_time_lines_are_shared_where_that_saves_bytes() -> None:
    every_third = np.minimum(np.arange(60) + 3, 59).astype(np.int32)
    slow = np.full(60, 59, dtype=np.int32)
    groups = grouped(kernels(), [Reach(0, 8.0, every_third), Reach(1, 8.0, every_third), Reach(2, 8.0, slow)], PLAIN)
    assert sorted(sorted(group.lines) for group in groups) == [[0, 1], [2]]
    assert [len(walk(reach)) for reach in (every_third, slow)] == [21, 2]
    left, right = spread(np.array([0, 4, 9], dtype=np.int32), 10)
    np.testing.assert_array_equal(left, [0, 0, 0, 0, 4, 4, 4, 4, 4, 9])
    np.testing.assert_array_equal(right, [4, 4, 4, 4, 9, 9, 9, 9, 9, 9])


def test_files_hold_keys_without_waste() -> None:
    rig = made_rig()
    clip = made_clip(rig, 30)
    turned = next(track for track in clip.tracks if track.path == "rotation")
    same = [replace(turned, joint=j, stored="int16") for j in (1, 2)]
    held = replace(turned, joint=3, interpolation="STEP")
    keys = key_data(rig, with_tracks(clip, *same, held))
    assert len(keys.accessors) == 3  # one time line, one int16 and one float32 output
    assert [sampler.get("interpolation") for sampler in keys.samplers] == [None, "STEP"]
    assert [channel["sampler"] for channel in keys.channels] == [0, 0, 1]
    assert len(keys.views()) == 2
    accessors, text = keys.bytes("made")
    assert accessors == 30 * (4 + 8 + 16)
    parts = [json.dumps(item, separators=(",", ":")) for item in [*keys.accessors, *keys.views()]]
    whole = [{"name": "made", "channels": keys.channels, "samplers": keys.samplers}]
    assert text == sum(len(part) + 1 for part in parts) + len(json.dumps(whole, separators=(",", ":")))
    assert {channel.values.shape for channel in decoded(keys)} == {(30, 4)}


def test_a_reduced_clip_is_written_and_read_back(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    clip = Clip.from_motion(rig, smooth_motion(rig, frames=60))
    reduced = reduce(rig, clip, ReductionOptions(tolerance_m=5e-3))
    assert errors(rig, clip, reduced.clip).max() <= 5e-3
    assert reduced.report.form == "reduced"
    again = open_rig(export(rig, reduced.clip, tmp_path / "a.glb"))
    back = Clip.from_motion(again, again.clips[0])
    assert (back.frames, back.fps, back.duration) == (clip.frames, clip.fps, clip.duration)
    apart = back.world(clip.times)[..., :3, 3] - clip.world(clip.times)[..., :3, 3]
    assert np.linalg.norm(apart, axis=-1).max() * rig.human_scale <= 5e-3


def test_keys_lie_on_the_frames_that_are_asked_for() -> None:
    rig = made_rig()
    clip = made_clip(rig, 61, speed=0.2, noise=0.0)
    reduced = reduce(rig, clip, ReductionOptions(tolerance_m=1e-3, grid_fps=15.0)).clip
    for track in reduced.tracks:
        np.testing.assert_allclose(track.times * 15.0, np.round(track.times * 15.0), atol=1e-9)
    with pytest.raises(ExportError, match="no whole number of frames"):
        on_grid(clip, 7.3)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"tolerance_m": 0.0}, "tolerance"),
        ({"tolerance_m": float("nan")}, "tolerance"),
        ({"feet_tolerance_m": -1.0}, "feet"),
        ({"effort": "most"}, "effort"),
        ({"players": ("cubic",)}, "players"),
        ({"grid_fps": 0.0}, "grid"),
    ],
)
def test_options_that_make_no_sense_are_errors(options: dict[str, object], word: str) -> None:
    with pytest.raises(ExportError, match=word):
        ReductionOptions(**options)  # type: ignore[arg-type]


def test_a_clip_of_another_character_is_an_error() -> None:
    with pytest.raises(ExportError, match="another character"):
        reduce(made_rig(), made_clip(made_rig(6)))


def test_values_that_float32_does_not_hold_are_an_error() -> None:
    rig = made_rig()
    clip = made_clip(rig, 5)
    far = Track(0, "translation", clip.times, np.full((5, 3), 1e39))
    with pytest.raises(ExportError, match="too large for float32"):
        reduce(rig, with_tracks(clip, far))

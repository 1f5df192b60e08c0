"""Frames of a BVH: at the clip's rate or another, the error told, proven by another measure, and refused where it is too much."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion
from export_readback import BvhFile, BvhNode
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, deliver, export
from akd_sdk.exporters.bvh import make_bvh
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

Array = NDArray[np.float64]
FINER = 4


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "quadruped.glb")


def swinging(rig: Rig, frames: int = 61, fps: float = 30.0) -> Motion:
    """The joints turn about slowly, and the root goes straight on."""
    t = np.arange(frames)[:, None, None] / fps
    axes = np.random.default_rng(4).normal(0.0, 0.3, (1, rig.skeleton.count, 3))
    swing = axes * np.sin(2.0 * np.pi * 0.8 * t + np.arange(rig.skeleton.count)[None, :, None])
    swing[:, [j for j, role in enumerate(rig.skeleton.roles) if role != "anatomy"]] = 0.0
    turns = Rotation.from_rotvec(swing.reshape(-1, 3)) * Rotation.from_quat(np.tile(rig.skeleton.rest.rotations, (frames, 1)))
    root = rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3] + np.concatenate([0.0 * t[:, 0], 0.0 * t[:, 0], 0.3 * t[:, 0]], axis=1)
    return Motion("swing", turns.as_quat().reshape(frames, -1, 4), root, fps)


def played(file: BvhFile, times: Array) -> tuple[list[str], Array, Array]:
    """Names, places (times, joints, 3) and turns (times, joints, 3, 3), slerped between frames by scipy."""
    grid = np.arange(len(file.values)) * file.frame_time
    times = np.clip(times, 0.0, grid[-1])
    places, turns = np.empty((len(times), len(file.nodes), 3)), np.empty((len(times), len(file.nodes), 3, 3))
    column = 0
    for i, node in enumerate(file.nodes):
        columns = file.values[:, column : column + len(node.channels)]
        column += len(node.channels)
        local = _places(node, columns, grid, times)
        order = "".join(name[0] for name in node.channels if name.endswith("rotation"))
        turn = Slerp(grid, Rotation.from_euler(order, columns[:, -3:], degrees=True))(times).as_matrix()
        up, at = (turns[:, node.parent], places[:, node.parent]) if node.parent >= 0 else (np.eye(3)[None], 0.0)
        turns[:, i], places[:, i] = up @ turn, at + (up @ local[..., None])[..., 0]
    return [node.name for node in file.nodes], places, turns


def _places(node: BvhNode, columns: Array, grid: Array, times: Array) -> Array:
    if len(node.channels) == 3:
        return np.tile(node.offset, (len(times), 1))
    return np.stack([np.interp(times, grid, column) for column in columns[:, :3].T], axis=1)


def strayed_m(rig: Rig, clip: Clip, file: BvhFile) -> float:
    """How far points 3 cm around the joints are from the clip at worst, human size, at four times its rate."""
    times = np.linspace(0.0, clip.duration, FINER * (clip.frames - 1) + 1)
    names, places, turns = played(file, times)
    joints = [rig.skeleton.names.index(name) for name in names]
    world = clip.world(times)[:, joints]
    rest = Rotation.from_matrix(rig.skeleton.rest_world[joints, :3, :3])
    wanted = np.stack([(Rotation.from_matrix(frame[:, :3, :3]) * rest.inv()).as_matrix() for frame in world])
    shift = (places / 100.0 - world[..., :3, 3])[..., None] * rig.human_scale + 0.03 * (turns - wanted)
    return float(np.linalg.norm(shift, axis=-2).max())


def test_the_error_told_is_what_another_reader_measures(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, swinging(rig))
    for fps in (15.0, 10.0, 7.5):
        options = ExportOptions(fps=fps, tolerance_m=1.0)
        made = make_bvh(rig, clip, options)
        found = strayed_m(rig, clip, BvhFile(export(rig, clip, tmp_path / f"{fps}.bvh", options=options)))
        assert found <= made.error.worst_m * (1.0 + 1e-6)
        assert made.error.worst_m < 1.5 * found  # readers that interpolate angles may stray further
        assert made.error.worst_m > 5e-4


def test_at_its_own_rate_a_clip_is_exact(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, swinging(rig))
    for fps in (None, 30.0):
        made = make_bvh(rig, clip, ExportOptions(fps=fps))
        assert made.error.worst_m < 1e-6
        assert len(made.bvh.values) == clip.frames
    path = export(rig, clip, tmp_path / "a.bvh", options=ExportOptions(fps=30.0, tolerance_m=1e-6))
    assert strayed_m(rig, clip, BvhFile(path)) < 1e-6


def test_a_lower_rate_is_written_where_it_is_near_enough_and_refused_where_not(rig: Rig, tmp_path: Path) -> None:
    slow = Clip.from_motion(rig, swinging(rig).with_(fps=5.0))
    path = export(rig, slow, tmp_path / "a.bvh", options=ExportOptions(fps=2.5, tolerance_m=0.02))
    assert BvhFile(path).frame_time == 0.4
    assert len(BvhFile(path).values) == 31
    clip = Clip.from_motion(rig, swinging(rig))
    with pytest.raises(ExportError, match=r"at 7\.5 frames a second \S+ at \d\.\d{3} s is [\d.]+ mm off, more than 1 mm; allow more"):
        export(rig, clip, tmp_path / "b.bvh", options=ExportOptions(fps=7.5))
    with pytest.raises(ExportError, match=r"more than 0\.0001 mm"):
        export(rig, clip, tmp_path / "b.bvh", options=ExportOptions(fps=15.0, tolerance_m=1e-7))
    assert [item.name for item in tmp_path.iterdir()] == ["a.bvh"]


def test_planted_feet_have_a_bound_of_their_own(rig: Rig, tmp_path: Path) -> None:
    motion = swinging(rig)
    clip = Clip.from_motion(rig, motion.with_(contacts=np.ones((motion.frames, len(rig.contact_points)), dtype=np.bool_)))
    assert len(rig.contact_points)
    far = make_bvh(rig, clip, ExportOptions(fps=10.0, tolerance_m=1.0)).error.feet_worst_m
    assert far is not None
    assert far > 1e-3
    export(rig, clip, tmp_path / "a.bvh", options=ExportOptions(fps=10.0, tolerance_m=1.0, feet_tolerance_m=far * 1.01))
    with pytest.raises(ExportError, match="a planted foot is"):
        export(rig, clip, tmp_path / "b.bvh", options=ExportOptions(fps=10.0, tolerance_m=1.0, feet_tolerance_m=far * 0.99))


@pytest.mark.parametrize("fps", [24.0, 25.0, 29.97, 60.0, 120.0])
def test_frame_time_keeps_every_digit(rig: Rig, fps: float, tmp_path: Path) -> None:
    motion = swinging(rig, frames=13, fps=fps)
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "a.bvh")
    assert BvhFile(path).frame_time == 1.0 / fps


def test_a_rate_that_does_not_meet_the_end_gives_way_to_one_that_does(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, swinging(rig, frames=32))
    options = ExportOptions(fps=24.0, tolerance_m=0.1)
    made = deliver(rig, swinging(rig, frames=32), tmp_path / "a.bvh", options=options)
    file = BvhFile(made.path)
    assert (len(file.values) - 1) * file.frame_time == pytest.approx(clip.duration, abs=1e-12)
    names, places, _ = played(file, np.array([clip.duration]))
    wanted = clip.world(np.array([clip.duration]))[:, [rig.skeleton.names.index(name) for name in names]]
    np.testing.assert_allclose(places / 100.0, wanted[..., :3, 3], atol=1e-7)
    assert any(
        "24.1935 frames a second, so that the last frame is the end of the clip, which 24 do not meet" in n for n in made.facts.notes
    )


def test_the_report_tells_frames_and_error(rig: Rig, tmp_path: Path) -> None:
    motion = swinging(rig)
    made = deliver(rig, motion, tmp_path / "a.bvh", options=ExportOptions(fps=15.0, tolerance_m=0.1))
    (clip,) = made.facts.clips
    file = BvhFile(made.path)
    assert clip.channels == len(file.nodes) + 1
    assert clip.keys == clip.channels * len(file.values) == clip.channels * 31
    error = make_bvh(rig, made.clips[0], ExportOptions(fps=15.0, tolerance_m=0.1)).error
    assert clip.worst_mm == pytest.approx(1e3 * error.worst_m)
    assert clip.worst_joint == rig.skeleton.names[error.joint]
    assert any("at 15 frames a second instead of 30 joints stray by at most" in note for note in made.facts.notes)


def test_one_frame_and_rates_beyond_reason(rig: Rig, tmp_path: Path) -> None:
    motion = swinging(rig, frames=1)
    file = BvhFile(export(rig, Clip.from_motion(rig, motion), tmp_path / "a.bvh", options=ExportOptions(fps=60.0)))
    assert len(file.values) == 1
    with pytest.raises(ExportError, match="--fps: 1e\\+09 frames a second are more than 1000; the clip has 30"):
        export(rig, Clip.from_motion(rig, motion), tmp_path / "b.bvh", options=ExportOptions(fps=1e9))


def test_readers_that_interpolate_angles_are_warned_of_the_pole(rig: Rig) -> None:
    motion = smooth_motion(rig).with_(translations=None)
    made = make_bvh(rig, Clip.from_motion(rig, motion))
    assert made.error.angles_m > 1e-3
    (note,) = [note for note in made.notes if note.startswith("between frames joints stray by up to")]
    assert f"{1e3 * made.error.angles_m:.3g} mm where programs interpolate angles" in note


def test_a_higher_rate_strays_no_further(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, smooth_motion(rig).with_(translations=None))
    own, twice = make_bvh(rig, clip).error, make_bvh(rig, clip, ExportOptions(fps=60.0, tolerance_m=1.0)).error
    assert twice.worst_m <= own.worst_m + 1e-9
    assert twice.angles_m < own.angles_m

"""Whole poses dropped from a USD clip: what is left plays the same within the tolerance, and says by how much not."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion, write_case
from export_readback import UsdFile, true_positions
from pxr import Usd, UsdGeom, UsdSkel

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.options import ExportOptions, Reduction
from akd_sdk.exporters.usd_poses import Bounds, all_poses, kept_poses
from akd_sdk.gait.feet import contact_paths
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

PLAYER_MM = 0.02
"""What float32 interpolation inside USD adds, at human size."""


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "biped.glb")


def slow_motion(rig: Rig) -> Motion:
    """Two seconds of the random motion, 64 times as slow."""
    return smooth_motion(rig, frames=61, fps=1920.0).with_(fps=30.0, name="slow")


def played_mm(rig: Rig, motion: Motion, path: Path) -> float:
    """The worst joint, as USD plays the file, against scipy's slerp of the dense motion."""
    times = np.linspace(0.0, motion.duration, 8 * (motion.frames - 1) + 1)
    away = np.linalg.norm(UsdFile(path).positions(times) - true_positions(rig, motion, times), axis=-1)
    return float(away.max() * rig.human_scale * 1e3)


def told(path: Path) -> dict[str, object]:
    file = UsdFile(path)  # prims die with their stage
    return dict(file.queries[0].GetAnimQuery().GetPrim().GetCustomDataByKey("akd"))


@pytest.mark.parametrize("tolerance_mm", [0.1, 1.0, 5.0])
@pytest.mark.parametrize(("case", "height"), [("plain", None), ("armature100", None), ("rolled", 0.002), ("turned", 100.0)])
def test_what_is_left_plays_within_the_tolerance(case: str, height: float | None, tolerance_mm: float, tmp_path: Path) -> None:
    rig = open_rig(write_case(case, tmp_path), height=height)
    motion = slow_motion(rig)
    options = ExportOptions(reduction="fast", tolerance_m=1e-3 * tolerance_mm)
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usdc", options=options)
    facts = told(path)
    worst_mm = 1e3 * float(str(facts["worst_m"]))
    assert worst_mm <= tolerance_mm
    assert played_mm(rig, motion, path) < 1.01 * worst_mm + PLAYER_MM  # seen twice as finely as it was measured
    assert int(str(facts["poses"])) < int(str(facts["poses_dense"])) == motion.frames


def test_fewer_poses_are_a_smaller_file(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, slow_motion(rig))
    dense = export(rig, clip, tmp_path / "dense.usdc").stat().st_size
    sizes = [
        export(rig, clip, tmp_path / f"{mm}.usdc", options=ExportOptions(reduction="fast", tolerance_m=1e-3 * mm)).stat().st_size
        for mm in (0.1, 1.0, 5.0)
    ]
    assert dense > sizes[0] > sizes[1] > sizes[2]


def test_all_joints_share_one_list_that_begins_at_0_and_ends_with_the_clip(rig: Rig, tmp_path: Path) -> None:
    motion = slow_motion(rig)
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usda", options=ExportOptions(reduction="fast"))
    file = UsdFile(path)
    animation = UsdSkel.Animation(file.queries[0].GetAnimQuery().GetPrim())
    times = animation.GetRotationsAttr().GetTimeSamples()
    assert (times[0], times[-1]) == (0.0, motion.frames - 1)
    assert animation.GetTranslationsAttr().GetTimeSamples() == times
    assert animation.GetScalesAttr().GetTimeSamples() == [0.0], "nothing scales: one sample says it"
    assert all(len(animation.GetScalesAttr().Get(time)) == rig.skeleton.count for time in times)


def test_nothing_moves_two_poses_are_left(rig: Rig, tmp_path: Path) -> None:
    still = smooth_motion(rig, frames=40)
    still = still.with_(rotations=np.tile(still.rotations[:1], (40, 1, 1)), root=np.tile(still.root[:1], (40, 1)), translations=None)
    path = export(rig, Clip.from_motion(rig, still), tmp_path / "a.usda", options=ExportOptions(reduction="fast"))
    stage = Usd.Stage.Open(str(path))
    assert (told(path)["poses"], stage.GetEndTimeCode()) == (2, 39.0)


def test_neighbouring_poses_are_at_most_60_degrees_apart(rig: Rig) -> None:
    """A joint that turns three times about itself at a steady rate, which a wide tolerance would let go round the short way."""
    frames, leaf = 91, rig.skeleton.count - 1
    half = np.linspace(0.0, 3.0 * np.pi, frames)
    rotations = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    rotations[:, leaf] = np.stack([np.sin(half), 0 * half, 0 * half, np.cos(half)], axis=1)
    root = np.tile(rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3], (frames, 1))
    clip = Clip.from_motion(rig, Motion("spin", rotations, root, 30.0))
    poses = kept_poses(rig, clip, Bounds(1.0))
    turned = poses.local.rotations[:, leaf]
    steps = 2.0 * np.arccos(np.clip(np.abs(np.sum(turned[1:] * turned[:-1], axis=-1)), 0.0, 1.0))
    assert np.degrees(steps).max() <= 60.0
    assert np.degrees(steps).sum() == pytest.approx(3 * 360.0, abs=1e-3)
    assert len(poses.times) < frames / 2
    assert (np.sum(turned[1:] * turned[:-1], axis=-1) > 0.0).all()


@pytest.mark.parametrize("reduction", ["none", "fast"])
def test_frames_further_apart_than_60_degrees_get_poses_between(rig: Rig, reduction: Reduction, tmp_path: Path) -> None:
    """Players fill such gaps each in its own way; a blend of components would be centimetres off."""
    frames, joint = 7, rig.skeleton.count // 2
    half = np.radians([0.0, 20.0, 90.0, 95.0, 40.0, 40.0, 0.0])
    rotations = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    rotations[:, joint] = np.stack([np.sin(half), 0 * half, 0 * half, np.cos(half)], axis=1)
    root = np.tile(rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3], (frames, 1))
    motion = Motion("quick", rotations, root, 30.0)
    options = ExportOptions(reduction=reduction)
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usda", options=options)
    file = UsdFile(path)
    query = file.queries[0].GetAnimQuery()
    codes = query.GetJointTransformTimeSamples()
    assert [code for code in codes if 1.0 <= code <= 2.0] == pytest.approx([1.0, 4.0 / 3.0, 5.0 / 3.0, 2.0])
    turns = [query.ComputeJointLocalTransformComponents(code)[1][joint] for code in codes]
    steps = [2.0 * np.degrees(np.arccos(min(1.0, abs(a.real * b.real + a.imaginary * b.imaginary)))) for a, b in itertools.pairwise(turns)]
    assert max(steps) <= 60.0 + 1e-3
    assert played_mm(rig, motion, path) < (0.1 if reduction == "none" else 1.1)


def test_planted_feet_keep_to_their_own_bound(rig: Rig, tmp_path: Path) -> None:
    motion = slow_motion(rig)
    contacts = np.ones((motion.frames, len(rig.contact_points)), dtype=np.bool_)
    clip = Clip.from_motion(rig, motion.with_(contacts=contacts))
    fine = np.linspace(0.0, clip.duration, 4 * (clip.frames - 1) + 1)
    wanted = contact_paths(rig, clip.world(fine))
    worst = []
    for feet in (1.0, 2e-4):
        options = ExportOptions(reduction="fast", tolerance_m=5e-3, feet_tolerance_m=feet)
        file = UsdFile(export(rig, clip, tmp_path / f"{feet}.usdc", options=options))
        rows = [file.queries[0].ComputeJointWorldTransforms(UsdGeom.XformCache(Usd.TimeCode(30.0 * t))) for t in fine]
        world = np.array(rows).swapaxes(-1, -2)
        worst.append(float(np.linalg.norm(contact_paths(rig, world) - wanted, axis=-1).max() * rig.human_scale))
    assert worst[1] <= 2e-4 + 1e-3 * PLAYER_MM < worst[0]


def test_engines_that_blend_components_are_held_to_the_bound_too(rig: Rig) -> None:
    clip = Clip.from_motion(rig, slow_motion(rig))
    slerp, both = kept_poses(rig, clip, Bounds(1e-2)), kept_poses(rig, clip, Bounds(1e-2, None, ("slerp", "nlerp")))
    assert both.worst_m is not None
    assert both.worst_m <= 1e-2
    assert len(both.times) >= len(slerp.times)


def test_joints_that_are_held_jump_at_once(rig: Rig, tmp_path: Path) -> None:
    frames, leaf = 9, rig.skeleton.count - 1
    rotations = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    half = np.repeat([0.0, 0.3, 0.1], 3)
    rotations[:, leaf] = np.stack([np.sin(half), 0 * half, 0 * half, np.cos(half)], axis=1)
    root = np.tile(rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3], (frames, 1))
    motion = Motion("jumps", rotations, root, 24.0, held=frozenset({(leaf, "rotation")}))
    codes = (2.0, 2.9, 3.0, 5.9, 6.0, 8.0)
    for reduction in ("none", "fast"):
        options = ExportOptions(reduction=reduction)
        path = export(rig, Clip.from_motion(rig, motion), tmp_path / f"{reduction}.usda", options=options)
        file = UsdFile(path)
        query = file.queries[0].GetAnimQuery()
        seen = [2.0 * np.arcsin(query.ComputeJointLocalTransformComponents(t)[1][leaf].imaginary[0]) for t in codes]
        assert seen == pytest.approx([0.0, 0.0, 0.6, 0.6, 0.2, 0.2], abs=1e-5), reduction


def test_the_poses_that_are_kept_are_poses_of_the_clip(rig: Rig) -> None:
    clip = Clip.from_motion(rig, slow_motion(rig))
    dense, kept = all_poses(clip), kept_poses(rig, clip, Bounds(1e-3))
    places = np.searchsorted(dense.times, kept.times)
    np.testing.assert_array_equal(dense.times[places], kept.times)
    np.testing.assert_array_equal(dense.local.translations[places], kept.local.translations)
    np.testing.assert_array_equal(np.abs(dense.local.rotations[places]), np.abs(kept.local.rotations))


def test_a_tolerance_that_half_precision_does_not_allow_is_refused(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, smooth_motion(rig, scaled=True))
    with pytest.raises(ExportError, match=r"swing: .* is more than 0\.01 mm .* half floats"):
        export(rig, clip, tmp_path / "a.usdc", options=ExportOptions(reduction="fast", tolerance_m=1e-5))
    assert list(tmp_path.iterdir()) == []


def test_without_a_tolerance_of_one_s_own_half_precision_is_told_and_not_refused(tmp_path: Path) -> None:
    """A character that grows to three times its size: steps of half floats there are worth more than a millimetre."""
    rig = open_rig(SAMPLES / "biped.glb")
    motion = smooth_motion(rig, frames=9)
    scales = np.tile(rig.skeleton.rest.scales, (9, 1, 1))
    scales[:, rig.skeleton.pelvis] *= np.linspace(2.0, 3.9, 9)[:, None]
    clip = Clip.from_motion(rig, motion.with_(scales=scales))
    worst_m = float(str(told(export(rig, clip, tmp_path / "a.usdc", options=ExportOptions(reduction="fast")))["worst_m"]))
    assert worst_m > 1e-3
    with pytest.raises(ExportError, match="half floats"):
        export(rig, clip, tmp_path / "b.usdc", options=ExportOptions(reduction="fast", tolerance_m=1e-3))


def test_the_rate_that_is_asked_for_leaves_poses_where_they_were(rig: Rig, tmp_path: Path) -> None:
    motion = smooth_motion(rig)
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usdc", options=ExportOptions(fps=24.0))
    stage = Usd.Stage.Open(str(path))
    assert (stage.GetTimeCodesPerSecond(), stage.GetEndTimeCode()) == (24.0, pytest.approx((motion.frames - 1) * 0.8))
    assert played_mm(rig, motion, path) < 0.1


def test_a_skin_stays_within_the_root_s_bounds_of_the_kept_poses(rig: Rig, tmp_path: Path) -> None:
    clip = replace(Clip.from_motion(rig, slow_motion(rig)), name="extents")
    path = export(rig, clip, tmp_path / "a.usdc", options=ExportOptions(reduction="fast", tolerance_m=5e-3))
    file = UsdFile(path)
    extents = file.root.GetExtentAttr()
    assert extents.GetTimeSamples() == [float(frame) for frame in range(clip.frames)]
    slack = 0.1 / rig.human_scale
    for frame in (0, 17, 40, 60):
        points = np.concatenate(list(file.skinned(frame / 30.0).values()))
        low, high = np.array(extents.Get(float(frame)))
        assert (low - slack < points.min(0)).all()
        assert (high + slack > points.max(0)).all()

"""What is read back from exported files is where the joints were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from export_cases import CASES, SAMPLES, SCALED_JOINTS, smooth_motion, write_case
from export_readback import BvhFile, GlbFile, UsdFile, from_file_space, true_positions

from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.bvh_names import bvh_name
from akd_sdk.kinematics import skin_points, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

BOUND_MM = 0.1
"""At human size: what an engine may show beside what was computed."""
HALF_STEP_MM = 1700.0 / 2048.0
"""What rounding a scale near 1 to half precision, as UsdSkel holds it, moves at the far end of a body of human size."""


def between(motion: Motion) -> np.ndarray:
    """8 times a frame interval, frames among them."""
    return np.linspace(0.0, motion.duration, 8 * (motion.frames - 1) + 1)


def worst_mm(rig: Rig, found: np.ndarray, wanted: np.ndarray) -> float:
    assert found.shape == wanted.shape
    return float(np.linalg.norm(found - wanted, axis=-1).max() * rig.human_scale * 1e3)


@pytest.fixture(scope="module", params=[*CASES, "biped", "sized"])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Rig, Motion]:
    folder = tmp_path_factory.mktemp("case")
    if request.param == "biped":
        rig = open_rig(SAMPLES / "biped.glb")
    elif request.param == "sized":
        rig = open_rig(write_case("turned", folder), height=0.37)
    else:
        rig = open_rig(write_case(request.param, folder))
    return rig, smooth_motion(rig)


def test_glb_plays_where_the_joints_were(case: tuple[Rig, Motion], tmp_path: Path) -> None:
    rig, motion = case
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "a.glb")
    times = between(motion)
    found = from_file_space(rig, GlbFile(path).positions("swing", times, rig.skeleton.nodes))
    assert worst_mm(rig, found, true_positions(rig, motion, times)) < BOUND_MM


@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_usd_plays_where_the_joints_were(case: tuple[Rig, Motion], suffix: str, tmp_path: Path) -> None:
    rig, motion = case
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / f"a{suffix}")
    times = between(motion)
    assert worst_mm(rig, UsdFile(path).positions(times), true_positions(rig, motion, times)) < BOUND_MM


def test_bvh_poses_joints_where_they_were_on_frames(case: tuple[Rig, Motion], tmp_path: Path) -> None:
    rig, motion = case
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "a.bvh")
    file = BvhFile(path)
    assert file.frame_time == 1.0 / motion.fps
    names, found, _ = file.positions()
    own = {bvh_name(name): j for j, name in enumerate(rig.skeleton.names)}
    wanted = true_positions(rig, motion, motion.times)[:, [own[name] for name in names]]
    anatomy = [j for j, role in enumerate(rig.skeleton.roles) if role == "anatomy"] or range(rig.skeleton.count)
    assert {own[name] for name in names} == set(anatomy)
    assert worst_mm(rig, found / 100.0, wanted) < BOUND_MM


def test_usd_skins_the_mesh_as_the_kinematics_do(case: tuple[Rig, Motion], tmp_path: Path) -> None:
    rig, motion = case
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usdc")
    frame = motion.frames // 2
    found = list(UsdFile(path).skinned(frame / motion.fps).values())
    world = world_from_motion(rig.skeleton, motion)[frame : frame + 1]
    wanted = [skin_points(skin, world)[0] for skin in rig.skins]
    assert len(found) == len(wanted)
    for wanted_points in wanted:
        nearest = min(worst_mm(rig, points, wanted_points) for points in found if points.shape == wanted_points.shape)
        assert nearest < (HALF_STEP_MM if rig.name == "stretched" else BOUND_MM)


def test_bvh_zero_pose_is_the_rest_pose_in_world_axes(case: tuple[Rig, Motion], tmp_path: Path) -> None:
    rig, motion = case
    names, found, _ = BvhFile(export(rig, Clip.from_motion(rig, motion), tmp_path / "a.bvh")).positions(zero=True)
    own = {bvh_name(name): j for j, name in enumerate(rig.skeleton.names)}
    rest = rig.skeleton.rest_world[[own[name] for name in names], :3, 3]
    assert worst_mm(rig, found[0] / 100.0, rest - rest[0]) < BOUND_MM


def test_scale_tracks_are_played_as_exactly_as_each_format_can(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "quadruped.glb")
    motion = smooth_motion(rig, scaled=True)
    clip = Clip.from_motion(rig, motion)
    times = between(motion)
    wanted = true_positions(rig, motion, times)
    glb = GlbFile(export(rig, clip, tmp_path / "a.glb"))
    assert worst_mm(rig, glb.positions("swing", times, rig.skeleton.nodes), wanted) < BOUND_MM
    usd = UsdFile(export(rig, clip, tmp_path / "a.usdc")).positions(times)
    assert worst_mm(rig, usd[::8], wanted[::8]) < BOUND_MM
    assert worst_mm(rig, usd, wanted) < SCALED_JOINTS * HALF_STEP_MM  # UsdSkel rounds what it interpolates to half precision
    names, found, _ = BvhFile(export(rig, clip, tmp_path / "a.bvh")).positions()
    joints = [[bvh_name(name) for name in rig.skeleton.names].index(name) for name in names]
    assert worst_mm(rig, found / 100.0, wanted[::8][:, joints]) < BOUND_MM


ARTISTS = ["khronos/Fox", "khronos/CesiumMan", "quaternius/animals_pack/Wolf", "quaternius/animals_pack/Deer", "kaykit_adventurers/Knight"]


@pytest.mark.parametrize("name", ARTISTS)
def test_artists_clips_written_again_are_where_they_were(shared: Path, name: str, tmp_path: Path) -> None:
    rig = open_rig(shared / "data" / "rigs" / f"{name}.glb")
    own = {bvh_name(bone): j for j, bone in enumerate(rig.skeleton.names)}
    for number, motion in enumerate(rig.clips[:3]):
        clip = Clip.from_motion(rig, motion)
        times = between(motion)
        wanted = true_positions(rig, motion, times)
        usd = UsdFile(export(rig, clip, tmp_path / f"{number}.usdc"))
        assert worst_mm(rig, usd.positions(times), wanted) < BOUND_MM, motion.name
        names, found, _ = BvhFile(export(rig, clip, tmp_path / f"{number}.bvh")).positions()
        assert worst_mm(rig, found / 100.0, wanted[::8][:, [own[bone] for bone in names]]) < BOUND_MM, motion.name

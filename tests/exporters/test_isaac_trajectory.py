"""Trajectories for Isaac Lab: its layout, rates, velocities and orders; and how they are asked for."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_cases import SAMPLES
from pxr import Usd
from scipy.spatial.transform import Rotation
from steps import stepping

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, ExportOptions, deliver, export, export_isaac, export_usd, load_profile
from akd_sdk.exporters.articulated import articulated
from akd_sdk.exporters.trajectory import frame_rate
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

SHAPES = {
    "dof_positions": "ND",
    "dof_velocities": "ND",
    "body_positions": "NB3",
    "body_rotations": "NB4",
    "body_linear_velocities": "NB3",
    "body_angular_velocities": "NB3",
}
"""Of the nine arrays that Isaac Lab's humanoid_amp loads, those with frames (N), hinges (D) and bodies (B)."""
ISAACLAB = "ISAACLAB_WHEEL"
"""Folder where the wheel isaaclab 3.0.0 is unpacked, for the real loader."""


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "biped.glb")


@pytest.fixture(scope="module")
def motion(rig: Rig) -> Motion:
    return stepping(rig, turn_rad_s=0.5)


@pytest.fixture(scope="module")
def clip(rig: Rig, motion: Motion) -> Clip:
    return Clip.from_motion(rig, motion)


@pytest.fixture(scope="module")
def written(rig: Rig, clip: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_isaac(rig, clip, tmp_path_factory.mktemp("isaac") / "steps.usda").with_suffix(".npz")


def arrays(path: Path) -> dict[str, Any]:
    with np.load(path) as data:
        return {name: data[name] for name in data.files}


def kinds(path: Path) -> set[str]:
    stage = Usd.Stage.Open(str(path))
    return {str(prim.GetTypeName()) for prim in stage.Traverse()}


def still(rig: Rig, rotations: dict[int, np.ndarray], frames: int = 31) -> Motion:
    """At rest but for the world turns (frames, 4) of some joints below their parents."""
    local = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    for joint, turn in rotations.items():
        local[:, joint] = turn
    root = np.tile(rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3], (frames, 1))
    return Motion("still", local, root, 30.0)


def test_the_layout_is_that_of_isaac_lab_s_motion_files(written: Path) -> None:
    data = arrays(written)
    sizes = {"N": 121, "D": len(data["dof_names"]), "B": len(data["body_names"])}
    for key, text in SHAPES.items():
        assert data[key].shape == tuple(sizes.get(c) or int(c) for c in text), key
        assert data[key].dtype == np.float32, key
        assert np.isfinite(data[key]).all(), key
    for key in ("dof_names", "body_names"):
        assert data[key].dtype.kind == "U"
        assert len(set(data[key].tolist())) == len(data[key])
    assert data["fps"].shape == ()
    assert data["fps"].dtype == np.int64
    assert data["fps"] == 60
    assert np.abs(np.linalg.norm(data["body_rotations"], axis=-1) - 1.0).max() < 1e-6
    assert data["quaternion_order"] == "wxyz"


def test_isaac_lab_s_own_loader_reads_it_and_is_exact_on_frames(written: Path) -> None:
    folder = os.environ.get(ISAACLAB)
    if not folder:
        pytest.skip(f"the wheel of isaaclab 3.0.0 is not here: unpack it and name the folder in {ISAACLAB}")
    source = Path(folder) / "isaaclab_tasks" / "contrib" / "humanoid_amp" / "motions" / "motion_loader.py"
    spec = importlib.util.spec_from_file_location("motion_loader", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    loader, data = module.MotionLoader(str(written), "cpu"), arrays(written)
    sampled = loader.sample(loader.num_frames, times=np.arange(loader.num_frames) * loader.dt)
    for key, values in zip(SHAPES, sampled, strict=True):
        away = np.abs(values.numpy() - data[key]).max()
        assert away < (2e-3 if key == "body_rotations" else 1e-6), key  # its slerp takes the mean of neighbours that differ little
    assert loader.get_dof_index(data["dof_names"].tolist()[::-1])[0] == len(data["dof_names"]) - 1


def test_rates_are_the_clip_s_own_or_multiples_of_at_least_sixty(clip: Clip) -> None:
    for own, wanted in ((30.0, 60.0), (24.0, 72.0), (25.0, 75.0), (60.0, 60.0), (120.0, 120.0), (16.0, 64.0), (29.97, 89.91)):
        assert frame_rate(replace(clip, fps=own, contacts=None, travel=None, tracks=()), None) == pytest.approx(wanted)
    assert frame_rate(clip, 120.0) == 120.0
    with pytest.raises(ExportError, match="too few"):
        frame_rate(clip, 30.0)
    with pytest.raises(ExportError, match="does not end on a frame"):
        frame_rate(clip, 60.3)


def test_frames_between_those_of_the_clip_lie_between_them(rig: Rig, clip: Clip, written: Path) -> None:
    data = arrays(written)
    joints = [clip.skeleton.names.index(name) for name in data["body_names"]]
    wanted = clip.world(np.arange(121) / 60.0)[:, joints][..., :3, 3][..., [2, 0, 1]]
    assert np.abs(data["body_positions"] - wanted).max() < 2e-6


def test_velocities_are_central_differences_also_over_the_seam_of_a_loop(written: Path) -> None:
    data = arrays(written)
    places, quats = data["body_positions"].astype(float), data["body_rotations"].astype(float)
    speeds = data["body_linear_velocities"]
    assert np.abs(30.0 * (places[2:] - places[:-2]) - speeds[1:-1]).max() < 1e-4
    turns = Rotation.from_quat(np.roll(quats, -1, axis=-1).reshape(-1, 4)).as_matrix().reshape(*quats.shape[:2], 3, 3)
    across = turns[2:] @ np.swapaxes(turns[:-2], -1, -2)
    spins = 30.0 * Rotation.from_matrix(across.reshape(-1, 3, 3)).as_rotvec().reshape(119, -1, 3)
    assert np.abs(spins - data["body_angular_velocities"][1:-1]).max() < 1e-4
    onward = turns[-1, 0] @ turns[0, 0].T
    assert np.degrees(np.arccos((np.trace(onward) - 1.0) / 2.0)) > 30.0  # the loop turns
    assert np.abs(speeds[0] @ onward.T - speeds[-1]).max() < 1e-4
    assert np.abs(data["body_angular_velocities"][0] @ onward.T - data["body_angular_velocities"][-1]).max() < 1e-4
    assert np.abs(data["dof_velocities"][0] - data["dof_velocities"][-1]).max() < 1e-4


def test_velocities_at_the_ends_of_what_does_not_loop_are_one_sided(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    once = Clip.from_motion(rig, motion.with_(loop=False))
    data = arrays(export_isaac(rig, once, tmp_path / "once.usdc").with_suffix(".npz"))
    for values, speeds in (("body_positions", "body_linear_velocities"), ("dof_positions", "dof_velocities")):
        steps = 60.0 * np.diff(data[values].astype(float), axis=0)
        assert np.abs(steps[0] - data[speeds][0]).max() < 1e-4
        assert np.abs(steps[-1] - data[speeds][-1]).max() < 1e-4


def test_a_known_turn_of_the_root_by_a_quarter_has_w_first_and_z_up(rig: Rig, tmp_path: Path) -> None:
    pelvis = rig.skeleton.pelvis
    share = np.linspace(0.0, 1.0, 31)
    parent = Rotation.from_matrix(rig.skeleton.rest_world[int(rig.skeleton.parents[pelvis]), :3, :3])
    yaw = Rotation.from_rotvec(np.stack([0.0 * share, 0.5 * np.pi * share, 0.0 * share], axis=1))
    turned = parent.inv() * yaw * parent * Rotation.from_quat(rig.skeleton.rest.rotations[pelvis])
    clip = Clip.from_motion(rig, still(rig, {pelvis: turned.as_quat()}))
    data = arrays(export_isaac(rig, clip, tmp_path / "yaw.usda").with_suffix(".npz"))
    assert data["body_rotations"][0, 0] == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-6)
    assert data["body_rotations"][-1, 0] == pytest.approx([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)], abs=1e-6)
    assert data["body_angular_velocities"][30, 0] == pytest.approx([0.0, 0.0, 0.5 * np.pi], abs=1e-4)
    assert np.abs(data["dof_positions"]).max() < 1e-6


def test_a_hinge_s_angle_is_what_its_joint_turns_about_its_axis(rig: Rig, tmp_path: Path) -> None:
    character = articulated(rig, [])
    body = next(body for body in character.articulation.bodies if body.name == "shin_l")
    angle = np.linspace(0.0, 1.2, 31)
    parent = Rotation.from_matrix(rig.skeleton.rest_world[int(rig.skeleton.parents[body.joint]), :3, :3])
    world = Rotation.from_rotvec(angle[:, None] * body.axes[:, 0])
    turned = parent.inv() * world * parent * Rotation.from_quat(rig.skeleton.rest.rotations[body.joint])
    clip = Clip.from_motion(rig, still(rig, {body.joint: turned.as_quat()}))
    data = arrays(export_isaac(rig, clip, tmp_path / "knee.usda").with_suffix(".npz"))
    knee = data["dof_names"].tolist().index("shin_l_flexion")
    assert data["dof_positions"][:, knee] == pytest.approx(np.interp(np.arange(61) / 60.0, np.arange(31) / 30.0, angle), abs=1e-5)
    assert np.abs(np.delete(data["dof_positions"], knee, axis=1)).max() < 1e-5


def test_a_clip_near_the_pole_of_an_abduction_moves_the_zero_pose_not_the_motion(rig: Rig, tmp_path: Path) -> None:
    body = next(body for body in articulated(rig, []).articulation.bodies if body.name == "upper_arm_l")
    angle = np.linspace(0.0, np.radians(95.0), 31)
    parent = Rotation.from_matrix(rig.skeleton.rest_world[int(rig.skeleton.parents[body.joint]), :3, :3])
    turned = (
        parent.inv() * Rotation.from_rotvec(angle[:, None] * body.axes[:, 1]) * parent
        * Rotation.from_quat(rig.skeleton.rest.rotations[body.joint])
    )  # fmt: skip
    clip = Clip.from_motion(rig, still(rig, {body.joint: turned.as_quat()}))
    path = export_isaac(rig, clip, tmp_path / "arm.usda")
    data = arrays(path.with_suffix(".npz"))
    arm = data["dof_names"].tolist().index("upper_arm_l_abduction")
    assert np.abs(data["dof_positions"][:, arm]).max() <= np.radians(60.0)
    assert np.ptp(data["dof_positions"][:, arm]) == pytest.approx(np.radians(95.0), abs=1e-5)
    assert np.abs(data["dof_velocities"]).max() < 2.0
    joints = [clip.skeleton.names.index(name) for name in data["body_names"]]
    wanted = clip.world(np.arange(61) / 60.0)[:, joints][..., :3, 3][..., [2, 0, 1]]
    assert np.abs(data["body_positions"] - wanted).max() < 2e-6
    assert data["articulation"] != articulated(rig, []).fingerprint


def test_the_trajectory_names_the_articulation_that_it_fits(written: Path) -> None:
    stage = Usd.Stage.Open(str(written.with_suffix(".usda")))
    assert stage.GetDefaultPrim().GetCustomDataByKey("akd")["articulation"] == arrays(written)["articulation"]


def test_what_hinges_cannot_follow_is_noted(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    shin = rig.skeleton.names.index("shin_l")
    places = np.tile(rig.skeleton.rest.translations, (motion.frames, 1, 1))
    places[:, shin] *= np.linspace(1.0, 1.2, motion.frames)[:, None]
    made = deliver(rig, motion.with_(translations=places), tmp_path / "long.usda", options=ExportOptions(profile=load_profile("isaac")))
    for notes in (made.facts.notes, arrays(made.path.with_suffix(".npz"))["notes"]):
        assert any("clips move joints in their parents" in note for note in notes)


def test_the_profile_isaac_writes_articulations_where_others_write_skeletons(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    isaac = ExportOptions(profile=load_profile("isaac"))
    made = deliver(rig, motion, tmp_path / "steps.usdc", options=isaac)
    assert made.path.with_suffix(".npz").is_file()
    assert "PhysicsRevoluteJoint" in kinds(made.path)
    plain = deliver(rig, motion, tmp_path / "plain.usdc")
    assert not plain.path.with_suffix(".npz").exists()
    assert "SkelRoot" in kinds(plain.path)


def test_several_clips_share_one_articulation(rig: Rig, clip: Clip, motion: Motion, tmp_path: Path) -> None:
    second = Clip.from_motion(rig, stepping(rig, hertz=2.0, seconds=1.0).with_(name="quick"))
    path = export_isaac(rig, [clip, second], tmp_path / "both.usda")
    found = sorted(file.name for file in tmp_path.iterdir())
    assert found == ["both.usda", "both_quick.npz", "both_written.npz"]
    first, other = (arrays(tmp_path / name) for name in found[1:])
    assert first["articulation"] == other["articulation"]
    assert path.name == "both.usda"


def test_the_same_twice_is_the_same_file(rig: Rig, clip: Clip, written: Path, tmp_path: Path) -> None:
    again = export_isaac(rig, clip, tmp_path / written.with_suffix(".usda").name)
    assert again.read_bytes() == written.with_suffix(".usda").read_bytes()
    assert again.with_suffix(".npz").read_bytes() == written.read_bytes()


def test_a_character_without_bodies_is_refused_in_one_line_and_nothing_is_written(rig: Rig, clip: Clip, tmp_path: Path) -> None:
    bare = replace(rig, skins=())
    with pytest.raises(ExportError, match="no articulation can be made") as fault:
        export_isaac(bare, clip, tmp_path / "bare.usda")
    assert "\n" not in str(fault.value)
    headless = replace(rig, skeleton=replace(rig.skeleton, pelvis=-1))
    with pytest.raises(ExportError, match="the pelvis is not known"):
        export_isaac(headless, [], tmp_path / "headless.usda")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options", "fault"),
    [
        ("a.usdz", ExportOptions(), "no name for an articulation"),
        ("a.usda", ExportOptions(clip_only=True), "clip-only cannot be done"),
        ("a.usda", ExportOptions(t_pose=True), "t-pose cannot be done"),
        ("a.usda", ExportOptions(fps=24.0), "too few"),
    ],
)
def test_what_cannot_be_done_is_refused(rig: Rig, clip: Clip, tmp_path: Path, name: str, options: ExportOptions, fault: str) -> None:
    with pytest.raises(ExportError, match=fault):
        export_isaac(rig, clip, tmp_path / name, options=options)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_stays_without_force_whichever_file_it_is(rig: Rig, clip: Clip, tmp_path: Path) -> None:
    (tmp_path / "steps.npz").write_bytes(b"mine")
    with pytest.raises(ExportError, match="exists already"):
        export_isaac(rig, clip, tmp_path / "steps.usda")
    assert [file.name for file in tmp_path.iterdir()] == ["steps.npz"]
    assert (tmp_path / "steps.npz").read_bytes() == b"mine"
    export(rig, clip, tmp_path / "steps.usda", force=True, options=ExportOptions(profile=load_profile("isaac")))
    assert (tmp_path / "steps.npz").read_bytes() != b"mine"


def test_a_clip_of_another_character_is_refused(clip: Clip, tmp_path: Path) -> None:
    other = open_rig(SAMPLES / "quadruped.glb")
    for writer in (export_isaac, export_usd):
        with pytest.raises(ExportError, match="another character"):
            writer(other, [clip], tmp_path / "other.usda")

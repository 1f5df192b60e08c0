"""Clips of glTF files as motions: places at frames, rates, holds, loops and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gltf_build import Post, turn
from motion_blend import world_at
from scipy.spatial.transform import Rotation, Slerp

from akd_sdk.errors import ReadError
from akd_sdk.exporters import Clip, export
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.readers.gltf.facts import told_contacts
from akd_sdk.rig import Rig

GRID = np.arange(31) / 30
QUARTER = np.array([turn("x", 0), turn("x", 90)])


def opened(file: Post, folder: Path, height: float | None = None) -> Rig:
    return open_rig(file.save(folder / "post.glb"), height=height)


def clip(file: Post, folder: Path, *channels: tuple[int, str, Any, Any, str]) -> tuple[Rig, Motion]:
    file.animation(list(channels), name="clip")
    rig = opened(file, folder)
    (motion,) = rig.clips
    return rig, motion


def test_frames_are_the_keys_and_between_them_the_arc(tmp_path: Path) -> None:
    file = Post()
    rig, motion = clip(file, tmp_path, (file.joints[1], "rotation", [0.0, 1.0], QUARTER, "LINEAR"))
    assert (motion.name, motion.fps, motion.frames) == ("clip", 30.0, 31)
    expected = Slerp([0.0, 1.0], Rotation.from_quat(QUARTER))(GRID)
    assert (Rotation.from_quat(motion.rotations[:, 1]) * expected.inv()).magnitude().max() < 1e-6
    tip = world_from_motion(rig.skeleton, motion)[:, 2, :3, 3] / rig.source.scale
    swung = np.array([0.0, 0.6, 0.0]) + expected.apply([0.0, 0.6, 0.0])
    assert np.allclose(tip, swung, atol=1e-6)


@pytest.mark.parametrize("mode", ["STEP", "CUBICSPLINE"])
def test_other_interpolations_are_evaluated_at_every_frame(tmp_path: Path, mode: str) -> None:
    file = Post()
    times, values = np.array([0.0, 0.5, 1.0]), np.array([[0.0, 0.6, 0.0], [0.3, 0.6, 0.0], [0.0, 0.6, 0.0]])
    keys = np.stack([np.zeros((3, 3)), values, np.zeros((3, 3))], axis=1).reshape(9, 3) if mode == "CUBICSPLINE" else values
    rig, motion = clip(file, tmp_path, (file.joints[1], "translation", times, keys, mode))
    assert motion.translations is not None
    sway = motion.translations[:, 1, 0] / rig.source.scale
    u = np.where(GRID < 0.5, GRID * 2, 2 - GRID * 2)
    expected = 0.3 * (3 * u**2 - 2 * u**3) if mode == "CUBICSPLINE" else np.where((GRID >= 0.5) & (GRID < 1.0), 0.3, 0.0)
    assert np.allclose(sway, expected, atol=1e-6)


def test_units_of_scaled_armatures_are_taken_out(tmp_path: Path) -> None:
    plain = Post()
    scaled = Post(build=False)
    holder = scaled.node(name="Armature", scale=[0.01] * 3)
    scaled.chain(holder)
    for node in scaled.joints:
        item = scaled.json["nodes"][node]
        item["translation"] = [100 * v for v in item["translation"]]
    binds = np.tile(np.diag([100.0, 100.0, 100.0, 1.0]), (3, 1, 1))
    binds[:, 1, 3] = (0.0, -60.0, -120.0)
    scaled.dress(binds)
    move = np.array([[0.0, 0.6, 0.0], [0.2, 0.7, 0.1]])
    rig, motion = clip(plain, tmp_path, (plain.joints[1], "translation", [0.0, 1.0], move, "LINEAR"))
    other, same = clip(scaled, tmp_path, (scaled.joints[1], "translation", [0.0, 1.0], 100 * move, "LINEAR"))
    expected = world_from_motion(rig.skeleton, motion)
    assert np.allclose(world_from_motion(other.skeleton, same)[:, 1:], expected, atol=1e-6)
    assert motion.translations is not None
    assert same.translations is not None
    assert np.allclose(same.translations[:, 2:], motion.translations[:, 1:], atol=1e-6)


def test_the_root_is_the_path_of_its_joint(tmp_path: Path) -> None:
    file = Post()
    path = np.array([[0.0, 0.0, 0.0], [0.0, 0.2, 1.0]])
    rig, motion = clip(file, tmp_path, (file.joints[0], "translation", [0.0, 1.0], path, "LINEAR"))
    joint = max(rig.skeleton.pelvis, 0)
    world = world_from_motion(rig.skeleton, motion)
    assert np.allclose(world[:, joint, :3, 3], motion.root, atol=1e-9)
    assert np.allclose(world[-1, 0, :3, 3] / rig.source.scale, [0.0, 0.2, 1.0], atol=1e-6)


def test_translations_and_scales_at_rest_are_left_out(tmp_path: Path) -> None:
    file = Post()
    still = np.array([[0.0, 0.6, 0.0]] * 2)
    _, motion = clip(
        file,
        tmp_path,
        (file.joints[1], "rotation", [0.0, 1.0], QUARTER, "LINEAR"),
        (file.joints[1], "translation", [0.0, 1.0], still, "LINEAR"),
        (file.joints[1], "scale", [0.0, 1.0], np.ones((2, 3)), "LINEAR"),
    )
    assert motion.translations is None
    assert motion.scales is None


def test_scales_that_change_are_kept(tmp_path: Path) -> None:
    file = Post()
    rig, motion = clip(file, tmp_path, (file.joints[2], "scale", [0.0, 1.0], [[1.0, 1.0, 1.0], [1.0, 3.0, 1.0]], "LINEAR"))
    assert motion.scales is not None
    assert np.allclose(motion.scales[-1], [[1, 1, 1], [1, 1, 1], [1, 3, 1]])
    assert np.allclose(np.linalg.norm(world_from_motion(rig.skeleton, motion)[-1, 2, :3, :3], axis=0), [1, 3, 1])


def test_a_late_first_key_is_held_and_the_clip_begins_at_zero(tmp_path: Path) -> None:
    file = Post()
    _, motion = clip(file, tmp_path, (file.joints[1], "rotation", [0.5, 1.0], QUARTER, "LINEAR"))
    assert motion.duration == pytest.approx(1.0)
    assert np.allclose(motion.rotations[:16, 1], turn("x", 0))
    assert np.allclose(motion.rotations[-1, 1], turn("x", 90), atol=1e-6)


def test_channels_that_end_early_are_held(tmp_path: Path) -> None:
    file = Post()
    _, motion = clip(
        file,
        tmp_path,
        (file.joints[1], "rotation", [0.0, 0.5], QUARTER, "LINEAR"),
        (file.joints[2], "rotation", [0.0, 1.0], QUARTER, "LINEAR"),
    )
    assert np.allclose(motion.rotations[15:, 1], turn("x", 90), atol=1e-6)


def test_signs_of_neighbouring_rotations_agree(tmp_path: Path) -> None:
    file = Post()
    turns = np.array([turn("x", 10 * i) for i in range(31)]) * np.where(np.arange(31) % 2, -1.0, 1.0)[:, None]
    _, motion = clip(file, tmp_path, (file.joints[1], "rotation", GRID, turns, "LINEAR"))
    assert (np.sum(motion.rotations[1:] * motion.rotations[:-1], axis=-1) > 0.0).all()
    assert np.allclose(np.abs(np.sum(motion.rotations[:, 1] * turns, axis=-1)), 1.0, atol=1e-6)


def test_joints_given_as_matrices_keep_what_is_not_animated(tmp_path: Path) -> None:
    file = Post()
    item = file.json["nodes"][file.joints[1]]
    matrix = np.eye(4)
    matrix[:3, 3] = item.pop("translation")
    item["matrix"] = matrix.T.reshape(-1).tolist()
    rig, motion = clip(file, tmp_path, (file.joints[1], "rotation", [0.0, 1.0], QUARTER, "LINEAR"))
    assert np.allclose(world_at(rig.skeleton, motion, 1.0)[1, :3, 3] / rig.source.scale, [0, 0.6, 0], atol=1e-6)


def test_a_first_pose_that_returns_is_a_loop(tmp_path: Path) -> None:
    def looped(values: Any, times: Any = (0.0, 0.5, 1.0), path: str = "rotation", joint: int = 1) -> bool:
        file = Post()
        return clip(file, tmp_path, (file.joints[joint], path, list(times), values, "LINEAR"))[1].loop

    there, back = turn("x", 0), turn("x", 40)
    assert looped([there, back, there])
    assert not looped([there, back, back])
    assert not looped([there, there, there]), "what does not move is no loop"
    assert not looped([there], [0.0]), "a single pose is no loop"
    assert looped([[0, 0, 0], [0, 0.3, 0.5], [0, 0, 1]], path="translation", joint=0), "travel over the ground is no difference"
    assert not looped([[0, 0, 0], [0, 0.1, 0.5], [0, 0.3, 1]], path="translation", joint=0), "height is"


def test_the_guess_of_a_loop_is_said(tmp_path: Path) -> None:
    file = Post()
    _, motion = clip(file, tmp_path, (file.joints[1], "rotation", [0.0, 1.0], QUARTER, "LINEAR"))
    assert motion.provenance["loop"].startswith("guessed")
    assert motion.provenance["rate"] == "the file's"


def test_clips_have_unique_names(tmp_path: Path) -> None:
    file = Post()
    for name in ("walk", "walk", None):
        file.animation([(file.joints[1], "rotation", [0.0, 1.0], QUARTER, "LINEAR")], **({"name": name} if name else {}))
    rig = opened(file, tmp_path)
    assert [m.name for m in rig.clips] == ["walk", "walk_2", "animation_2"]
    assert [m.provenance["animation"] for m in rig.clips] == [0, 1, 2]


def test_channels_outside_the_skeleton_are_left_out_and_it_is_said(tmp_path: Path) -> None:
    file = Post()
    lamp = file.node(name="lamp")
    file.animation(
        [
            (file.joints[1], "rotation", [0.0, 1.0], QUARTER, "LINEAR"),
            (lamp, "translation", [0.0, 9.0], [[0.0] * 3, [1.0] * 3], "LINEAR"),
        ],
        name="wave",
    )
    file.animation([(lamp, "translation", [0.0, 1.0], [[0.0] * 3, [1.0] * 3], "LINEAR")], name="shine")
    rig = opened(file, tmp_path)
    assert [m.name for m in rig.clips] == ["wave"]
    assert rig.clips[0].duration == pytest.approx(1.0), "a channel that is left out does not lengthen the clip"
    assert any("'wave': 1 channels" in note for note in rig.source.repairs)
    assert any("'shine' moves no joint" in note for note in rig.source.repairs)


def test_a_joint_moved_twice_follows_the_first_channel_and_it_is_said(tmp_path: Path) -> None:
    file = Post()
    channels = [(file.joints[1], "rotation", [0.0, 1.0], QUARTER[::order], "LINEAR") for order in (1, -1)]
    rig, motion = clip(file, tmp_path, *channels)
    assert np.allclose(motion.rotations[-1, 1], turn("x", 90), atol=1e-6)
    assert any("twice" in note for note in rig.source.repairs)


def test_morph_weights_are_kept_by_mesh_node(tmp_path: Path) -> None:
    file = Post()
    targets = [{"POSITION": file.accessor(np.ones((24, 3)))} for _ in range(2)]
    file.json["meshes"][0]["primitives"][0]["targets"] = targets
    _, motion = clip(file, tmp_path, (file.body, "weights", [0.0, 1.0], [[0.0, 1.0], [1.0, 0.0]], "LINEAR"))
    assert np.allclose(motion.morphs[file.body], np.stack([GRID, 1 - GRID], axis=-1), atol=1e-6)


def test_weights_for_another_number_of_morph_targets_are_refused(tmp_path: Path) -> None:
    file = Post()
    file.json["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": file.accessor(np.ones((24, 3)))}]
    file.animation([(file.body, "weights", [0.0, 1.0], [[0.0, 1.0], [1.0, 0.0]], "LINEAR")], name="smile")
    with pytest.raises(ReadError, match="'smile' has 2 weights for the 1 morph targets"):
        opened(file, tmp_path)


def test_an_animation_of_years_is_refused_without_allocating(tmp_path: Path) -> None:
    file = Post()
    file.animation([(file.joints[1], "rotation", [0.0, 1e8], QUARTER, "LINEAR")], name="eon")
    with pytest.raises(ReadError, match="'eon' lasts"):
        opened(file, tmp_path)


def test_a_height_scales_motions_too(tmp_path: Path) -> None:
    file = Post()
    path = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    file.animation([(file.joints[0], "translation", [0.0, 1.0], path, "LINEAR")])
    ends = [world_from_motion(r.skeleton, r.clips[0])[-1, 2, :3, 3] for r in (opened(file, tmp_path, h) for h in (1.8, 3.6))]
    assert np.allclose(ends[1], 2 * ends[0])
    assert np.allclose(ends[0], [0.0, 1.2, 1.0], atol=1e-6)


def test_what_a_file_tells_of_a_clip_is_believed(tmp_path: Path) -> None:
    file = Post()
    file.animation([(file.joints[1], "rotation", [0.0, 1.0], QUARTER, "LINEAR")], name="told", extras={"fps": 60, "loop": True})
    file.animation([(file.joints[1], "rotation", [0.0, 1.0], QUARTER, "LINEAR")], name="odd", extras={"fps": "x", "loop": 1})
    file.animation([(file.joints[1], "rotation", [0.0, 1.0], QUARTER, "LINEAR")], name="text", extras="walk")
    told, odd, text = opened(file, tmp_path).clips
    assert (told.fps, told.frames, told.loop) == (60.0, 61, True)
    assert "loop" not in told.provenance
    assert (odd.fps, odd.loop) == (text.fps, text.loop) == (30.0, False)


def test_contacts_that_a_file_tells_come_back() -> None:
    planted = told_contacts({"frames": 6, "contacts": {"LH_toe": [[0, 1], [4, 5]], "RH_toe": []}}, 6, ("RH_toe", "LH_toe"))
    assert planted is not None
    assert planted[:, 0].sum() == 0
    assert list(planted[:, 1]) == [True, True, False, False, True, True]


@pytest.mark.parametrize(
    "extras",
    [
        {},
        {"frames": 5, "contacts": {"LH_toe": []}},
        {"frames": 6, "contacts": {"LF_toe": []}},
        {"frames": 6, "contacts": [[0, 1]]},
        {"frames": 6, "contacts": {"LH_toe": [[0, 6]]}},
        {"frames": 6, "contacts": {"LH_toe": [[3, 2]]}},
        {"frames": 6, "contacts": {"LH_toe": [[-1, 2]]}},
        {"frames": 6, "contacts": {"LH_toe": [[0.0, 2]]}},
        {"frames": 6, "contacts": {"LH_toe": [0, 1]}},
        {"frames": 6, "contacts": {"LH_toe": "0-1"}},
    ],
)
def test_contacts_that_do_not_fit_are_none(extras: dict[str, Any]) -> None:
    assert told_contacts(extras, 6, ("LH_toe",)) is None


def test_an_exported_motion_comes_back(tmp_path: Path, samples: Path) -> None:
    rig = open_rig(samples / "quadruped.glb")
    generator, frames = np.random.default_rng(12), 37
    swing = generator.normal(scale=0.2, size=(1, rig.skeleton.count, 3)) * np.sin(np.linspace(0, 2 * np.pi, frames))[:, None, None]
    turns = Rotation.from_rotvec(swing.reshape(-1, 3)) * Rotation.from_quat(np.tile(rig.skeleton.rest.rotations, (frames, 1)))
    root = rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3] + np.linspace(0, 0.1, frames)[:, None] * (0, 0, 1)
    contacts = generator.random((frames, len(rig.contact_points))) > 0.5
    motion = Motion("made", turns.as_quat().reshape(frames, -1, 4), root, 50.0, loop=True, contacts=contacts)
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "out.glb")
    (back,) = open_rig(path).clips
    assert (back.name, back.fps, back.frames, back.loop) == ("made", 50.0, frames, True)
    assert back.translations is None
    assert back.contacts is not None
    assert np.array_equal(back.contacts, contacts)
    same = np.abs(world_from_motion(rig.skeleton, back) - world_from_motion(rig.skeleton, motion))
    assert same[..., :3, 3].max() < 1e-5 * rig.height

"""Root modes: travel and yaw go to a root above the pelvis, the character stays where it was, and the residual says what is left."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from export_cases import CASES, SAMPLES, Draft, smooth_motion, write_case
from export_readback import GlbFile, from_file_space
from gltf_build import Post
from scipy.spatial.transform import Rotation

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.root_modes import root_joint
from akd_sdk.gait.ground import carried, ground_matrices
from akd_sdk.kinematics import motion_from_world, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


def curve(times: np.ndarray, size: float = 1.0) -> np.ndarray:
    """A path (frames, 3) that goes forward and bends."""
    return np.stack([0.3 * size * times, 0.9 * size * times, 0.7 * times], -1)


def travelling(rig: Rig, *, frames: int = 21, loop: bool = True, scaled: bool = False) -> Motion:
    """A motion that goes along a curve and says so; as a loop it ends in its first pose, moved on."""
    pose = smooth_motion(rig, 2, frames=frames, scaled=scaled)
    world = world_from_motion(rig.skeleton, pose.with_(root=pose.root[:1] + np.sin(9.0 * pose.times)[:, None] * [0.02, 0.01, 0.03]))
    if loop:
        world[-1] = world[0]
    travel = curve(pose.times, 1.0 / rig.human_scale)
    goes = carried(rig.skeleton)
    world[:, goes] = ground_matrices(travel)[:, None] @ world[:, goes]
    made = motion_from_world(rig.skeleton, world, pose.fps, name="walk", loop=loop, like=pose)
    return made.with_(travel=travel, loop=loop)


@pytest.mark.parametrize("case", list(CASES))
def test_root_leaves_every_joint_where_the_motion_has_it(case: str, tmp_path: Path) -> None:
    rig = open_rig(write_case(case, tmp_path))
    motion = travelling(rig)
    clip = Clip.from_motion(rig, motion, "root")
    wanted = world_from_motion(rig.skeleton, motion)[..., :3, 3]
    above = [clip.root_joint, *(j for j in range(clip.root_joint))]
    kept = [j for j in range(rig.skeleton.count) if j not in above]
    found = clip.world(clip.times)[..., :3, 3]
    assert np.abs(found - wanted)[:, kept].max() * rig.human_scale < 1e-6
    assert clip.root_residual is not None
    assert clip.root_residual.error_m < 1e-6


@pytest.mark.parametrize("case", ["plain", "armature100", "turned", "mirrored", "rolled"])
def test_the_root_has_the_ground_travel_and_the_yaw_and_nothing_else(case: str, tmp_path: Path) -> None:
    rig = open_rig(write_case(case, tmp_path))
    motion = travelling(rig)
    assert motion.travel is not None
    clip = Clip.from_motion(rig, motion, "root")
    moved = clip.world(clip.times)[:, clip.root_joint]
    rest = rig.skeleton.rest_world[clip.root_joint]
    np.testing.assert_allclose(moved, ground_matrices(motion.travel) @ rest, atol=1e-9 * max(1.0, float(np.abs(rest).max())))
    np.testing.assert_array_equal(clip.travel, motion.travel)


def test_the_root_is_on_the_armature_and_no_joint_is_added(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "quadruped.glb")
    assert rig.skeleton.names[root_joint(rig)] == "quadruped"
    clip = Clip.from_motion(rig, travelling(rig), "root")
    file = GlbFile(export(rig, clip, tmp_path / "a.glb"))
    assert len(file.gltf.nodes) == len(rig.source.document.json["nodes"])
    armature = int(rig.skeleton.nodes[root_joint(rig)])
    assert {path for node, path in file.tracks("walk") if node == armature} == {"translation", "rotation"}
    times = np.linspace(0.0, clip.duration, 40)
    shown = from_file_space(rig, file.positions("walk", times, rig.skeleton.nodes))
    np.testing.assert_allclose(shown, clip.world(times)[..., :3, 3], atol=1e-6)
    facts = clip.facts()
    assert facts["root_joint"] == "quadruped"
    assert facts["root_residual_mm"]["error"] < 1e-3


def test_a_root_bone_of_the_file_carries_the_travel(tmp_path: Path) -> None:
    post = Post(build=False)
    post.json["nodes"] = []
    armature = post.node(name="Armature")
    root = post.node(armature, name="Root")
    post.chain(root)
    post.joints = [root, *post.joints]
    binds = np.tile(np.eye(4), (4, 1, 1))
    binds[:, 1, 3] = (0.0, 0.0, -0.6, -1.2)
    post.influences[:, 0] += 1
    columns = binds.transpose(0, 2, 1).reshape(4, 16)
    skin = post.add("skins", {"joints": post.joints, "inverseBindMatrices": post.accessor(columns)})
    mesh = post.add("meshes", {"primitives": [post.primitive()]})
    post.node(name="body", mesh=mesh, skin=skin)
    rig = open_rig(post.save(tmp_path / "a.glb"))
    if rig.skeleton.pelvis < 0:
        assert root_joint(rig) == -1
    else:
        assert rig.skeleton.names[root_joint(rig)] == "Root"


@pytest.mark.parametrize("mode", ["root", "in_place"])
def test_a_loop_ends_exactly_in_its_first_pose_moved_on(mode: str) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    motion = travelling(rig)
    assert motion.travel is not None
    clip = Clip.from_motion(rig, motion, mode)
    for track in clip.tracks:
        if mode == "root" and track.joint == clip.root_joint:
            continue
        sign = np.sign(np.sum(track.values[0] * track.values[-1])) if track.path == "rotation" else 1.0
        np.testing.assert_array_equal(track.values[-1] * sign, track.values[0])
    ends = clip.world(np.array([0.0, clip.duration]))
    lap = ground_matrices(motion.travel[-1:])[0] if mode == "root" else np.eye(4)
    np.testing.assert_allclose(ends[1, clip.skeleton.pelvis], lap @ ends[0, clip.skeleton.pelvis], atol=1e-9)


def test_the_residual_tells_sway_and_bob(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    frames, fps = 61, 30.0
    t = np.arange(frames) / fps
    travel = np.stack([0.0 * t, 1.4 * t, 0.0 * t], -1)
    rest = rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3]
    wave = np.stack([0.03 * np.sin(2 * np.pi * t), 0.02 * np.sin(4 * np.pi * t), 0.0 * t], -1)
    root = rest + wave + np.stack([travel[:, 0], 0.0 * t, travel[:, 1]], -1)
    motion = Motion("walk", np.tile(rig.skeleton.rest.rotations, (frames, 1, 1)), root, fps, loop=True, travel=travel)
    for mode in ("root", "in_place"):
        residual = Clip.from_motion(rig, motion, mode).root_residual
        assert residual is not None
        assert residual.sway_m == pytest.approx(0.03, abs=1e-3)
        assert residual.bob_m == pytest.approx(0.04, abs=1e-3)
        assert residual.error_m < 1e-9
    assert Clip.from_motion(rig, motion, "hips").root_residual is None


def test_yaw_of_several_turns_keeps_its_way_round() -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    frames = 121
    travel = np.zeros((frames, 3))
    travel[:, 2] = np.linspace(0.0, 6.0 * np.pi, frames)
    world = np.tile(rig.skeleton.rest_world, (frames, 1, 1, 1))
    goes = carried(rig.skeleton)
    world[:, goes] = ground_matrices(travel)[:, None] @ world[:, goes]
    spin = motion_from_world(rig.skeleton, world, 30.0, name="spin", loop=True).with_(travel=travel)
    clip = Clip.from_motion(rig, spin, "root")
    (track,) = (track for track in clip.tracks if track.joint == clip.root_joint)
    assert track.path == "rotation"
    steps = (Rotation.from_quat(track.values[:-1]).inv() * Rotation.from_quat(track.values[1:])).as_rotvec()
    np.testing.assert_allclose(steps.sum(axis=0), [0.0, 6.0 * np.pi, 0.0], atol=1e-9)


def test_a_root_far_from_the_origin_lies_below_the_pelvis() -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    motion = travelling(rig, loop=False)
    far = motion.with_(root=motion.root + np.array([40.0, 0.0, -9.0]))
    clip = Clip.from_motion(rig, far, "root")
    world = clip.world(clip.times)[..., :3, 3]
    apart = np.linalg.norm((world[:, clip.root_joint] - world[:, rig.skeleton.pelvis])[:, [0, 2]], axis=-1)
    assert clip.root_residual is not None
    assert apart.max() < clip.root_residual.sway_m + 1e-9


def test_what_a_root_carries_is_held_no_longer() -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    pelvis = rig.skeleton.pelvis
    motion = travelling(rig)
    held = motion.with_(held=frozenset({(pelvis, "translation"), (5, "rotation")}))
    modes = {(t.joint, t.path): t.interpolation for t in Clip.from_motion(rig, held, "root").tracks}
    assert modes[pelvis, "translation"] == "LINEAR"
    assert modes.get((5, "rotation"), "STEP") == "STEP"


def test_a_character_without_a_joint_above_its_pelvis_is_told_how_to_get_one(tmp_path: Path) -> None:
    draft = Draft("biped.glb")
    top = draft.json["scenes"][0]["nodes"]
    armature = next(i for i in top if "mesh" not in draft.json["nodes"][i])
    hips = draft.json["nodes"][armature].pop("children")
    draft.json["scenes"][0]["nodes"] = [*[i for i in top if i != armature], *hips]
    source = tmp_path / "a.glb"
    source.write_bytes(draft.bytes())
    rig = open_rig(source)
    assert root_joint(rig) == -1
    motion = travelling(rig, loop=False)
    with pytest.raises(ExportError, match="no joint above the pelvis that could carry the travel; --add-root adds"):
        Clip.from_motion(rig, motion, "root")

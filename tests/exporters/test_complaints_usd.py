"""What users of other USD exporters complain of, tried: rests, binds, rates, resting joints, quaternion order, sizes, bounds, names."""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, Draft, smooth_motion, write_case
from export_readback import UsdFile, true_positions
from gltf_build import Post, turn
from pxr import Sdf, Usd, UsdGeom, UsdSkel
from scipy.spatial.transform import Rotation

from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.kinematics import skin_points, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "quadruped.glb")


def still(rig: Rig, frames: int = 13, fps: float = 30.0) -> Motion:
    root = np.tile(rig.skeleton.rest_world[max(rig.skeleton.pelvis, 0), :3, 3], (frames, 1))
    return Motion("still", np.tile(rig.skeleton.rest.rotations, (frames, 1, 1)), root, fps)


def only(motion: Motion, rig: Rig, joints: list[int]) -> Motion:
    """The motion of some joints, the others at rest."""
    rotations = np.tile(rig.skeleton.rest.rotations, (motion.frames, 1, 1))
    rotations[:, joints] = motion.rotations[:, joints]
    return still(rig, motion.frames, motion.fps).with_(rotations=rotations, name=f"joints {joints[0]}")


def worst_mm(rig: Rig, motion: Motion, path: Path) -> float:
    times = np.linspace(0.0, motion.duration, 8 * (motion.frames - 1) + 1)
    away = np.linalg.norm(UsdFile(path).positions(times) - true_positions(rig, motion, times), axis=-1)
    return float(away.max() * rig.human_scale * 1e3)


def test_joints_without_skin_rest_locally_and_not_at_the_inverse_of_a_bind(tmp_path: Path) -> None:
    draft = Draft("quadruped.glb")
    skin = draft.json["skins"][0]
    tail = next(j for j, node in enumerate(draft.json["nodes"]) if node.get("name", "").startswith("tail") and j in draft.joints)
    last = tail
    for name in ("extra_1", "extra_2"):  # joints of the skeleton that the skin gives no vertex
        draft.json["nodes"].append({"name": name, "translation": [0.0, 0.1, -0.2], "rotation": turn("y", 35.0)})
        draft.json["nodes"][last].setdefault("children", []).append(len(draft.json["nodes"]) - 1)
        last = len(draft.json["nodes"]) - 1
        draft.joints.append(last)
    skin["inverseBindMatrices"] = draft.add_binds(np.concatenate([draft.binds, np.tile(np.eye(4), (2, 1, 1))]))
    (tmp_path / "long.glb").write_bytes(draft.bytes())
    long = open_rig(tmp_path / "long.glb")
    file = UsdFile(export(long, Clip.from_motion(long, smooth_motion(long)), tmp_path / "a.usda"))
    skeleton = file.queries[0].GetSkeleton()
    names = list(skeleton.GetJointNamesAttr().Get())
    rests, binds = skeleton.GetRestTransformsAttr().Get(), skeleton.GetBindTransformsAttr().Get()
    for name in ("extra_1", "extra_2"):
        j = names.index(name)
        np.testing.assert_allclose(np.array(rests[j]).T, long.skeleton.rest.matrices[j], atol=1e-6)
        np.testing.assert_allclose(np.array(binds[j]).T, long.skeleton.rest_world[j], atol=1e-6)


def test_a_bind_space_of_its_own_is_applied_once(tmp_path: Path) -> None:
    """Shoes modelled lying, at a hundredth of the size: their own bind space is in the points, and geomBindTransform does nothing more."""
    rig = open_rig(write_case("two_skins", tmp_path))
    motion = smooth_motion(rig)
    file = UsdFile(export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usdc"))
    found = file.skinned(6 / 30.0)
    world = world_from_motion(rig.skeleton, motion)[6:7]
    for skin in rig.skins:
        wanted = skin_points(skin, world)[0]
        assert min(np.abs(points - wanted).max() for points in found.values() if points.shape == wanted.shape) < 1e-4 * rig.height
    for prim in Usd.PrimRange(file.root.GetPrim()):
        if prim.IsA(UsdGeom.Mesh):
            np.testing.assert_array_equal(np.array(UsdSkel.BindingAPI(prim).GetGeomBindTransformAttr().Get()), np.eye(4))
            assert not UsdGeom.Xformable(prim).GetOrderedXformOps()


@pytest.mark.parametrize("clip_only", [False, True])
@pytest.mark.parametrize("scene_rate", [None, 24.0, 30.0])
def test_a_25_fps_clip_that_a_scene_refers_to_plays_at_its_own_times(
    rig: Rig, clip_only: bool, scene_rate: float | None, tmp_path: Path
) -> None:
    motion = smooth_motion(rig, fps=25.0)
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "clip.usda", options=ExportOptions(clip_only=clip_only))
    scene = Usd.Stage.CreateNew(str(tmp_path / "scene.usda"))
    UsdGeom.SetStageUpAxis(scene, "Y")
    UsdGeom.SetStageMetersPerUnit(scene, 1.0)
    if scene_rate is not None:
        scene.SetTimeCodesPerSecond(scene_rate)
    prim = scene.DefinePrim("/hero")
    prim.GetReferences().AddReference(f"./{path.name}")
    scene.SetDefaultPrim(prim)
    scene.Save()
    assert scene.GetTimeCodesPerSecond() == (scene_rate or 24.0)
    assert worst_mm(rig, motion, tmp_path / "scene.usda") < 0.1


def test_joints_that_a_clip_leaves_alone_are_at_rest_and_not_at_identity(tmp_path: Path) -> None:
    rig = open_rig(write_case("rolled", tmp_path))
    count = rig.skeleton.count
    motion = only(smooth_motion(rig), rig, list(range(count // 2)))
    for options in (ExportOptions(), ExportOptions(reduction="fast", tolerance_m=1e-4)):
        path = export(rig, Clip.from_motion(rig, motion), tmp_path / f"{options.reduction}.usda", options=options)
        assert worst_mm(rig, motion, path) < 0.2
        file = UsdFile(path)
        _, rotations, _ = file.queries[0].GetAnimQuery().ComputeJointLocalTransformComponents(5.0)
        assert len(rotations) == count
        for j in range(count // 2, count):
            q = np.array([*rotations[j].imaginary, rotations[j].real])
            assert abs(q @ rig.skeleton.rest.rotations[j]) == pytest.approx(1.0, abs=1e-6)


def test_the_animation_is_bound_on_the_skel_root_and_scales_are_authored(rig: Rig, tmp_path: Path) -> None:
    """One release plays nothing bound below the Skeleton alone; Blender plays nothing without scales."""
    for clip_only in (False, True):
        path = export(rig, Clip.from_motion(rig, still(rig)), tmp_path / f"{clip_only}.usda", options=ExportOptions(clip_only=clip_only))
        stage = Usd.Stage.Open(str(path))
        (target,) = UsdSkel.BindingAPI(stage.GetDefaultPrim()).GetAnimationSourceRel().GetTargets()
        scales = UsdSkel.Animation(stage.GetPrimAtPath(target)).GetScalesAttr()
        assert len(scales.Get(0.0)) == rig.skeleton.count


def test_a_yaw_of_90_degrees_is_one_in_usd_s_order_of_quaternions(tmp_path: Path) -> None:
    rig = open_rig(Post().save(tmp_path / "post.glb"))
    motion = still(rig, 2)
    rotations = motion.rotations.copy()
    rotations[:, 1] = turn("y", 90.0)
    path = export(rig, Clip.from_motion(rig, motion.with_(rotations=rotations)), tmp_path / "a.usda")
    file = UsdFile(path)
    _, found, _ = file.queries[0].GetAnimQuery().ComputeJointLocalTransformComponents(0.0)
    half = np.sqrt(0.5)
    assert (found[1].real, *found[1].imaginary) == pytest.approx((half, 0.0, half, 0.0), abs=1e-6)
    assert f"({half:.7f}"[:8] in path.read_text(), "as text the real part comes first"


@pytest.mark.parametrize("height", [0.002, 0.1, 10.0, 100.0])
def test_mesh_and_motion_have_one_size(height: float, tmp_path: Path) -> None:
    rig = open_rig(write_case("armature100", tmp_path), height=height)
    motion = smooth_motion(rig)
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usdc")
    assert worst_mm(rig, motion, path) < 0.1
    file = UsdFile(path)
    world = world_from_motion(rig.skeleton, motion)[4:5]
    wanted = np.concatenate([skin_points(skin, world)[0] for skin in rig.skins])
    found = np.concatenate(list(file.skinned(4 / 30.0).values()))
    np.testing.assert_allclose(np.ptp(found, axis=0), np.ptp(wanted, axis=0), rtol=1e-4)


def test_a_centimetre_source_leaves_no_scale_in_the_file(tmp_path: Path) -> None:
    rig = open_rig(write_case("armature100", tmp_path))
    file = UsdFile(export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / "a.usda"))
    _, _, scales = file.queries[0].GetAnimQuery().ComputeJointLocalTransformComponents(3.0)
    np.testing.assert_allclose(np.array(scales), 1.0, atol=1e-3)
    rests = np.array(file.queries[0].GetSkeleton().GetRestTransformsAttr().Get())
    np.testing.assert_allclose(np.linalg.det(rests[:, :3, :3]), 1.0, atol=1e-5)
    assert not [op for prim in file.stage.Traverse() for op in UsdGeom.Xformable(prim).GetOrderedXformOps()]


@pytest.mark.parametrize("mode", ["hips", "in_place", "root"])
def test_root_modes_do_not_change_the_size_of_an_armature_of_100(mode: str, tmp_path: Path) -> None:
    rig = open_rig(write_case("armature100", tmp_path))
    motion = smooth_motion(rig)
    travel = np.stack([np.zeros(motion.frames), motion.root[:, 2] - motion.root[0, 2], np.zeros(motion.frames)], axis=1)
    clip = Clip.from_motion(rig, motion.with_(travel=travel), mode)
    found = UsdFile(export(rig, clip, tmp_path / "a.usdc")).positions(motion.times)
    wanted = true_positions(rig, motion, motion.times)
    body = [j for j, role in enumerate(rig.skeleton.roles) if role == "anatomy"]
    pelvis = rig.skeleton.pelvis
    lengths = [np.linalg.norm(points[:, body] - points[:, [pelvis]], axis=-1) for points in (found, wanted)]
    np.testing.assert_allclose(lengths[0], lengths[1], atol=1e-4 / rig.human_scale)


def test_bounds_go_along_with_a_character_that_walks_5_metres(rig: Rig, tmp_path: Path) -> None:
    motion = still(rig, 31)
    root = motion.root + np.linspace([0.0, 0.0, 0.0], [0.0, 0.0, 5.0], 31)
    for options in (ExportOptions(), ExportOptions(reduction="fast"), ExportOptions(clip_only=True)):
        name = f"{options.reduction}{options.clip_only}.usda"
        file = UsdFile(export(rig, Clip.from_motion(rig, motion.with_(root=root)), tmp_path / name, options=options))
        for seconds in (0.0, 0.5, 1.0):
            low, high = np.array(file.root.GetExtentAttr().Get(30.0 * seconds))
            for points in file.skinned(seconds).values():
                assert (low <= points.min(0) + 1e-4).all()
                assert (high >= points.max(0) - 1e-4).all()
        starts, ends = (np.array(file.root.GetExtentAttr().Get(code))[1, 2] for code in (0.0, 30.0))
        assert ends - starts > 4.0, "and are no box around the whole way"


def test_clips_hold_their_own_motion_in_whatever_order_they_are_written(rig: Rig, tmp_path: Path) -> None:
    count = rig.skeleton.count
    motions = [only(smooth_motion(rig), rig, list(range(start, count, 3))) for start in range(3)]
    files: dict[str, list[bytes]] = {}
    for order in ((0, 1, 2), (2, 0, 1)):
        for number in order:
            path = export(rig, Clip.from_motion(rig, motions[number]), tmp_path / f"{order[0]}" / f"{number}.usda")
            files.setdefault(path.name, []).append(path.read_bytes())
            assert worst_mm(rig, motions[number], path) < 0.1
    assert all(first == second for first, second in files.values())


def test_writing_changes_nothing_of_what_is_written(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, smooth_motion(rig))

    def digest() -> str:
        arrays = [track.values for track in clip.tracks] + [skin.vertices for skin in rig.skins] + [rig.skeleton.rest.rotations]
        return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()

    before = digest()
    for options in (ExportOptions(), ExportOptions(reduction="fast"), ExportOptions(clip_only=True)):
        export(rig, clip, tmp_path / f"{options.reduction}{options.clip_only}.usdc", options=options)
    assert digest() == before


def test_three_full_turns_in_27_frames_stay_three_turns(rig: Rig, tmp_path: Path) -> None:
    frames, leaf = 28, rig.skeleton.count - 1
    rotations = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    angles = np.linspace(0.0, 3 * 360.0, frames)
    rest = Rotation.from_quat(rig.skeleton.rest.rotations[leaf])
    rotations[:, leaf] = (rest * Rotation.from_euler("x", angles[:, None], degrees=True)).as_quat()
    motion = still(rig, frames).with_(rotations=rotations)
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usda", options=ExportOptions(reduction="fast", tolerance_m=5e-3))
    file = UsdFile(path)
    query = file.queries[0].GetAnimQuery()
    turned = 0.0
    fine = [query.ComputeJointLocalTransformComponents(code)[1][leaf] for code in np.linspace(0.0, frames - 1, 8 * (frames - 1) + 1)]
    for a, b in itertools.pairwise(fine):
        turned += 2.0 * np.degrees(np.arccos(min(1.0, abs(a.real * b.real + a.imaginary * b.imaginary))))
    assert turned == pytest.approx(3 * 360.0, abs=1.0)


def test_a_clip_that_began_at_frame_1_begins_at_0_and_loses_none(tmp_path: Path) -> None:
    post = Post()
    times = np.arange(1, 26) / 24.0
    post.animation([(post.joints[1], "rotation", times, [turn("x", 2.0 * i) for i in range(25)], "LINEAR")], name="late")
    rig = open_rig(post.save(tmp_path / "post.glb"))
    stage = Usd.Stage.Open(str(export(rig, Clip.from_motion(rig, rig.clips[0]), tmp_path / "a.usda")))
    animation = next(UsdSkel.Animation(prim) for prim in stage.Traverse() if prim.IsA(UsdSkel.Animation))
    codes = animation.GetRotationsAttr().GetTimeSamples()
    assert (stage.GetStartTimeCode(), codes[0], codes[-1]) == (0.0, 0.0, stage.GetEndTimeCode())
    last = animation.GetRotationsAttr().Get(codes[-1])[1]
    assert 2.0 * np.degrees(np.arccos(last.real)) == pytest.approx(48.0, abs=1e-3)


@pytest.mark.parametrize(("fps", "loop"), [(24.0, True), (30.0, False), (60.0, True)])
def test_rate_and_loop_can_be_read_back(rig: Rig, fps: float, loop: bool, tmp_path: Path) -> None:
    motion = smooth_motion(rig, fps=fps).with_(loop=loop, name="walk-loop")
    file = UsdFile(export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usdc"))
    told = file.queries[0].GetAnimQuery().GetPrim().GetCustomDataByKey("akd")
    facts = json.loads(told["facts"])
    assert (file.stage.GetTimeCodesPerSecond(), told["loop"], told["name"]) == (fps, loop, "walk-loop")
    assert (facts["fps"], facts["loop"], facts["frames"]) == (fps, loop, motion.frames)


def test_names_with_dots_colons_and_spaces_are_kept_beside_their_identifiers(tmp_path: Path) -> None:
    names = ["mixamorig:Hips", "Bip01 L Foot", "hand.L"]
    post = Post()
    for joint, name in zip(post.joints, names, strict=True):
        post.json["nodes"][joint]["name"] = name
    rig = open_rig(post.save(tmp_path / "post.glb"))
    file = UsdFile(export(rig, Clip.from_motion(rig, still(rig)), tmp_path / "a.usda"))
    skeleton = file.queries[0].GetSkeleton()
    assert list(skeleton.GetJointNamesAttr().Get()) == names
    assert str(skeleton.GetJointsAttr().Get()[2]) == "mixamorig_Hips/Bip01_L_Foot/hand_L"
    assert all(Sdf.Path.IsValidPathString(str(joint)) for joint in skeleton.GetJointsAttr().Get())


def test_matrices_odd_binds_and_moved_mesh_nodes_are_where_they_were_at_rest(tmp_path: Path) -> None:
    draft = Draft("quadruped.glb")
    for node in draft.json["nodes"]:
        if "mesh" in node:
            node |= {"translation": [3.0, 1.0, 0.0], "scale": [7.0, 7.0, 7.0]}  # a skinned mesh does not heed its node
    (tmp_path / "moved.glb").write_bytes(draft.bytes())
    for path in (tmp_path / "moved.glb", write_case("matrices", tmp_path), write_case("rolled", tmp_path)):
        rig = open_rig(path)
        file = UsdFile(export(rig, Clip.from_motion(rig, still(rig)), path.with_suffix(".usdc")))
        found = np.concatenate(list(file.skinned(0.1).values()))
        wanted = np.concatenate([skin.at_rest(rig.skeleton.rest_world) for skin in rig.skins])
        np.testing.assert_allclose(np.sort(found, axis=0), np.sort(wanted, axis=0), atol=1e-4 * rig.height)


def test_unchanged_names_make_clips_of_one_rig_interchangeable(rig: Rig, tmp_path: Path) -> None:
    """Two clips of one character say the same of joints, so one's animation plays on the other's skeleton."""
    paths = [export(rig, Clip.from_motion(rig, smooth_motion(rig, seed)), tmp_path / f"{seed}.usda") for seed in (0, 1)]
    first, second = (Usd.Stage.Open(str(path)) for path in paths)
    animation = next(prim for prim in second.Traverse() if prim.IsA(UsdSkel.Animation))
    spec = first.DefinePrim("/quadruped/other")
    spec.GetReferences().AddReference(str(paths[1]), animation.GetPath())
    UsdSkel.BindingAPI(first.GetDefaultPrim()).GetAnimationSourceRel().SetTargets([spec.GetPath()])
    for prim in first.Traverse():
        if prim.IsA(UsdSkel.Skeleton):
            UsdSkel.BindingAPI(prim).GetAnimationSourceRel().SetTargets([spec.GetPath()])
    first.Export(str(tmp_path / "mixed.usda"))
    assert worst_mm(rig, smooth_motion(rig, 1), tmp_path / "mixed.usda") < 0.1


def test_a_clip_with_no_moving_joint_is_still_a_clip(rig: Rig, tmp_path: Path) -> None:
    clip = replace(Clip.from_motion(rig, still(rig)), tracks=())
    file = UsdFile(export(rig, clip, tmp_path / "a.usda"))
    np.testing.assert_allclose(file.positions(np.array([0.0, 0.4]))[1], rig.skeleton.rest_world[:, :3, 3], atol=1e-5)

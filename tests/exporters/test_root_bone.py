"""A root bone added: a new joint above all that travels; the character, its skin and its clips look as before."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from export_cases import CASES, SAMPLES, Draft, smooth_motion, split_glb, write_case
from export_readback import GlbFile, from_file_space, true_positions
from gltf_build import Post

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.root_bone import with_root_bone
from akd_sdk.exporters.root_modes import root_joint
from akd_sdk.gait.ground import ground_matrices
from akd_sdk.kinematics import world_from_motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


def headless(name: str, folder: Path) -> Path:
    """A sample whose pelvis and mesh are the only roots of the scene."""
    draft = Draft(name)
    nodes, top = draft.json["nodes"], draft.json["scenes"][0]["nodes"]
    armature = next(i for i in top if "mesh" not in nodes[i])
    draft.json["scenes"][0]["nodes"] = [*[i for i in top if i != armature], *nodes[armature].pop("children")]
    path = folder / "headless.glb"
    path.write_bytes(draft.bytes())
    return path


def sources(folder: Path) -> dict[str, Path]:
    made = {case: write_case(case, folder) for case in CASES}
    return {**made, "headless": headless("biped.glb", folder), "biped": SAMPLES / "biped.glb"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return sources(tmp_path_factory.mktemp("sources"))


ALL = (*CASES, "headless", "biped")


@pytest.mark.parametrize("case", ALL)
def test_the_rig_with_the_bone_is_what_a_reader_finds_in_its_file(case: str, files: dict[str, Path], tmp_path: Path) -> None:
    rig = open_rig(files[case], height=1.3)
    bone = with_root_bone(rig)
    assert bone.added
    assert bone.name == "root"
    clip = Clip.from_motion(bone.rig, bone.motion(smooth_motion(rig)))
    back = open_rig(export(bone.rig, clip, tmp_path / "out.glb"), height=1.3)
    ours, theirs = bone.rig.skeleton, back.skeleton
    assert theirs.names == ours.names
    assert (theirs.pelvis, theirs.groups) == (ours.pelvis, ours.groups)
    np.testing.assert_array_equal(theirs.parents, ours.parents)
    np.testing.assert_array_equal(theirs.nodes, ours.nodes)
    np.testing.assert_allclose(back.source.units, bone.rig.source.units, rtol=1e-6)
    np.testing.assert_allclose(theirs.rest_world, ours.rest_world, atol=1e-6)
    for new, old in zip(back.skins, bone.rig.skins, strict=True):
        np.testing.assert_array_equal(new.joints, old.joints)
        np.testing.assert_allclose(new.inverse_binds, old.inverse_binds, atol=1e-5 * float(np.abs(old.inverse_binds).max()))
    assert root_joint(back) == bone.joint


@pytest.mark.parametrize("case", ALL)
def test_nothing_moves_when_the_bone_comes(case: str, files: dict[str, Path]) -> None:
    rig = open_rig(files[case])
    bone = with_root_bone(rig)
    for before, after in zip(rig.skins, bone.rig.skins, strict=True):
        np.testing.assert_array_equal(after.at_rest(bone.rig.skeleton.rest_world), before.at_rest(rig.skeleton.rest_world))
    motion = smooth_motion(rig, scaled=True)
    old, new = world_from_motion(rig.skeleton, motion), world_from_motion(bone.rig.skeleton, bone.motion(motion))
    np.testing.assert_array_equal(np.delete(new, bone.joint, axis=1), old)


@pytest.mark.parametrize("case", ALL)
def test_the_bone_is_bound_where_it_rests(case: str, files: dict[str, Path]) -> None:
    """A vertex that followed the new bone alone would rest where those of the pelvis do: the mesh's own place."""
    rig = open_rig(files[case])
    bone = with_root_bone(rig)
    skeleton = bone.rig.skeleton
    for skin in bone.rig.skins:
        maps = skeleton.rest_world @ skin.inverse_binds
        size = float(np.abs(maps[skeleton.pelvis]).max())
        np.testing.assert_allclose(maps[bone.joint], maps[skeleton.pelvis], atol=1e-5 * size)


@pytest.mark.parametrize("case", ["armature100", "turned", "mirrored", "rolled", "headless"])
def test_the_bone_carries_the_travel_in_the_file(case: str, files: dict[str, Path], tmp_path: Path) -> None:
    rig = open_rig(files[case])
    bone = with_root_bone(rig)
    motion = smooth_motion(rig, frames=21)
    travel = np.stack([0.0 * motion.times, 2.0 / rig.human_scale * motion.times, 0.0 * motion.times], -1)
    clip = Clip.from_motion(bone.rig, bone.motion(motion.with_(travel=travel)), "root")
    assert clip.root_joint == bone.joint
    rest = bone.rig.skeleton.rest_world[bone.joint]
    np.testing.assert_allclose(clip.world(clip.times)[:, bone.joint], ground_matrices(travel) @ rest, atol=1e-8)
    file = GlbFile(export(bone.rig, clip, tmp_path / "out.glb"))
    shown = from_file_space(bone.rig, file.positions("swing", clip.times, bone.rig.skeleton.nodes))
    wanted = true_positions(rig, motion, clip.times)
    kept = [j for j in range(rig.skeleton.count) if j >= bone.joint]
    np.testing.assert_allclose(np.delete(shown, bone.joint, axis=1)[:, kept], wanted[:, kept], atol=2e-5)


def test_clips_of_the_file_play_as_before(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    first = open_rig(export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / "a.glb"))
    bone = with_root_bone(first)
    path = export(bone.rig, Clip.from_motion(bone.rig, bone.rig.clips[0].with_(name="again")), tmp_path / "b.glb")
    old, new = GlbFile(tmp_path / "a.glb"), GlbFile(path)
    nodes, times = first.skeleton.nodes, np.linspace(0.0, 0.4, 17)
    np.testing.assert_array_equal(new.positions("swing", times, nodes), old.positions("swing", times, nodes))


def test_everything_else_of_the_file_stays(tmp_path: Path) -> None:
    source = write_case("two_skins", tmp_path)
    rig = open_rig(source)
    bone = with_root_bone(rig)
    path = export(bone.rig, Clip.from_motion(bone.rig, bone.motion(smooth_motion(rig))), tmp_path / "out.glb")
    (old, old_bin), (new, new_bin) = split_glb(source.read_bytes()), split_glb(path.read_bytes())
    assert new_bin.startswith(old_bin)
    node = len(old["nodes"])
    assert new["nodes"][node] == {"name": "root", "children": [1]}
    assert new["nodes"].pop(node)
    assert new["nodes"][0].pop("children") == [node]
    assert old["nodes"][0].pop("children") == [1]
    assert json.dumps(new["nodes"]) == json.dumps(old["nodes"])
    for skin_old, skin_new in zip(old["skins"], new["skins"], strict=True):
        assert skin_new["joints"] == [*skin_old["joints"], node]
        assert skin_new["skeleton"] == node
        accessor = new["accessors"][skin_new["inverseBindMatrices"]]
        assert (accessor["count"], accessor["type"]) == (len(skin_new["joints"]), "MAT4")
    for key in ("meshes", "materials", "scenes", "asset"):
        assert new.get(key) == old.get(key)
    assert rig.source.document.json == open_rig(source).source.document.json  # the rig given is as it was


def test_the_name_is_new() -> None:
    draft = Draft("biped.glb")
    draft.json["nodes"][5]["name"] = "root"
    rig = rig_of(draft)
    bone = with_root_bone(rig)
    assert bone.name == "root_2"
    assert bone.rig.notes[-1] == "root bone 'root_2' added above hips"


def rig_of(draft: Draft) -> Rig:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.glb"
        path.write_bytes(draft.bytes())
        return open_rig(path)


def test_a_bone_that_is_there_is_taken(files: dict[str, Path], tmp_path: Path) -> None:
    bone = with_root_bone(open_rig(files["biped"]))
    clip = Clip.from_motion(bone.rig, bone.motion(smooth_motion(open_rig(files["biped"]))))
    rig = open_rig(export(bone.rig, clip, tmp_path / "a.glb"))
    again = with_root_bone(rig)
    assert not again.added
    assert again.name == "root"
    assert again.rig is rig
    assert again.motion(rig.clips[0]) is rig.clips[0]


def test_what_has_no_pelvis_gets_no_root(tmp_path: Path) -> None:
    rig = open_rig(Post().save(tmp_path / "post.glb"))
    if rig.skeleton.pelvis < 0:
        with pytest.raises(ExportError, match="no pelvis above which a root bone could stand"):
            with_root_bone(rig)
    else:
        assert with_root_bone(rig).added

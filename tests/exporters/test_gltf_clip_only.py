"""A file with the motion alone: the same nodes and rest, nothing to see, and it binds to the character."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from export_cases import CASES, SAMPLES, Draft, smooth_motion, split_glb, write_case
from export_readback import GlbFile, from_file_space, true_positions

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, ExportOptions, Track, export
from akd_sdk.exporters.profiles import load_profile
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

ALONE = ExportOptions(clip_only=True)


def still(rig: Rig, frames: int = 4) -> Motion:
    root = np.tile(rig.skeleton.rest_world[max(rig.skeleton.pelvis, 0), :3, 3], (frames, 1))
    return Motion("still", np.tile(rig.skeleton.rest.rotations, (frames, 1, 1)), root, 30.0)


def tree(content: dict, keep: set[str]) -> dict[str, tuple[str | None, tuple]]:
    """Parent's name and rest of each named node."""
    nodes = content["nodes"]
    above = {child: i for i, node in enumerate(nodes) for child in node.get("children", [])}
    rest = ("translation", "rotation", "scale")
    return {
        node["name"]: (nodes[above[i]]["name"] if i in above else None, tuple(tuple(node.get(key, ())) for key in rest))
        for i, node in enumerate(nodes)
        if node["name"] in keep
    }


@pytest.mark.parametrize("case", [name for name in CASES if name != "matrices"])
def test_names_hierarchy_and_rest_are_the_characters(case: str, tmp_path: Path) -> None:
    source = write_case(case, tmp_path)
    rig = open_rig(source)
    path = export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / "clip.glb", options=ALONE)
    whole, alone = split_glb(source.read_bytes())[0], split_glb(path.read_bytes())[0]
    names = {name for name in rig.skeleton.source_names if name}
    assert tree(alone, names) == tree(whole, names)
    assert {node["name"] for node in alone["nodes"]} == names
    for gone in ("meshes", "materials", "textures", "images", "cameras"):
        assert gone not in alone
    assert not any({"mesh", "skin", "camera"} & node.keys() for node in alone["nodes"])
    assert len(path.read_bytes()) < len(source.read_bytes())


@pytest.mark.parametrize("case", CASES)
def test_it_plays_alone_and_bound_by_name_to_the_character(case: str, tmp_path: Path) -> None:
    source = write_case(case, tmp_path)
    rig = open_rig(source)
    motion = smooth_motion(rig, scaled=True)
    file = GlbFile(export(rig, Clip.from_motion(rig, motion), tmp_path / "clip.glb", options=ALONE))
    index = {node.name: i for i, node in enumerate(file.gltf.nodes)}
    times = np.linspace(0.0, motion.duration, 30)
    wanted = true_positions(rig, motion, times)
    nodes = np.array([index[name] for name in rig.skeleton.source_names])
    np.testing.assert_allclose(from_file_space(rig, file.positions("swing", times, nodes)), wanted, atol=2e-5)
    body = GlbFile(source)
    moved = {(body_node(body, file.gltf.nodes[node].name), path): keys for (node, path), keys in file.tracks("swing").items()}
    bound = Bound(source, moved)
    found = from_file_space(rig, bound.positions("", times, rig.skeleton.nodes))
    np.testing.assert_allclose(found, wanted, atol=2e-5)


def body_node(file: GlbFile, name: str) -> int:
    return next(i for i, node in enumerate(file.gltf.nodes) if node.name == name)


class Bound(GlbFile):
    """The character playing tracks of another file."""

    def __init__(self, path: Path, moved: dict) -> None:
        super().__init__(path)
        self.moved = moved
        for node, _ in moved:
            item = self.gltf.nodes[node]
            if item.matrix is not None:  # an engine takes it apart before it animates
                from akd_sdk.rotations import decompose

                t, r, s = decompose(np.array(item.matrix).reshape(4, 4).T)
                item.matrix, item.translation, item.rotation, item.scale = None, t.tolist(), r.tolist(), s.tolist()

    def tracks(self, name: str) -> dict:
        return self.moved


def test_a_reader_finds_the_same_skeleton_and_clip(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    motion = smooth_motion(rig)
    back = open_rig(export(rig, Clip.from_motion(rig, motion), tmp_path / "clip.glb", options=ALONE))
    assert back.skeleton.names == rig.skeleton.names
    assert [clip.name for clip in back.clips] == ["swing"]


def test_only_the_clips_given_are_in_it(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    first = open_rig(export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / "a.glb"))
    clips = [Clip.from_motion(first, first.clips[0]), Clip.from_motion(first, still(first))]
    path = export(first, clips, tmp_path / "b.glb", options=ALONE)
    assert [item["name"] for item in split_glb(path.read_bytes())[0]["animations"]] == ["swing", "still"]


def test_morph_weights_need_their_mesh(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    clip = Clip.from_motion(rig, still(rig).with_(morphs={0: np.zeros((4, 1))}))
    with pytest.raises(ExportError, match="still: moves morph targets, which a file without meshes cannot hold; leave out --clip-only"):
        export(rig, clip, tmp_path / "a.glb", options=ALONE)
    assert list(tmp_path.iterdir()) == []


def test_the_same_renaming_binds_clip_and_character(tmp_path: Path) -> None:
    draft = Draft("biped.glb")
    joints = draft.joints
    for joint, name in zip(joints[3:6], ("Arm.L", "ArmL", "Arm[L"), strict=True):
        draft.json["nodes"][joint]["name"] = name
    source = tmp_path / "a.glb"
    source.write_bytes(draft.bytes())
    rig = open_rig(source)
    clip = Clip.from_motion(rig, smooth_motion(rig))
    web = load_profile("web")
    whole = split_glb(export(rig, clip, tmp_path / "b.glb", options=ExportOptions(profile=web)).read_bytes())[0]
    alone = split_glb(export(rig, clip, tmp_path / "c.glb", options=ExportOptions(profile=web, clip_only=True)).read_bytes())[0]
    names = [whole["nodes"][joint]["name"] for joint in joints[3:6]]
    assert names == ["Arm.L", "ArmL_2", "Arm[L_3"]
    assert set(names) <= {node["name"] for node in alone["nodes"]}
    plain = split_glb(export(rig, clip, tmp_path / "d.glb").read_bytes())[0]
    assert [plain["nodes"][joint]["name"] for joint in joints[3:6]] == ["Arm.L", "ArmL", "Arm[L"]


def test_all_joints_gives_every_bone_all_channels(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    clip = Clip.from_motion(rig, still(rig))
    file = GlbFile(export(rig, clip, tmp_path / "a.glb", options=ExportOptions(all_joints=True)))
    tracks = file.tracks("still")
    bones = split_glb((SAMPLES / "biped.glb").read_bytes())[0]["skins"][0]["joints"]
    assert set(tracks) == {(bone, path) for bone in bones for path in ("translation", "rotation", "scale")}
    times = np.linspace(0.0, clip.duration, 5)
    shown = from_file_space(rig, file.positions("still", times, rig.skeleton.nodes))
    np.testing.assert_allclose(shown, np.broadcast_to(rig.skeleton.rest_world[:, :3, 3], shown.shape), atol=1e-6)
    assert len(GlbFile(export(rig, clip, tmp_path / "b.glb")).tracks("still")) == 1


def test_every_track_begins_at_zero_and_ends_with_the_clip(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    value = rig.skeleton.rest.translations[1]
    late = Track(1, "translation", np.array([0.25, 0.5]), np.stack([value, value + 0.1]))
    one = Track(2, "rotation", np.array([0.0]), np.array([[0.0, 0.6, 0.0, 0.8]]))
    clip = Clip("c", rig.skeleton, 4.0, 1.0, False, "hips", (late, one))
    tracks = GlbFile(export(rig, clip, tmp_path / "a.glb")).tracks("c")
    times, values = tracks[int(rig.skeleton.nodes[1]), "translation"]
    np.testing.assert_array_equal(times, [0.0, 0.25, 0.5, 1.0])
    np.testing.assert_array_equal(values[[0, 2]], values[[1, 3]])
    alone = Clip("d", rig.skeleton, 4.0, 1.0, False, "hips", (one,))
    ((times, values),) = GlbFile(export(rig, alone, tmp_path / "b.glb")).tracks("d").values()
    np.testing.assert_array_equal(times, [0.0, 1.0])
    np.testing.assert_array_equal(values[0], values[1])


@pytest.mark.parametrize("option", ["t_pose", "fps", "add_root"])
def test_what_a_glb_cannot_do_is_refused(option: str, tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    options = ExportOptions(**{option: 10.0 if option == "fps" else True})  # type: ignore[arg-type]
    with pytest.raises(ExportError, match=rf"--{option.replace('_', '-')} cannot be done for \.glb"):
        export(rig, Clip.from_motion(rig, still(rig)), tmp_path / "a.glb", options=options)
    assert list(tmp_path.iterdir()) == []

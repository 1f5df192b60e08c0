"""Skeletons of glTF files: which joints, in which place and unit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gltf_build import Post, turn
from scipy.spatial.transform import Rotation

from akd_sdk.errors import ReadError, RigError
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.rotations import quat_multiply


def opened(file: Post, folder: Path, height: float | None = None) -> Rig:
    return open_rig(file.save(folder / "post.glb"), height=height)


def places(rig: Rig, *names: str) -> np.ndarray:
    return rig.skeleton.rest_world[[rig.skeleton.names.index(n) for n in names], :3, 3]


def test_joints_lie_where_the_file_puts_them_in_metres(tmp_path: Path) -> None:
    rig = opened(Post(), tmp_path)
    assert rig.skeleton.names == ("low", "middle", "high")
    assert list(rig.skeleton.parents) == [-1, 0, 1]
    assert rig.height == pytest.approx(1.8)
    assert rig.source.scale == pytest.approx(1.0)
    assert np.allclose(places(rig, "low", "middle", "high"), [[0, 0, 0], [0, 0.6, 0], [0, 1.2, 0]])
    assert any("1.8" in note for note in rig.notes)


def test_a_height_scales_everything(tmp_path: Path) -> None:
    rig = opened(Post(), tmp_path, height=0.9)
    assert rig.height == 0.9
    assert rig.source.scale == pytest.approx(0.5)
    assert np.allclose(places(rig, "high"), [[0, 0.6, 0]])
    assert np.ptp(rig.skins[0].at_rest(rig.skeleton.rest_world)[:, 1]) == pytest.approx(0.9)


@pytest.mark.parametrize("height", [0.0, -1.0, np.nan, np.inf, 1e-300, 1e9])
def test_heights_that_are_none_are_refused(tmp_path: Path, height: float) -> None:
    with pytest.raises(RigError, match="--height"):
        opened(Post(), tmp_path, height)


def test_names_that_are_no_text_are_names_of_files_nevertheless(tmp_path: Path) -> None:
    post = Post()
    next(node for node in post.json["nodes"] if node.get("name") == "high")["name"] = "\ud800x"
    assert opened(post, tmp_path).skeleton.names == ("low", "middle", "?x")


class Wrapped(Post):
    """The post below an armature node that turns and scales; the joints' numbers make up for it, as converters write them."""

    def __init__(self, rotation: list[float], scale: list[float]) -> None:
        super().__init__(build=False)
        self.armature = self.node(name="Armature", rotation=rotation, scale=scale)
        back = Rotation.from_quat(rotation).inv()
        parent = self.armature
        for i, name in enumerate(("low", "middle", "high")):
            step = back.apply([0.0, 0.6 if i else 0.0, 0.0]) / scale
            parent = self.node(parent, name=name, translation=step.tolist())
            self.joints.append(parent)
        binds = np.tile(np.eye(4), (3, 1, 1))
        for i in range(3):
            world = np.eye(4)
            world[:3, :3] = Rotation.from_quat(rotation).as_matrix() @ np.diag(scale)
            world[1, 3] = 0.6 * i
            binds[i] = np.linalg.inv(world)
        self.dress(binds)


WRAPS = {
    "hundredth": (turn("x", -90), [0.01] * 3),
    "hundred": (turn("x", -90), [100.0] * 3),
    "turned": (turn("z", 35), [1.0] * 3),
    "mirrored": (turn("y", 20), [-1.0, 1.0, 1.0]),
    "point mirror": (turn("y", 20), [-2.0, -2.0, -2.0]),
}


@pytest.mark.parametrize("case", WRAPS)
def test_an_armature_that_turns_and_scales_changes_nothing_in_the_world(tmp_path: Path, case: str) -> None:
    plain, wrapped = opened(Post(), tmp_path, 1.8), opened(Wrapped(*WRAPS[case]), tmp_path, 1.8)
    names = ("low", "middle", "high")
    assert np.allclose(places(wrapped, *names), places(plain, *names), atol=1e-6)
    assert np.allclose(wrapped.skins[0].at_rest(wrapped.skeleton.rest_world), plain.skins[0].at_rest(plain.skeleton.rest_world), atol=1e-6)
    lengths = np.linalg.norm(wrapped.skeleton.rest.translations[2:], axis=-1)
    assert np.allclose(lengths, 0.6, atol=1e-6), "inner translations are metres"
    assert np.allclose(np.abs(wrapped.skeleton.rest.scales[1:]), 1.0, atol=1e-6), "inner scales are 1"


@pytest.mark.parametrize("case", WRAPS)
def test_the_files_own_numbers_can_be_got_back(tmp_path: Path, case: str) -> None:
    file = Wrapped(*WRAPS[case])
    rig = opened(file, tmp_path, 0.5)
    source, skeleton = rig.source, rig.skeleton
    above = np.where(skeleton.parents >= 0, source.units[skeleton.parents], source.scale)
    for j, node in enumerate(skeleton.nodes):
        item = file.json["nodes"][int(node)]
        assert np.allclose(skeleton.rest.translations[j] / above[j], item.get("translation", [0, 0, 0]), atol=1e-6)
        assert np.allclose(skeleton.rest.scales[j] * source.units[j] / above[j], item.get("scale", [1, 1, 1]), rtol=1e-9)
        same = np.abs(np.dot(skeleton.rest.rotations[j], item.get("rotation", [0, 0, 0, 1])))
        assert same == pytest.approx(1.0)


def test_the_facing_of_the_file_is_kept(tmp_path: Path) -> None:
    file = Post(build=False)
    holder = file.node(name="holder", rotation=turn("y", 90))
    file.chain(holder)
    file.json["nodes"][file.joints[1]]["translation"] = [0.3, 0.6, 0.0]
    file.dress()
    rig = opened(file, tmp_path, 1.8)
    assert np.allclose(places(rig, "middle")[0] / rig.source.scale, [0.0, 0.6, -0.3], atol=1e-6)


def test_nodes_between_joints_are_kept_and_the_mesh_stays(tmp_path: Path) -> None:
    file = Post(build=False)
    low = file.node(name="low")
    helper = file.node(low, name="helper", translation=[0.0, 0.2, 0.0], rotation=turn("z", 40), scale=[2.0, 2.0, 2.0])
    back = Rotation.from_quat(turn("z", -40)).apply([0.0, 0.4, 0.0]) / 2
    middle = file.node(helper, name="middle", translation=back.tolist(), rotation=turn("z", -40), scale=[0.5] * 3)
    file.joints = [low, middle, file.node(middle, name="high", translation=[0.0, 0.6, 0.0])]
    file.dress()
    rig = opened(file, tmp_path)
    assert rig.skeleton.names == ("low", "helper", "middle", "high")
    assert np.allclose(places(rig, "middle", "high"), [[0, 0.6, 0], [0, 1.2, 0]], atol=1e-6)
    assert np.allclose(rig.skins[0].at_rest(rig.skeleton.rest_world), file.positions, atol=1e-6)


def test_joints_given_as_matrices_are_read(tmp_path: Path) -> None:
    file = Post()
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_quat(turn("y", 30)).as_matrix()
    matrix[:3, 3] = (0.0, 0.6, 0.0)
    middle = file.json["nodes"][file.joints[1]]
    del middle["translation"]
    middle["matrix"] = matrix.T.reshape(-1).tolist()
    rig = opened(file, tmp_path)
    assert np.allclose(rig.skeleton.rest_world[1], matrix, atol=1e-6)


def test_a_sheared_joint_is_said(tmp_path: Path) -> None:
    file = Post()
    matrix = np.eye(4)
    matrix[0, 1], matrix[1, 3] = 0.5, 0.6
    middle = file.json["nodes"][file.joints[1]]
    del middle["translation"]
    middle["matrix"] = matrix.T.reshape(-1).tolist()
    assert any("'middle' has shear" in note for note in opened(file, tmp_path).source.repairs)


def test_several_roots_and_skins_make_one_skeleton(tmp_path: Path) -> None:
    file = Post()
    other = file.node(name="prop", translation=[2.0, 0.0, 0.0])
    skin = file.add("skins", {"joints": [other, file.joints[2]]})
    file.node(name="second", mesh=0, skin=skin)
    file.influences[:] = 0
    file.json["meshes"].append({"primitives": [file.primitive()]})
    file.json["nodes"][-1]["mesh"] = 1
    rig = opened(file, tmp_path)
    assert rig.skeleton.names == ("low", "middle", "high", "prop")
    assert list(rig.skeleton.parents) == [-1, 0, 1, -1]
    first, second = rig.skins
    assert not first.inverse_binds[3].any()
    assert np.array_equal(second.inverse_binds[3], np.eye(4)), "without inverse bind matrices they are the identity"
    assert np.allclose(second.at_rest(rig.skeleton.rest_world), file.positions + np.array([2.0, 0.0, 0.0]), atol=1e-6)


def test_names_are_made_unique_and_the_files_own_kept(tmp_path: Path) -> None:
    file = Post()
    for node, name in zip(file.joints, ("Bone", "Bone", None)):
        file.json["nodes"][node]["name"] = name
        if name is None:
            del file.json["nodes"][node]["name"]
    rig = opened(file, tmp_path)
    assert rig.skeleton.names == ("Bone", "Bone_2", f"node_{file.joints[2]}")
    assert rig.skeleton.source_names == ("Bone", "Bone", None)
    assert list(rig.skeleton.nodes) == file.joints


def test_a_joint_scaled_to_nothing_at_rest_is_read(tmp_path: Path) -> None:
    file = Post()
    file.json["nodes"][file.joints[2]]["scale"] = [0.0, 0.0, 0.0]
    rig = opened(file, tmp_path)
    assert np.isfinite(rig.source.units).all()
    assert (rig.source.units > 0.0).all()
    assert np.allclose(rig.skeleton.rest_world[2, :3, :3], 0.0, atol=1e-3)
    assert np.linalg.det(rig.skeleton.rest_world[2]) != 0.0
    assert any("'high' is scaled to 0" in note for note in rig.source.repairs)


def test_joints_scaled_to_nothing_within_each_other_are_refused(tmp_path: Path) -> None:
    file = Post()
    for node in file.joints:
        file.json["nodes"][node]["scale"] = [0.0, 0.0, 0.0]
    with pytest.raises(ReadError, match="scaled to nothing"):
        opened(file, tmp_path)


def test_the_order_of_joints_is_parents_first_whatever_the_file_says(tmp_path: Path) -> None:
    file = Post()
    for node in file.json["nodes"]:
        node.pop("children", None)
    low, middle, high = file.joints
    file.json["nodes"][high]["children"] = [low]
    file.json["nodes"][low]["children"] = [middle]
    rig = opened(file, tmp_path, 1.0)
    assert rig.skeleton.names == ("high", "low", "middle")
    assert (rig.skeleton.parents < np.arange(3)).all()


def test_a_file_without_a_skin_is_refused(tmp_path: Path) -> None:
    file = Post()
    del file.json["skins"]
    for node in file.json["nodes"]:
        node.pop("skin", None)
    with pytest.raises(RigError, match="has no skin"):
        opened(file, tmp_path)


@pytest.mark.parametrize(
    ("joints", "reason"), [([], "has no joints"), ([0, 99], "there are only"), (["low"], "not a whole number"), ({}, "not an array")]
)
def test_skins_with_joints_that_are_none_are_refused(tmp_path: Path, joints: object, reason: str) -> None:
    file = Post()
    file.json["skins"][0]["joints"] = joints
    with pytest.raises(ReadError, match=reason):
        opened(file, tmp_path)


def test_a_character_without_extent_is_refused(tmp_path: Path) -> None:
    file = Post()
    file.positions[:, 1] = 0.0
    file.json["meshes"][0]["primitives"] = [file.primitive()]
    for node in file.joints:
        file.json["nodes"][node]["translation"] = [0.0, 0.0, 0.0]
    file.json["skins"][0].pop("inverseBindMatrices")
    with pytest.raises(RigError, match="has no height"):
        opened(file, tmp_path)


def test_rotations_of_the_rest_pose_are_the_files(tmp_path: Path) -> None:
    file = Post()
    file.json["nodes"][file.joints[1]]["rotation"] = turn("z", 20)
    file.json["nodes"][file.joints[2]]["rotation"] = turn("x", 50)
    rig = opened(file, tmp_path)
    world = quat_multiply(np.array(turn("z", 20)), np.array(turn("x", 50)))
    assert np.allclose(rig.skeleton.rest_world[2, :3, :3], Rotation.from_quat(world).as_matrix(), atol=1e-7)

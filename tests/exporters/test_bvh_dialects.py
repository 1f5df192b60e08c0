"""Dialects of BVH: unit, order, facing, zero pose, first frame and names are those of the reader, and every choice has a source."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion, write_case
from export_readback import BvhFile
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, deliver, export
from akd_sdk.exporters.bvh import make_bvh
from akd_sdk.exporters.bvh_dialects import DIALECTS, Dialect
from akd_sdk.exporters.bvh_names import bvh_name
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.exporters.profiles import load_profile
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

Array = NDArray[np.float64]
HUMAN = ("Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase", "Spine", "Head", "LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand")


@pytest.fixture(scope="module")
def rigs() -> dict[str, Rig]:
    return {name: open_rig(SAMPLES / f"{name}.glb") for name in ("biped", "quadruped")}


def rigid(rig: Rig) -> Motion:
    return smooth_motion(rig).with_(translations=None)


def written(rig: Rig, dialect: str, folder: Path) -> tuple[BvhFile, Clip, dict[str, int]]:
    """The file, its clip, and the skeleton joint of each name."""
    clip, options = Clip.from_motion(rig, rigid(rig)), ExportOptions(dialect=dialect)
    names = make_bvh(rig, clip, options).names
    path = export(rig, clip, folder / f"{dialect}.bvh", options=options)
    return BvhFile(path), clip, {name: j for j, name in names.items()}


@pytest.mark.parametrize("dialect", list(DIALECTS))
@pytest.mark.parametrize("name", ["biped", "quadruped"])
def test_joints_are_where_the_clip_has_them(rigs: dict[str, Rig], name: str, dialect: str, tmp_path: Path) -> None:
    rig = rigs[name]
    file, clip, joints = written(rig, dialect, tmp_path)
    names, found, _ = file.positions()
    own = DIALECTS[dialect]
    wanted = clip.world(clip.times)[..., :3, 3][:, [joints[name] for name in names]] @ rig.facing  # both samples face +Z
    away = np.linalg.norm(found[int(own.first_frame) :] * own.metres_per_unit - wanted, axis=-1)
    assert away.max() * rig.human_scale * 1e3 < 0.005
    assert "".join(channel[0] for channel in file.nodes[1].channels) == own.order
    assert len(file.values) == clip.frames + int(own.first_frame)


def test_centimetres_unless_the_reader_wants_metres() -> None:
    assert {name: dialect.metres_per_unit for name, dialect in DIALECTS.items()} == {
        "biovision": 0.01,
        "blender": 1.0,
        "motionbuilder": 0.01,
        "cgspeed": 0.01,
    }


@pytest.mark.parametrize("name", list(DIALECTS))
def test_each_choice_of_a_dialect_has_a_source(name: str) -> None:
    dialect, plain = DIALECTS[name], Dialect("plain", "")
    chosen = [field.name for field in fields(Dialect) if field.name not in ("name", "title", "notes", "sources")]
    differs = {key for key in chosen if getattr(dialect, key) != getattr(plain, key)} | {"metres_per_unit"}
    assert dialect.name == name
    assert differs <= set(dialect.sources) <= set(chosen)


def test_the_profile_of_blender_writes_blenders_dialect_and_the_option_overrides(rigs: dict[str, Rig], tmp_path: Path) -> None:
    rig = rigs["quadruped"]
    profile = load_profile("blender")
    made = deliver(rig, rigid(rig), tmp_path / "a.bvh", options=ExportOptions(profile=profile))
    assert np.abs(BvhFile(made.path).nodes[1].offset).max() < 1.0
    assert any("metres, rotations in the order XYZ" in note for note in made.facts.notes)
    other = deliver(rig, rigid(rig), tmp_path / "b.bvh", options=ExportOptions(profile=profile, dialect="biovision"))
    assert np.abs(BvhFile(other.path).nodes[1].offset).max() > 1.0


def test_motionbuilders_zero_pose_is_a_t_pose_that_faces_z(tmp_path: Path) -> None:
    rig = open_rig(write_case("turned", tmp_path, "biped.glb"))
    file, clip, joints = written(rig, "motionbuilder", tmp_path)
    names, zero, ends = file.positions(zero=True)
    place = dict(zip(names, zero[0], strict=True))
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        across = place[f"{side}Hand"] - place[f"{side}Arm"]
        np.testing.assert_allclose(across / np.linalg.norm(across), [sign, 0.0, 0.0], atol=1e-6)
        down = place[f"{side}Foot"] - place[f"{side}UpLeg"]
        np.testing.assert_allclose(down / np.linalg.norm(down), [0.0, -1.0, 0.0], atol=1e-6)
        assert (place[f"{side}ToeBase"] - place[f"{side}Foot"])[2] > 0.0
    found = file.positions()[1]
    yaw = np.arctan2(rig.forward[0], rig.forward[2])
    turn = np.array([[np.cos(yaw), 0.0, -np.sin(yaw)], [0.0, 1.0, 0.0], [np.sin(yaw), 0.0, np.cos(yaw)]])
    wanted = clip.world(clip.times)[..., :3, 3][:, [joints[name] for name in names]] @ turn.T
    assert np.linalg.norm(found / 100.0 - wanted, axis=-1).max() * rig.human_scale < 1e-5
    assert ends.shape[1] == 5
    assert any("to face +Z" in note for note in make_bvh(rig, clip, ExportOptions(dialect="motionbuilder")).notes)


def test_cgspeed_begins_with_a_t_pose_that_stands_where_the_character_rests(rigs: dict[str, Rig], tmp_path: Path) -> None:
    rig = rigs["biped"]
    file, clip, joints = written(rig, "cgspeed", tmp_path)
    names, found, _ = file.positions()
    place = dict(zip(names, found[0] / 100.0, strict=True))
    assert place["LeftHand"][1] == pytest.approx(place["LeftArm"][1], abs=1e-6)
    assert place["RightHand"][1] == pytest.approx(place["RightArm"][1], abs=1e-6)
    rest = rig.skeleton.rest_world[:, 1, 3]
    assert min(place["LeftToeBase"][1], place["RightToeBase"][1]) == pytest.approx(rest[joints["LeftToeBase"]], abs=1e-6)
    zero = file.positions(zero=True)[1][0]
    lengths = np.linalg.norm(zero - zero[0], axis=-1)
    np.testing.assert_allclose(
        lengths / 100.0,
        np.linalg.norm(
            rig.skeleton.rest_world[[joints[n] for n in names], :3, 3] - rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3], axis=-1
        ),
        atol=1e-8,
    )
    assert len(file.values) == clip.frames + 1


def test_a_quadruped_has_its_rest_pose_for_a_t_pose_and_it_is_said(rigs: dict[str, Rig], tmp_path: Path) -> None:
    rig = rigs["quadruped"]
    for dialect in ("motionbuilder", "cgspeed"):
        made = deliver(rig, rigid(rig), tmp_path / f"{dialect}.bvh", options=ExportOptions(dialect=dialect))
        assert any(note.startswith("the rest pose stands for a T pose: a T pose is for bipeds") for note in made.facts.notes)
    _, found, _ = BvhFile(tmp_path / "cgspeed.bvh").positions()
    order = [rig.skeleton.names.index(name) for name in (node.name for node in BvhFile(tmp_path / "cgspeed.bvh").nodes)]
    np.testing.assert_allclose(found[0] / 100.0, rig.skeleton.rest_world[order, :3, 3], atol=1e-8)


def test_a_t_pose_that_is_asked_for_is_made_or_refused(rigs: dict[str, Rig], tmp_path: Path) -> None:
    rig = rigs["biped"]
    clip = Clip.from_motion(rig, rigid(rig))
    file = BvhFile(export(rig, clip, tmp_path / "a.bvh", options=ExportOptions(t_pose=True)))
    names, zero, _ = file.positions(zero=True)
    place = dict(zip(names, zero[0], strict=True))
    np.testing.assert_allclose((place["hand_l"] - place["upper_arm_l"])[1:], 0.0, atol=1e-5)
    found = file.positions()[1]
    wanted = clip.world(clip.times)[..., :3, 3][:, [rig.skeleton.names.index(name) for name in names]]
    assert np.abs(found / 100.0 - wanted).max() < 1e-6
    animal = rigs["quadruped"]
    with pytest.raises(ExportError, match="a T pose is for bipeds"):
        export(animal, Clip.from_motion(animal, rigid(animal)), tmp_path / "b.bvh", options=ExportOptions(t_pose=True))
    assert [path.name for path in tmp_path.iterdir()] == ["a.bvh"]


def test_bipeds_get_the_names_that_motionbuilder_knows_and_they_are_told(rigs: dict[str, Rig], tmp_path: Path) -> None:
    rig = rigs["biped"]
    made = deliver(rig, rigid(rig), tmp_path / "a.bvh", options=ExportOptions(dialect="motionbuilder"))
    names = {node.name for node in BvhFile(made.path).nodes}
    assert set(HUMAN) | {name.replace("Left", "Right") for name in HUMAN} <= names
    assert made.facts.renamed["thigh_l"] == "LeftUpLeg"
    assert made.facts.renamed["collar_r"] == "RightShoulder"
    assert set(made.facts.renamed.values()) <= names


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_names_are_safe_and_different_in_every_dialect(rigs: dict[str, Rig], dialect: str, tmp_path: Path) -> None:
    rig = rigs["quadruped"]
    odd = ["mixamorig:Hips", "mixamorig Hips", "Хвост 1", "Хвост 2", "{}", " ", "x" * 70, "x" * 71, "a\u2028b", "a\x00b", "a b", "a_b"]
    names = (*odd, *(f"bone {j}" for j in range(len(odd), rig.skeleton.count)))
    named = replace(rig, skeleton=replace(rig.skeleton, names=names, source_names=names))
    clip = Clip.from_motion(named, rigid(named))
    made = make_bvh(named, clip, ExportOptions(dialect=dialect))
    found = [node.name for node in BvhFile(export(named, clip, tmp_path / "a.bvh", options=ExportOptions(dialect=dialect))).nodes]
    assert found == [joint.name for joint in made.bvh.joints]
    assert len(set(found)) == len(found)
    assert all(name.isprintable() and not set(name) & set(" {}\t\u2028") for name in found)
    if DIALECTS[dialect].ascii:
        assert all(name.isascii() and name.replace("_", "a").isalnum() for name in found)
    if dialect == "blender":
        assert max(len(name.encode()) for name in found) <= 63
    assert made.renamed == {names[j]: name for j, name in made.names.items() if names[j] != name}


def test_a_name_of_nothing_is_called_joint() -> None:
    assert [bvh_name(name) for name in ("", "{ }", "\t", "Hips")] == ["joint", "joint", "joint", "Hips"]


def test_unknown_dialects_and_dialects_of_other_formats_are_refused(rigs: dict[str, Rig], tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="--dialect: unknown BVH dialect 'maya'; known: biovision, blender, motionbuilder, cgspeed"):
        ExportOptions(dialect="maya")
    rig = rigs["quadruped"]
    for suffix in (".glb", ".usda"):
        with pytest.raises(ExportError, match="--dialect cannot be done"):
            export(rig, Clip.from_motion(rig, rigid(rig)), tmp_path / f"a{suffix}", options=ExportOptions(dialect="blender"))
    assert list(tmp_path.iterdir()) == []

"""Rigid parts that hang on joints are shown; what sockets hold, and what stands around, is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gltf_build import BOX_TRIANGLES, Post, turn

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf import load, read_scene
from akd_sdk.kinematics import skin_points, world_from_motion
from akd_sdk.readers import open_rig


def with_hat(folder: Path, **node: object) -> tuple[Post, Path]:
    file = Post()
    positions = file.positions[:8] * 0.5
    attributes = {"POSITION": file.accessor(positions)}
    mesh = file.add(
        "meshes", {"name": "hat", "primitives": [{"attributes": attributes, "indices": file.accessor(np.ravel(BOX_TRIANGLES), "u2")}]}
    )
    holder = file.node(file.joints[2], name="holder", translation=[0.0, 0.6, 0.0], rotation=turn("y", 30), scale=[2.0, 1.0, 1.0])
    file.node(holder, name="hat", mesh=mesh, translation=[0.0, 0.1, 0.0], **node)
    file.animation([(file.joints[1], "rotation", [0.0, 1.0], [turn("x", 0), turn("x", 90)], "LINEAR")])
    return file, file.save(folder / "post.glb")


def test_a_rigid_part_lies_where_its_node_does_and_moves_with_its_joint(tmp_path: Path) -> None:
    file, path = with_hat(tmp_path)
    rig = open_rig(path, height=1.0)
    (hat,) = (s for s in rig.skins if s.name == "hat")
    scene = read_scene(load(path))
    node = next(i for i, n in enumerate(file.json["nodes"]) if n.get("mesh") == 1)
    world = scene.world[node]
    at_rest = hat.at_rest(rig.skeleton.rest_world) / rig.source.scale
    expected = hat.vertices @ world[:3, :3].T + world[:3, 3]
    assert np.allclose(at_rest, expected, atol=1e-6)
    moved = skin_points(hat, world_from_motion(rig.skeleton, rig.clips[0]))[-1] / rig.source.scale
    bent = (expected - (0.0, 0.6, 0.0)) @ np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]).T + (0.0, 0.6, 0.0)
    assert np.allclose(moved, bent, atol=1e-6)


def test_a_rigid_part_counts_for_the_height(tmp_path: Path) -> None:
    assert open_rig(with_hat(tmp_path)[1], height=2.2).source.scale == pytest.approx(1.0, rel=1e-6)


def test_meshes_away_from_joints_are_no_part_of_the_character(tmp_path: Path) -> None:
    file, path = with_hat(tmp_path)
    mesh = file.json["nodes"][-1].pop("mesh")
    file.node(name="ground", mesh=mesh, scale=[100.0] * 3)
    assert [s.name for s in open_rig(file.save(path)).skins] == ["post"]


def test_a_broken_rigid_part_is_refused(tmp_path: Path) -> None:
    file, path = with_hat(tmp_path)
    file.json["meshes"][1]["primitives"][0]["attributes"]["POSITION"] = file.accessor(np.full((8, 3), np.nan))
    with pytest.raises(ReadError, match="mesh 'hat'"):
        open_rig(file.save(path))


def test_the_knight_wears_helmet_and_cape_and_holds_nothing(shared: Path) -> None:
    rig = open_rig(shared / "data" / "rigs" / "kaykit_adventurers" / "Knight.glb")
    names = {rig.source.document.json["nodes"][skin.node]["name"] for skin in rig.skins}
    assert {"Knight_Helmet", "Knight_Cape"} <= names
    assert not any("Sword" in name or "Shield" in name for name in names)
    assert any("not shown" in note and "'2H_Sword'" in note for note in rig.source.repairs)

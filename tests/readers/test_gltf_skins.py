"""Skinned primitives of glTF files: geometry, weights, looks."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from gltf_build import Post, turn
from PIL import Image

from akd_sdk.errors import ReadError
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


def opened(file: Post, folder: Path) -> Rig:
    return open_rig(file.save(folder / "post.glb"), height=1.8)


def redress(file: Post, **attributes: int) -> Post:
    file.json["meshes"][0]["primitives"] = [file.primitive(**attributes)]
    return file


def test_vertices_at_rest_follow_the_formula_of_the_format(tmp_path: Path) -> None:
    file = Post()
    generator = np.random.default_rng(8)
    file.weights = generator.dirichlet(np.ones(4), 24)
    file.influences = np.stack([generator.permutation([0, 1, 2, 2]) for _ in range(24)])
    file.json["nodes"][file.joints[1]]["rotation"] = turn("x", 35)
    file.json["nodes"][file.joints[2]]["scale"] = [1.0, 2.0, 0.5]
    file.json["nodes"][file.body].update(translation=[5.0, 5.0, 5.0], scale=[3.0] * 3)  # a skinned mesh's own node does not count
    path = redress(file).save(tmp_path / "post.glb")
    rig = open_rig(path, height=1.8)
    scene = trimesh.load(path, process=False)
    world = [scene.graph.get(name)[0] for name in ("low", "middle", "high")]
    binds = np.tile(np.eye(4), (3, 1, 1))
    binds[:, 1, 3] = (0.0, -0.6, -1.2)
    homogeneous = np.c_[file.positions, np.ones(24)]
    expected = np.zeros((24, 3))
    for v in range(24):
        for joint, weight in zip(file.influences[v], file.weights[v]):
            expected[v] += weight * (world[joint] @ binds[joint] @ homogeneous[v])[:3]
    found = rig.skins[0].at_rest(rig.skeleton.rest_world)
    assert np.allclose(found / rig.source.scale, expected, atol=1e-6)


def test_the_samples_stand_where_trimesh_sees_them(samples: Path) -> None:
    for path in sorted(samples.glob("*.glb")):
        rig = open_rig(path)
        scene = trimesh.load(path, process=False)
        seen = np.concatenate([g.vertices for g in scene.geometry.values()])
        found = np.concatenate([s.vertices for s in rig.skins])
        assert np.allclose(seen.min(0), found.min(0), atol=1e-6)
        assert np.allclose(seen.max(0), found.max(0), atol=1e-6)
        for node, name in enumerate(rig.skeleton.names):
            assert np.allclose(scene.graph.get(name)[0][:3, 3], rig.skeleton.rest_world[node, :3, 3] / rig.source.scale, atol=1e-5)


@pytest.mark.parametrize(("dtype", "top"), [("u1", 255), ("u2", 65535)])
def test_weights_may_be_normalised_integers(tmp_path: Path, dtype: str, top: int) -> None:
    file = Post()
    shares = np.tile(np.array([top // 5 * 4, top - top // 5 * 4, 0, 0]), (24, 1))
    file.influences[:, 1] = 2
    rig = opened(redress(file, WEIGHTS_0=file.accessor(shares, dtype, normalized=True)), tmp_path)
    assert np.allclose(rig.skins[0].weights, shares[:, :2] / top)


def test_a_second_set_of_influences_counts(tmp_path: Path) -> None:
    file = Post()
    file.weights *= 0.75
    more = {
        "JOINTS_1": file.accessor(np.tile([2, 0, 0, 0], (24, 1)), "u2"),
        "WEIGHTS_1": file.accessor(np.tile([0.25, 0.0, 0.0, 0.0], (24, 1))),
    }
    skin = opened(redress(file, **more), tmp_path).skins[0]
    assert skin.joints.shape == (24, 2)
    assert np.allclose(skin.weights, [0.75, 0.25])
    assert (skin.joints[:, 1] == 2).all()


def test_weights_are_made_to_sum_to_one(tmp_path: Path) -> None:
    file = Post()
    file.weights *= 0.4
    assert np.array_equal(opened(redress(file), tmp_path).skins[0].weights, np.ones((24, 1)))


@pytest.mark.parametrize("value", [-0.5, np.nan, np.inf])
def test_unusable_weights_are_taken_for_none_and_said(tmp_path: Path, value: float) -> None:
    file = Post()
    file.weights[3, 1] = value
    rig = opened(redress(file), tmp_path)
    assert np.array_equal(rig.skins[0].weights.sum(axis=1), np.ones(24))
    assert any("taken for 0" in note for note in rig.source.repairs)


def test_vertices_without_weights_follow_the_first_joint_and_it_is_said(tmp_path: Path) -> None:
    file = Post()
    file.weights[20] = 0.0
    rig = opened(redress(file), tmp_path)
    assert rig.skins[0].joints[20, 0] == 0
    assert any("without skin weights" in note for note in rig.source.repairs)


def test_a_joint_out_of_range_is_refused_where_it_has_weight(tmp_path: Path) -> None:
    file = Post()
    file.influences[:, 3] = 77
    assert opened(redress(file), tmp_path).skins[0].joints.max() == 2
    file.influences[0, 0] = 3
    with pytest.raises(ReadError, match="skin joint 77, but the skin has only 3"):
        opened(redress(file), tmp_path)


def test_strips_and_fans_are_triangles(tmp_path: Path) -> None:
    file = Post()
    file.triangles = np.array([0, 1, 2, 3, 4])
    for mode, expected in ((5, [[0, 1, 2], [1, 3, 2], [2, 3, 4]]), (6, [[1, 2, 0], [2, 3, 0], [3, 4, 0]])):
        redress(file).json["meshes"][0]["primitives"][0]["mode"] = mode
        found = opened(file, tmp_path).skins[0]
        assert np.array_equal(found.triangles, expected)


def test_without_indices_vertices_are_triangles_in_order(tmp_path: Path) -> None:
    file = redress(Post())
    del file.json["meshes"][0]["primitives"][0]["indices"]
    assert np.array_equal(opened(file, tmp_path).skins[0].triangles, np.arange(24).reshape(8, 3))


def test_vertices_that_a_primitive_does_not_use_are_left_out(tmp_path: Path) -> None:
    file = Post()
    file.triangles = file.triangles[24:]
    skin = opened(redress(file), tmp_path).skins[0]
    assert len(skin.vertices) == 8
    assert np.allclose(skin.vertices, file.positions[16:], atol=1e-6)
    assert skin.triangles.max() == 7


def test_lines_and_unskinned_primitives_are_left_out_and_it_is_said(tmp_path: Path) -> None:
    file = Post()
    primitives = file.json["meshes"][0]["primitives"]
    primitives.append({**primitives[0], "mode": 1})
    primitives.append({"attributes": {"POSITION": primitives[0]["attributes"]["POSITION"]}})
    rig = opened(file, tmp_path)
    assert len(rig.skins) == 1
    assert any("lines" in note for note in rig.source.repairs)
    assert any("no JOINTS_0" in note for note in rig.source.repairs)


def test_quantised_positions_are_read(tmp_path: Path) -> None:
    file = Post(build=False)
    file.json["extensionsRequired"] = ["KHR_mesh_quantization"]
    file.chain()
    binds = np.tile(np.diag([0.001, 0.001, 0.001, 1.0]), (3, 1, 1))
    binds[:, 1, 3] = (0.0, -0.6, -1.2)
    file.dress(binds)
    redress(file, POSITION=file.accessor(np.round(file.positions * 1000), "i2"))
    rig = opened(file, tmp_path)
    assert np.allclose(rig.skins[0].at_rest(rig.skeleton.rest_world), file.positions, atol=1e-6)


def test_normals_uvs_colours_and_morphs_come_along(tmp_path: Path) -> None:
    file = Post()
    generator = np.random.default_rng(9)
    normals, uvs = generator.normal(size=(24, 3)), generator.integers(0, 65536, (24, 2))
    colours, offsets = generator.integers(0, 256, (24, 3)), generator.normal(size=(24, 3))
    redress(
        file,
        NORMAL=file.accessor(normals),
        TEXCOORD_0=file.accessor(uvs, "u2", normalized=True),
        COLOR_0=file.accessor(colours, "u1", normalized=True),
    )
    file.json["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": file.accessor(offsets)}, {}]
    skin = opened(file, tmp_path).skins[0]
    assert skin.normals is not None
    assert skin.uvs is not None
    assert skin.colours is not None
    assert skin.morphs is not None
    assert np.allclose(skin.normals, normals / np.linalg.norm(normals, axis=1, keepdims=True), atol=1e-6)
    assert np.allclose(skin.uvs, uvs / 65535)
    assert np.allclose(skin.colours, np.c_[colours / 255, np.ones(24)])
    assert np.allclose(skin.morphs, [offsets, np.zeros((24, 3))], atol=1e-6)


def test_looks_that_are_not_finite_are_left_out_and_it_is_said(tmp_path: Path) -> None:
    file = Post()
    redress(file, NORMAL=file.accessor(np.full((24, 3), np.nan)))
    rig = opened(file, tmp_path)
    assert rig.skins[0].normals is None
    assert any("NORMAL" in note for note in rig.source.repairs)


def test_materials_have_colour_texture_and_name(tmp_path: Path) -> None:
    file = Post()
    buffer = io.BytesIO()
    Image.new("RGB", (4, 2), (10, 200, 30)).save(buffer, "PNG")
    file.add("images", {"bufferView": file.view(buffer.getvalue()), "mimeType": "image/png"})
    file.json["textures"] = [{"source": 0}, {"source": 1}]
    file.add("images", {"uri": "lost.png"})
    for texture, name in ((0, "coat"), (1, "lost")):
        pbr = {"baseColorFactor": [0.5, 0.25, 1.0, 1.0], "baseColorTexture": {"index": texture}}
        file.add("materials", {"name": name, "pbrMetallicRoughness": pbr})
    first = file.json["meshes"][0]["primitives"][0]
    file.json["meshes"][0]["primitives"] = [{**first, "material": 0}, {**first, "material": 1}, first]
    rig = opened(file, tmp_path)
    coat, lost, plain = (skin.material for skin in rig.skins)
    assert coat.name == "coat"
    assert np.array_equal(coat.colour, [0.5, 0.25, 1.0, 1.0])
    assert coat.texture is not None
    assert np.array_equal(coat.texture[0, 0], [10, 200, 30, 255])
    assert lost.texture is None
    assert any("'lost'" in note and "lost.png" in note for note in rig.source.repairs)
    assert np.array_equal(plain.colour, np.ones(4))


def _attribute(name: str, **changes: Any) -> Any:
    return lambda file: file.json["meshes"][0]["primitives"][0]["attributes"].update({name: file.accessor(**changes)})


def _primitive(**changes: Any) -> Any:
    return lambda file: file.json["meshes"][0]["primitives"][0].update(changes)


FAULTS: dict[str, tuple[Any, str]] = {
    "NaN positions": (_attribute("POSITION", values=np.full((24, 3), np.nan)), "POSITION of primitive 0 of mesh 'post' holds"),
    "few weights": (_attribute("WEIGHTS_0", values=np.ones((5, 4))), "24 positions, 24 of JOINTS_0 and 5 of WEIGHTS_0"),
    "few uvs": (_attribute("TEXCOORD_0", values=np.ones((5, 2))), "24 positions and 5 of TEXCOORD_0"),
    "vertex index": (lambda f: _primitive(indices=f.accessor([0, 1, 24], "u2"))(f), "vertex index 24"),
    "float indices": (lambda f: _primitive(indices=f.accessor([0.0, 1.0, 2.0]))(f), "expected integers"),
    "float joints": (_attribute("JOINTS_0", values=np.zeros((24, 4))), "expected integers"),
    "no weights": (lambda f: f.json["meshes"][0]["primitives"][0]["attributes"].pop("WEIGHTS_0"), "WEIGHTS_0"),
    "no such mesh": (lambda f: f.json["nodes"][f.body].update(mesh=5), "there are only"),
    "no such skin": (lambda f: f.json["nodes"][f.body].update(skin=5), "there are only"),
    "no such material": (_primitive(material=2), "there are only 0"),
    "colour": (lambda f: _primitive(material=f.add("materials", {"pbrMetallicRoughness": {"baseColorFactor": [1]}}))(f), "4 numbers"),
    "attributes": (_primitive(attributes=[]), "not an object"),
    "mode": (_primitive(mode="4"), "not a whole number"),
    "few morphs": (lambda f: _primitive(targets=[{"POSITION": f.accessor(np.zeros((5, 3)))}])(f), "5 offsets for 24"),
    "NaN binds": (lambda f: f.json["skins"][0].update(inverseBindMatrices=f.accessor(np.full((3, 16), np.nan))), "inverse bind matrices"),
    "few binds": (lambda f: f.json["skins"][0].update(inverseBindMatrices=f.accessor(np.zeros((2, 16)))), "2 inverse bind matrices for 3"),
    "binds": (lambda f: f.json["skins"][0].update(inverseBindMatrices=f.accessor(np.zeros((3, 4)))), "of type VEC4, expected MAT4"),
    "last row": (lambda f: f.json["skins"][0].update(inverseBindMatrices=f.accessor(np.ones((3, 16)))), "last row"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_skins_that_do_not_fit_are_refused(tmp_path: Path, case: str) -> None:
    change, reason = FAULTS[case]
    file = Post()
    change(file)
    with pytest.raises(ReadError, match=reason) as refused:
        opened(file, tmp_path)
    assert str(refused.value).startswith(str(tmp_path / "post.glb"))


def test_vertices_shared_by_thousands_of_primitives_are_refused_soon(tmp_path: Path) -> None:
    file = Post()
    file.positions = np.tile(file.positions, (2000, 1))
    file.influences, file.weights = np.tile(file.influences, (2000, 1)), np.tile(file.weights, (2000, 1))
    primitive = file.primitive()
    del primitive["indices"]
    file.json["meshes"][0]["primitives"] = [primitive] * 5000
    with pytest.raises(ReadError, match="more vertices"):
        opened(file, tmp_path)


def test_textures_are_laid_as_the_material_says(tmp_path: Path) -> None:
    file = Post()
    uvs = np.random.default_rng(10).random((24, 2))
    angle, scale, offset = 0.7, np.array([2.0, 0.5]), np.array([0.25, -0.5])
    moved = {"rotation": angle, "scale": scale.tolist(), "offset": offset.tolist(), "texCoord": 1}
    info = {"index": 0, "texCoord": 0, "extensions": {"KHR_texture_transform": moved}}
    file.add("materials", {"pbrMetallicRoughness": {"baseColorTexture": info}})
    file.add("textures", {})
    redress(file, TEXCOORD_0=file.accessor(np.zeros((24, 2))), TEXCOORD_1=file.accessor(uvs))
    file.json["meshes"][0]["primitives"][0]["material"] = 0
    # Translation * rotation * scale; the rotation is counter-clockwise where v points down (KhronosGroup/glTF#1563).
    turn_3 = np.array([[np.cos(angle), np.sin(angle), 0], [-np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    move_3 = np.array([[1, 0, offset[0]], [0, 1, offset[1]], [0, 0, 1]])
    expected = (move_3 @ turn_3 @ np.diag([*scale, 1.0]) @ np.c_[uvs, np.ones(24)].T).T[:, :2]
    found = opened(file, tmp_path).skins[0].uvs
    assert found is not None
    assert np.allclose(found, expected, atol=1e-6)


def test_a_surface_that_is_only_there_compressed_is_refused_by_name(tmp_path: Path) -> None:
    file = Post()
    primitive = file.json["meshes"][0]["primitives"][0]
    primitive["extensions"] = {"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {}}}
    assert len(opened(file, tmp_path).skins[0].vertices) == 24, "with plain values beside it is read"
    del file.json["accessors"][primitive["attributes"]["POSITION"]]["bufferView"]
    with pytest.raises(ReadError, match="KHR_draco_mesh_compression"):
        opened(file, tmp_path)

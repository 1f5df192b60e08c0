"""The samples: what the scripts write is what is checked in, and it is a sound skinned character."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pygltflib
import pytest
import trimesh

from samples.biped import BIPED
from samples.character import Character, save
from samples.quadruped import QUADRUPED

CHARACTERS = {"quadruped": QUADRUPED, "biped": BIPED}
KINDS = {5121: np.uint8, 5123: np.uint16, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}


@pytest.fixture(scope="module", params=sorted(CHARACTERS))
def character(request: pytest.FixtureRequest) -> Character:
    return CHARACTERS[request.param]


@pytest.fixture(scope="module")
def document(character: Character, samples: Path) -> pygltflib.GLTF2:
    return pygltflib.GLTF2().load(str(samples / f"{character.name}.glb"))


def values(document: pygltflib.GLTF2, index: int) -> np.ndarray:
    accessor = document.accessors[index]
    view = document.bufferViews[accessor.bufferView]
    width = WIDTHS[accessor.type]
    flat = np.frombuffer(document.binary_blob(), KINDS[accessor.componentType], accessor.count * width, view.byteOffset)
    return flat.reshape(accessor.count, width)


def world_places(document: pygltflib.GLTF2) -> np.ndarray:
    """(joints, 3) world positions of the skin's joints: the rest pose is translations only."""
    parent = {child: k for k, node in enumerate(document.nodes) for child in node.children or []}

    def place(node: int) -> np.ndarray:
        own = np.array(document.nodes[node].translation or [0.0, 0.0, 0.0])
        return own + place(parent[node]) if node in parent else own

    return np.stack([place(joint) for joint in document.skins[0].joints])


def test_the_script_writes_what_is_checked_in(character: Character, samples: Path, tmp_path: Path) -> None:
    save(character, tmp_path)
    for name in (f"{character.name}.glb", f"{character.name}.labels.json"):
        assert (tmp_path / name).read_bytes() == (samples / name).read_bytes(), f"run python -m samples.{character.name} again"


def test_both_files_together_stay_small(samples: Path) -> None:
    assert sum((samples / f"{name}.glb").stat().st_size for name in CHARACTERS) < 200_000


def test_weights_are_bytes_that_sum_to_one(document: pygltflib.GLTF2) -> None:
    for primitive in document.meshes[0].primitives:
        weights = values(document, primitive.attributes.WEIGHTS_0)
        joints = values(document, primitive.attributes.JOINTS_0)
        assert weights.dtype == joints.dtype == np.uint8
        assert (weights.sum(axis=1, dtype=int) == 255).all()
        assert joints.max() < len(document.skins[0].joints)
        assert not joints[weights == 0].any(), "an unused influence names joint 0"


def test_every_joint_leads_some_of_the_skin(document: pygltflib.GLTF2) -> None:
    leads = np.zeros(len(document.skins[0].joints), dtype=int)
    for primitive in document.meshes[0].primitives:
        strongest = values(document, primitive.attributes.WEIGHTS_0).argmax(axis=1)[:, None]
        np.add.at(leads, np.take_along_axis(values(document, primitive.attributes.JOINTS_0), strongest, axis=1), 1)
    assert leads.min() >= 10


def test_inverse_binds_undo_the_rest_pose(document: pygltflib.GLTF2) -> None:
    binds = values(document, document.skins[0].inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
    np.testing.assert_allclose(binds[:, :3, :3], np.tile(np.eye(3), (len(binds), 1, 1)), atol=0)
    np.testing.assert_allclose(binds[:, :3, 3], -world_places(document), atol=1e-6)


def test_every_part_is_a_closed_surface_with_outward_normals(document: pygltflib.GLTF2) -> None:
    for primitive in document.meshes[0].primitives:
        points = values(document, primitive.attributes.POSITION).astype(float)
        triangles = values(document, primitive.indices).reshape(-1, 3)
        mesh = trimesh.Trimesh(points, triangles, process=False)
        assert mesh.is_watertight
        assert mesh.is_winding_consistent
        assert mesh.volume > 0.0
        normals = values(document, primitive.attributes.NORMAL).astype(float)
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-5)
        corners = normals[triangles].sum(axis=1)
        assert (np.einsum("ij,ij->i", corners, mesh.face_normals) > 0.0).mean() > 0.97


def test_left_and_right_are_mirror_images(document: pygltflib.GLTF2) -> None:
    for primitive in document.meshes[0].primitives:
        points = {tuple(row) for row in values(document, primitive.attributes.POSITION).tolist()}
        assert points == {(-x, y, z) for x, y, z in points}
    places = dict(zip([document.nodes[j].name for j in document.skins[0].joints], world_places(document)))
    for name, place in places.items():
        if name.endswith("_l"):
            assert place[0] > 0.0, "left is +X"
            np.testing.assert_allclose(places[name[:-2] + "_r"], place * [-1.0, 1.0, 1.0], atol=1e-6)


def test_sizes_are_those_of_life_and_feet_stand_on_the_ground(character: Character, document: pygltflib.GLTF2) -> None:
    points = np.concatenate([values(document, p.attributes.POSITION) for p in document.meshes[0].primitives])
    assert abs(points[:, 1].min()) < 1e-3
    if character.name == "biped":
        assert 1.72 < points[:, 1].max() < 1.80
    else:
        back = points[(np.abs(points[:, 0]) < 0.02) & (np.abs(points[:, 2] - 0.08) < 0.04)]
        assert 0.55 < back[:, 1].max() < 0.60, "withers of a large dog"


def test_labels_name_every_joint_once(character: Character, document: pygltflib.GLTF2, samples: Path) -> None:
    labels = json.loads((samples / f"{character.name}.labels.json").read_text())
    named = [joint for group in labels["groups"].values() for joint in group] + labels["not_anatomy"]
    assert sorted(named) == sorted(document.nodes[j].name for j in document.skins[0].joints)
    assert labels["pelvis"] in named
    for group, joints in labels["groups"].items():
        for side, ending in (("left", "_l"), ("right", "_r")):
            if side in group:
                assert all(joint.endswith(ending) for joint in joints)


def test_bending_the_knees_keeps_the_limbs_whole(character: Character, document: pygltflib.GLTF2) -> None:
    """A limb bent by 60 degrees keeps its skin: no edge tears, and the limb does not collapse at the joint."""
    bent = {"quadruped": "hindleg_lower_l", "biped": "shin_l"}[character.name]
    names = [document.nodes[j].name for j in document.skins[0].joints]
    children = {name: [n for n, bone in zip(names, character.bones) if bone.parent == name] for name in names}
    moved, stack = set(), [bent]
    while stack:
        name = stack.pop()
        moved.add(name)
        stack += children[name]
    pivot = world_places(document)[names.index(bent)]
    turn = trimesh.transformations.rotation_matrix(np.radians(60.0), [1.0, 0.0, 0.0], pivot)
    matrices = np.stack([turn if name in moved else np.eye(4) for name in names])
    for primitive in document.meshes[0].primitives:
        points = values(document, primitive.attributes.POSITION).astype(float)
        weights = values(document, primitive.attributes.WEIGHTS_0) / 255.0
        blended = np.einsum("nk,nkij->nij", weights, matrices[values(document, primitive.attributes.JOINTS_0)])
        posed = np.einsum("nij,nj->ni", blended[:, :3, :3], points) + blended[:, :3, 3]
        mesh = trimesh.Trimesh(points, values(document, primitive.indices).reshape(-1, 3), process=False)
        edges = mesh.edges_unique
        before = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
        after = np.linalg.norm(posed[edges[:, 0]] - posed[edges[:, 1]], axis=1)
        assert after.max() < 2.5 * max(before.max(), 0.01)
        posed_mesh = trimesh.Trimesh(posed, mesh.faces, process=False)
        assert posed_mesh.volume > 0.93 * mesh.volume

"""The node tree: parents, transforms and the faults that a tree can have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gltf_build import Gltf, pack_glb, turn
from scipy.spatial.transform import Rotation

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf import Scene, load, read_scene
from akd_sdk.rotations import compose


def scene(file: Gltf, folder: Path) -> Scene:
    return read_scene(load(file.save(folder / "file.glb")))


def test_world_transforms_are_products_of_local_ones(tmp_path: Path) -> None:
    file = Gltf()
    a = file.node(translation=[1.0, 2.0, 3.0], rotation=turn("y", 90), scale=[2.0, 2.0, 2.0])
    b = file.node(a, translation=[0.0, 0.0, 1.0], scale=[1.0, 3.0, 1.0])
    c = file.node(b, rotation=turn("x", 30))
    found = scene(file, tmp_path)

    def local(t: list[float], q: list[float], s: list[float]) -> np.ndarray:
        m = np.eye(4)
        m[:3, :3] = Rotation.from_quat(q).as_matrix() @ np.diag(s)
        m[:3, 3] = t
        return m

    one = local([1, 2, 3], turn("y", 90), [2, 2, 2])
    two = one @ local([0, 0, 1], [0, 0, 0, 1], [1, 3, 1])
    three = two @ local([0, 0, 0], turn("x", 30), [1, 1, 1])
    assert np.allclose(found.world[[a, b, c]], [one, two, three], atol=1e-12)
    assert found.line(c) == [c, b, a]
    assert list(found.parents) == [-1, a, b]


def test_children_may_come_before_their_parents_in_the_file(tmp_path: Path) -> None:
    file = Gltf()
    for children in ([], [0], [1]):
        file.add("nodes", {"children": children, "translation": [1.0, 0.0, 0.0]} if children else {"translation": [1.0, 0.0, 0.0]})
    found = scene(file, tmp_path)
    assert list(found.order) == [2, 1, 0]
    assert np.allclose(found.world[0][:3, 3], [3, 0, 0])


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_matrices_are_taken_apart_exactly(tmp_path: Path, mirror: float) -> None:
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_euler("xyz", [0.3, -1.2, 2.0]).as_matrix() @ np.diag([0.5, 2.0, mirror * 3.0])
    matrix[:3, 3] = (1.0, 2.0, 3.0)
    file = Gltf()
    file.node(matrix=matrix.T.reshape(-1).tolist())
    found = scene(file, tmp_path)
    assert np.allclose(compose(found.translations, found.rotations, found.scales)[0], matrix, atol=1e-12)
    assert not found.sheared


def test_shear_is_noticed(tmp_path: Path) -> None:
    matrix = np.eye(4)
    matrix[0, 1] = 0.5
    file = Gltf()
    file.node(matrix=matrix.T.reshape(-1).tolist())
    assert scene(file, tmp_path).sheared == (0,)


def test_rotations_of_another_length_are_made_unit(tmp_path: Path) -> None:
    file = Gltf()
    file.node(rotation=[0.0, 0.0, 0.0, 3.0])
    assert np.array_equal(scene(file, tmp_path).rotations[0], [0, 0, 0, 1])


FAULTS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "own parent": ([{"name": "Hips", "children": [0]}], "cycle through node 'Hips'"),
    "cycle": ([{"children": [1]}, {"children": [2]}, {"children": [1]}], "two parents"),
    "ring": ([{}, {"name": "a", "children": [2]}, {"name": "b", "children": [1]}], "cycle through node '[ab]'"),
    "two parents": ([{"children": [2]}, {"children": [2]}, {"name": "x"}], "node 'x' has two parents, node 0 and node 1"),
    "listed twice": ([{"children": [1, 1]}, {}], "two parents"),
    "no such child": ([{"children": [5]}], "there are only 1"),
    "negative child": ([{"children": [-1]}], "out of range"),
    "children": ([{"children": {}}], "not an array"),
    "short translation": ([{"translation": [1.0, 2.0]}], "not an array of 3 numbers"),
    "text": ([{"scale": ["1", 1, 1]}], "not a number"),
    "infinite": ([{"translation": [1e400, 0, 0]}], "Infinity"),
    "huge": ([{"translation": [1e200, 0, 0]}], "no usable number"),
    "overflow": ([{"scale": [1e12] * 3, "children": [1]}, {"scale": [1e12] * 3}], "lies beyond"),
    "zero rotation": ([{"rotation": [0, 0, 0, 0]}], "length zero"),
    "perspective": ([{"matrix": [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}], "not affine"),
    "short matrix": ([{"matrix": [1, 0, 0]}], "not an array of 16 numbers"),
    "a number": ([3], "not an object"),  # type: ignore[list-item]
}


@pytest.mark.parametrize("case", FAULTS)
def test_trees_that_are_none_are_refused(tmp_path: Path, case: str) -> None:
    nodes, reason = FAULTS[case]
    file = Gltf()
    file.json["nodes"] = nodes
    with pytest.raises(ReadError, match=reason):
        _ = scene(file, tmp_path).world


def test_a_number_too_large_to_hold_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.glb"
    path.write_bytes(pack_glb(b'{"asset": {"version": "2.0"}, "nodes": [{"scale": [1e400, 1, 1]}]}', None))
    with pytest.raises(ReadError, match="no usable number"):
        read_scene(load(path))


def test_long_chains_are_no_recursion(tmp_path: Path) -> None:
    file = Gltf()
    file.json["nodes"] = [{"children": [i + 1], "translation": [0.0, 1.0, 0.0]} for i in range(20_000)] + [{}]
    assert scene(file, tmp_path).world[-1, 1, 3] == pytest.approx(20_000)


@pytest.mark.parametrize(("scenes", "chosen"), [([{"nodes": [3]}], 0), ([{"nodes": [0]}], 1), ([{"nodes": "0"}], 0), ([], 0)])
def test_scenes_of_what_is_not_there_are_refused(tmp_path: Path, scenes: list[dict[str, Any]], chosen: int) -> None:
    file = Gltf()
    file.node()
    file.json.update(scenes=scenes, scene=chosen)
    with pytest.raises(ReadError, match="scene"):
        scene(file, tmp_path)

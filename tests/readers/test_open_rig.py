"""The one door: suffixes, files that are none, and every glTF of the shared data."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from gltf_build import Post

from akd_sdk.errors import AkdError, ReadError, RigError
from akd_sdk.readers import open as open_module
from akd_sdk.readers import open_rig
from akd_sdk.readers.open import GROUP

SLOWEST_S = 10.0  # of processor time, so that a busy machine changes nothing


@pytest.mark.parametrize("suffix", [".glb", ".GLB", ".vrm", ".gltf"])
def test_suffixes_choose_the_reader(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"post{suffix}"
    if suffix == ".gltf":
        path.write_text(Post().gltf())
    else:
        path.write_bytes(Post().glb())
    rig = open_rig(str(path))
    assert rig.name == "post"
    assert rig.source.path == path
    assert rig.source.format == "gltf"


@pytest.mark.parametrize("suffix", [".usd", ".usda", ".bvh", ".fbx", ".obj", ""])
def test_other_suffixes_are_refused_with_those_that_are_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    path.write_bytes(b"anything")
    with pytest.raises(ReadError, match=r"read are \.glb, \.gltf, \.vrm"):
        open_rig(path)


def test_readers_of_others_are_found_by_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, samples: Path) -> None:
    class Found:
        def load(self) -> object:
            return lambda path, *, height: open_rig(samples / "biped.glb", height=height)

    monkeypatch.setattr(open_module, "entry_points", lambda *, group, name: [Found()] if (group, name) == (GROUP, "xyz") else [])
    assert open_rig(tmp_path / "a.xyz", height=1.0).height == 1.0
    with pytest.raises(ReadError):
        open_rig(tmp_path / "a.xy")


@pytest.mark.parametrize("suffix", [".glb", ".gltf", ".usd", ""])
def test_missing_files_and_folders_are_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ReadError, match="no such file"):
        open_rig(tmp_path / f"nowhere{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(ReadError, match="is a folder"):
        open_rig(tmp_path / f"folder{suffix}")


def test_a_path_that_cannot_be_one_is_refused() -> None:
    with pytest.raises(ReadError):
        open_rig("a\0b.glb")
    for suffix in (".glb", ".usd"):
        with pytest.raises(ReadError):
            open_rig("x" * 5000 + suffix)


def test_a_broken_file_is_refused_as_broken_though_it_has_no_skin(tmp_path: Path) -> None:
    file = Post()
    del file.json["skins"]
    del file.json["nodes"][file.body]
    file.json["nodes"][0]["children"] = [0]
    with pytest.raises(ReadError, match="cycle"):
        open_rig(file.save(tmp_path / "post.glb"))


def test_the_same_file_gives_the_same_rig(samples: Path) -> None:
    path = samples / "quadruped.glb"
    one, two = open_rig(path), open_rig(path)
    assert one.skeleton.names == two.skeleton.names
    assert np.array_equal(one.skeleton.rest_world, two.skeleton.rest_world)
    assert np.array_equal(one.skeleton.frames, two.skeleton.frames)
    assert one.notes == two.notes


def _answers(folder: Path, pattern: str = "*") -> dict[str, list[str]]:
    answers: dict[str, list[str]] = {}
    files = sorted(p for p in folder.rglob(pattern) if p.suffix in (".glb", ".gltf", ".vrm"))
    assert files
    for path in files:
        started = time.process_time()
        refusal = None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                open_rig(path)
            except AkdError as fault:
                refusal = fault
        assert time.process_time() - started < SLOWEST_S, path.name
        if refusal is None:
            answers.setdefault("read", []).append(path.name)
            continue
        assert str(refusal).startswith(str(path))
        assert "\n" not in str(refusal)
        answers.setdefault(type(refusal).__name__, []).append(f"{path.name}: {refusal.fault}")
    print({kind: len(found) for kind, found in answers.items()})
    return answers


@pytest.mark.parametrize(
    ("folder", "counts"),
    [
        ("magnum_plugins", {"ReadError": 39, "RigError": 55, "read": 2}),
        ("gltf_validator", {"ReadError": 49, "RigError": 49, "read": 0}),
        ("odd", {"ReadError": 6, "RigError": 11, "read": 3}),
    ],
)
def test_awkward_files_are_read_or_refused(shared: Path, folder: str, counts: dict[str, int]) -> None:
    answers = _answers(shared / "data" / "rigs" / folder)
    assert {kind: len(answers.get(kind, [])) for kind in counts} == counts


FOLDERS = ("gdquest", "godot", "kaykit", "kenney", "khronos", "naming", "quaternius", "robot", "vrm")
COMPRESSED = {"Fox_meshopt.glb", "RobotExpressive_meshopt.glb", "Alpaca.glb"}
UNSKINNED = {"AnimatedMorphCube.gltf", "InterpolationTest.gltf", "addon_basic_armature.vrm", "addon_bone_child_mesh.vrm"}
UNSKINNED |= {"addon_multi_root_armature_vrm0.vrm", "debug_robot_vrm1.vrm"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_artists_file_is_read_unless_compressed_or_unskinned(shared: Path, folder: str) -> None:
    rigs = shared / "data" / "rigs"
    for sub in sorted(p for p in rigs.iterdir() if p.is_dir() and p.name.startswith(folder)):
        answers = _answers(sub)
        assert {entry.split(":")[0] for entry in answers.get("ReadError", [])} <= COMPRESSED
        assert all("compression" in entry for entry in answers.get("ReadError", []))
        assert {entry.split(":")[0] for entry in answers.get("RigError", [])} <= UNSKINNED
        assert all("has no skin" in entry for entry in answers.get("RigError", []))


def test_the_height_is_checked_before_the_file(tmp_path: Path) -> None:
    with pytest.raises(RigError, match="--height"):
        open_rig(tmp_path / "nowhere.glb", height=-1)

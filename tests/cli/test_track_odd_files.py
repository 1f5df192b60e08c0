"""`akd track` on files that cannot be tracked: one line with the file and the fault, and nothing written."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gltf_build import Post, pack_glb, turn
from steps import stepping

from akd_sdk import Animator
from akd_sdk.cli import main
from akd_sdk.motion import Motion

pytestmark = pytest.mark.xdist_group("track commands")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def animator(samples: Path) -> Animator:
    return Animator.open(samples / "biped.glb")


@pytest.fixture(scope="module")
def stepper(animator: Animator, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A person with one clip, a cycle of steps."""
    return animator.export(stepping(animator.rig), tmp_path_factory.mktemp("odd") / "person.glb")


def cut(motion: Motion, frames: int) -> Motion:
    kept = {"rotations": motion.rotations[:frames], "root": motion.root[:frames]}
    return motion.with_(**kept, translations=None, contacts=None, travel=None, loop=False)


def chain(joints: int, length_m: float, path: Path) -> Path:
    """A post on a chain of joints so far apart, the last of which waves."""
    post, parent = Post(build=False), None
    for i in range(joints):
        parent = post.node(parent, name=f"bone_{i}", translation=[0.0, length_m if i else 0.0, 0.0])
        post.joints.append(parent)
    post.influences[:, 0] = np.minimum(post.influences[:, 0], joints - 1)
    binds = np.tile(np.eye(4), (joints, 1, 1))
    binds[:, 1, 3] = -length_m * np.arange(joints)
    columns = post.accessor(binds.transpose(0, 2, 1).reshape(joints, 16))
    skin = post.add("skins", {"joints": post.joints, "inverseBindMatrices": columns})
    post.node(name="body", mesh=post.add("meshes", {"name": "post", "primitives": [post.primitive()]}), skin=skin)
    times = np.arange(11) / 10.0
    waved = [turn("x", angle) for angle in 20.0 * np.sin(2.0 * np.pi * times)]
    post.animation([(post.joints[-1], "rotation", times, waved, "LINEAR")], name="wave")
    return post.save(path)


def rewritten(source: Path, path: Path, accessor_of: Any, number: float, every: int) -> Path:
    """A copy in which the first of `every` numbers of accessors is another."""
    data = bytearray(source.read_bytes())
    (length,) = struct.unpack_from("<I", data, 12)
    content, numbers = json.loads(data[20 : 20 + length]), data[28 + length :]
    for index in accessor_of(content):
        accessor = content["accessors"][index]
        view = content["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        for k in range(accessor["count"]):
            struct.pack_into("<f", numbers, start + k * view.get("byteStride", 4 * every), number)
    path.write_bytes(pack_glb(json.dumps(content).encode(), bytes(numbers)))
    return path


def positions(content: dict[str, Any]) -> list[int]:
    return [part["attributes"]["POSITION"] for mesh in content["meshes"] for part in mesh["primitives"]]


def turns(content: dict[str, Any]) -> list[int]:
    animation = content["animations"][0]
    return [animation["samplers"][c["sampler"]]["output"] for c in animation["channels"] if c["target"]["path"] == "rotation"][:1]


def refused(file: Path, out: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["track", str(file), "-o", str(out), *words]) == 2
    said, told = capsys.readouterr()
    assert said == ""
    line = told.splitlines()[-1]
    assert line.startswith(f"error: {file}: ")
    assert sum(text.startswith("error") for text in told.splitlines()) == 1
    assert not out.exists()
    return line


@pytest.mark.parametrize(("joints", "length_m"), [(1, 0.0), (3, 0.0), (300, 0.006)], ids=["single joint", "no lengths", "300 joints"])
def test_what_has_no_feet_is_refused(joints: int, length_m: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = chain(joints, length_m, tmp_path / "post.glb")
    line = refused(file, tmp_path / "out", capsys)
    assert "clip 'wave': the character has no feet to stand on" in line
    assert "--no-loop" not in line


def test_a_pose_is_refused(animator: Animator, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = animator.export(cut(stepping(animator.rig), 1), tmp_path / "pose.glb")
    assert "a pose of one frame cannot be followed" in refused(file, tmp_path / "out", capsys)


def test_numbers_that_are_none_are_refused(stepper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = rewritten(stepper, tmp_path / "nan.glb", turns, float("nan"), 4)
    assert "not finite" in refused(file, tmp_path / "out", capsys)


def test_a_skin_without_volume_is_refused(stepper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = rewritten(stepper, tmp_path / "flat.glb", positions, 0.0, 3)
    assert "holds no volume" in refused(file, tmp_path / "out", capsys)


def test_a_height_at_which_nothing_can_be_simulated_is_refused(stepper: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(stepper, tmp_path / "out", capsys, "--height", "0.01")
    assert "a body 0.01 m high cannot be simulated" in line
    assert line.endswith("give it another --height")


def test_kernels_that_cannot_be_written_are_told_in_one_line(stepper: Path, tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from akd_sdk.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["track", str(stepper), "-o", str(tmp_path / "out")]
    environment = {**os.environ, "WARP_CACHE_PATH": str(in_the_way / "kernels")}
    done = subprocess.run([sys.executable, "-c", code, *words], env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    line = done.stderr.splitlines()[-1]
    assert line.startswith("error: warp: the kernels of the simulation cannot be compiled: ")
    assert str(in_the_way) in line
    assert line.endswith("WARP_CACHE_PATH")
    assert "Traceback" not in done.stderr

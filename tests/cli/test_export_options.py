"""Options of exports on the command line: engines, root modes, saved keys; wrong ones are refused before anything is written."""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from akd_sdk.cli import main
from akd_sdk.exporters import Clip, export
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, samples: Path) -> Path:
    """An empty folder with a character that walks a loop at 24 frames a second."""
    rig = open_rig(samples / "biped.glb")
    frames, fps = 25, 24.0
    t = np.arange(frames) / fps
    travel = np.stack([0 * t, 1.2 * t, 0 * t], -1)
    root = rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3] + np.stack([0 * t, 0.02 * np.cos(4 * np.pi * t), 1.2 * t], -1)
    rotations = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    walk = Motion("walk", rotations, root, fps, loop=True, travel=travel)
    export(rig, Clip.from_motion(rig, walk), tmp_path / "man.glb")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def nodes_of(path: str) -> dict:
    data = Path(path).read_bytes()
    size = int.from_bytes(data[12:16], "little")
    found: dict = json.loads(data[20 : 20 + size])
    return found


@pytest.mark.usefixtures("workplace")
def test_convert_for_godot_says_which_rate_to_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "man.glb", "out.glb", "--profile", "godot", "--clip-only"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "out.glb: walk-loop"
    assert out[-1] == "out.glb: set FPS to 24 in the import dock"
    assert any("walk is called walk-loop" in line for line in out)
    (animation,) = nodes_of("out.glb")["animations"]
    assert animation["name"] == "walk-loop"
    assert animation["extras"]["root_mode"] == "root"


@pytest.mark.usefixtures("workplace")
def test_convert_tells_keys_errors_and_root_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["convert", "man.glb", "out.glb", "--add-root", "--root-mode", "root", "--tolerance", "0.0005", "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)["exported"]
    (clip,) = told["clips"]
    assert told["bytes"] == Path("out.glb").stat().st_size
    assert (clip["root_mode"], clip["root_joint"]) == ("root", "root")
    assert clip["bob_mm"] == pytest.approx(40.0, abs=1.0)
    assert clip["keys"] <= clip["keys_before"]
    assert 0.0 <= clip["p99_mm"] <= clip["worst_mm"] <= 0.5
    assert "root bone 'root' added" in told["notes"]


@pytest.mark.usefixtures("workplace")
def test_all_joints_and_no_reduction(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "man.glb", "out.glb", "--all-joints", "--reduction", "none", "--json"]) == 0
    (clip,) = json.loads(capsys.readouterr().out)["exported"]["clips"]
    bones = len(nodes_of("out.glb")["skins"][0]["joints"])
    assert clip["channels"] == 3 * bones
    assert clip["keys_before"] is None


FAULTS = {
    "profile": (["--profile", "gogot"], "--profile: unknown profile 'gogot'; known: blender, godot"),
    "root mode": (["--root-mode", "feet"], "--root-mode: unknown root mode 'feet'; known: hips, root, in_place"),
    "tolerance 0": (["--tolerance", "0"], "--tolerance: 0 is no positive number"),
    "tolerance below": (["--tolerance", "-0.001"], "--tolerance: -0.001 is no positive number"),
    "tolerance nan": (["--tolerance", "nan"], "--tolerance: nan is no positive number"),
    "feet tolerance": (["--feet-tolerance", "0"], "--feet-tolerance: 0 is no positive number"),
    "reduction": (["--reduction", "much"], "--reduction: unknown reduction 'much'; known: none, fast, best"),
    "t pose of a GLB": (["--t-pose"], "--t-pose cannot be done for .glb"),
}


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize("name", FAULTS)
def test_wrong_options_are_refused_in_one_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, fault = FAULTS[name]
    before = sorted(os.listdir())
    assert main(["convert", "man.glb", "new/out.glb", "--reduction", "none", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert fault in err
    assert err.count("\n") == 1
    assert sorted(os.listdir()) == before


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize("command", [["animate", "man.glb", "a man walks"], ["track", "man.glb"]])
@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--profile", "gogot"], "unknown profile 'gogot'"),
        (["--root-mode", "feet"], "unknown root mode 'feet'"),
        (["--tolerance", "0"], "is no positive number"),
        (["--profile", "godot", "--formats", "glb,bvh"], "--formats: Godot 4.6 takes no .bvh; for it there are .glb"),
    ],
)
def test_commands_that_work_long_refuse_at_once(
    command: list[str], words: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, *words]) == 2
    assert fault in capsys.readouterr().err
    assert not Path("out").exists()


@pytest.mark.usefixtures("workplace")
def test_a_target_that_exists_is_kept_unless_forced(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out.glb").write_bytes(b"mine")
    assert main(["convert", "man.glb", "out.glb", "--profile", "web"]) == 2
    assert "out.glb: exists already" in capsys.readouterr().err
    assert Path("out.glb").read_bytes() == b"mine"
    assert main(["convert", "man.glb", "out.glb", "--profile", "web", "--force"]) == 0
    assert Path("out.glb").read_bytes().startswith(b"glTF")


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are Unix's")
@pytest.mark.usefixtures("workplace")
def test_a_full_disk_keeps_the_old_file_and_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy("man.glb", "out.glb")
    old, before = Path("out.glb").read_bytes(), sorted(os.listdir())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, limits[1]))
    try:
        status = main(["convert", "man.glb", "out.glb", "--force", "--reduction", "none", "--profile", "godot"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert status == 2
    assert "out.glb: cannot be written (File too large)" in capsys.readouterr().err
    assert Path("out.glb").read_bytes() == old
    assert sorted(os.listdir()) == before

"""`akd convert` to BVH: dialect, T pose and rate from the command line, what is told, and wrong ones refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion
from export_readback import BvhFile

from akd_sdk.cli import main
from akd_sdk.exporters import Clip, export
from akd_sdk.readers import open_rig


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    for name in ("biped", "quadruped"):
        rig = open_rig(SAMPLES / f"{name}.glb")
        export(rig, Clip.from_motion(rig, smooth_motion(rig).with_(translations=None, fps=5.0)), folder / f"{name}.glb")
    return folder


def test_dialect_rate_and_t_pose_are_taken_and_told(sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a.bvh"
    ways = ["--dialect", "motionbuilder", "--fps", "10", "--tolerance", "0.01", "--json"]
    assert main(["convert", str(sources / "biped.glb"), str(out), "--clip", "swing", *ways]) == 0
    told = json.loads(capsys.readouterr().out)["exported"]
    file = BvhFile(out)
    assert file.frame_time == 0.1
    assert told["renamed"]["hips"] == "Hips"
    assert told["clips"][0]["worst_mm"] < 10.0
    assert "the zero pose is a T pose" in told["notes"]
    assert main(["convert", str(sources / "biped.glb"), str(tmp_path / "b.bvh"), "--clip", "swing", "--t-pose"]) == 0
    names, zero, _ = BvhFile(tmp_path / "b.bvh").positions(zero=True)
    np.testing.assert_allclose(zero[0, names.index("hand_l"), 1], zero[0, names.index("upper_arm_l"), 1], atol=1e-4)


@pytest.mark.parametrize(
    ("ways", "fault"),
    [
        (["--dialect", "maya"], "--dialect: unknown BVH dialect 'maya'; known: biovision, blender, motionbuilder, cgspeed"),
        (["--t-pose"], "--t-pose: a T pose is for bipeds, and this character is a quadruped; leave it out"),
        (["--fps", "2"], "mm off, more than 1 mm; allow more (--tolerance), or give a higher --fps: the clip has 5"),
        (["--fps", "0"], "--fps: 0 is no positive number"),
    ],
)
def test_wrong_ways_are_one_line_and_no_file(
    sources: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], ways: list[str], fault: str
) -> None:
    out = tmp_path / "a.bvh"
    assert main(["convert", str(sources / "quadruped.glb"), str(out), "--clip", "swing", *ways]) == 2
    said = capsys.readouterr().err
    assert fault in " ".join(said.split())
    assert list(tmp_path.iterdir()) == []

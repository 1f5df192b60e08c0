"""Sentence to tracked clip and file to tracked clip, with the real simulation."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pygltflib
import pytest
from PIL import Image

from akd_sdk.cli import main
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.schemas import Report, Tracking

pytestmark = pytest.mark.xdist_group("tracking for real")

BOUNDS = (0.5, 0.3)
"""Norms of force in body weights and torque in body weights times pelvis height that help never exceeds."""


@pytest.fixture(scope="module")
def made(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `akd animate` makes by default."""
    folder = tmp_path_factory.mktemp("tracked") / "out"
    assert main(["animate", str(samples / "quadruped.glb"), "a dog trotting", "--loop", "--seed", "7", "-o", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def report(made: Path) -> Report:
    return Report.model_validate_json((made / "quadruped_trot.report.json").read_text())


def help_is_within_bounds(found: Tracking) -> bool:
    assert found.force is not None
    assert found.torque is not None
    return all(
        used.mean <= used.peak <= used.cap + 1e-9 <= bound + 1e-6 and used.mean <= bound / 3.0
        for used, bound in zip((found.force, found.torque), BOUNDS, strict=True)
    )


def test_animate_tracks_by_default_and_says_what_that_took(report: Report) -> None:
    found = report.physics
    assert found is not None
    assert found.kept
    assert help_is_within_bounds(found)
    assert found.force is not None
    assert found.force.cap > 0.0 or found.alone_s is None, "what falls without help is given some"
    assert found.before is not None
    assert found.after is not None
    assert found.after.gaits["trot"].coherence >= found.before.gaits["trot"].coherence - 0.03
    assert found.after.skate_mm is not None
    assert found.after.skate_mm <= 10.0
    assert found.bodies is not None
    assert found.bodies > 10
    assert {"newton", "mujoco"} <= set(report.versions)


def clip_of(path: Path, name: str) -> Motion:
    (clip,) = (clip for clip in open_rig(path).clips if clip.name == name)
    return clip


def test_the_tracked_loop_closes_in_the_file(made: Path, samples: Path) -> None:
    clip = clip_of(made / "quadruped_trot.glb", "trot")
    assert clip.loop
    world = world_from_motion(open_rig(samples / "quadruped.glb").skeleton, clip)
    np.testing.assert_allclose(world[-1, :, :3, :3], world[0, :, :3, :3], atol=1e-4)
    step = clip.root[-1] - clip.root[0]
    assert abs(step[1]) < 1e-4
    assert np.hypot(step[0], step[2]) > 0.3


def test_the_tracked_motion_is_another_than_the_untracked(made: Path, samples: Path, tmp_path: Path) -> None:
    words = ["animate", str(samples / "quadruped.glb"), "a dog trotting", "--loop", "--seed", "7", "--no-sheet", "--no-physics"]
    assert main([*words, "-o", str(tmp_path)]) == 0
    tracked, untracked = (clip_of(folder / "quadruped_trot.glb", "trot") for folder in (made, tmp_path))
    assert tracked.frames == untracked.frames
    difference = np.linalg.norm(tracked.root - untracked.root, axis=1)
    assert difference.max() > 0.002, "a simulation is never exact"
    assert difference.max() < 0.5, "but it does what it was shown"
    (animation,) = pygltflib.GLTF2.load(str(made / "quadruped_trot.glb")).animations
    assert animation.extras["physics"]["tracked"] is True


def test_the_sheet_shows_it_before_and_after(made: Path, samples: Path, tmp_path: Path) -> None:
    assert main(["sheet", str(made / "quadruped_trot.glb"), "-o", str(tmp_path / "one.png")]) == 0
    with Image.open(made / "quadruped_trot.png") as both, Image.open(tmp_path / "one.png") as one:
        assert both.height > 1.8 * one.height


def test_a_file_is_tracked_with_plot_and_sheet(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pictures = [tmp_path / "plot.png", tmp_path / "sheet.png"]
    words = ["track", str(made / "quadruped_trot.glb"), "-o", str(tmp_path / "out"), "--json"]
    assert main([*words, "--plot", str(pictures[0]), "--sheet", str(pictures[1])]) == 0
    report = Report.model_validate_json(capsys.readouterr().out)
    assert report.physics is not None
    assert help_is_within_bounds(report.physics)
    assert all(picture.stat().st_size > 20_000 for picture in pictures)
    names = [animation.name for animation in pygltflib.GLTF2.load(str(tmp_path / "out" / "quadruped_trot_trot_tracked.glb")).animations]
    assert names == ["trot", "trot_tracked"]


def test_tracked_again_the_same_bytes_are_written(made: Path, tmp_path: Path) -> None:
    written = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        assert main(["track", str(made / "quadruped_trot.glb"), "-o", str(folder), "--formats", "glb,bvh"]) == 0
        written.append({path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in (".glb", ".bvh")})
    assert len(written[0]) == 2
    assert written[0] == written[1]


def test_on_ice_it_is_refused_or_slides_and_says_so(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["track", str(made / "quadruped_trot.glb"), "-o", str(tmp_path), "--friction", "0", "--no-help", "--json"])
    out, err = capsys.readouterr()
    if status == 2:
        assert err.splitlines()[-1].startswith("error: ")
        assert list(tmp_path.iterdir()) == []
    else:
        told = json.loads(out)["physics"]
        assert told["after"]["skate_mm"] is None or told["after"]["skate_mm"] > 2.0 * told["before"]["skate_mm"]

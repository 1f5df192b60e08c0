"""`akd track` and the tracking in `akd animate`: what is written and said, whatever the simulation makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pygltflib
import pytest
from PIL import Image
from steps import stepping
from track_records import tracked_of

from akd_sdk import Animator, DistillOptions, PhysicsError
from akd_sdk.cli import main
from akd_sdk.gait import measure
from akd_sdk.motion import Motion
from akd_sdk.physics import Tracked, TrackOptions
from akd_sdk.progress import Progress
from akd_sdk.rig import Rig
from akd_sdk.schemas import Report

pytestmark = pytest.mark.xdist_group("track commands")

QUICK = ("--mode", "annealed", "--steps", "5", "--no-sheet", "--seconds", "1")


@pytest.fixture(scope="module")
def walker(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A character with one clip."""
    animator = Animator.open(samples / "quadruped.glb")
    motion = animator.animate("a dog walks", seconds=1.0, how=DistillOptions(steps=5))
    return animator.export(motion, tmp_path_factory.mktemp("walker") / "dog.glb")


@pytest.fixture(scope="module")
def looping(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A character with one clip, a cycle of steps."""
    animator = Animator.open(samples / "quadruped.glb")
    return animator.export(stepping(animator.rig), tmp_path_factory.mktemp("looping") / "dog.glb")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulation that keeps every motion up."""

    def track(rig: Rig, motion: Motion, options: TrackOptions, *, progress: Any) -> Tracked:
        progress(Progress("tracking", 0.5, "help of 0.05 body weights"))
        return tracked_of(motion, measure(rig, motion))

    monkeypatch.setattr("akd_sdk.animator.track", track)


@pytest.fixture
def falling(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulation in which nothing stays up."""

    def track(rig: Rig, motion: Motion, options: TrackOptions, **_: Any) -> Tracked:
        raise PhysicsError("it falls after 0.40 s", motion.name, "lock its feet")

    monkeypatch.setattr("akd_sdk.animator.track", track)


def extras_of(path: Path) -> dict[str, dict[str, Any]]:
    return {animation.name: animation.extras for animation in pygltflib.GLTF2.load(str(path)).animations}


@pytest.mark.usefixtures("simulated")
def test_a_clip_is_tracked_and_written_beside_its_own_with_a_report(
    walker: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    pictures = [tmp_path / "plots" / "plot.png", tmp_path / "sheet.png"]
    words = ["track", str(walker), "-o", str(out), "--formats", "glb,usda", "--plot", str(pictures[0]), "--sheet", str(pictures[1])]
    assert main(words) == 0
    said, told = capsys.readouterr()
    names = ["dog_walk_tracked.glb", "dog_walk_tracked.report.json", "dog_walk_tracked.usda"]
    assert sorted(path.name for path in out.iterdir()) == names
    extras = extras_of(out / names[0])
    assert list(extras) == ["walk", "walk_tracked"]
    assert extras["walk_tracked"]["physics"]["tracked"] is True
    assert '\\"tracked\\": true' in (out / names[2]).read_text()
    for picture in pictures:
        with Image.open(picture) as image:
            assert image.width >= 1000
    report = Report.model_validate_json((out / names[1]).read_text())
    assert report.physics is not None
    assert report.physics.kept
    assert [Path(file.path) for file in report.files] == [out / names[0], out / names[2], *pictures]
    lines = said.splitlines()
    assert lines[1].startswith("walk_tracked: 31 frames")
    assert lines[2].startswith("tracked with help of 0.037 body weights on average, 0.050 at most")
    assert lines[2].endswith("without help it falls after 1.03 s")
    assert [line.split()[0] for line in lines if line.strip().startswith(("before", "after"))] == ["before", "after"]
    assert lines[-1] == f"wrote {out / names[1]}"
    assert "warning: top-heavy" in told
    assert "tracking ..." in told


@pytest.mark.usefixtures("simulated")
def test_as_json_the_report_is_all_that_is_printed_by_track(walker: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["track", str(walker), "-o", str(tmp_path / "out"), "--name", "grounded", "--friction", "0.5", "--json"]
    assert main(words) == 0
    report = Report.model_validate_json(capsys.readouterr().out)
    assert (report.clip.name, report.prompt) == ("grounded", None)
    assert report.physics is not None
    assert report.physics.friction == 0.5


@pytest.mark.usefixtures("simulated")
def test_nothing_that_exists_is_replaced_without_force(walker: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot = tmp_path / "plot.png"
    plot.write_text("mine")
    words = ["track", str(walker), "-o", str(tmp_path / "out"), "--plot", str(plot)]
    assert main(words) == 2
    assert f"error: {plot}: exists already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["plot.png"]
    assert main([*words, "--force"]) == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert main([*words[:4], "--plot", str(tmp_path / "other.png")]) == 2
    assert not (tmp_path / "other.png").exists()


@pytest.mark.usefixtures("falling")
def test_a_clip_that_falls_is_refused_and_nothing_is_written(walker: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["track", str(walker), "-o", str(tmp_path / "a" / "out"), "--plot", str(tmp_path / "b" / "plot.png")]
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == f"error: {walker}: clip 'walk': it falls after 0.40 s; lock its feet"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--friction", "-1"], "--friction"),
        (["--friction", "nan"], "--friction"),
        (["--effort", "most"], "--effort"),
        (["--budget", "0"], "--budget"),
        (["--budget", "inf"], "--budget"),
        (["--device", "tpu"], "--device: there is no device 'tpu'"),
        (["--clip", "Dance"], "'Dance'"),
        (["--formats", "fbx"], "fbx"),
        (["--plot", "plot.jpg"], "plot.jpg: is no name of a PNG"),
        (["--plot", "p.png", "--sheet", "./p.png"], "--sheet: p.png is the plot's place already"),
        (["--plot", "p.png", "--sheet", "pictures/../p.png"], "is the plot's place already"),
        (["--height", "0"], "--height"),
    ],
)
@pytest.mark.usefixtures("simulated")
def test_what_cannot_be_is_refused_in_one_line(
    options: list[str], said: str, walker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["track", str(walker), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_device_that_is_not_here_is_told_in_one_line(walker: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["track", str(walker), "--device", "cuda:99", "-o", str(tmp_path / "out")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    lines = [line for line in err.splitlines() if line.startswith("error: ")]
    assert err.splitlines()[-1:] == lines
    assert "--device: nothing can be simulated on the device 'cuda:99'" in lines[0] or "pip install mujoco-warp" in lines[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("falling")
def test_of_a_loop_that_falls_it_is_said_how_to_do_it_once(looping: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["track", str(looping), "-o", str(tmp_path / "out")]
    assert main(words) == 2
    assert "; --no-loop tracks it as a clip that is done once" in capsys.readouterr().err.splitlines()[-1]
    assert main([*words, "--no-loop"]) == 2
    assert "--no-loop" not in capsys.readouterr().err


@pytest.mark.parametrize(("words", "loops"), [([], True), (["--no-loop"], False)])
def test_loops_are_tracked_as_loops_unless_told_otherwise(
    words: list[str], loops: bool, looping: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Motion] = []

    def track(rig: Rig, motion: Motion, options: TrackOptions, **_: Any) -> Tracked:
        given.append(motion)
        return tracked_of(motion, measure(rig, motion))

    monkeypatch.setattr("akd_sdk.animator.track", track)
    assert main(["track", str(looping), "-o", str(tmp_path), *words]) == 0
    assert given[0].loop is loops


def test_a_file_without_clips_is_refused(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["track", str(samples / "biped.glb"), "-o", str(tmp_path / "out")]) == 2
    assert "holds no clip; akd animate makes one" in capsys.readouterr().err


@pytest.mark.parametrize(("locked", "travels"), [("--lock", True), ("--no-lock", False)])
def test_feet_are_locked_first_unless_told_otherwise(
    locked: str, travels: bool, walker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Motion] = []

    def track(rig: Rig, motion: Motion, options: TrackOptions, **_: Any) -> Tracked:
        given.append(motion)
        return tracked_of(motion, measure(rig, motion))

    monkeypatch.setattr("akd_sdk.animator.track", track)
    assert main(["track", str(walker), "-o", str(tmp_path), "--no-help", locked]) == 0
    assert (given[0].travel is not None) is travels


@pytest.mark.usefixtures("simulated")
def test_animate_tracks_and_shows_both_in_its_sheet(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["animate", str(samples / "quadruped.glb"), "a dog walks", "--physics", *QUICK, "--sheet", "--effort", "best"]
    assert main([*words, "-o", str(tmp_path / "a")]) == 0
    assert "tracked with help of" in capsys.readouterr().out
    report = json.loads((tmp_path / "a" / "quadruped_walk.report.json").read_text())
    assert report["physics"]["kept"] is True
    assert (report["options"]["physics"], report["prompt"]["action"]) == (True, "walk")
    assert extras_of(tmp_path / "a" / "quadruped_walk.glb")["walk"]["physics"]["tracked"] is True
    assert main([*words, "--no-physics", "-o", str(tmp_path / "b")]) == 0
    assert "tracked" not in capsys.readouterr().out
    report = json.loads((tmp_path / "b" / "quadruped_walk.report.json").read_text())
    assert report["physics"] is None
    assert "physics" not in extras_of(tmp_path / "b" / "quadruped_walk.glb")["walk"]
    with Image.open(tmp_path / "a" / "quadruped_walk.png") as both, Image.open(tmp_path / "b" / "quadruped_walk.png") as one:
        assert both.height > 1.8 * one.height


@pytest.mark.usefixtures("falling")
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_animate_never_hides_that_a_tracking_failed(
    as_json: bool, samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["animate", str(samples / "quadruped.glb"), "a dog walks", "--physics", *QUICK, "-o", str(tmp_path)]
    assert main([*words, *(["--json"] if as_json else [])]) == 0
    out, err = capsys.readouterr()
    last = "not tracked: walk: it falls after 0.40 s; lock its feet; the clip is as it was before"
    assert (err if as_json else out).splitlines()[-1].removeprefix("warning: ") == last
    report = Report.model_validate_json(out if as_json else (tmp_path / "quadruped_walk.report.json").read_text())
    assert report.physics is not None
    assert (report.physics.kept, report.physics.fault) == (False, "walk: it falls after 0.40 s; lock its feet")
    extras = extras_of(tmp_path / "quadruped_walk.glb")["walk"]
    assert extras["physics"] == {"tracked": False, "why": "walk: it falls after 0.40 s; lock its feet"}


@pytest.mark.parametrize(("option", "value"), [("--friction", "-1"), ("--effort", "none")])
def test_options_of_the_tracking_are_refused_before_animate_works(
    option: str, value: str, samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["animate", str(samples / "quadruped.glb"), "a dog walks", "-o", str(tmp_path / "out"), option, value]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert option in err

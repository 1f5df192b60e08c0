"""The commands at work: a sample character is animated once, and the other commands work on what came of it."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pygltflib
import pytest
from PIL import Image

from akd_sdk import AkdError, ExportError
from akd_sdk.animator import Animator
from akd_sdk.cli import main
from akd_sdk.cli.outputs import output_stem
from akd_sdk.schemas import CharacterSummary, Conversion, FileMetrics, Report

pytestmark = pytest.mark.xdist_group("commands")

FILES = ("quadruped_slow_walk.bvh", "quadruped_slow_walk.glb", "quadruped_slow_walk.png", "quadruped_slow_walk.usda")


@pytest.fixture(scope="module")
def results(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what `akd animate` made."""
    folder = tmp_path_factory.mktemp("akd") / "out"
    words = ["animate", str(samples / "quadruped.glb"), "a purple dog walks slowly", "-o", str(folder), "--seconds", "1.5", "--seed", "3"]
    assert main([*words, "--formats", "glb,.USDA, bvh,glb"]) == 0
    return folder


@pytest.fixture(scope="module")
def report(results: Path) -> Report:
    return Report.model_validate_json((results / "quadruped_slow_walk.report.json").read_text())


def test_animate_writes_each_format_a_sheet_and_a_report_and_nothing_else(results: Path) -> None:
    assert sorted(path.name for path in results.iterdir()) == sorted((*FILES, "quadruped_slow_walk.report.json"))


def test_the_report_says_what_was_asked_understood_and_made(report: Report, samples: Path) -> None:
    content = (samples / "quadruped.glb").read_bytes()
    assert (report.source.bytes, report.source.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert (report.prompt.action, report.prompt.styles, report.prompt.unknown) == ("walk", ("slow",), ("purple",))
    assert (report.seed, report.options.seconds, report.options.fps) == (3, 1.5, 30.0)
    assert any("purple" in warning for warning in report.warnings)
    assert (report.clip.frames, report.clip.loop) == (46, False)
    assert report.before is not None
    assert report.after is not None
    assert {"akd-sdk", "torch", "numpy"} <= set(report.versions)
    assert report.seconds["distilling"] > 0.1


def test_the_report_lists_the_files_as_they_are(report: Report, results: Path) -> None:
    assert [(file.path, file.bytes) for file in report.files] == [(str(results / name), (results / name).stat().st_size) for name in FILES]


def test_the_clip_has_the_length_and_name_asked_for(results: Path) -> None:
    gltf = pygltflib.GLTF2.load(str(results / "quadruped_slow_walk.glb"))
    (animation,) = gltf.animations
    assert animation.name == "slow_walk"
    ends = {gltf.accessors[sampler.input].max[0] for sampler in animation.samplers}
    assert max(ends) == pytest.approx(1.5, abs=1e-6)


def test_the_sheet_is_a_picture(results: Path) -> None:
    with Image.open(results / "quadruped_slow_walk.png") as picture:
        assert picture.format == "PNG"
        assert picture.width > 1000


@pytest.mark.parametrize(
    ("character", "clip", "stem"),
    [
        ("fox", "slow_walk", "fox_slow_walk"),
        ("../a b", "c/d\0e\n", ".._a_b_c_d_e_"),
        ("狐", "歩" * 100, "狐_" + "歩" * 65),
        ("\udcff", "x" * 300, "__" + "x" * 198),
    ],
)
def test_outputs_have_names_that_file_systems_take(character: str, clip: str, stem: str) -> None:
    assert output_stem(character, clip) == stem


@pytest.mark.parametrize("fault", [ExportError("the disk is full"), KeyboardInterrupt()], ids=["refusal", "interruption"])
def test_when_the_last_output_fails_nothing_is_left(
    fault: BaseException, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, results: Path
) -> None:
    motion = Animator.open(results / "quadruped_slow_walk.glb").rig.clips[0]

    def animate(self: Animator, *_: object, **__: object) -> object:
        return motion

    def sheet(self: Animator, *_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(Animator, "animate", animate)
    monkeypatch.setattr(Animator, "sheet", sheet)
    status = main(["animate", str(samples / "quadruped.glb"), "a dog walks", "-o", str(tmp_path / "a" / "out")])
    assert status == (2 if isinstance(fault, ExportError) else 130)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_seeds_that_no_generator_takes_are_refused(seed: int, samples: Path) -> None:
    with pytest.raises(AkdError, match="is no seed"):
        Animator.open(samples / "biped.glb", seed=seed)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are Unix's")
def test_a_real_interruption_ends_with_status_130_and_leaves_nothing(
    samples: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program = "import sys; from akd_sdk.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["animate", str(samples / "biped.glb"), "a man walks", "-o", str(tmp_path / "out")]
    # A suite that a script starts in the background inherits an ignored SIGINT.
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    cached = {**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
    with subprocess.Popen([sys.executable, "-c", program, *words], preexec_fn=heed, env=cached, **pipes) as process:
        assert process.stderr is not None
        said = [process.stderr.readline(), process.stderr.readline()]
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert said == ["understood: walk (biped)\n", "distilling ...\n"]
    assert (process.returncode, out) == (130, "")
    assert err.endswith("error: interrupted\n")  # after a line on the checkpoint, where there was a step to keep
    assert list(tmp_path.iterdir()) == []


def test_as_json_the_report_is_all_that_is_printed(
    samples: Path, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], report: Report
) -> None:
    made = Animator.open(results / "quadruped_slow_walk.glb")
    made._report = report
    monkeypatch.setattr(Animator, "open", lambda *_, **__: made)
    monkeypatch.setattr(Animator, "animate", lambda *_, **__: made.rig.clips[0])
    words = ["animate", str(samples / "quadruped.glb"), "a dog walks", "-o", str(tmp_path), "--name", "to the/shop", "--no-sheet", "--json"]
    assert main(words) == 0
    said = Report.model_validate_json(capsys.readouterr().out)
    assert [Path(file.path).name for file in said.files] == ["quadruped_slow_walk_to_the_shop.glb"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "quadruped_slow_walk_to_the_shop.glb",
        "quadruped_slow_walk_to_the_shop.report.json",
    ]


def test_inspect_says_what_the_file_holds(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(results / "quadruped_slow_walk.glb"), "--json"]) == 0
    summary = CharacterSummary.model_validate_json(capsys.readouterr().out)
    assert (summary.body, summary.pelvis) == ("quadruped", "hips")
    assert [(clip.name, clip.frames, clip.fps) for clip in summary.clips] == [("slow_walk", 46, 30.0)]
    assert sum(chain.kind in {"leg", "foreleg"} for chain in summary.chains) == 4


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes file names that are no text")
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["tables", "json"])
def test_a_file_name_that_is_no_text_is_shown_as_far_as_it_is(
    options: list[str], samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = tmp_path / "d\udcff[bold]g\n.glb"
    odd.write_bytes((samples / "quadruped.glb").read_bytes())
    assert main(["inspect", str(odd), *options]) == 0
    assert "[bold]g" in capsys.readouterr().out


def test_inspect_shows_the_same_as_tables(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(results / "quadruped_slow_walk.glb"), "--joints"]) == 0
    said = capsys.readouterr().out
    for word in ("quadruped", "slow_walk", "hips", "hindleg_paw_l", "1.50 s"):
        assert word in said


def test_height_given_is_the_height_reported(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(samples / "quadruped.glb"), "--height", "2.5", "--json"]) == 0
    assert CharacterSummary.model_validate_json(capsys.readouterr().out).height_m == pytest.approx(2.5)


def test_metrics_of_the_file_are_those_of_the_report(results: Path, report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", str(results / "quadruped_slow_walk.glb"), "--json"]) == 0
    measured = FileMetrics.model_validate_json(capsys.readouterr().out)
    (clip,) = measured.clips
    assert clip.clip == "slow_walk"
    assert report.delivered is not None
    assert clip.metrics.gaits["walk"].coherence == pytest.approx(report.delivered.gaits["walk"].coherence, abs=0.02)
    assert clip.metrics.jitter == pytest.approx(report.delivered.jitter, rel=0.05)


def test_metrics_are_shown_as_a_table(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", str(results / "quadruped_slow_walk.glb")]) == 0
    said = capsys.readouterr().out
    assert "skate mm" in said
    assert "slow_walk" in said


def test_sheet_draws_a_clip_of_the_file(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "walk.png"
    assert main(["sheet", str(results / "quadruped_slow_walk.glb"), "-o", str(output), "--json"]) == 0
    said = Conversion.model_validate_json(capsys.readouterr().out)
    assert (said.clips, said.file.path, said.file.bytes) == (("slow_walk",), str(output), output.stat().st_size)
    with Image.open(output) as picture:
        assert picture.format == "PNG"


@pytest.mark.parametrize("suffix", ["glb", "usda", "usdc", "bvh"])
def test_convert_writes_the_clip_in_another_format(
    suffix: str, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / f"walk.{suffix}"
    words = ["convert", str(results / "quadruped_slow_walk.glb"), str(output), "--clip", "slow_walk"]
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == {"path": str(output), "bytes": output.stat().st_size}
    starts = {"glb": b"glTF", "usda": b"#usda", "usdc": b"PXR-USDC", "bvh": b"HIERARCHY"}
    assert output.read_bytes().startswith(starts[suffix])
    assert main(words) == 2
    assert main([*words, "--force"]) == 0

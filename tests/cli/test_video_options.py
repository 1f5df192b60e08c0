"""`akd animate` with a video model: a checkpoint of tiny size becomes a clip, and what cannot be is refused in one line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from akd_sdk.cli import main
from akd_sdk.schemas import Report
from tests.support.tiny_video import SIZES, tiny_checkpoint

pytestmark = pytest.mark.xdist_group("video commands")

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
FRAMES, (HEIGHT, WIDTH) = SIZES["cogvideox"]
FILMED = ("--device", "cpu", "--memory", "8", "--size", f"{WIDTH}x{HEIGHT}", "--frames", str(FRAMES), "--views", "1")


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint("cogvideox", tmp_path_factory.mktemp("weights") / "cogvideox")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def command(weights: Path, folder: Path, *more: str) -> list[str]:
    model = ("--prior", "cogvideox", "--weights", str(weights), "--no-physics")
    return ["animate", str(SAMPLES / "quadruped.glb"), "a dog walking", "-o", str(folder), "--seconds", "1", *model, *FILMED, *more]


def test_a_video_model_makes_a_clip_a_preview_and_a_report_that_says_how(
    weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command(weights, tmp_path / "out"), "--steps", "2", "--guidance", "7", "--preview", "--no-sheet"]) == 0
    told = capsys.readouterr().err
    assert "memory: " in told.split("distilling")[0]  # said before the start
    out = tmp_path / "out"
    assert sorted(p.name for p in out.iterdir()) == ["quadruped_walk.gif", "quadruped_walk.glb", "quadruped_walk.report.json"]
    report = Report.model_validate_json((out / "quadruped_walk.report.json").read_text())
    made = report.distillation
    assert (made.observes, made.mode, made.steps, made.views, made.guidance) == ("pixels", "annealed", 2, 1, 7.0)
    assert {"smoothness", "boxes"} <= set(made.weights)
    assert made.filming is not None
    assert (made.filming.frames, made.filming.width, made.filming.height, made.filming.device) == (FRAMES, WIDTH, HEIGHT, "cpu")
    assert {"diffusers", "warp-lang"} <= set(report.versions)
    with Image.open(out / "quadruped_walk.gif") as preview:
        assert getattr(preview, "n_frames", 1) > 10


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_command_is_taken_up_by_resume(ending: signal.Signals, weights: Path, tmp_path: Path) -> None:
    run = [sys.executable, "-u", "-c", "import sys; from akd_sdk.cli import main; sys.exit(main())"]
    words = [*command(weights, tmp_path / "out"), "--no-sheet"]
    with subprocess.Popen([*run, *words, "--steps", "500"], stderr=subprocess.PIPE, text=True, cwd=SAMPLES.parent) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "distilling" in line:
                break
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3.0)
        process.send_signal(ending)
        told = process.stderr.read()
        assert process.wait(60) == 130
    assert "--resume" in told
    (kept,) = (tmp_path / "cache" / "akd-sdk").iterdir()
    assert not (tmp_path / "out").exists()
    assert kept.suffix == ".pt"
    assert main([*words, "--steps", "400", "--resume"]) == 2  # of another command: nothing is there


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--size", "large"), "--size: 'large' is no size"),
        (("--size", "0x0"), "0 x 0"),
        (("--frames", "12"), "12 frames"),
        (("--mode", "mas"), "--mode: mas needs"),
        (("--steps", "0"), "--steps: 0 steps"),
        (("--views", "0"), "--views: 0 views"),
        (("--memory", "0.001"), "memory"),
        (("--gaussians", "3"), "500 to 20000"),
        (("--device", "cuda"), "CUDA"),
        (("--resume",), "--resume: no interrupted run"),
        (("--seconds", "60"), "--seconds"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    more: tuple[str, ...], told: str, weights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command(weights, tmp_path / "out"), *more]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert told in errors[0]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", [("--device", "cpu"), ("--memory", "8"), ("--size", "64x64"), ("--frames", "9"), ("--allow-download",)])
def test_options_of_video_models_are_refused_for_mini(option: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["animate", str(SAMPLES / "biped.glb"), "a walk", "-o", str(tmp_path / "out"), *option]) == 2
    assert f"error: {option[0]}: mini takes no such option" in capsys.readouterr().err


def test_weights_that_are_missing_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["animate", str(SAMPLES / "biped.glb"), "a walk", "-o", str(tmp_path / "out"), "--prior", "ltx", "--device", "cpu"]
    assert main(words) == 2
    assert "--weights FOLDER" in capsys.readouterr().err


def test_a_sheet_may_be_drawn_by_splats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    made = ["animate", str(SAMPLES / "biped.glb"), "a walk", "-o", str(out), "--mode", "annealed", "--steps", "5", "--no-sheet"]
    assert main([*made, "--no-physics"]) == 0
    clip = out / "biped_walk.glb"
    assert main(["sheet", str(clip), "-o", str(tmp_path / "splat.png"), "--renderer", "splat"]) == 0
    with Image.open(tmp_path / "splat.png") as splats:
        assert splats.width > 1000
    assert main(["sheet", str(clip), "-o", str(tmp_path / "other.png"), "--renderer", "wire"]) == 2
    assert "mesh" in capsys.readouterr().err
    report = json.loads((out / "biped_walk.report.json").read_text())
    assert (report["distillation"]["mode"], report["distillation"]["steps"]) == ("annealed", 5)


def test_what_was_distilled_is_not_lost_when_writing_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = ["--mode", "annealed", "--steps", "5", "--no-sheet", "--no-physics"]
    words = ["animate", str(SAMPLES / "biped.glb"), "a walk", "-o", str(tmp_path / "out"), *quick]

    def interrupted(*_: object, **__: object) -> Path:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("akd_sdk.animator.deliver", interrupted)
        assert main(words) == 130
    assert "--resume" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    (kept,) = (tmp_path / "cache" / "akd-sdk").iterdir()
    assert main([*words, "--resume"]) == 0
    assert not kept.exists()
    assert (tmp_path / "out" / "biped_walk.glb").is_file()

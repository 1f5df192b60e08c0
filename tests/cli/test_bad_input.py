"""Bad input is refused with status 2 in one line that names the file or option and the fault, and nothing is left behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import bad_files
import pytest

from akd_sdk.cli import main

COMMANDS: dict[str, Callable[[str], list[str]]] = {
    "animate": lambda file: ["animate", file, "a dog trotting", "-o", "results"],
    "inspect": lambda file: ["inspect", file],
    "metrics": lambda file: ["metrics", file],
    "sheet": lambda file: ["sheet", file, "-o", "results/sheet.png"],
    "convert": lambda file: ["convert", file, "results/clip.glb"],
    "track": lambda file: ["track", file, "-o", "results", "--plot", "results/plot.png"],
}

FILES = ("missing.glb", "folder.glb", *bad_files.CONTENTS)


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, samples: Path) -> Path:
    """An empty folder to work in, with a good character in it."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(samples / "quadruped.glb", tmp_path / "dog.glb")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def refused(words: Sequence[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a command was refused with."""
    before = contents(Path())
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert contents(Path()) == before
    return err.strip().removeprefix("error: ")


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_used_is_named(name: str, command: str, samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad_files.make(Path(), name, (samples / "quadruped.glb").read_bytes())
    line = refused(COMMANDS[command](name), capsys)
    assert line.startswith(f"{name}: ")
    assert len(line) > len(f"{name}: ") + 8


FAULTS = {
    "missing.glb": "no such file",
    "folder.glb": "folder",
    "empty.glb": "empty",
    "cut_in_data.glb": "truncated",
    "no_skin.glb": "skin",
    "cycle.glb": "cycle",
    "nan.glb": "not finite",
}


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize(("name", "fault"), FAULTS.items(), ids=FAULTS)
def test_the_fault_is_called_by_its_name(name: str, fault: str, samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad_files.make(Path(), name, (samples / "quadruped.glb").read_bytes())
    assert fault in refused(["inspect", name], capsys)


ANIMATE_OPTIONS: dict[str, tuple[list[str], str]] = {
    "unknown prior": (["--prior", "maxi"], "maxi"),
    "missing weights": (["--weights", "none.safetensors"], "none.safetensors"),
    "weights that are none": (["--weights", "dog.glb"], "dog.glb"),
    "no seconds": (["--seconds", "0"], "--seconds"),
    "negative seconds": (["--seconds", "-1"], "--seconds"),
    "seconds that are no number": (["--seconds", "nan"], "--seconds"),
    "endless seconds": (["--seconds", "inf", "--loop"], "--seconds"),
    "a glimpse": (["--seconds", "0.1"], "--seconds"),
    "a long take": (["--seconds", "5"], "--loop"),
    "no frames": (["--fps", "0"], "--fps"),
    "frames that are no number": (["--fps", "nan"], "--fps"),
    "a million frames a second": (["--fps", "1e6"], "--fps"),
    "a single frame": (["--seconds", "0.5", "--fps", "1"], "--fps"),
    "unknown format": (["--formats", "glb,fbx"], "fbx"),
    "no format": (["--formats", ""], "--formats"),
    "no height": (["--height", "0"], "--height"),
    "a height that is no number": (["--height", "nan"], "--height"),
    "a seed that is too large": (["--seed", "99999999999999999999"], "--seed"),
    "output is a file": (["-o", "dog.glb"], "dog.glb"),
    "output below a file": (["-o", "dog.glb/out"], "dog.glb"),
    "output has a name that is too long": (["-o", "x" * 300], "xxx"),
    "output below no folder at all": (["-o", "/proc/akd/out"], "/proc/akd"),
}


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize(("options", "named"), ANIMATE_OPTIONS.values(), ids=ANIMATE_OPTIONS)
def test_an_option_of_animate_that_cannot_be_is_named(options: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert named in refused(["animate", "dog.glb", "a dog trotting", "-o", "results", *options], capsys)


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize(
    ("sentence", "said"),
    [("", "empty"), ("   ", "empty"), ("a dog of green ideas", "trot"), ("a dog galllloping", "gallop"), ("狐", "trot"), ("\x00", "trot")],
    ids=["empty", "blank", "no action", "misspelt", "another script", "a control character"],
)
def test_a_sentence_that_says_nothing_is_refused_with_what_can_be_said(
    sentence: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(["animate", "dog.glb", sentence, "-o", "results"], capsys)


@pytest.mark.parametrize("name", ["dog_trot.glb", "dog_trot.bvh", "dog_trot.png", "dog_trot.report.json"])
def test_animate_refuses_outputs_that_exist_before_it_works(workplace: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (workplace / "results").mkdir()
    (workplace / "results" / name).write_text("mine")
    line = refused(["animate", "dog.glb", "a dog trotting", "-o", "results", "--formats", "glb,bvh"], capsys)
    assert line.startswith(f"results/{name}: exists already")
    assert "--force" in line


@pytest.fixture
def walker(workplace: Path, shared: Path) -> Path:
    """A character with clips."""
    return Path(shutil.copy(shared / "data" / "rigs" / "khronos" / "Fox.glb", workplace / "fox.glb"))


@pytest.mark.usefixtures("walker")
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["sheet", "fox.glb", "-o", "results.png"], "Survey, Walk, Run"),
        (["sheet", "fox.glb", "--clip", "Dance", "-o", "results.png"], "'Dance'"),
        (["sheet", "fox.glb", "--clip", "Walk", "-o", "fox.glb"], "fox.glb: exists already"),
        (["metrics", "fox.glb", "--clip", "Dance"], "'Dance'"),
        (["track", "fox.glb"], "Survey, Walk, Run"),
        (["track", "fox.glb", "--clip", "Walk", "-o", "fox.glb"], "fox.glb"),
        (["track", "fox.glb", "--clip", "Walk", "--plot", "fox.glb/plot.png"], "fox.glb/plot.png"),
        (["convert", "fox.glb", "clip.glb", "--clip", "Dance"], "'Dance'"),
        (["convert", "fox.glb", "clip.fbx"], "clip.fbx"),
        (["convert", "fox.glb", "clip"], "clip"),
        (["convert", "fox.glb", "fox.glb"], "fox.glb: exists already"),
        (["convert", "fox.glb", "fox.glb/clip.glb"], "fox.glb/clip.glb"),
        (["convert", "fox.glb", "clip.bvh"], "clip.bvh"),
        (["inspect", "fox.glb", "--height", "-1"], "--height"),
    ],
)
def test_a_clip_or_a_place_that_cannot_be_is_named(words: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert named in refused(words, capsys)


@pytest.mark.usefixtures("workplace")
@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["train", "maxi", "-o", "w.safetensors"], "'maxi'"),
        (["train", "mini", "-o", "dog.glb"], "dog.glb: exists already"),
        (["train", "mini", "-o", "none/w.safetensors"], "none/w.safetensors"),
        (["train", "mini", "-o", ".", "--force"], "."),
        (["train", "mini", "-o", "w.safetensors", "--steps", "0"], "step"),
    ],
)
def test_a_training_that_cannot_be_is_refused_at_once(words: list[str], named: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert named in refused(words, capsys)

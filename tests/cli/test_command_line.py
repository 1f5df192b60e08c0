"""The frame of `akd`: help that teaches, exit statuses, one line for a refusal, results apart from the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from akd_sdk import ReadError, __version__, readers
from akd_sdk.cli import main
from akd_sdk.cli.app import COMMANDS
from akd_sdk.cli.terminal import printable, progress_bar
from akd_sdk.progress import Progress

SCREEN_LINES, SCREEN_COLUMNS = 24, 80


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of the classic size."""
    monkeypatch.setenv("COLUMNS", str(SCREEN_COLUMNS))
    monkeypatch.setenv("LINES", str(SCREEN_LINES))


@pytest.mark.usefixtures("screen")
def test_help_fits_one_screen_and_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= SCREEN_LINES
    assert max(map(len, lines)) <= SCREEN_COLUMNS
    listed = {line.strip("│ ").split(" ")[0] for line in lines}
    assert {command.__name__ for command, _ in COMMANDS} <= listed


@pytest.mark.usefixtures("screen")
@pytest.mark.parametrize(("command", "example"), COMMANDS, ids=[command.__name__ for command, _ in COMMANDS])
def test_help_of_every_command_shows_an_example(command: object, example: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = example.split(" ")[1]
    assert main([name, "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert f"Example: {example}" in said
    assert example.startswith("akd ")
    assert "…" not in said  # nothing is too long for its column


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"akd-sdk {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Missing command"),
        (["dance"], "'dance'"),
        (["inspect"], "'FILE'"),
        (["inspect", "--joint-list", "fox.glb"], "--joint-list"),
        (["inspect", "fox.glb", "wolf.glb"], "wolf.glb"),
        (["inspect", "fox.glb", "--height", "tall"], "--height"),
        (["animate", "fox.glb", "a walk", "--seed", "1.5"], "--seed"),
        (["animate", "fox.glb"], "'SENTENCE'"),
        (["sheet", "fox.glb"], "--output"),
    ],
)
def test_a_wrong_command_is_refused_in_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert said in err


def raising(fault: BaseException) -> object:
    def open_rig(*_: object, **__: object) -> None:
        raise fault

    return open_rig


def test_a_refusal_is_status_2_and_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(readers, "open_rig", raising(ReadError("is no glTF", "a\nb.glb", "give one")))
    assert main(["inspect", "x.glb"]) == 2
    assert capsys.readouterr() == ("", "error: a\\nb.glb: is no glTF; give one\n")


def test_an_interruption_is_status_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(readers, "open_rig", raising(KeyboardInterrupt()))
    assert main(["inspect", "x.glb"]) == 130
    assert capsys.readouterr() == ("", "error: interrupted\n")


def test_a_bug_is_status_1_with_its_traceback(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom akd_sdk import readers\nfrom akd_sdk.cli import main\n"
        "def open_rig(*_, **__): return 1 / 0\n"
        "readers.open_rig = open_rig\nsys.exit(main(['inspect', 'x.glb']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback")
    assert "ZeroDivisionError" in done.stderr.splitlines()[-1]


def test_control_characters_are_shown_not_sent() -> None:
    assert printable("a\nb\x1b[31m\u202ec é 狐") == "a\\nb\\x1b[31m\\u202ec é 狐"


def test_off_a_terminal_each_stage_is_one_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as bar:
        for stage, fraction in (("distilling", 0.0), ("distilling", 0.5), ("feet", 0.9), ("feet", 1.0)):
            bar(Progress(stage, fraction))
    assert capsys.readouterr() == ("", "distilling ...\nfeet ...\n")


def test_off_a_terminal_long_work_says_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    clock = 0.0
    monkeypatch.setattr("akd_sdk.cli.terminal.time.monotonic", lambda: clock)
    with progress_bar() as bar:
        for step in range(0, 100, 5):
            clock = 2.0 * step
            bar(Progress("training", step / 100, f"step {step}"))
    assert capsys.readouterr().err.splitlines() == [
        "training ...",
        *(f"training {step} %, step {step}" for step in (20, 40, 60, 80)),
    ]


def test_on_a_terminal_a_bar_shows_share_and_detail(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with progress_bar() as bar:
        bar(Progress("training", 0.25, "step 100, loss 0.5"))
    out, err = capsys.readouterr()
    assert out == ""
    assert "training" in err
    assert "25 %" in err
    assert "step 100, loss 0.5" in err


@pytest.mark.parametrize(("words", "page"), [(["train", "mini"], "akd train"), (["inspect", "--no"], "akd inspect"), (["draw"], "akd")])
def test_a_wrong_use_names_the_help_of_its_command(words: list[str], page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert capsys.readouterr().err.endswith(f"; see {page} --help\n")

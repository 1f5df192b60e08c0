"""`akd track --effort best`, interrupted for real in the midst of its search."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pygltflib
import pytest
from steps import stepping

from akd_sdk.animator import Animator
from akd_sdk.physics.sampling import INTERRUPTED
from akd_sdk.schemas import Report

pytestmark = [
    pytest.mark.xdist_group("tracking for real"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals are Unix's"),
]

PROGRAM = "import sys; from akd_sdk.cli import main, terminal; terminal.LINE_EVERY_S = 0.0; sys.exit(main(sys.argv[1:]))"
"""The command, which tells of every step."""


@pytest.fixture(scope="module")
def walker(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose clip falls without help."""
    animator = Animator.open(samples / "biped.glb")
    path = tmp_path_factory.mktemp("walker") / "walker.glb"
    animator.export(stepping(animator.rig, seconds=4.0 / 3.0).with_(name="steps"), path)
    return path


def interrupted(words: list[str], at: str) -> tuple[int, str, str]:
    """Exit status and what was printed of a command that gets Ctrl-C when it says `at` while it samples."""
    # A suite that a script starts in the background inherits an ignored SIGINT.
    heed = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    one = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen([sys.executable, "-u", "-c", PROGRAM, *words], preexec_fn=heed, env=one, **pipes) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "sampling" in line and at in line:
                process.send_signal(signal.SIGINT)
                break
        out, err = process.communicate(timeout=120)
    assert said, "it told of nothing"
    assert at in said[-1], "".join(said)
    return process.returncode, out, err


def test_the_best_so_far_is_written_and_said_to_be_that(walker: Path, tmp_path: Path) -> None:
    words = ["track", str(walker), "--effort", "best", "--budget", "300", "-o", str(tmp_path / "out")]
    status, out, err = interrupted(words, "best so far has")
    assert status == 0, err
    assert f"warning: {INTERRUPTED}" in err.splitlines()
    assert "error" not in err
    (path,), (told,) = ([*(tmp_path / "out").glob(f"*{ending}")] for ending in (".glb", ".report.json"))
    assert str(path) in out.replace("\n", "")
    assert [clip.name for clip in pygltflib.GLTF2.load(str(path)).animations] == ["steps", "steps_tracked"]
    report = Report.model_validate_json(told.read_text())
    assert INTERRUPTED in report.warnings
    assert report.physics is not None
    assert report.physics.kept


def test_nothing_is_left_where_nothing_stood_yet(walker: Path, tmp_path: Path) -> None:
    words = ["track", str(walker), "--effort", "best", "--no-help", "--budget", "300", "-o", str(tmp_path / "out")]
    status, out, err = interrupted(words, "nothing stands yet")
    assert (status, out) == (130, "")
    assert err.endswith("error: interrupted\n")
    assert list(tmp_path.iterdir()) == []

"""Only the weights make motion: without the teacher, and run again, `akd animate` writes the same bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUN = "import sys; from akd_sdk.cli import main; sys.exit(main())"


def animate(tree: Path, output: Path) -> dict[str, bytes]:
    """The clips that the package in `tree` makes of the sample, by file name."""
    arguments = [str(ROOT / "samples" / "quadruped.glb"), "a dog trotting", "-o", str(output), "--loop", "--formats", "glb,usda,bvh"]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, "-c", RUN, "animate", *arguments, "--no-sheet"], cwd=output.parent, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in output.iterdir() if path.suffix in (".glb", ".usda", ".bvh")}


@pytest.mark.timeout(600)
def test_without_the_teacher_the_same_bytes_are_written(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for folder in ("akd_sdk", "exporters", "schemas"):
        shutil.copytree(ROOT / folder, tree / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(tree / "akd_sdk" / "training")
    shutil.copy(ROOT / "pyproject.toml", tree)
    here, without = animate(ROOT, tmp_path / "here"), animate(tree, tmp_path / "without")
    assert len(here) == 3
    assert here == without

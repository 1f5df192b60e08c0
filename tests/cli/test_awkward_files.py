"""Awkward files of other projects: every command takes or refuses each, in one line and in time, and leaves nothing behind."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from akd_sdk.cli import main

LONGEST_S = 30.0
"""Processor seconds that a command may take for one of these small files."""


def commands(file: Path, picture: Path) -> list[list[str]]:
    return [["inspect", str(file)], ["metrics", str(file)], ["sheet", str(file), "-o", str(picture), "--force"]]


@pytest.mark.parametrize("folder", ["magnum_plugins", "gltf_validator", "odd"])
def test_awkward_files_are_taken_or_refused(folder: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(f for f in (shared / "data" / "rigs" / folder).rglob("*") if f.suffix in {".glb", ".gltf", ".vrm"})
    assert files
    wrong: list[str] = []
    for file in files:
        for words in commands(file, tmp_path / "sheet.png"):
            start = time.process_time()
            status = main(words)
            _, err = capsys.readouterr()
            fine = err == "" if status == 0 else status == 2 and err.startswith("error: ") and err.count("\n") == 1 and file.name in err
            if not fine or time.process_time() - start > LONGEST_S:
                wrong.append(f"{words[0]} {file.name}: status {status}, {err!r}")
            if status != 0:
                break
    assert wrong == []
    assert {path.name for path in tmp_path.iterdir()} <= {"sheet.png"}

"""Outputs appear together or not at all, and what was there is never lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from akd_sdk.cli.outputs import OutputFolder
from akd_sdk.errors import ExportError


def tree_of(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() if p.is_file() else "folder" for p in sorted(folder.rglob("*"))}


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)


def work_and_fail(outputs: OutputFolder, fault: BaseException) -> None:
    with outputs:
        write(outputs.work, one="new")
        raise fault


def test_everything_written_appears_at_the_end(tmp_path: Path) -> None:
    with OutputFolder(tmp_path / "a" / "b") as outputs:
        write(outputs.work, one="1", two="2")
        (outputs.work / "textures").mkdir()
        (outputs.work / "textures" / "coat").write_text("brown")
        listed = outputs.listing()
        assert not (tmp_path / "a" / "b" / "one").exists()
        outputs.commit()
    assert tree_of(tmp_path / "a" / "b") == {"one": "1", "two": "2", "textures": "folder", "textures/coat": "brown"}
    assert [(file.path, file.bytes) for file in listed] == [
        (str(tmp_path / "a" / "b" / "one"), 1),
        (str(tmp_path / "a" / "b" / "textures" / "coat"), 5),
        (str(tmp_path / "a" / "b" / "two"), 1),
    ]


@pytest.mark.parametrize("fault", [ExportError("full"), KeyboardInterrupt(), ZeroDivisionError()], ids=lambda fault: type(fault).__name__)
def test_a_fault_leaves_nothing_behind_nor_the_folders_made(tmp_path: Path, fault: BaseException) -> None:
    with pytest.raises(type(fault)):
        work_and_fail(OutputFolder(tmp_path / "a" / "b"), fault)
    assert tree_of(tmp_path) == {}


def test_a_fault_leaves_a_folder_that_was_there_as_it_was(tmp_path: Path) -> None:
    write(tmp_path, one="old", other="mine")
    with pytest.raises(KeyboardInterrupt):
        work_and_fail(OutputFolder(tmp_path, force=True), KeyboardInterrupt())
    assert tree_of(tmp_path) == {"one": "old", "other": "mine"}


def test_what_exists_is_refused_before_the_work_and_kept(tmp_path: Path) -> None:
    write(tmp_path, one="old")
    with pytest.raises(ExportError, match=r"one: exists already; --force replaces it"), OutputFolder(tmp_path) as outputs:
        outputs.claim(["zero", "one"])
    assert tree_of(tmp_path) == {"one": "old"}


def test_what_appeared_meanwhile_is_refused_at_the_end(tmp_path: Path) -> None:
    with OutputFolder(tmp_path) as outputs:
        outputs.claim(["one", "two"])
        write(outputs.work, one="new", two="new")
        write(tmp_path, one="old")
        with pytest.raises(ExportError, match="one: exists already"):
            outputs.commit()
    assert tree_of(tmp_path) == {"one": "old"}


def test_force_replaces_files_and_folders_and_leaves_the_rest(tmp_path: Path) -> None:
    write(tmp_path, one="old", other="mine")
    (tmp_path / "textures").mkdir()
    write(tmp_path / "textures", coat="old", gone="old")
    with OutputFolder(tmp_path, force=True) as outputs:
        write(outputs.work, one="new")
        (outputs.work / "textures").mkdir()
        write(outputs.work / "textures", coat="new")
        outputs.commit()
    assert tree_of(tmp_path) == {"one": "new", "other": "mine", "textures": "folder", "textures/coat": "new"}


def test_a_fault_half_way_through_the_moves_puts_everything_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, one="old", three="old")
    moves = 0
    rename = Path.rename

    def fails_at_the_fourth(self: Path, target: Path) -> Path:
        nonlocal moves
        moves += 1
        if moves == 4:
            raise OSError(28, os.strerror(28))
        return rename(self, target)

    with OutputFolder(tmp_path, force=True) as outputs:
        write(outputs.work, one="new", three="new", two="new")
        monkeypatch.setattr(Path, "rename", fails_at_the_fourth)
        with pytest.raises(ExportError, match="No space left"):
            outputs.commit()
        monkeypatch.undo()
    assert tree_of(tmp_path) == {"one": "old", "three": "old"}


@pytest.mark.parametrize("where", ["file", "file/below", "loop/below"])
def test_a_folder_that_cannot_be_made_is_refused_at_once(tmp_path: Path, where: str) -> None:
    write(tmp_path, file="mine")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ExportError, match="cannot be written to"), OutputFolder(tmp_path / where):
        raise AssertionError("was entered")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "loop"]


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no /proc on this system")
def test_a_file_system_that_takes_no_files_is_refused_at_once() -> None:
    with pytest.raises(ExportError, match="/proc/akd-out: cannot be written to"), OutputFolder(Path("/proc/akd-out")):
        raise AssertionError("was entered")

"""Outputs of a command appear together or not at all, and what was there is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from akd_sdk.cli.outputs import listing, together
from akd_sdk.errors import ExportError


def tree_of(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() if p.is_file() else "folder" for p in sorted(folder.rglob("*"))}


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)


def work_and_fail(folder: Path, fault: BaseException, *, force: bool = False) -> None:
    with together(folder, ["one", "two"], force=force) as work:
        write(work, one="new")
        raise fault


def test_everything_written_appears_at_the_end(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    with together(folder, ["one", "two"]) as work:
        write(work, one="1")
        (work / "textures").mkdir()
        write(work / "textures", coat="brown")
        listed = listing(work, folder)
        write(work, two="2")
        assert not (folder / "one").exists()
    assert tree_of(folder) == {"one": "1", "two": "2", "textures": "folder", "textures/coat": "brown"}
    assert [(file.path, file.bytes) for file in listed] == [(str(folder / "one"), 1), (str(folder / "textures" / "coat"), 5)]


@pytest.mark.parametrize("fault", [ExportError("full"), KeyboardInterrupt(), ZeroDivisionError()], ids=lambda fault: type(fault).__name__)
def test_a_fault_leaves_nothing_behind_nor_the_folders_made(tmp_path: Path, fault: BaseException) -> None:
    with pytest.raises(type(fault)):
        work_and_fail(tmp_path / "a" / "b", fault)
    assert tree_of(tmp_path) == {}


def test_a_fault_leaves_a_folder_that_was_there_as_it_was(tmp_path: Path) -> None:
    write(tmp_path, one="old", other="mine")
    with pytest.raises(KeyboardInterrupt):
        work_and_fail(tmp_path, KeyboardInterrupt(), force=True)
    assert tree_of(tmp_path) == {"one": "old", "other": "mine"}


@pytest.mark.parametrize("existing", ["one", "two"])
def test_what_exists_is_refused_before_the_work_and_kept(tmp_path: Path, existing: str) -> None:
    write(tmp_path, **{existing: "old"})
    with pytest.raises(ExportError, match=f"{existing}: exists already; --force replaces it"):
        work_and_fail(tmp_path, AssertionError("was entered"))
    assert tree_of(tmp_path) == {existing: "old"}


@pytest.mark.parametrize("existing", ["one", "two"])
def test_a_folder_in_the_way_is_refused_before_the_work_even_with_force(tmp_path: Path, existing: str) -> None:
    (tmp_path / existing).mkdir()
    with pytest.raises(ExportError, match=f"{existing}: is a folder"):
        work_and_fail(tmp_path, AssertionError("was entered"), force=True)
    assert tree_of(tmp_path) == {existing: "folder"}


def test_force_replaces_what_is_written_and_leaves_the_rest(tmp_path: Path) -> None:
    write(tmp_path, one="old", other="mine")
    with together(tmp_path, ["one", "two"], force=True) as work:
        write(work, one="new", two="new")
    assert tree_of(tmp_path) == {"one": "new", "other": "mine", "two": "new"}


@pytest.mark.parametrize("where", ["file", "file/below", "loop/below"])
def test_a_folder_that_cannot_be_made_is_refused_at_once(tmp_path: Path, where: str) -> None:
    write(tmp_path, file="mine")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ExportError, match="cannot be"):
        work_and_fail(tmp_path / where, AssertionError("was entered"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "loop"]


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no /proc on this system")
def test_a_file_system_that_takes_no_files_is_refused_at_once() -> None:
    with pytest.raises(ExportError, match=r"/proc/akd-out.*cannot be"):
        work_and_fail(Path("/proc/akd-out"), AssertionError("was entered"))

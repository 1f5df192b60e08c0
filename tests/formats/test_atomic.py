"""Outputs are whole or absent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from akd_sdk.errors import ExportError
from akd_sdk.formats.atomic import staged, write_whole


def tree_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else b"folder" for p in sorted(folder.rglob("*"))}


def write_and_fail(path: Path, fault: BaseException, *, force: bool = False) -> None:
    with staged(path, force=force) as draft:
        draft.write_bytes(b"half")
        (draft.parent / "more").mkdir()
        (draft.parent / "more" / "picture").write_bytes(b"half")
        raise fault


def test_the_file_and_what_lies_beside_the_draft_appear_at_the_end(tmp_path: Path) -> None:
    with staged(tmp_path / "new" / "a.txt") as draft:
        draft.write_bytes(b"a")
        (draft.parent / "more").mkdir()
        (draft.parent / "more" / "b.txt").write_bytes(b"b")
        assert not (tmp_path / "new" / "a.txt").exists()
    assert tree_of(tmp_path) == {"new": b"folder", "new/a.txt": b"a", "new/more": b"folder", "new/more/b.txt": b"b"}


FAULTS = [ExportError("x"), OSError(28, "No space left on device"), KeyboardInterrupt()]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_failure_leaves_nothing_and_no_new_folder(tmp_path: Path, fault: BaseException) -> None:
    with pytest.raises((ExportError, KeyboardInterrupt)):
        write_and_fail(tmp_path / "new" / "deep" / "a.txt", fault)
    assert tree_of(tmp_path) == {}


def test_a_failure_leaves_the_old_file_untouched_even_when_forced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"old")
    with pytest.raises(ExportError):
        write_and_fail(tmp_path / "a.txt", ExportError("x"), force=True)
    assert tree_of(tmp_path) == {"a.txt": b"old"}


def test_a_fault_of_a_file_in_the_draft_names_the_place_where_it_was_to_lie(tmp_path: Path) -> None:
    with (
        pytest.raises(ExportError, match="has no room") as caught,
        staged(tmp_path / "a.txt") as draft,
        staged(draft.parent / "more" / "b.glb") as inner,
    ):
        raise ExportError("has no room", inner)
    assert caught.value.path == str(tmp_path / "more" / "b.glb")


def test_what_exists_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "a.txt", b"old")
    with pytest.raises(ExportError, match=r"a\.txt: exists already; "):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    write_whole(path, b"new", force=True)
    assert path.read_bytes() == b"new"


def test_a_side_file_that_exists_stops_everything(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.txt").write_bytes(b"mine")

    def write() -> None:
        with staged(tmp_path / "a.txt") as draft:
            draft.write_bytes(b"a")
            (draft.parent / "more").mkdir()
            (draft.parent / "more" / "b.txt").write_bytes(b"b")

    with pytest.raises(ExportError, match=r"more/b\.txt: exists already"):
        write()
    assert tree_of(tmp_path) == {"more": b"folder", "more/b.txt": b"mine"}


def test_a_side_file_that_cannot_be_placed_takes_back_what_was_placed(tmp_path: Path) -> None:
    (tmp_path / "more").write_bytes(b"a file where a folder should be")

    def write() -> None:
        with staged(tmp_path / "z.txt") as draft:
            draft.write_bytes(b"z")
            (draft.parent / "b.txt").write_bytes(b"b")
            (draft.parent / "more").mkdir()
            (draft.parent / "more" / "c.txt").write_bytes(b"c")

    with pytest.raises(ExportError):
        write()
    assert tree_of(tmp_path) == {"more": b"a file where a folder should be"}


def test_an_interruption_while_files_are_placed_takes_them_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = os.replace

    def interrupted(source: Path, target: Path) -> None:
        place(source, target)
        raise KeyboardInterrupt

    def write() -> None:
        with staged(tmp_path / "new" / "z.txt") as draft:
            draft.write_bytes(b"z")
            (draft.parent / "b.txt").write_bytes(b"b")

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write()
    assert tree_of(tmp_path) == {}


def test_an_interruption_while_the_draft_is_made_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = os.mkdir

    def interrupted(path: Path, *mode: int) -> None:
        make(path, *mode)
        if path.name.startswith("."):
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "new" / "a.txt", b"a")
    assert tree_of(tmp_path) == {}


NO_PLACES = ["", "folder", "file/a.txt", "x" * 300, "x" * 300 + "/a.txt", "x/" * 1500 + "x" * 300, "a\0b", "a\0b/c.txt"]


@pytest.mark.parametrize("name", NO_PLACES, ids=lambda name: repr(name[:20]))
def test_places_that_no_file_can_have_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(ExportError):
        write_whole(tmp_path / name, b"x", force=True)
    assert tree_of(tmp_path) == {"file": b"x", "folder": b"folder"}


def test_a_link_that_leads_nowhere_counts_as_existing(tmp_path: Path) -> None:
    os.symlink(tmp_path / "nowhere", tmp_path / "a.txt")
    with pytest.raises(ExportError, match="exists already"):
        write_whole(tmp_path / "a.txt", b"x")


FULL_DISK = """
import resource, sys
from akd_sdk.errors import ExportError
from akd_sdk.formats.atomic import write_whole
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_whole(sys.argv[1], b"x" * 5000)
except ExportError as fault:
    print(fault)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are Unix's")
def test_a_disk_that_fills_up_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path / "a.txt")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=True)
    assert "a.txt: cannot be written (File too large)" in done.stdout
    assert tree_of(tmp_path) == {}

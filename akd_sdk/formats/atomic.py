"""Outputs that are whole or absent: written beside their place, moved there at the end."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from akd_sdk.errors import ExportError


@contextmanager
def staged(path: str | PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A place to write `path` at: `with staged(path) as draft: draft.write_bytes(...)`.

    The draft lies in a hidden folder beside `path`; further files written beside the draft (textures in a folder, say) go the same
    way. When the block ends they are moved to their places, `path` last; when it fails, nothing is left and what was there before is
    untouched. Missing parent folders are made. Without `force` nothing that exists is replaced.
    Raises ExportError: something exists, a folder cannot be written, the disk is full.
    """
    target = Path(path)
    _refuse(target, force)
    made = _make_parents(target)
    folder: Path | None = None
    done = False
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name[:40]}.", dir=target.parent))
        yield folder / target.name
        _place(folder, target, force)
        done = True
    except OSError as error:
        fault = f"cannot be written ({error.strerror or error})"
        raise ExportError(fault, target, "choose a folder that can be written and has room") from error
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if not done:
            _remove_empty(made)


def write_whole(path: str | PathLike[str], data: bytes, *, force: bool = False) -> Path:
    """Write one file whole or not at all; its path. Raises ExportError as `staged` does."""
    with staged(path, force=force) as draft:
        draft.write_bytes(data)
    return Path(path)


def _refuse(target: Path, force: bool) -> None:
    if not target.name:
        raise ExportError("is no file name", target, "give a file name with a suffix")
    if target.is_dir():
        raise ExportError("is a folder", target, "give a file name in it")
    if not force and os.path.lexists(target):
        raise ExportError("exists already", target, "choose another name, or force to replace it")


def _make_parents(target: Path) -> list[Path]:
    """Make the folders above `target`; those that were missing, innermost first."""
    missing = []
    folder = target.parent
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = folder.parent
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _remove_empty(missing)
        fault = f"its folder cannot be made ({error.strerror or error})"
        raise ExportError(fault, target, "choose a folder that can be written") from error
    return missing


def _place(folder: Path, target: Path, force: bool) -> None:
    """Move every file of the staging folder to its place; take back what was new if one cannot be moved."""
    files = sorted((file for file in folder.rglob("*") if file.is_file()), key=lambda file: (file == folder / target.name, file))
    moves = [(file, target.parent / file.relative_to(folder)) for file in files]
    for _, place in moves:
        _refuse(place, force)
    placed: list[Path] = []
    made: list[Path] = []
    try:
        for file, place in moves:
            made += _make_parents(place)
            known = os.path.lexists(place)
            os.replace(file, place)
            if not known:
                placed.append(place)
    except (OSError, ExportError):
        for place in placed:
            place.unlink(missing_ok=True)
        _remove_empty(made)
        raise


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders, innermost first, that hold nothing."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:  # it was never made, or somebody else has put something into it
            continue

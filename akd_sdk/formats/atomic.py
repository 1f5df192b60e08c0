"""Outputs that are whole or absent: written beside their place, moved there at the end."""

from __future__ import annotations

import os
import secrets
import shutil
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
    missing = _missing(target.parent)
    folder = target.parent / f".{target.name[:40]}.{secrets.token_hex(8)}"  # named before it is made: an interruption finds it
    done = False
    try:
        _make(missing, target)
        folder.mkdir()
        yield folder / target.name
        _place(folder, target, force)
        done = True
    except OSError as error:
        fault = f"cannot be written ({error.strerror or error})"
        raise ExportError(fault, target, "choose a folder that can be written and has room") from error
    except ExportError as error:
        raise _in_place(error, folder, target) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if not done:
            _remove_empty(missing)


def write_whole(path: str | PathLike[str], data: bytes, *, force: bool = False) -> Path:
    """Write one file whole or not at all; its path. Raises ExportError as `staged` does."""
    with staged(path, force=force) as draft:
        draft.write_bytes(data)
    return Path(path)


def _refuse(target: Path, force: bool) -> None:
    if "\0" in str(target):
        raise ExportError("has a null character in its name", target, "give a name without")
    if not target.name:
        raise ExportError("is no file name", target, "give a file name with a suffix")
    if os.path.isdir(target):  # not Path.is_dir, which raises for names that are too long
        raise ExportError("is a folder", target, "give a file name in it")
    if not force and os.path.lexists(target):
        raise ExportError("exists already", target, "choose another name, or force to replace it")


def _in_place(error: ExportError, folder: Path, target: Path) -> ExportError:
    """An error about a file in the staging folder as one about where it was to lie."""
    if error.path is None or not Path(error.path).is_relative_to(folder):
        return error
    return ExportError(error.fault, target.parent / Path(error.path).relative_to(folder), error.hint)


def _missing(folder: Path) -> list[Path]:
    """What is not there of `folder` and the folders above it, innermost first."""
    missing = []
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = folder.parent
    return missing


def _make(missing: list[Path], target: Path) -> None:
    """Make the missing folders above `target`."""
    try:
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
        if not target.parent.is_dir():
            raise NotADirectoryError(f"{target.parent} is no folder")
    except OSError as error:
        fault = f"its folder cannot be made ({error.strerror or error})"
        raise ExportError(fault, target, "choose a folder that can be written") from error


def _place(folder: Path, target: Path, force: bool) -> None:
    """Move every file of the staging folder to its place; where one cannot be moved, all is as it was."""
    files = sorted((file for file in folder.rglob("*") if file.is_file()), key=lambda file: (file == folder / target.name, file))
    moves = [(file, target.parent / file.relative_to(folder)) for file in files]
    for _, place in moves:
        _refuse(place, force)
    placed: list[tuple[Path, Path | None]] = []
    made: list[Path] = []
    done = False
    try:
        for number, (file, place) in enumerate(moves):
            missing = _missing(place.parent)
            made = missing + made
            _make(missing, place)
            if not os.path.lexists(place):
                placed.append((place, None))
            elif len(moves) > 1:  # a single replacement is whole or not at all by itself
                placed.append((place, _kept(place, folder / f".kept.{number}")))
            os.replace(file, place)
        done = True
    finally:  # an interruption, too, takes back
        if not done:
            for place, old in placed:
                if old is None:
                    place.unlink(missing_ok=True)
                else:
                    os.replace(old, place)
            _remove_empty(made)


def _kept(place: Path, copy: Path) -> Path:
    """A second name for what is at a place, or a copy of it where the file system has no second names."""
    try:
        os.link(place, copy, follow_symlinks=False)
    except (OSError, NotImplementedError):
        shutil.copy2(place, copy, follow_symlinks=False)
    return copy


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders, innermost first, that hold nothing."""
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:  # it was never made, or somebody else has put something into it
            continue

"""Outputs of a command: several files that appear together at the end, or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from akd_sdk.errors import ExportError
from akd_sdk.formats.atomic import staged
from akd_sdk.schemas import OutputFile

LONGEST_STEM: Final = 200
"""Bytes of an output's name before its suffix; what file systems take is some 250."""


def claim(path: Path, *, force: bool) -> None:
    """Refuse now, before any work, a place that is taken.

    Raises:
        ExportError: a folder is there, or anything and `force` is off; a file is where a folder above it should be.
    """
    if os.path.isdir(path):  # not Path.is_dir, which raises for names that are too long
        raise ExportError("is a folder", path, "name a file, or move the folder away")
    if not force and os.path.lexists(path):
        raise ExportError("exists already", path, "--force replaces it")
    above = path.absolute().parent
    while not os.path.lexists(above):
        above = above.parent
    if not os.path.isdir(above):
        raise ExportError(f"its folder cannot be made ({above.name} is no folder)", path, "choose a folder that can be written")


@contextmanager
def together(folder: Path, names: Sequence[str], *, force: bool = False) -> Iterator[Path]:
    """A folder to write `names` (and what belongs to them) in; when the block ends they move into `folder`, the last of them last.

    What would have to be replaced without `force`, and a folder that cannot be written, are refused on entering, before any work is
    done. After a fault nothing is left, nor the folders made.

    Raises:
        ExportError: an output exists and `force` is off, or the folder cannot be written.
    """
    for name in names:
        claim(folder / name, force=force)
    with staged(folder / names[-1], force=force) as draft:
        yield draft.parent


def listing(work: Path, folder: Path) -> tuple[OutputFile, ...]:
    """The files in `work` as they will be called in `folder`."""
    files = sorted(path for path in work.rglob("*") if path.is_file())
    return tuple(OutputFile(path=str(folder / path.relative_to(work)), bytes=path.stat().st_size) for path in files)


def output_stem(character: str, clip: str) -> str:
    """What the outputs for a clip of a character are called, before the suffix: nothing that a file system minds, and not too long."""
    return re.sub(r"[^\w.-]+", "_", f"{character}_{clip}").encode()[:LONGEST_STEM].decode(errors="ignore")


def suffixes_of(formats: str) -> Sequence[str]:
    """File suffixes of a list of formats, each once."""
    from akd_sdk.exporters import known_suffixes

    known = known_suffixes()
    wanted = dict.fromkeys("." + word.strip().lower().lstrip(".") for word in formats.split(","))
    for suffix in wanted:
        if suffix not in known:
            raise ExportError(f"unknown format {suffix[1:]!r}", "--formats", f"known: {', '.join(s[1:] for s in known)}")
    return tuple(wanted)

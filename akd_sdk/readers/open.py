"""One door for all files: the suffix chooses the reader."""

from __future__ import annotations

import math
import os
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final, Protocol, cast

from akd_sdk.errors import ReadError, RigError
from akd_sdk.rig import Rig

GLTF_SUFFIXES: Final = (".glb", ".gltf", ".vrm")

SHORTEST_M, TALLEST_M = 1e-4, 1e6
"""Heights that a character may be given, metres; far beyond them numbers run out of range."""

GROUP: Final = "akd_sdk.readers"
"""Entry points of further readers, named by suffix without the dot."""


class Reader(Protocol):
    """What a reader is: a path and an optional height in metres make a `Rig`."""

    def __call__(self, path: Path, *, height: float | None = None) -> Rig: ...


def open_rig(path: str | Path, *, height: float | None = None) -> Rig:
    """The character of a file.

    Args:
        path: a .glb, .gltf or .vrm.
        height: metres from sole to crown at rest; None: the file's own where plausible, else guessed and said in the notes.

    Raises:
        ReadError: the file is missing, broken, or of a kind that is not read.
        RigError: it holds no skin, or the height is no positive number.
    """
    path = Path(path)
    if height is not None and not (math.isfinite(height) and SHORTEST_M <= height < TALLEST_M):
        raise RigError(f"the height is {height:g}", "--height", f"give metres, {SHORTEST_M:g} to {TALLEST_M:g}")
    return _reader(path)(path, height=height)


def _reader(path: Path) -> Reader:
    suffix = path.suffix.lower()
    if suffix in GLTF_SUFFIXES:
        from akd_sdk.readers.gltf import read_gltf

        return read_gltf
    for found in entry_points(group=GROUP, name=suffix[1:] or "none"):
        return cast(Reader, found.load())
    if not os.path.exists(path):  # not Path.exists, which raises for names that are too long
        raise ReadError("no such file", path)
    if path.is_dir():
        raise ReadError("is a folder, not a file", path)
    kind = f"{suffix[1:].upper()} files are not read yet" if suffix else "the name has no suffix that says what it is"
    raise ReadError(kind, path, f"read are {', '.join(GLTF_SUFFIXES)}")

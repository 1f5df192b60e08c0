"""Outputs of a command: several files that appear together at the end, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from akd_sdk.errors import ExportError
from akd_sdk.schemas import OutputFile


class OutputFolder:
    """A folder that receives the files of one command.

    As a context it makes the folder and a hidden one inside to work in, so that what cannot be written is refused before any work
    is done. `commit` moves everything into place; without it, or after a fault, the folder is left as it was found.

    Attributes:
        folder: where the outputs go.
        force: replace outputs that exist.
        work: write here, under the final names.
    """

    def __init__(self, folder: Path, *, force: bool = False) -> None:
        self.folder = folder
        self.force = force
        self._made: list[Path] = []
        self._work: Path | None = None

    @property
    def work(self) -> Path:
        if self._work is None:
            raise RuntimeError("an output folder is used as a context")
        return self._work

    def __enter__(self) -> Self:
        try:
            for missing in reversed([p for p in (self.folder, *self.folder.parents) if not os.path.lexists(p)]):
                missing.mkdir()
                self._made.append(missing)
            self._work = Path(tempfile.mkdtemp(prefix=".akd-", dir=self.folder))
        except OSError as fault:
            self._clear()
            raise ExportError(f"cannot be written to ({fault.strerror})", self.folder, "choose another folder with --output") from fault
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._clear()

    def claim(self, names: Iterable[str]) -> None:
        """Refuse now what `commit` would have to replace.

        Raises:
            ExportError: an output exists and `force` is off.
        """
        for name in names:
            if not self.force and os.path.lexists(self.folder / name):
                raise ExportError("exists already", self.folder / name, "--force replaces it")

    def listing(self) -> tuple[OutputFile, ...]:
        """The files written so far, at their final paths."""
        files = sorted(path for path in self.work.rglob("*") if path.is_file())
        return tuple(OutputFile(path=str(self.folder / path.relative_to(self.work)), bytes=path.stat().st_size) for path in files)

    def commit(self) -> None:
        """Move everything from `work` into the folder; on a fault, what was there before is put back.

        Raises:
            ExportError: an output exists and `force` is off, or the folder cannot be written to.
        """
        entries = sorted(self.work.iterdir())
        self.claim(entry.name for entry in entries)
        old = Path(tempfile.mkdtemp(prefix=".akd-old-", dir=self.folder))
        try:
            self._swap(entries, old)
        except OSError as fault:
            raise ExportError(f"cannot be written to ({fault.strerror})", self.folder) from fault
        finally:
            shutil.rmtree(old, ignore_errors=True)
        self._made.clear()

    def _swap(self, entries: list[Path], old: Path) -> None:
        done: list[Path] = []
        try:
            for entry in entries:
                target = self.folder / entry.name
                if os.path.lexists(target):
                    target.rename(old / entry.name)
                done.append(target)
                entry.rename(target)
        except OSError:
            for target in done:
                if os.path.lexists(target):
                    target.rename(self.work / target.name)
                if os.path.lexists(old / target.name):
                    (old / target.name).rename(target)
            raise

    def _clear(self) -> None:
        if self._work is not None:
            shutil.rmtree(self._work, ignore_errors=True)
        for made in reversed(self._made):
            with suppress(OSError):  # somebody else put something there meanwhile
                made.rmdir()
        self._made.clear()

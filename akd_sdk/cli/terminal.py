"""The terminal: results on standard output, everything else on standard error, and a bar for long work."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from akd_sdk.progress import Progress, ProgressCallback
from akd_sdk.schemas import Schema

LINE_EVERY_S: Final = 30.0
"""How often long work says a line where there is no terminal to draw a bar on."""


def results() -> Console:
    """Where results go. Made on each call, so that it writes to the standard output of the moment; into a file tables get room."""
    roomy = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return Console(file=sys.stdout, highlight=False, width=200 if roomy else None)


def say(text: str) -> None:
    """Lines of the result, as they are: no wrapping, no markup."""
    for line in text.splitlines():
        print(printable(line), file=sys.stdout)


def say_json(value: Schema) -> None:
    """The value as JSON, nothing else, on standard output."""
    sys.stdout.write(value.to_json())


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A plain table; cells are text as it is."""
    made = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for title in titles:
        made.add_column(title, overflow="fold")
    for row in rows:
        made.add_row(*(Text(printable(cell)) for cell in row))
    return made


def printable(text: str) -> str:
    """One line: control characters of file names and the like as escapes."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def warn(text: str) -> None:
    """A warning, one line on standard error."""
    print(f"warning: {printable(text)}", file=sys.stderr)


def refuse(text: str) -> None:
    """A refusal, one line on standard error."""
    print(f"error: {printable(text)}", file=sys.stderr)


@contextmanager
def progress_bar() -> Iterator[ProgressCallback]:
    """A callback that draws long work on standard error: a bar on a terminal, else a line when a stage begins and
    now and then."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Bars(*columns, console=Console(file=sys.stderr)) as bars:
        bar = bars.add_task("", total=1.0, detail="")

        def draw(report: Progress) -> None:
            bars.update(bar, description=report.stage, completed=report.fraction, detail=report.detail)

        yield draw


def _lines() -> ProgressCallback:
    seen: set[str] = set()
    last = time.monotonic()

    def tell(report: Progress) -> None:
        nonlocal last
        if report.stage not in seen:
            seen.add(report.stage)
            print(f"{report.stage} ...", file=sys.stderr, flush=True)
        elif time.monotonic() - last > LINE_EVERY_S:
            detail = f", {report.detail}" if report.detail else ""
            print(f"{report.stage} {100 * report.fraction:.0f} %{detail}", file=sys.stderr, flush=True)
        else:
            return
        last = time.monotonic()

    return tell

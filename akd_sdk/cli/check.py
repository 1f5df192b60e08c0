"""`akd check`: what players will make of the clips in a file that is not meant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from akd_sdk.cli.arguments import Json
from akd_sdk.cli.terminal import printable, refuse, results, say, say_json, table
from akd_sdk.errors import ReadError

if TYPE_CHECKING:
    from akd_sdk.exporters import Finding
    from akd_sdk.exporters.check import Code
    from akd_sdk.schemas import CheckedFile

EXAMPLE: Final = "akd check fox.glb --profile godot"
FOUND: Final = 2
"""Exit status of a file with errors or warnings."""
ALL: Final = "all"
COLOURS: Final = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def check(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Clips: glTF, USD or BVH.", show_default=False)] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile", metavar="ENGINE", help="What its engine takes, too: a profile of akd convert, or a .json.", show_default=False
        ),
    ] = None,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="CODE", help="Say what a code means; all lists them.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Find what players will get wrong in a file of clips.

    It looks where validators of the formats do not: signs, distances and times of keys, names, joints, arrays. Exit status: 0 nothing
    worse than a note, 2 errors or warnings.
    """
    if explain is not None:
        _explain(explain, json)
        return
    if file is None:
        raise ReadError("no file is given", "FILE", "name one, or a code with --explain")
    from akd_sdk.exporters import check as find

    found = find(file, profile)
    told = _told(file, profile, found)
    if json:
        say_json(told)
    elif found:
        _show(found)
    else:
        say(f"{file}: nothing found")
    if told.errors or told.warnings:
        refuse(f"{file}: {_counted(told.errors, 'error')}, {_counted(told.warnings, 'warning')}; akd check --explain CODE says what of it")
        raise typer.Exit(FOUND)


def _told(file: Path, profile: str | None, found: Sequence[Finding]) -> CheckedFile:
    from akd_sdk.schemas import CheckedFile, FoundFault

    counts = [sum(finding.severity == severity for finding in found) for severity in COLOURS]
    faults = tuple(
        FoundFault(code=f.code, severity=f.severity, where=f.where, fault=f.fault, remedy=f.remedy) for f in found
    )  # fmt: skip
    return CheckedFile(path=str(file), profile=profile, errors=counts[0], warnings=counts[1], notes=counts[2], findings=faults)


def _show(found: Sequence[Finding]) -> None:
    shown = table(("", "code", "where", "what is there", "what to do"), ())
    for finding in found:
        cells = (finding.code, finding.where, finding.fault, finding.remedy)
        shown.add_row(Text(finding.severity, style=COLOURS[finding.severity]), *(Text(printable(cell)) for cell in cells))
    results().print(shown)


def _explain(name: str, json: bool) -> None:
    from akd_sdk.exporters.check import CODES
    from akd_sdk.schemas import FaultKind, FaultKinds

    if name != ALL and name not in CODES:
        raise ReadError(f"unknown code {name!r}", "--explain", "akd check --explain all lists them")
    codes = tuple(CODES.values()) if name == ALL else (CODES[name],)
    if json:
        kinds = (
            FaultKind(code=c.name, severity=c.severity, formats=c.formats, profiled=c.profiled, fault=c.fault, why=c.why, remedy=c.remedy)
            for c in codes
        )
        say_json(FaultKinds(codes=tuple(kinds)))
    elif name == ALL:
        results().print(table(("code", "", "formats", "fault"), ((c.name, c.severity, c.formats, c.fault) for c in codes)))
    else:
        say("\n".join(_lines(codes[0])))


def _lines(code: Code) -> list[str]:
    looked = ", with --profile" if code.profiled else ""
    return [f"{code.name}: {code.fault}", f"{code.severity}, {code.formats}{looked}", code.why, f"What to do: {code.remedy}."]


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"

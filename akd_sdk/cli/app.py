"""The table of commands."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from akd_sdk import __version__
from akd_sdk.cli import animate, check, convert, inspect, metrics, sheet, track, train

app = typer.Typer(
    help="A rigged character and a sentence become animation clips that engines play.",
    epilog='Start with:  akd animate fox.glb "a fox trotting" -o out --loop',
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"akd-sdk {__version__}")
        raise typer.Exit()


@app.callback()
def _akd(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    pass


COMMANDS: Final = (
    (animate.animate, animate.EXAMPLE),
    (track.track, track.EXAMPLE),
    (inspect.inspect, inspect.EXAMPLE),
    (metrics.metrics, metrics.EXAMPLE),
    (sheet.sheet, sheet.EXAMPLE),
    (convert.convert, convert.EXAMPLE),
    (check.check, check.EXAMPLE),
    (train.train, train.EXAMPLE),
)
"""Every command with the example that its help shows."""

for _command, _example in COMMANDS:
    app.command(epilog=f"Example:  {_example}")(_command)

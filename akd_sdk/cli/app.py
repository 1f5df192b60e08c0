"""The table of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from akd_sdk import __version__
from akd_sdk.cli import convert, inspect, train

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


for _module, _command in ((convert, convert.convert), (inspect, inspect.inspect), (train, train.train)):
    app.command(epilog=f"Example:  {_module.EXAMPLE}")(_command)

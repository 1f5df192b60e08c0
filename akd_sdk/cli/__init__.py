"""The command line: `akd`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from akd_sdk.errors import AkdError

__all__ = ["main"]

DONE, REFUSED, INTERRUPTED = 0, 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 2 refused in one line on standard error, 130 interrupted.

    `argv` are the words after `akd`, by default those of the process. A bug passes through as the exception that it is.
    """
    try:
        return _run(argv)
    except KeyboardInterrupt:  # while the program is loaded; later typer sees to it
        print("error: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run(argv: Sequence[str] | None) -> int:
    import typer

    from akd_sdk.cli.app import app
    from akd_sdk.cli.terminal import refuse

    try:
        status = app(argv, prog_name="akd", standalone_mode=False)
    except AkdError as fault:
        refuse(str(fault))
        return REFUSED
    except typer.TyperException as fault:
        command = getattr(getattr(fault, "ctx", None), "command_path", "akd")
        refuse(f"{fault.format_message().rstrip('.')}; see {command} --help")
        return REFUSED
    if status == INTERRUPTED:
        refuse("interrupted")
    return status if isinstance(status, int) else DONE

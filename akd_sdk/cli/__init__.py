"""The command line: `akd`."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from akd_sdk.errors import AkdError

__all__ = ["main"]

DONE, REFUSED, INTERRUPTED = 0, 2, 130
ENDING = ("SIGTERM", "SIGHUP")
"""What job schedulers and closed terminals send: as Ctrl-C it leaves a checkpoint and no half-made output."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 2 refused in one line on standard error, 130 interrupted.

    `argv` are the words after `akd`, by default those of the process. A bug passes through as the exception that it is.
    """
    try:
        with _endings_interrupt():
            return _run(argv)
    except KeyboardInterrupt:  # while the program is loaded; later typer sees to it
        print("error: interrupted", file=sys.stderr)
        return INTERRUPTED


@contextmanager
def _endings_interrupt() -> Iterator[None]:
    """Signals of ENDING interrupt the block as Ctrl-C does, those that are not handled or ignored otherwise."""
    mine = threading.current_thread() is threading.main_thread()  # no other may handle signals
    numbers = [getattr(signal, name) for name in ENDING if mine and hasattr(signal, name)]
    taken = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, signal.default_int_handler)
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


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

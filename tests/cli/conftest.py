"""For tests of the command line: no terminal of the machine's own decides how wide tables are."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_terminal_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without COLUMNS and LINES, which readline sets for the worker processes of a parallel run."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("LINES", raising=False)

"""Keeping a known line of native code off standard error."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_line(text: str) -> Iterator[None]:
    """Holds back what is written to standard error within it, natively too, and passes on all lines without `text` at the end."""
    try:
        kept = os.dup(2)
    except OSError:  # a process without standard error
        yield
        return
    with tempfile.TemporaryFile() as held:
        sys.stderr.flush()
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, 2)
            os.close(kept)
            held.seek(0)
            for line in held:
                if text.encode() not in line:
                    os.write(2, line)

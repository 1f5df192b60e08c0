"""Rigs read once for all tests: a rig is a value, and reading the large ones takes seconds."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


@lru_cache(maxsize=16)
def opened(path: Path) -> Rig:
    """The rig of a file, as `open_rig` reads it."""
    return open_rig(path)

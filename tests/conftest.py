"""For all tests: where the shared data and the sample characters lie, and the folder of helpers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))  # helpers that tests of several folders import


def shared_folder() -> Path | None:
    """The folder of shared data: AKD_SHARED, else `shared` beside the checkout; None where there is none."""
    folder = Path(os.environ.get("AKD_SHARED") or ROOT.parent / "shared")
    return folder if (folder / "data").is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data; tests that need it are skipped where it is absent."""
    folder = shared_folder()
    if folder is None:
        pytest.skip("the shared data is not here (AKD_SHARED, or a folder `shared` beside the checkout)")
    return folder


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of the sample characters."""
    return ROOT / "samples"

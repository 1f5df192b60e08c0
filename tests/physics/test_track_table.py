"""The tracking table on one sample: distilled gaits stay up within the bound, and their files are as good as the marks ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from steps import jumping

from akd_sdk.physics import TrackOptions
from akd_sdk.rig import Rig
from tests.bench.motion_cache import load_motion, save_motion
from tests.bench.tracking import mark, marks
from tests.bench.tracking_rows import Case, TrackRow, row_of
from tests.gaits.cases import sample_rigs

pytestmark = pytest.mark.xdist_group("physics")


@pytest.fixture(scope="module")
def row() -> TrackRow:
    biped = next(rig for rig in sample_rigs() if rig.name == "biped")
    return row_of(Case(biped, "walk", 0), TrackOptions())


def test_a_distilled_walk_is_tracked_within_the_bound(row: TrackRow) -> None:
    print(row.line())
    assert row.stays_up
    assert row.helped is not None
    assert row.helped.flight == 0.0


def test_its_file_holds_the_marks(row: TrackRow) -> None:
    lines = marks([row], "default")
    assert len(lines) >= 9
    for line in lines:
        if "CPU seconds" not in line:  # of a machine that others use
            assert not line.startswith("MISS"), line


def test_a_mark_counts_and_names_what_misses(row: TrackRow) -> None:
    assert mark("never", 0.5, [row, row], lambda r: False).startswith("MISS   0.0% of   2")
    assert "biped walk 0" in mark("never", 0.5, [row], lambda r: False)
    assert mark("always", 1.0, [row], lambda r: True).startswith("met  100.0%")


def test_cached_motions_come_back(tmp_path: Path, biped: Rig) -> None:
    motion = jumping(biped)
    save_motion(motion, tmp_path / "deep" / "one.npz")
    again = load_motion(tmp_path / "deep" / "one.npz")
    for name in ("rotations", "root", "translations", "contacts", "travel"):
        assert (getattr(again, name) is None) == (getattr(motion, name) is None)
        assert getattr(motion, name) is None or (getattr(again, name) == getattr(motion, name)).all()
    assert (again.name, again.fps, again.loop, again.provenance) == (motion.name, motion.fps, motion.loop, motion.provenance)

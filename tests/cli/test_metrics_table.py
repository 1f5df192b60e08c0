"""The gait that the table of `akd metrics` names."""

from __future__ import annotations

import pytest

from akd_sdk.cli.metrics import best_gait
from akd_sdk.schemas import GaitFit, Metrics


def measured(duty: float | None, **coherence: float) -> Metrics:
    gaits = {name: GaitFit(coherence=value, swing=1.0) for name, value in coherence.items()}
    standing = {"planted_share": 0.4, "contact_duty": 0.4, "skate_mm": 1.0, "penetration_mean_percent": 0.0}
    return Metrics(**standing, penetration_worst_percent=0.0, jitter=100.0, duty=duty, gaits=gaits)


@pytest.mark.parametrize(("duty", "gait"), [(0.62, "walk"), (0.5, "walk"), (0.38, "run"), (None, "walk")])
def test_two_legs_run_where_a_foot_stands_for_less_than_half_of_its_cycle(duty: float | None, gait: str) -> None:
    assert best_gait(measured(duty, walk=0.99, run=0.99)) == gait
    assert best_gait(measured(duty, run=0.99, walk=0.99)) == gait


def test_four_legs_are_told_by_their_phases_alone() -> None:
    assert best_gait(measured(0.3, walk=0.6, trot=0.98, pace=0.1, gallop=0.4)) == "trot"


def test_a_motion_that_is_no_gait_has_none() -> None:
    assert best_gait(measured(None)) is None
    assert best_gait(measured(0.4, walk=0.3, run=0.3)) is None

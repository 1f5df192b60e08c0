"""Slip: soles that stand do not slip; those that slide are measured."""

from __future__ import annotations

import numpy as np
import pytest

from akd_sdk.physics.slip import slip_speed
from akd_sdk.physics.track import Prepared

pytestmark = pytest.mark.xdist_group("physics")


def test_a_standing_pose_does_not_slip(standing_ready: Prepared) -> None:
    values = standing_ready.reference.values
    assert slip_speed(standing_ready.reference, values, 0, len(values) - 1) < 1e-6


def test_sliding_feet_slip_as_fast_as_they_slide(standing_ready: Prepared) -> None:
    reference = standing_ready.reference
    values = reference.values.copy()
    values[:, 0] += 0.2 * np.arange(len(values)) * reference.dt
    wanted = 0.2 / standing_ready.articulation.root_height
    assert slip_speed(reference, values, 0, len(values) - 1) == pytest.approx(wanted, rel=1e-3)


def test_locked_steps_slip_less_than_they_go(stepping_ready: Prepared) -> None:
    reference = stepping_ready.reference
    last = len(reference.values) - 1
    way = np.linalg.norm(reference.values[-1, [0, 2]] - reference.values[reference.lead, [0, 2]])
    speed = way / ((last - reference.lead) * reference.dt) / stepping_ready.articulation.root_height
    assert slip_speed(reference, reference.values, reference.lead, last) < 0.25 * speed


def test_feet_in_the_air_do_not_count(standing_ready: Prepared) -> None:
    reference = standing_ready.reference
    values = reference.values.copy()
    values[:, 0] += 0.2 * np.arange(len(values)) * reference.dt
    values[:, 1] += 0.5
    assert slip_speed(reference, values, 0, len(values) - 1) == 0.0

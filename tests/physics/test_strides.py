"""Strides: what follows its reference misses no step; feet that do not swing, or swing late, do."""

from __future__ import annotations

import numpy as np
import pytest

from akd_sdk.physics.strides import misstep
from akd_sdk.physics.track import Prepared

pytestmark = pytest.mark.xdist_group("physics")


def _missed(ready: Prepared, values: np.ndarray) -> float:
    reference = ready.reference
    return misstep(reference, values, reference.lead, reference.lead + reference.cycle)


def test_a_reference_misses_none_of_its_own_steps(stepping_ready: Prepared) -> None:
    assert _missed(stepping_ready, stepping_ready.reference.values) < 1e-9


def test_a_body_that_is_elsewhere_misses_none(stepping_ready: Prepared) -> None:
    values = stepping_ready.reference.values.copy()
    values[:, [0, 1, 2]] += [0.3, 0.1, -2.0]
    values[:, 3] += 0.4
    assert _missed(stepping_ready, values) < 1e-9


def test_legs_that_do_not_swing_miss_all_of_it(stepping_ready: Prepared) -> None:
    values = stepping_ready.reference.values.copy()
    values[:, 6:] = values[:, 6:].mean(axis=0)
    assert _missed(stepping_ready, values) == pytest.approx(1.0, abs=0.1)


def test_legs_half_a_stride_late_miss_twice_their_swing(stepping_ready: Prepared) -> None:
    reference = stepping_ready.reference
    values = reference.values.copy()
    values[:, 6:] = np.roll(values[:, 6:], reference.lead // 2, axis=0)
    assert _missed(stepping_ready, values) > 1.5


def test_what_is_no_gait_has_no_steps_to_miss(standing_ready: Prepared) -> None:
    reference = standing_ready.reference
    assert not reference.cycles
    values = reference.values.copy()
    values[len(values) // 2 :, 6:] += 0.3
    assert misstep(reference, values, 0, len(values) - 1) == 0.0

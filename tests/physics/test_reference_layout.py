"""References: a loop laid out over several cycles is one smooth path, begun a stride early."""

from __future__ import annotations

import numpy as np
import pytest
from steps import jumping

from akd_sdk.physics import TrackOptions
from akd_sdk.physics.course import stride_seconds
from akd_sdk.physics.reference import SHORTEST_RUN_S
from akd_sdk.physics.track import Prepared, prepare
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")

READY = ("stepping_ready", "circle_ready")


@pytest.fixture(params=READY)
def ready(request: pytest.FixtureRequest) -> Prepared:
    prepared: Prepared = request.getfixturevalue(request.param)
    return prepared


def test_rates_are_derivatives_of_values_across_seams(ready: Prepared) -> None:
    reference = ready.reference
    found = np.gradient(reference.values, reference.dt, axis=0)[1:-1]
    assert np.abs(found - reference.rates[1:-1]).max() < 1e-6 * np.abs(reference.rates).max()


def test_a_loop_runs_for_seconds_after_a_stride(ready: Prepared, biped: Rig) -> None:
    reference = ready.reference
    count = len(reference.values) - 1
    assert count == reference.lead + reference.cycles * reference.cycle
    assert (count - reference.lead) * reference.dt >= SHORTEST_RUN_S - 1e-6
    assert reference.lead * reference.dt == pytest.approx(stride_seconds(biped, ready.motion), abs=reference.dt)
    assert reference.lead * reference.dt == pytest.approx(1.0 / 1.5, rel=0.05)


def test_the_first_cycle_after_the_lead_in_is_the_course_itself(ready: Prepared) -> None:
    reference, course = ready.reference, ready.reference.course
    own = slice(reference.lead, reference.lead + course.steps)
    assert np.array_equal(reference.values[own], course.values[:-1])
    assert np.array_equal(reference.phase[own], np.arange(course.steps))


def test_cycles_turn_on(circle_ready: Prepared) -> None:
    reference = circle_ready.reference
    count = reference.cycle
    gained = reference.values[count:, 3] - reference.values[:-count, 3]
    assert np.allclose(gained, 2.0 * 1.7, atol=1e-6)


def test_what_does_not_loop_is_followed_once(biped: Rig) -> None:
    reference = prepare(biped, jumping(biped), TrackOptions()).reference
    assert (reference.lead, reference.cycles, reference.cycle) == (0, 0, 0)
    assert np.array_equal(reference.values, reference.course.values)
    assert reference.flight.mean() * (len(reference.values) - 1) * reference.dt == pytest.approx(0.3, abs=0.05)

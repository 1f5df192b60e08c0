"""Search: help rises from none, the least that works is kept, and what nothing keeps up is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from akd_sdk.errors import PhysicsError
from akd_sdk.physics import search
from akd_sdk.physics.loops import Cycle
from akd_sdk.physics.reference import Reference
from akd_sdk.physics.search import BOUND, CAPS, MEAN_SHARE, least_help
from akd_sdk.physics.simulate import Run
from akd_sdk.physics.track import Prepared
from akd_sdk.progress import Progress, ignore

pytestmark = pytest.mark.xdist_group("physics")


class Scripted:
    """Stands in for a simulation: follows the reference where `stands` says so of the caps, else falls after half of it."""

    def __init__(self, reference: Reference, stands: Callable[[float], bool], used: float = 0.0) -> None:
        self.reference, self.stands, self.used = reference, stands, used
        self.tried: list[float] = []

    def set_stiffness(self, factor: float) -> None:
        pass

    def run(self, caps: tuple[float, float]) -> Run:
        self.tried.append(caps[0])
        values, rates = self.reference.values.copy(), self.reference.rates
        if not self.stands(caps[0]):
            values[len(values) // 2 :, 4] += 2.0
        force = np.full((len(values) - 1, 3), self.used * caps[0])
        return Run(values, rates, force, 0.0 * force, caps)


def test_what_stands_by_itself_gets_no_help(stepping_ready: Prepared) -> None:
    simulation = Scripted(stepping_ready.reference, lambda cap: True)
    best, alone = least_help(simulation, True, ignore, "steps")
    assert best.run.caps == (0.0, 0.0)
    assert set(simulation.tried) == {0.0}
    assert alone.fall is None
    assert best.works


def test_what_only_stands_says_what_it_lacks(stepping_ready: Prepared) -> None:
    simulation = Scripted(stepping_ready.reference, lambda cap: True)
    best, _ = least_help(simulation, True, ignore, "steps")
    assert best.faults == ()
    for change in ({"slip": 0.6}, {"astray": 0.2}, {"misstep": 0.6}, {"cycle": Cycle(0, 2.0, 0.01)}, {"cycle": Cycle(0, 0.5, 0.2)}):
        lacking = replace(best, **change)
        assert lacking.stands
        assert not lacking.works
        assert len(lacking.faults) == 1


def test_help_rises_until_it_stands(stepping_ready: Prepared) -> None:
    simulation = Scripted(stepping_ready.reference, lambda cap: cap >= 0.1)
    best, alone = least_help(simulation, True, ignore, "steps")
    assert best.run.caps == CAPS[3]
    assert simulation.tried == sorted(simulation.tried)
    assert max(simulation.tried) == 0.1
    assert alone.fall == len(stepping_ready.reference.values) // 2


def test_steps_of_help_rise_to_the_bound() -> None:
    assert CAPS[0] == (0.0, 0.0)
    assert all(low < high for low, high in itertools.pairwise(CAPS))
    force, torque = CAPS[-1]
    assert 0.95 * BOUND[0] < np.sqrt(3.0) * force <= BOUND[0]
    assert 0.95 * BOUND[1] < np.sqrt(3.0) * torque <= BOUND[1]


def test_more_help_than_a_third_of_the_bound_on_the_mean_is_refused(stepping_ready: Prepared) -> None:
    simulation = Scripted(stepping_ready.reference, lambda cap: cap >= 0.2, used=1.0)
    assert np.sqrt(3.0) * 0.2 > MEAN_SHARE * BOUND[0]
    with pytest.raises(PhysicsError):
        least_help(simulation, True, ignore, "steps")


def test_what_falls_with_all_help_is_refused_in_one_line(stepping_ready: Prepared) -> None:
    simulation = Scripted(stepping_ready.reference, lambda cap: False)
    with pytest.raises(PhysicsError) as caught:
        least_help(simulation, True, ignore, "steps")
    reference = stepping_ready.reference
    after = (len(reference.values) // 2 - reference.lead) * reference.dt
    said = str(caught.value)
    assert "steps" in said
    assert f"{after:.2f} s" in said
    assert "\n" not in said
    assert set(simulation.tried) == {cap for cap, _ in CAPS}


def test_without_help_only_none_is_tried(stepping_ready: Prepared) -> None:
    simulation = Scripted(stepping_ready.reference, lambda cap: cap > 0.0)
    with pytest.raises(PhysicsError):
        least_help(simulation, False, ignore, "steps")
    assert set(simulation.tried) == {0.0}


def test_what_stands_but_no_longer_steps_is_refused_as_another_gait(stepping_ready: Prepared) -> None:
    class Still(Scripted):
        def run(self, caps: tuple[float, float]) -> Run:
            run = super().run(caps)
            run.values[:, 6:] = run.values[:, 6:].mean(axis=0)
            return run

    with pytest.raises(PhysicsError, match="loses its gait"):
        least_help(Still(stepping_ready.reference, lambda cap: True), True, ignore, "steps")


def test_a_loop_on_the_spot_may_not_creep(standing_ready: Prepared, stepping_ready: Prepared) -> None:
    """A tenth of the way is little of a walk; a loop that stands slides through the scene by it."""
    leg = standing_ready.articulation.root_height

    def missed(reference: Reference, metres: float) -> float:
        values = reference.values.copy()
        values[:, 0] += np.linspace(0.0, metres, len(values))
        run = Run(values, reference.rates, np.zeros((1, 3)), np.zeros((1, 3)), CAPS[0])
        return search._astray(reference, run, 0, len(values) - 1)

    once = standing_ready.reference
    again = replace(once, cycles=1)
    assert missed(again, 0.02 * leg) < search.ASTRAY < missed(again, 0.03 * leg)
    assert missed(once, 0.09 * leg) < search.ASTRAY < missed(once, 0.11 * leg)
    assert missed(stepping_ready.reference, 0.03 * leg) < search.ASTRAY


def test_progress_rises_and_can_stop_the_search(stepping_ready: Prepared) -> None:
    told: list[Progress] = []
    simulation = Scripted(stepping_ready.reference, lambda cap: cap >= 0.1)
    least_help(simulation, True, told.append, "steps")
    shares = [one.fraction for one in told]
    assert shares == sorted(shares)
    assert len(shares) >= 4

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        least_help(simulation, True, stop, "steps")

"""Sampling: shifted feet keep up what falls by itself, what is learnt is right, and budget, seed and interrupts are kept."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import numpy as np
import pytest
from steps import stepping

from akd_sdk.bodies.coordinates import ROOT
from akd_sdk.errors import PhysicsError
from akd_sdk.physics import sampler as sampler_module
from akd_sdk.physics import sampling, track
from akd_sdk.physics.course import turned
from akd_sdk.physics.options import TrackOptions
from akd_sdk.physics.responses import feedbacks, transitions
from akd_sdk.physics.sampler import Budget, Sampler
from akd_sdk.physics.sampling import INTERRUPTED, is_good, sampled_best, score
from akd_sdk.physics.search import CAPS, Attempt, unaided
from akd_sdk.physics.simulate import Simulation, first_fall
from akd_sdk.physics.steering import PLACE, ROOT_ERRORS, Steering
from akd_sdk.physics.track import Prepared, prepare
from akd_sdk.progress import Progress, ignore
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")

SMALL = 1e-3
"""Radians and metres of steps against which linear maps are held."""


@pytest.fixture(scope="module")
def ready(biped: Rig) -> Prepared:
    """Steps that fall without help."""
    return prepare(biped, stepping(biped, seconds=1.0 / 1.5), TrackOptions())


def fresh(ready: Prepared, seed: int = 0) -> Sampler:
    return Sampler(ready.simulation, seed, Budget(1e9, False, 0.0))


@pytest.fixture(scope="module")
def sampler(ready: Prepared) -> Sampler:
    return fresh(ready)


@pytest.fixture(scope="module")
def found(ready: Prepared) -> Attempt:
    """The best of two rounds."""
    sampler = fresh(ready)
    return min([*sampler.round(), *sampler.round()], key=score)


def test_what_falls_by_itself_is_kept_up_by_shifted_feet_without_help(ready: Prepared, found: Attempt) -> None:
    alone = unaided(ready.simulation)
    assert alone.fall is not None
    assert found.fall is None
    assert found.run.caps == (0.0, 0.0)
    assert not found.run.force.any()
    assert not found.run.torque.any()
    assert first_fall(ready.reference, found.run.values) is None


def test_its_recorded_cycle_closes(found: Attempt) -> None:
    assert found.cycle is not None
    assert found.cycle.closes


def test_equal_seeds_give_equal_states(ready: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNS", "FIRST_SAMPLES", "LEAST_SAMPLES"):
        monkeypatch.setattr(sampler_module, name, 8)
    first, second, third = (list(fresh(ready, seed).round())[-2].run.values for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert first.shape != third.shape or not np.array_equal(first, third)


def test_equal_seeds_give_equal_motions(biped: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "SECONDS", 0.8)
    given = stepping(biped, seconds=1.0 / 1.5)
    first, second, third = (track(biped, given, TrackOptions(effort="best", seed=seed)).motion for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.rotations, second.rotations)
    np.testing.assert_array_equal(first.root, second.root)
    assert not np.array_equal(first.rotations, third.rotations)


def test_the_number_of_threads_changes_nothing(ready: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = ready.simulation
    rng = np.random.default_rng(0)
    states = np.repeat(np.concatenate([[0.0], simulation.start(), ready.reference.rates[0]])[None], 24, axis=0)
    states[:, 1 + ROOT : 20] += 0.02 * rng.normal(size=(24, 19 - ROOT))
    controls = np.repeat(simulation.controls[None, :24], 24, axis=0)
    one = np.concatenate([simulation.step(state[None], control[None]) for state, control in zip(states, controls)])
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    threads = Simulation(ready.plant, ready.reference, np.zeros((len(simulation.controls) + 1, ready.reference.coordinates.count)))
    np.testing.assert_array_equal(threads.step(states, controls), one)


def test_shifts_move_soles_by_as_much(sampler: Sampler, ready: Prepared) -> None:
    steering, reference = sampler.steering, ready.reference
    step = reference.lead + 30
    base = np.concatenate([[0.0], reference.values[step], reference.rates[step]])
    for leg in range(len(steering.legs)):
        for axis, least in ((0, 0.9), (2, 0.8)):
            shift = np.zeros(steering.inputs)
            shift[leg * steering.tasks + axis] = SMALL
            states = np.stack([base, base])
            states[1, 1 + ROOT : 1 + reference.coordinates.count] += steering.maps(step)[0] @ shift
            errors, _ = steering.look(states, step)
            moved = (errors[1] - errors[0])[ROOT_ERRORS:].reshape(-1, 3) / SMALL
            assert least < moved[leg, axis] < 1.02
            assert np.abs(np.delete(moved, leg, axis=0)).max() < 1e-6


def test_a_root_that_moves_shifts_feet_as_the_map_says(sampler: Sampler, ready: Prepared) -> None:
    steering, reference = sampler.steering, ready.reference
    step = reference.lead + 30
    _, feet = steering.maps(step)
    base = np.concatenate([[0.0], reference.values[step], reference.rates[step]])
    along = np.eye(ROOT)
    along[:, [0, 2]] = turned(along[:, [0, 2]], reference.values[step, 3])
    for coordinate in range(ROOT):
        states = np.stack([base, base])
        states[1, 1 : 1 + ROOT] += SMALL * along[coordinate]
        _, soles = steering.look(states, step)
        moved = (soles[1] - soles[0]) @ reference.coordinates.facing / SMALL
        moved[:, [0, 2]] = turned(moved[:, [0, 2]], -reference.values[step, 3])
        np.testing.assert_allclose(moved, feet[:, coordinate].reshape(-1, steering.tasks)[:, :3], atol=5e-3)


def test_deviations_do_not_ask_where_it_walks_and_to_where(circle_ready: Prepared) -> None:
    steering, reference = Steering(circle_ready.simulation), circle_ready.reference
    early, late = reference.lead + 10, reference.lead + 10 + reference.cycle
    seen = []
    for step in (early, late):
        state = np.concatenate([[0.0], reference.values[step], reference.rates[step]])[None].copy()
        state[:, 2] += 0.01
        state[:, 5] += 0.02
        seen.append(steering.look(state, step)[0])
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-9)
    assert abs(seen[0][0, 3] - 0.01 / steering.height) < 1e-9
    assert abs(seen[0][0, 4] - 0.02) < 1e-9


def test_what_was_learnt_foretells_windows_that_were_not_seen(sampler: Sampler) -> None:
    spans = [(window.first, window.last) for window in sampler.cycle]
    made = transitions(sampler.steering, sampler.samples, sampler.groups, spans)
    missed, spread = 0.0, 0.0
    for window in sampler.cycle:
        unseen = sampler._about(window, 24)
        guess = unseen.given @ made[window.place][PLACE:, PLACE:-1].T + made[window.place][PLACE:, -1]
        left = unseen.found[:, PLACE:] - guess
        missed += float((left**2).sum())
        spread += float(((unseen.found[:, PLACE:] - unseen.found[:, PLACE:].mean(axis=0)) ** 2).sum())
    assert missed < 0.35 * spread


def test_feedback_makes_small_deviations_smaller_in_what_was_learnt(sampler: Sampler) -> None:
    steering = sampler.steering
    spans = [(window.first, window.last) for window in sampler.cycle]
    made = transitions(steering, sampler.samples, sampler.groups, spans)
    guide = feedbacks(steering, made, sampler.feet, True)
    size = steering.errors + steering.inputs
    free, bound = np.eye(size), np.eye(size)
    for transition, feedback in zip(made, guide):
        shifts = feedback.gain[:, :-1]
        stay, driven = transition[:, :size], transition[:, size:-1]
        free = np.concatenate([stay, np.zeros((steering.inputs, size))]) @ free
        bound = np.concatenate([stay + driven @ shifts, shifts]) @ bound
    upright = np.arange(2, size)  # where it is does not matter
    without, with_feedback = (np.abs(np.linalg.eigvals(m[np.ix_(upright, upright)])).max() for m in (free, bound))
    assert without > 1.0
    assert with_feedback < 0.9


def test_an_interrupt_gives_what_stands_so_far(ready: Prepared, found: Attempt) -> None:
    known = replace(found, slip=0.3)

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    assert sampled_best(ready.simulation, known, (0, None, True), stop) == (known, (INTERRUPTED,))
    with pytest.raises(KeyboardInterrupt):
        sampled_best(ready.simulation, PhysicsError("nothing stood", "steps"), (0, None, True), stop)


def test_a_budget_that_is_used_up_ends_in_what_is_known(ready: Prepared, found: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    known = replace(found, slip=0.3)
    rounds: list[int] = []
    monkeypatch.setattr(Sampler, "round", lambda self: rounds.append(1) or iter(()))
    assert sampled_best(ready.simulation, known, (0, 1e-9, True), ignore) == (known, ())
    with pytest.raises(PhysicsError, match="nothing stood"):
        sampled_best(ready.simulation, PhysicsError("nothing stood", "steps"), (0, 1e-9, True), ignore)
    assert not rounds


def test_a_budget_in_seconds_is_kept(ready: Prepared, found: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    known = replace(found, slip=0.3)
    for name, value in (("is_good", lambda _: False), ("PATIENCE", 1000), ("score", lambda _: 0.0)):
        monkeypatch.setattr(sampling, name, value)
    for seconds in (1.5, 6.0):
        start = time.process_time()
        assert sampled_best(ready.simulation, known, (0, seconds, False), ignore) == (known, ())
        assert abs(time.process_time() - start - seconds) < 0.25 * seconds


def test_nothing_is_sampled_for_what_is_good_already(ready: Prepared, found: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("it sampled")

    good = replace(found, slip=0.0, astray=0.0)
    assert is_good(good)
    monkeypatch.setattr(sampling, "Sampler", never)
    assert sampled_best(ready.simulation, good, (0, None, True), ignore).best is good


def test_less_help_and_steadier_feet_win(found: Attempt) -> None:
    helped = replace(found, run=replace(found.run, caps=(0.1, 0.06)))
    slipping = replace(found, slip=found.slip + 0.3)
    assert score(found) < score(helped)
    assert score(found) < score(slipping)
    assert score(replace(found, fall=10)) == np.inf
    assert score(replace(found, astray=0.3)) == np.inf


def test_progress_says_what_is_tried_and_help_is_tried_last(ready: Prepared, found: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    known = replace(found, run=replace(found.run, caps=CAPS[-1]), slip=0.3)
    for name in ("RUNS", "FIRST_SAMPLES", "LEAST_SAMPLES"):
        monkeypatch.setattr(sampler_module, name, 4)
    monkeypatch.setattr(sampling, "SECONDS", 0.7)
    monkeypatch.setattr(sampling, "score", lambda attempt: -1.0 if attempt is known else 0.0)
    told: list[Progress] = []
    assert sampled_best(ready.simulation, known, (0, None, True), told.append).best is known
    assert [one.fraction for one in told] == sorted(one.fraction for one in told)
    assert all(f"best so far has {np.sqrt(3.0) * CAPS[-1][0]:.2f}" in one.detail for one in told)
    assert "without help" in told[0].detail
    assert "with help of" in told[-1].detail

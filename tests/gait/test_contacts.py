"""Contacts: the rules of planting, on feet whose stance is known by construction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from treadmill import Gait, body, walk

from akd_sdk.gait import estimate_travel, find_contacts
from akd_sdk.gait.contacts import drop_short, hold, low_and_slow
from akd_sdk.gait.smoothing import runs

PROMPT = {"prompt": "walking"}


def true_stance(gait: Gait, limb: str, times: np.ndarray) -> np.ndarray:
    phase = (times * gait.frequency - dict(gait.phases)[limb]) % 1.0
    return (phase < gait.duty) | np.isclose(phase, 1.0)


@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("feet", [2, 4])
def test_stance_is_found_to_a_frame(feet: int, made: bool) -> None:
    rig, legs = body(feet=feet)
    gait = Gait()
    motion = walk(rig, legs, gait)
    motion = motion.with_(provenance=PROMPT if made else {})
    contacts = find_contacts(rig, motion)
    for i, leg in enumerate(legs):
        stance = true_stance(gait, leg.limb, motion.times)
        for point in (2 * i, 2 * i + 1):
            wrong = np.flatnonzero(contacts[:-1, point] != stance[:-1])
            edges = np.flatnonzero(np.diff(stance[:-1].astype(int), append=int(stance[0])))
            away = np.abs((wrong[:, None] - edges + 30) % 60 - 30).min(axis=1) if len(wrong) else np.zeros(0)
            assert (away <= 2).all()
            assert len(wrong) <= 2 * len(edges)


def test_a_rolling_foot_leaves_its_heel_before_its_toe() -> None:
    rig, legs = body()
    contacts = find_contacts(rig, walk(rig, legs, Gait(roll=0.5)))
    heel, toe = contacts[:, 0], contacts[:, 1]
    last = {k: max(run[-1] for run in runs(mask[:30], False)) for k, mask in (("heel", heel), ("toe", toe))}
    assert last["heel"] < last["toe"]
    assert heel.mean() < toe.mean() + 0.1


def test_contacts_of_a_loop_end_as_they_begin() -> None:
    rig, legs = body(feet=4)
    contacts = find_contacts(rig, walk(rig, legs, Gait(), noise=0.02))
    assert np.array_equal(contacts[0], contacts[-1])


def test_feet_that_rest_are_always_planted() -> None:
    rig, legs = body(feet=4)
    still = walk(rig, legs, Gait(speed=0.0, lift=0.0))
    for provenance in ({}, PROMPT):
        assert find_contacts(rig, still.with_(provenance=provenance)).all()


def test_unrest_of_a_made_motion_is_no_lift_but_a_jump_is() -> None:
    rig, legs = body()
    still = walk(rig, legs, Gait(speed=0.0, lift=0.0)).with_(provenance=PROMPT)
    for frames, planted in ((3, True), (12, False)):
        root = still.root.copy()
        root[20 : 20 + frames, 1] += 0.06 * rig.leg_length
        contacts = find_contacts(rig, still.with_(root=root))
        assert contacts[20 : 20 + frames].all() == planted
        assert contacts[:18].all()
        assert contacts[36:].all()


def test_made_stance_is_as_long_as_its_duty_and_a_frame() -> None:
    rig, legs = body()
    for duty in (0.35, 0.62):
        motion = walk(rig, legs, Gait(duty=duty, hips=0.1), noise=0.02).with_(provenance=PROMPT)
        assert find_contacts(rig, motion).mean() == pytest.approx(duty + 1 / 30, abs=0.08)


def test_a_foot_of_short_swing_stands_shorter() -> None:
    rig, legs = body(feet=4)
    motion = walk(rig, legs, Gait()).with_(provenance=PROMPT)
    travel = estimate_travel(rig, motion)
    faster = type(travel)(travel.path * 2.0, False)
    assert find_contacts(rig, motion, faster).mean() < 0.8 * find_contacts(rig, motion, travel).mean()


def test_no_contact_points_give_an_empty_table() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait())
    assert find_contacts(replace(rig, contact_points=()), motion).shape == (motion.frames, 0)


def test_hysteresis_holds_between_the_two_thresholds() -> None:
    height = np.array([0.10, 0.03, 0.01, 0.03, 0.03, 0.05, 0.03])[:, None]
    start, keep = low_and_slow(height, np.zeros_like(height), 1.0, np.full(7, 0.3))
    assert hold(start, keep, False)[:, 0].tolist() == [False, False, True, True, True, False, False]


def test_hysteresis_of_a_loop_runs_over_its_seam() -> None:
    height = np.array([0.03, 0.03, 0.10, 0.01])[:, None]
    start, keep = low_and_slow(height, np.zeros_like(height), 1.0, np.full(4, 0.3))
    assert hold(start, keep, True)[:, 0].tolist() == [True, True, False, True]
    assert hold(start, keep, False)[:, 0].tolist() == [False, False, False, True]


def test_fast_points_are_let_go_at_twice_the_limit() -> None:
    speed = np.array([0.5, 0.2, 0.5, 0.61])[:, None]
    start, keep = low_and_slow(np.zeros_like(speed), speed, 1.0, np.full(4, 0.3))
    assert hold(start, keep, False)[:, 0].tolist() == [False, True, True, False]


def test_short_stretches_do_not_count_but_those_over_the_seam_do() -> None:
    planted = np.array([1, 0, 0, 1, 0, 0, 0, 1], dtype=bool)[:, None]
    assert drop_short(planted, 2, True)[:, 0].tolist() == [True, False, False, False, False, False, False, True]
    assert not drop_short(planted, 2, False).any()
    assert drop_short(np.ones((1, 1), dtype=bool), 2, True).all()


def test_runs_are_in_time_order_over_the_seam() -> None:
    mask = np.array([1, 1, 0, 1, 0, 1], dtype=bool)
    assert [run.tolist() for run in runs(mask, True)] == [[5, 0, 1], [3]]
    assert [run.tolist() for run in runs(mask, False)] == [[0, 1], [3], [5]]

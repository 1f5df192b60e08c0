"""Flights: jumps that float are given the time that gravity allows them, and nothing else is touched."""

from __future__ import annotations

import numpy as np
import pytest
from steps import jumping, standing, stepping

from akd_sdk.bodies import articulate
from akd_sdk.bodies.coordinates import Coordinates
from akd_sdk.motion import Motion
from akd_sdk.physics import track
from akd_sdk.physics.course import body_turns, course_of
from akd_sdk.physics.flights import GRAVITY, RETIMED, ballistic, flights_of, retimed
from akd_sdk.physics.track import DT_S
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")


def floating(rig: Rig, slow: float) -> Motion:
    """A jump of half a second in the air, shown so many times as slowly."""
    jump = jumping(rig, flight_s=0.5)
    return jump.with_(fps=jump.fps / slow)


def made_ballistic(rig: Rig, motion: Motion) -> Motion:
    body = articulate(rig)
    coordinates = Coordinates.about(body, rig.facing, body_turns(rig, body, motion))
    return ballistic(coordinates, motion, course_of(rig, coordinates, motion, DT_S))


def flight(motion: Motion) -> tuple[float, float]:
    """Seconds of the one flight, and the acceleration with which the pelvis falls in it."""
    frames = np.flatnonzero(~motion.contacts.any(axis=1))
    assert (np.diff(frames) == 1).all()
    return len(frames) / motion.fps, -2.0 * float(np.polyfit(frames / motion.fps, motion.root[frames, 1], 2)[0])


@pytest.mark.parametrize(("name", "slow"), [("biped", 1.3), ("quadruped", 1.3), ("quadruped", 0.7)])
def test_flights_last_as_long_as_gravity_lets_them(name: str, slow: float, request: pytest.FixtureRequest) -> None:
    rig = request.getfixturevalue(name)
    before = floating(rig, slow)
    off = flight(before)[1] / GRAVITY
    assert abs(off - 1.0) > 0.3
    after = made_ballistic(rig, before)
    seconds, pull = flight(after)
    assert pull / GRAVITY == pytest.approx(1.0, abs=0.12)
    assert seconds == pytest.approx(flight(before)[0] * np.sqrt(off), rel=0.1)


def test_frames_ends_and_heights_stay(biped: Rig) -> None:
    before = floating(biped, 1.3)
    after = made_ballistic(biped, before)
    assert (after.frames, after.fps, after.name, after.loop) == (before.frames, before.fps, before.name, before.loop)
    for end in (0, -1):
        assert np.allclose(after.root[end], before.root[end])
        assert np.allclose(after.rotations[end], before.rotations[end])
    assert after.root[:, 1].max() == pytest.approx(before.root[:, 1].max(), abs=0.01)
    assert after.root[:, 1].min() == pytest.approx(before.root[:, 1].min(), abs=0.01)


def test_what_flies_as_it_should_or_not_at_all_is_not_touched(biped: Rig) -> None:
    for motion in (jumping(biped), standing(biped), stepping(biped)):
        assert made_ballistic(biped, motion) is motion


def test_what_flies_nearly_all_the_time_is_not_touched(biped: Rig) -> None:
    """Little else is left that could make up for the time."""
    jump = floating(biped, 1.5)
    first, last = np.flatnonzero(~jump.contacts.any(axis=1))[[0, -1]] + [-2, 3]
    kept = slice(int(first), int(last))
    short = jump.with_(rotations=jump.rotations[kept], root=jump.root[kept], translations=None, contacts=jump.contacts[kept], travel=None)
    assert made_ballistic(biped, short) is short


def test_flights_are_between_stances_and_long() -> None:
    planted = np.ones((1000, 2), dtype=np.bool_)
    for first, last in ((0, 150), (300, 330), (500, 700), (900, 1000)):
        planted[first:last] = False
    assert flights_of(planted, 0.002) == [(500, 699)]


def test_times_between_frames_are_between_poses(biped: Rig) -> None:
    jump = jumping(biped)
    times = np.arange(jump.frames) / jump.fps
    same = retimed(jump, times)
    assert np.allclose(same.root, jump.root)
    assert np.allclose(np.abs((same.rotations * jump.rotations).sum(axis=-1)), 1.0)
    late = retimed(jump, times + 0.5 / jump.fps)
    assert np.allclose(late.root[:-1], 0.5 * (jump.root[1:] + jump.root[:-1]))
    assert np.allclose(late.root[-1], jump.root[-1])


@pytest.mark.parametrize("name", ["quadruped"])
def test_a_jump_that_floats_is_tracked_with_a_flight_of_its_own(name: str, request: pytest.FixtureRequest) -> None:
    rig = request.getfixturevalue(name)
    tracked = track(rig, floating(rig, 1.3))
    assert RETIMED in tracked.notes
    record = tracked.record
    aloft = (record.heights > 2e-3 * rig.leg_length).all(axis=1)
    inside = aloft[:-2] & aloft[1:-1] & aloft[2:]
    fall = np.diff(record.com[:, 1], 2)[inside] * record.fps**2
    assert inside.sum() / record.fps > 0.1
    assert (np.abs(fall + GRAVITY) / GRAVITY).max() < 0.2

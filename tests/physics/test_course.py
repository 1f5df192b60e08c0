"""Courses: loops close and go on, also turning ones; key frames are followed closely; rates and accelerations are those of the values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from steps import jumping

from akd_sdk.bodies import articulate
from akd_sdk.bodies.coordinates import Coordinates
from akd_sdk.motion import Motion
from akd_sdk.physics.course import Course, body_turns, course_of, moved_on, turned
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")

DT = 1.0 / 480.0


@pytest.fixture(scope="module")
def coordinates(biped: Rig, steps: Motion) -> Coordinates:
    articulation = articulate(biped)
    return Coordinates.about(articulation, biped.facing, body_turns(biped, articulation, steps))


@pytest.fixture(scope="module", params=["steps", "circle"])
def course(request: pytest.FixtureRequest, biped: Rig, coordinates: Coordinates) -> Course:
    return course_of(biped, coordinates, request.getfixturevalue(request.param), DT)


def test_a_loop_ends_in_its_first_pose_moved_on(course: Course) -> None:
    after = moved_on(course.values[:1], course.values, 1)
    assert np.abs(after - course.values[-1:]).max() < 1e-9
    assert np.linalg.norm(course.step[:2]) > 0.3


def test_a_loop_ends_as_fast_as_it_begins(course: Course) -> None:
    first, last = course.rates[0].copy(), course.rates[-1]
    first[[0, 2]] = turned(first[None, [0, 2]], course.step[2])[0]
    size = np.sqrt((course.rates**2).mean())
    assert np.abs(first - last).max() < 1e-6 * size


def test_rates_and_accelerations_are_derivatives_of_the_values(course: Course) -> None:
    times = np.arange(course.steps + 1) * course.dt
    spline = CubicSpline(times, course.values)
    inner = slice(8, -8)
    for found, order in ((course.rates, 1), (course.accelerations, 2)):
        wanted = spline(times, order)
        assert np.abs(found - wanted)[inner].max() < 0.02 * np.abs(wanted).max()


def test_steps_are_whole_and_nearly_as_long_as_asked(course: Course) -> None:
    assert abs(course.dt / DT - 1.0) < 0.01
    assert course.steps * course.dt == pytest.approx(2.0)


def test_key_frames_are_followed_closely(biped: Rig, coordinates: Coordinates, steps: Motion) -> None:
    course = course_of(biped, coordinates, steps, DT)
    frames = coordinates.of(body_turns(biped, coordinates.articulation, steps), steps.root)
    at = np.round(np.arange(steps.frames) / steps.fps / course.dt).astype(int)
    apart = np.abs(course.values[at] - frames)
    assert apart[:, :3].max() < 0.01
    assert np.sqrt((apart[:, 3:] ** 2).mean()) < np.radians(0.5)
    assert apart[:, 3:].max() < np.radians(6.0)


def test_feet_stand_when_the_motion_says(biped: Rig, coordinates: Coordinates, steps: Motion) -> None:
    course = course_of(biped, coordinates, steps, DT)
    for k, limb in enumerate(course.limbs):
        own = [i for i, point in enumerate(biped.contact_points) if point.limb == limb]
        assert course.planted[:, k].mean() == pytest.approx(steps.contacts[:, own].any(axis=1).mean(), abs=0.03)


def test_a_clip_that_does_not_loop_keeps_its_ends(biped: Rig, coordinates: Coordinates) -> None:
    motion = jumping(biped)
    course = course_of(biped, coordinates, motion, DT)
    frames = coordinates.of(body_turns(biped, coordinates.articulation, motion), motion.root)
    assert not course.loop
    assert np.abs(course.values[[0, -1]] - frames[[0, -1]]).max() < 1e-3


def circle_of(steps: int, turn: float) -> np.ndarray:
    """Coordinates of a root alone on a circle of 1 m about the origin."""
    heading = np.linspace(0.0, turn, steps + 1)
    values = np.zeros((steps + 1, 6))
    values[:, 0], values[:, 2], values[:, 3] = -np.cos(heading), np.sin(heading), heading
    return values


@pytest.mark.parametrize("times", [-3, -1, 0, 1, 2, 5])
def test_a_turning_cycle_moved_on_stays_on_its_circle(times: int) -> None:
    cycle = circle_of(40, 1.1)
    later = moved_on(cycle, cycle, times)
    assert np.allclose(np.hypot(later[:, 0], later[:, 2]), 1.0)
    assert np.allclose(later[:, 3], cycle[:, 3] + 1.1 * times)
    assert np.allclose(np.arctan2(later[:, 2], -later[:, 0]), np.angle(np.exp(1j * later[:, 3])))


def test_moved_on_and_back_is_where_it_was() -> None:
    cycle = circle_of(40, -2.3)
    assert np.allclose(moved_on(moved_on(cycle, cycle, 4), cycle, -4), cycle)

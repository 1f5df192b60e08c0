"""Tracking from end to end: what comes back stays up on the ground, is the motion that was given, and the same every time."""

from __future__ import annotations

import numpy as np
import pytest
from steps import jumping, standing, stepping, walking

from akd_sdk.gait.feet import contact_paths
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.physics import Tracked, TrackOptions, track
from akd_sdk.physics.search import BOUND, MEAN_SHARE
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")

GRAVITY = 9.81


@pytest.fixture(scope="module")
def trot(quadruped: Rig) -> Motion:
    return stepping(quadruped)


@pytest.fixture(scope="module")
def tracked_trot(quadruped: Rig, trot: Motion) -> Tracked:
    return track(quadruped, trot)


@pytest.fixture(params=["steps", "trot"])
def case(request: pytest.FixtureRequest) -> tuple[Rig, Motion, Tracked]:
    rig = request.getfixturevalue("biped" if request.param == "steps" else "quadruped")
    return rig, request.getfixturevalue(request.param), request.getfixturevalue(f"tracked_{request.param}")


def test_it_stays_up_and_goes_on(case: tuple[Rig, Motion, Tracked]) -> None:
    rig, motion, tracked = case
    up = tracked.motion.root[:, 1]
    assert np.abs(up - motion.root[:, 1]).max() < 0.15 * rig.leg_length
    way, wanted = (m.root[-1, [0, 2]] - m.root[0, [0, 2]] for m in (tracked.motion, motion))
    assert np.linalg.norm(way - wanted) < 0.12 * np.linalg.norm(wanted)


def test_help_is_within_its_bound(case: tuple[Rig, Motion, Tracked]) -> None:
    _, _, tracked = case
    used = ((tracked.peak_force, tracked.mean_force), (tracked.peak_torque, tracked.mean_torque))
    for (peak, mean), cap, bound in zip(used, tracked.caps, BOUND, strict=True):
        assert mean <= peak <= cap + 1e-9
        assert cap <= 1.01 * bound
        assert mean <= MEAN_SHARE * bound


def test_it_is_the_clip_that_was_given(case: tuple[Rig, Motion, Tracked]) -> None:
    _, motion, tracked = case
    made = tracked.motion
    assert (made.frames, made.fps, made.name, made.loop) == (motion.frames, motion.fps, motion.name, motion.loop)
    assert made.rotations.shape == motion.rotations.shape
    assert made.provenance["prompt"] == motion.provenance["prompt"]
    assert made.provenance["physics"]["tracked"] is True
    turned = 2.0 * np.arccos(np.clip(np.abs((made.rotations * motion.rotations).sum(axis=-1)), 0.0, 1.0))
    assert turned.mean() < np.radians(8.0)


def test_a_loop_is_exact(case: tuple[Rig, Motion, Tracked]) -> None:
    rig, _, tracked = case
    made = tracked.motion
    moving = [j for j, role in enumerate(rig.skeleton.roles) if role != "ancestor"]
    ends = world_from_motion(rig.skeleton, made)[[0, -1]][:, moving]
    way = made.root[-1] - made.root[0]
    assert abs(way[1]) < 1e-6
    ends[1, :, :3, 3] -= way
    assert np.abs(ends[0] - ends[1]).max() < 1e-5
    assert tracked.closure_deg < 1.0


def test_feet_are_on_the_ground(case: tuple[Rig, Motion, Tracked]) -> None:
    rig, _, tracked = case
    heights = contact_paths(rig, world_from_motion(rig.skeleton, tracked.motion))[..., 1]
    assert heights.min() > -0.02 * rig.leg_length
    assert tracked.motion.contacts.shape == (tracked.motion.frames, len(rig.contact_points))
    assert heights[tracked.motion.contacts].max() < 0.02 * rig.leg_length
    assert 0.2 < tracked.motion.contacts.mean() < 0.8


def test_travel_is_given(case: tuple[Rig, Motion, Tracked]) -> None:
    _, _, tracked = case
    travel = tracked.motion.travel
    assert travel.shape == (tracked.motion.frames, 3)
    assert np.allclose(travel[-1, :2], (tracked.motion.root[-1] - tracked.motion.root[0])[[0, 2]], atol=0.02)


def test_it_is_no_copy_of_what_was_given(case: tuple[Rig, Motion, Tracked]) -> None:
    _, motion, tracked = case
    assert np.abs(tracked.motion.root - motion.root).max() > 1e-3
    assert tracked.after != tracked.before


def test_the_same_comes_back_every_time(biped: Rig, steps: Motion, tracked_steps: Tracked) -> None:
    again = track(biped, steps)
    assert np.array_equal(again.motion.rotations, tracked_steps.motion.rotations)
    assert np.array_equal(again.motion.root, tracked_steps.motion.root)
    assert (again.caps, again.alone_s, again.mean_force) == (tracked_steps.caps, tracked_steps.alone_s, tracked_steps.mean_force)


def test_a_motion_in_place_is_given_its_travel(biped: Rig, steps: Motion) -> None:
    still = steps.root.copy()
    still[:, [0, 2]] -= np.linspace(0.0, 1.0, steps.frames)[:, None] * (steps.root[-1] - steps.root[0])[[0, 2]]
    tracked = track(biped, steps.with_(root=still, travel=None, contacts=None))
    way, wanted = (np.linalg.norm(m.root[-1] - m.root[0]) for m in (tracked.motion, steps))
    assert way == pytest.approx(wanted, rel=0.25)


def test_standing_needs_no_help(quadruped: Rig) -> None:
    tracked = track(quadruped, standing(quadruped))
    assert tracked.peak_force == 0.0
    assert tracked.alone_s is None
    assert np.linalg.norm(tracked.motion.root - tracked.motion.root[0], axis=1).max() < 0.01


def test_a_turning_loop_turns_as_far(quadruped: Rig) -> None:
    motion = stepping(quadruped, turn_rad_s=0.6)
    made = track(quadruped, motion).motion
    assert made.travel[-1, 2] == pytest.approx(1.2, abs=1e-3)
    assert np.linalg.norm(made.root[-1] - made.root[0]) == pytest.approx(np.linalg.norm(motion.root[-1] - motion.root[0]), rel=0.15)


@pytest.mark.parametrize("name", ["biped", "quadruped"])
def test_a_jump_keeps_its_flight(name: str, request: pytest.FixtureRequest) -> None:
    rig = request.getfixturevalue(name)
    record = track(rig, jumping(rig)).record
    aloft = (record.heights > 2e-3 * rig.leg_length).all(axis=1)
    inside = aloft[:-2] & aloft[1:-1] & aloft[2:]
    fall = np.diff(record.com[:, 1], 2)[inside] * record.fps**2
    assert inside.sum() / record.fps > 0.1
    assert (np.abs(fall + GRAVITY) / GRAVITY).max() < 0.2
    assert np.abs(record.force[record.flight]).max() == 0.0


def test_a_walk_is_tracked_too(biped: Rig) -> None:
    tracked = track(biped, walking(biped, hertz=1.0, duty=0.6))
    assert tracked.after.skate_mm < 10.0


def test_less_friction_lets_feet_slip(biped: Rig, steps: Motion, tracked_steps: Tracked) -> None:
    icy = track(biped, steps, TrackOptions(friction=0.25))
    assert icy.mean_force > tracked_steps.mean_force or icy.after.skate_mm > tracked_steps.after.skate_mm

"""Travel: known belts are found, and taking travel out undoes putting it in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from treadmill import Gait, body, walk

from akd_sdk.gait import Travel, estimate_travel, in_place, set_down, with_travel
from akd_sdk.gait.feet import contact_paths
from akd_sdk.gait.ground import exponential, ground_matrices
from akd_sdk.kinematics import motion_from_world, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig

PROMPT = {"prompt": "walking"}


def anatomy_positions(rig: Rig, motion: Motion) -> np.ndarray:
    return world_from_motion(rig.skeleton, motion)[:, 1:, :3, 3]


@pytest.mark.parametrize("turn", [0.0, 0.7, np.pi / 2])
@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize(
    ("feet", "hock", "gait"),
    [
        (2, False, Gait()),
        (2, False, Gait(roll=0.4)),
        (2, True, Gait(speed=2.5, frequency=1.5, duty=0.35, hips=0.1)),
        (4, True, Gait(speed=0.6, frequency=0.8)),
        (4, False, Gait(speed=2.0, frequency=2.0, duty=0.45, hips=0.1, phases=(("LH", 0.0), ("RH", 0.5), ("LF", 0.5), ("RF", 0.0)))),
    ],
)
def test_a_known_belt_is_found(feet: int, hock: bool, gait: Gait, made: bool, turn: float) -> None:
    rig, legs = body(feet=feet, hock=hock, turn=turn)
    motion = walk(rig, legs, gait, fps=60.0).with_(provenance=PROMPT if made else {})
    travel = estimate_travel(rig, motion)
    expected = gait.speed * motion.duration * rig.forward[[0, 2]]
    assert not travel.in_root
    assert np.linalg.norm(travel.path[-1, :2] - expected) < 0.02 * gait.speed * motion.duration
    assert travel.path[-1, 2] == 0.0


def test_a_noisy_belt_is_found() -> None:
    rig, legs = body(feet=4)
    for seed in range(3):
        motion = walk(rig, legs, Gait(), cycles=4, noise=0.02, seed=seed).with_(provenance=PROMPT)
        assert estimate_travel(rig, motion).path[-1, 1] / motion.duration == pytest.approx(1.0, rel=0.06)


def test_walking_backward_travels_backward() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait())
    back = motion.with_(rotations=motion.rotations[::-1].copy(), root=motion.root[::-1].copy())
    assert estimate_travel(rig, back).path[-1, 1] / motion.duration == pytest.approx(-1.0, rel=0.02)


@pytest.mark.parametrize("height", [0.3, 0.0, -0.2])
def test_a_motion_that_hovers_is_set_down_and_no_other_is_moved(height: float) -> None:
    rig, legs = body(feet=4)
    walking = walk(rig, legs, Gait()).with_(provenance=PROMPT)
    lowest = contact_paths(rig, world_from_motion(rig.skeleton, walking))[..., 1].min()
    raised = walking.with_(root=walking.root + np.array([0.0, height - lowest, 0.0]))
    down = set_down(rig, raised)
    found = contact_paths(rig, world_from_motion(rig.skeleton, down))
    assert found[..., 1].min() == pytest.approx(min(height, 0.0), abs=1e-9)
    given = contact_paths(rig, world_from_motion(rig.skeleton, raised))
    np.testing.assert_allclose(found - given, np.broadcast_to([0.0, -max(height, 0.0), 0.0], given.shape), atol=1e-9)
    assert down.provenance == raised.provenance


def test_feet_that_stay_have_no_belt() -> None:
    rig, legs = body(feet=4)
    for provenance in ({}, PROMPT):
        still = walk(rig, legs, Gait(speed=0.0, lift=0.0), noise=0.005).with_(provenance=provenance)
        assert not estimate_travel(rig, still).path.any()


def test_a_belt_that_turns_is_found() -> None:
    rig, legs = body(feet=4, outside=True)
    straight = walk(rig, legs, Gait(), fps=60.0)
    world = world_from_motion(rig.skeleton, straight)
    twist = np.array([0.0, 1.0, 0.6])
    for leg in legs:
        foot = leg.joints[-1]
        rest = rig.skeleton.rest_world[foot]
        # where the straight belt moves the foot along z, the turning one moves it along its own circle
        along, lift = world[:, foot, 2, 3] - rest[2, 3], world[:, foot, 1, 3] - rest[1, 3]
        world[:, foot] = ground_matrices(exponential(along[:, None] * twist)) @ rest
        world[:, foot, 1, 3] += lift
    turning = motion_from_world(rig.skeleton, world, straight.fps, name="turn", loop=True).with_(provenance=PROMPT)
    path = estimate_travel(rig, turning).path
    assert path[-1, 2] == pytest.approx(0.6 * turning.duration, rel=0.03)
    assert path[-1] == pytest.approx(exponential(turning.duration * twist[None])[0], rel=0.05, abs=0.05)


@pytest.mark.parametrize("outside", [False, True])
def test_the_seam_of_a_travelling_loop_is_exact(outside: bool) -> None:
    rig, legs = body(feet=4, hock=True, outside=outside)
    motion = walk(rig, legs, Gait(), noise=0.01)
    twist = np.array([0.2, 1.0, 0.5])
    going = with_travel(rig, motion, Travel(exponential(motion.times[:, None] * twist), False))
    world = world_from_motion(rig.skeleton, going)
    lap = ground_matrices(going.travel[-1:])
    assert np.abs(world[-1, 1:] - lap @ world[0, 1:]).max() < 1e-9
    assert np.array_equal(world[:, 0], np.repeat(rig.skeleton.rest_world[None, 0], motion.frames, 0))


@pytest.mark.parametrize("outside", [False, True])
def test_taking_travel_out_undoes_putting_it_in(outside: bool) -> None:
    rig, legs = body(feet=4, outside=outside)
    motion = walk(rig, legs, Gait())
    going = with_travel(rig, motion)
    still, path = in_place(rig, going)
    assert np.abs(anatomy_positions(rig, still) - anatomy_positions(rig, motion)).max() < 1e-9
    assert np.array_equal(path, going.travel)
    assert still.travel is None


def test_planted_points_stand_once_the_travel_is_added() -> None:
    rig, legs = body()
    gait = Gait()
    going = with_travel(rig, walk(rig, legs, gait, fps=60.0))
    foot = world_from_motion(rig.skeleton, going)[:, legs[0].joints[-1], :3, 3]
    stance = (going.times * gait.frequency) % 1.0 < gait.duty - 0.05
    inside = stance[1:] & stance[:-1]
    assert np.abs(np.diff(foot, axis=0))[inside].max() < 1e-3


def test_a_clip_that_travels_keeps_its_way() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait(), cycles=3)
    going = with_travel(rig, motion).with_(travel=None)
    for loop in (True, False):
        clip = going.with_(loop=loop)
        travel = estimate_travel(rig, clip)
        assert travel.in_root
        assert travel.path[-1, 1] == pytest.approx(3.0, rel=0.02)
        again = with_travel(rig, clip)
        assert np.array_equal(again.root, clip.root)
        still, _ = in_place(rig, again)
        assert np.abs(still.root[:, [0, 2]] - motion.root[:, [0, 2]]).max() < 0.05


def test_a_clip_that_turns_on_the_spot_travels_by_its_yaw() -> None:
    rig, _ = body()
    frames = 61
    path = np.zeros((frames, 3))
    path[:, 2] = np.linspace(0.0, 2.0, frames)
    root = np.tile(rig.skeleton.rest_world[1, :3, 3], (frames, 1))
    still = Motion("turn", np.tile(rig.skeleton.rest.rotations, (frames, 1, 1)), root, 30.0)
    turned = with_travel(rig, still, Travel(path, False)).with_(travel=None)
    travel = estimate_travel(rig, turned)
    assert travel.in_root
    assert travel.path[-1, 2] == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_few_frames_and_no_feet_give_no_travel(frames: int) -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait())
    short = motion.with_(rotations=motion.rotations[:frames], root=motion.root[:frames], loop=False)
    for some in (rig, replace(rig, contact_points=(), leg_length=0.0)):
        assert np.array_equal(estimate_travel(some, short).path, np.zeros((frames, 3)))
        assert with_travel(some, short).frames == frames

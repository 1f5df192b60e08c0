"""Edits: resampling and repeating keep what they should."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp
from treadmill import Gait, body, walk

from akd_sdk.errors import AkdError
from akd_sdk.gait import Travel, repeat, resample, with_travel
from akd_sdk.gait.ground import exponential, ground_matrices
from akd_sdk.kinematics import world_from_motion


def test_resampling_is_slerp_and_straight_lines() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait()).with_(loop=False)
    finer = resample(motion, 100.0)
    times = np.minimum(finer.times, motion.times[-1])
    expected = Slerp(motion.times, Rotation.from_quat(motion.rotations[:, 3]))(times)
    assert (expected.inv() * Rotation.from_quat(finer.rotations[:, 3])).magnitude().max() < 1e-7
    assert np.abs(finer.root[:, 1] - np.interp(times, motion.times, motion.root[:, 1])).max() < 1e-12


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 47.0])
@pytest.mark.parametrize("loop", [True, False])
def test_resampling_keeps_the_length(fps: float, loop: bool) -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait()).with_(loop=loop)
    other = resample(motion, fps)
    assert other.duration == pytest.approx(motion.duration, abs=1e-9 if loop else 0.5 / fps)
    assert other.fps == pytest.approx(fps, rel=0.02)


def test_a_resampled_loop_ends_in_its_first_pose() -> None:
    rig, legs = body(feet=4, outside=True)
    world = world_from_motion(rig.skeleton, resample(walk(rig, legs, Gait()), 47.0))
    assert np.abs(world[-1] - world[0]).max() < 1e-9


def test_frames_that_are_kept_are_kept_exactly() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait()).with_(contacts=np.random.default_rng(0).random((61, 4)) > 0.5)
    twice = resample(motion, 60.0)
    assert np.abs(twice.root[::2] - motion.root).max() < 1e-12
    assert np.array_equal(twice.contacts[::2], motion.contacts)
    assert np.array_equal(twice.contacts[1::2], motion.contacts[1:] & motion.contacts[:-1])


@pytest.mark.parametrize("outside", [False, True])
def test_a_repeated_loop_goes_on_where_it_ended(outside: bool) -> None:
    rig, legs = body(feet=4, outside=outside)
    motion = walk(rig, legs, Gait())
    twist = np.array([0.1, 1.0, 0.6])
    going = with_travel(rig, motion, Travel(exponential(motion.times[:, None] * twist), False))
    long = repeat(rig, going, 3)
    assert long.frames == 3 * (motion.frames - 1) + 1
    assert long.loop
    once, thrice = world_from_motion(rig.skeleton, going), world_from_motion(rig.skeleton, long)
    lap = ground_matrices(going.travel[-1:])
    for k in range(3):
        part = thrice[k * 60 : k * 60 + 61, 1:]
        assert np.abs(part - np.linalg.matrix_power(lap[0], k) @ once[:, 1:]).max() < 1e-9
    assert np.abs(long.travel - exponential(long.times[:, None] * twist)).max() < 1e-9


def test_a_loop_in_place_repeats_in_place() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait())
    long = repeat(rig, motion, 2)
    assert long.travel is None
    assert np.array_equal(long.root[:61], motion.root)
    assert np.array_equal(long.root[60:120], motion.root[:60])


def test_contacts_and_morphs_repeat_too() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait())
    motion = motion.with_(contacts=np.eye(61, 4, dtype=bool), morphs={3: np.arange(61.0)[:, None]})
    long = repeat(rig, motion, 2)
    assert long.contacts is not None
    assert np.array_equal(long.contacts[60:64], np.eye(4, dtype=bool))
    assert long.morphs[3][60, 0] == 0.0


def test_what_does_not_loop_is_refused() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait())
    with pytest.raises(AkdError, match="does not loop"):
        repeat(rig, motion.with_(loop=False), 2)
    with pytest.raises(AkdError, match="cycles"):
        repeat(rig, motion, 0)
    for fps in (0.0, -1.0, np.nan):
        with pytest.raises(AkdError, match="fps"):
            resample(motion, fps)

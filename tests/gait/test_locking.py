"""Foot locking: what is planted stands still, nothing goes under the ground, and the leg stays a leg."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from treadmill import Gait, body, walk

from akd_sdk.gait import Travel, find_contacts, lock_feet, measure, with_travel
from akd_sdk.gait.coherence import TEACHER_JITTER, TEACHER_SWING
from akd_sdk.gait.feet import contact_paths, rest_hip_height
from akd_sdk.gait.ground import exponential, ground_matrices
from akd_sdk.gait.smoothing import runs
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Chain, Rig

PROMPT = {"prompt": "walking"}
WALK, RUN = Gait(), Gait(speed=2.5, frequency=1.5, duty=0.35, hips=0.1, lift=0.15)
ROLLING = Gait(roll=0.4)
BODIES = {
    "two bones": {"feet": 2},
    "hock": {"feet": 2, "hock": True},
    "quadruped": {"feet": 4, "hock": True},
    "feet outside": {"feet": 4, "hock": True, "outside": True, "turn": 0.7},
}


def going(kind: str, gait: Gait, noise: float = 0.02, seed: int = 0, loop: bool = True) -> tuple[Rig, Motion]:
    rig, legs = body(**BODIES[kind])
    motion = walk(rig, legs, gait, noise=noise, seed=seed)
    if not loop:
        motion = motion.with_(loop=False, rotations=motion.rotations[3:-7], root=motion.root[3:-7], translations=_cut(motion.translations))
    return rig, with_travel(rig, motion.with_(provenance=PROMPT))


def _cut(values: np.ndarray | None) -> np.ndarray | None:
    return None if values is None else values[3:-7]


def paths(rig: Rig, motion: Motion) -> np.ndarray:
    return contact_paths(rig, world_from_motion(rig.skeleton, motion))


@pytest.mark.parametrize("loop", [True, False])
@pytest.mark.parametrize("gait", [WALK, RUN], ids=["walk", "run"])
@pytest.mark.parametrize("kind", BODIES)
def test_planted_points_hold_their_place_to_a_tenth_of_a_millimetre(kind: str, gait: Gait, loop: bool) -> None:
    rig, motion = going(kind, gait, loop=loop)
    locked = lock_feet(rig, motion)
    path = paths(rig, locked)
    held = 0
    for p in range(path.shape[1]):
        for run in runs(locked.contacts[:, p], False):
            held += len(run)
            assert np.ptp(path[run, p][:, [0, 2]], axis=0).max() < 1e-4
    assert held > 0.25 * locked.contacts.size


@pytest.mark.parametrize("kind", BODIES)
def test_a_rolling_foot_stays_within_a_millimetre(kind: str) -> None:
    rig, motion = going(kind, ROLLING)
    locked = lock_feet(rig, motion)
    path = paths(rig, locked)
    for p in range(path.shape[1]):
        for run in runs(locked.contacts[:, p], False):
            assert np.ptp(path[run, p][:, [0, 2]], axis=0).max() < 1e-3


@pytest.mark.parametrize("gait", [WALK, ROLLING, RUN], ids=["walk", "rolling", "run"])
@pytest.mark.parametrize("kind", BODIES)
def test_nothing_goes_under_the_ground(kind: str, gait: Gait) -> None:
    rig, motion = going(kind, gait)
    assert paths(rig, motion)[..., 1].min() < -0.005
    assert paths(rig, lock_feet(rig, motion))[..., 1].min() > -1e-3 * rig.leg_length


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("gait", [WALK, RUN], ids=["walk", "run"])
def test_the_marks_of_made_gaits(kind: str, gait: Gait) -> None:
    rig, motion = going(kind, gait)
    locked = lock_feet(rig, motion)
    before, after = measure(rig, motion.with_(contacts=locked.contacts)), measure(rig, locked, motion)
    assert before.skate_mm is not None
    assert after.skate_mm is not None
    assert before.skate_mm > 3.0 > after.skate_mm
    assert after.contact_duty >= gait.duty - 0.1
    assert after.penetration_worst_percent <= 1.0
    assert after.float_share == 0.0
    if gait is WALK:
        assert after.jitter <= 1.2 * before.jitter
    else:  # the marks for gaits that are made: against the teacher's, at equal stride
        assert after.frequency_hz is not None
        swing = np.median([fit.swing * TEACHER_SWING[rig.body, name] for name, fit in after.gaits.items()])
        size = swing * rest_hip_height(rig) * rig.human_scale
        fast = ("biped", "run") if rig.body == "biped" else ("quadruped", "trot")
        assert after.jitter / (size * after.frequency_hz**3) <= 1.3 * TEACHER_JITTER[fast]


@pytest.mark.parametrize("kind", BODIES)
@pytest.mark.parametrize("gait", [WALK, RUN], ids=["walk", "run"])
def test_a_reader_of_the_file_sees_no_skate_either(kind: str, gait: Gait) -> None:
    rig, motion = going(kind, gait)
    read = lock_feet(rig, motion).with_(contacts=None, provenance={})
    metrics = measure(rig, read)
    assert metrics.skate_mm is not None
    assert metrics.skate_mm <= 3.0
    assert metrics.contact_duty >= gait.duty - 0.1


def test_fast_feet_leave_the_ground_before_they_leave_their_spot() -> None:
    rig, motion = going("two bones", RUN)
    locked = lock_feet(rig, motion)
    path = paths(rig, locked)
    step = RUN.speed / motion.fps
    lifted = 0
    for run in runs(~locked.contacts[:-1, 0], False):
        if run[0] == 0 or run[-1] == motion.frames - 2:
            continue
        for free, stand, height in ((run[0], run[0] - 1, 0.04), (run[-1], run[-1] + 1, 0.02)):
            lifted += 1
            assert path[free, :2, 1].min() > height * rig.leg_length
            assert np.linalg.norm((path[free, 0] - path[stand, 0])[[0, 2]]) < 0.2 * step
    assert lifted >= 2


@pytest.mark.parametrize("kind", BODIES)
def test_loops_stay_exact(kind: str) -> None:
    rig, motion = going(kind, WALK)
    locked = lock_feet(rig, motion)
    world = world_from_motion(rig.skeleton, locked)
    assert np.abs(world[-1, 1:] - ground_matrices(locked.travel[-1:]) @ world[0, 1:]).max() < 1e-9
    assert np.array_equal(locked.contacts[0], locked.contacts[-1])


def test_a_loop_is_locked_the_same_wherever_it_begins() -> None:
    rig, legs = body(feet=4, hock=True)
    motion = walk(rig, legs, WALK, noise=0.02)
    roll = 17

    def rolled(values: np.ndarray) -> np.ndarray:
        unique = np.roll(values[:-1], -roll, axis=0)
        return np.concatenate([unique, unique[:1]])

    moved = None if motion.translations is None else rolled(motion.translations)
    shifted = motion.with_(rotations=rolled(motion.rotations), root=rolled(motion.root), translations=moved)
    travel = Travel(exponential(motion.times[:, None] * np.array([0.0, 1.0, 0.0])), False)
    contacts = find_contacts(rig, motion.with_(provenance=PROMPT))
    one = lock_feet(rig, with_travel(rig, motion, travel), contacts)
    two = lock_feet(rig, with_travel(rig, shifted, travel), rolled(contacts))
    turned = rolled(one.rotations)
    assert np.abs(np.abs(np.sum(turned * two.rotations, axis=-1)) - 1.0).max() < 1e-9


@pytest.mark.parametrize("gait", [WALK, RUN], ids=["walk", "run"])
@pytest.mark.parametrize("kind", BODIES)
def test_knees_keep_their_side_and_bones_their_length(kind: str, gait: Gait) -> None:
    rig, motion = going(kind, gait)
    before, after = (world_from_motion(rig.skeleton, m)[..., :3, 3] for m in (motion, lock_feet(rig, motion)))
    left = rig.facing[:, 0]
    for chain in rig.skeleton.chains:
        was, now = before[:, list(chain.joints)], after[:, list(chain.joints)]
        assert np.abs(np.linalg.norm(np.diff(now, axis=1), axis=-1) - np.linalg.norm(np.diff(was, axis=1), axis=-1)).max() < 1e-9
        bends = [np.cross(np.diff(p[:, :2], axis=1)[:, 0], np.diff(p[:, 1:3], axis=1)[:, 0]) @ left for p in (was, now)]
        assert (np.sign(bends[0]) == np.sign(bends[1])).all()


def test_only_what_hangs_on_the_pelvis_moves_and_the_pose_above_stays() -> None:
    rig, motion = going("feet outside", WALK)
    locked = lock_feet(rig, motion)
    chest = rig.skeleton.names.index("chest")
    assert np.abs(np.abs(np.sum(locked.rotations[:, chest] * motion.rotations[:, chest], axis=-1)) - 1.0).max() < 1e-12
    assert np.abs(world_from_motion(rig.skeleton, locked)[:, 0] - rig.skeleton.rest_world[0]).max() < 1e-12
    assert np.abs(locked.root - motion.root).max() < 0.05


def test_what_stands_already_is_left_alone() -> None:
    rig, motion = going("two bones", WALK, noise=0.0)
    locked = lock_feet(rig, motion)
    shift = world_from_motion(rig.skeleton, locked)[..., :3, 3] - world_from_motion(rig.skeleton, motion)[..., :3, 3]
    assert np.abs(shift).max() < 0.015


def test_a_body_too_high_is_lowered_and_no_leg_is_stretched() -> None:
    rig, motion = going("two bones", WALK, noise=0.0)
    high = motion.with_(root=motion.root + np.array([0.0, 0.06, 0.0]))
    locked = lock_feet(rig, high)
    metrics = measure(rig, locked)
    assert metrics.contact_duty >= WALK.duty - 0.1
    assert metrics.skate_mm is not None
    assert metrics.skate_mm < 0.5
    assert paths(rig, locked)[..., 1].min() > -1e-3


def test_a_stance_out_of_reach_is_given_up_where_it_is() -> None:
    rig, legs = body()
    motion = walk(rig, legs, WALK).with_(provenance=PROMPT)
    travel = Travel(exponential(motion.times[:, None] * np.array([0.0, 4.0, 0.0])), False)
    everything = np.ones((motion.frames, 4), dtype=bool)
    locked = lock_feet(rig, with_travel(rig, motion, travel), everything)
    assert np.isfinite(locked.rotations).all()
    assert not locked.contacts.all()
    path = paths(rig, locked)
    for p in range(4):
        for run in runs(locked.contacts[:, p], False):
            assert np.ptp(path[run, p][:, [0, 2]], axis=0).max() < 0.02


def test_a_standing_body_stands_still_on_the_ground() -> None:
    rig, legs = body(feet=4, hock=True)
    idle = walk(rig, legs, Gait(speed=0.0, lift=0.0), noise=0.01).with_(provenance=PROMPT)
    locked = lock_feet(rig, with_travel(rig, idle))
    path = paths(rig, locked)
    assert locked.contacts.all()
    assert np.ptp(path, axis=0).max() < 1e-4
    assert np.abs(path[..., 1]).max() < 1e-3


def test_soles_that_are_part_of_the_lower_leg_are_held_too() -> None:
    rig, legs = body()
    chains = tuple(Chain(c.kind, c.side, c.joints[:2]) for c in rig.skeleton.chains)
    rest = rig.skeleton.rest_world
    points = tuple(
        replace(p, joint=chain.joints[1], offset=p.offset + rest[p.joint, :3, 3] - rest[chain.joints[1], :3, 3])
        for p, chain in zip(rig.contact_points, np.repeat(np.array(chains, dtype=object), 2), strict=True)
    )
    peg = replace(rig, skeleton=replace(rig.skeleton, chains=chains), contact_points=points)
    motion = with_travel(peg, walk(rig, legs, Gait(speed=0.5, lift=0.05), noise=0.01).with_(provenance=PROMPT))
    locked = lock_feet(peg, motion)
    before, after = measure(peg, motion.with_(contacts=locked.contacts)), measure(peg, locked)
    assert before.skate_mm is not None
    assert after.skate_mm is not None
    assert after.skate_mm < 3.0 < before.skate_mm
    assert after.contact_duty > 0.4
    assert after.penetration_worst_percent < 2.0


def test_bodies_without_feet_are_returned_as_they_are() -> None:
    rig, legs = body()
    motion = walk(rig, legs, WALK)
    bare = replace(rig, contact_points=(), leg_length=0.0)
    assert np.array_equal(lock_feet(bare, motion).rotations, motion.rotations)


@pytest.mark.parametrize("frames", [1, 2, 4])
def test_few_frames_give_numbers(frames: int) -> None:
    rig, legs = body(feet=4)
    motion = walk(rig, legs, WALK)
    short = motion.with_(rotations=motion.rotations[:frames], root=motion.root[:frames], loop=False)
    assert np.isfinite(lock_feet(rig, short).rotations).all()


@pytest.mark.parametrize("loop", [True, False])
@pytest.mark.parametrize("kind", BODIES)
def test_swinging_feet_clear_the_ground_by_what_is_asked(kind: str, loop: bool) -> None:
    rig, motion = going(kind, Gait(lift=0.01), loop=loop)
    plain, cleared = lock_feet(rig, motion), lock_feet(rig, motion, clearance=0.06)
    lift = {}
    for name, locked in (("plain", plain), ("cleared", cleared)):
        path, low = paths(rig, locked), []
        for limb in dict.fromkeys(point.limb for point in rig.contact_points):
            own = [i for i, point in enumerate(rig.contact_points) if point.limb == limb]
            for swing in runs(~locked.contacts[:, own].any(axis=1), loop):
                if loop or (swing[0] > 0 and swing[-1] < locked.frames - 1):
                    low.append(path[swing][:, own, 1].min(axis=1).max())
        lift[name] = np.array(low) / rig.leg_length
    assert len(lift["cleared"]) >= 2
    assert lift["cleared"].min() > 0.05
    assert lift["plain"].min() < 0.04


@pytest.mark.parametrize("kind", BODIES)
def test_clearance_leaves_standing_feet_where_they_stand(kind: str) -> None:
    rig, motion = going(kind, Gait(lift=0.01))
    plain, cleared = lock_feet(rig, motion), lock_feet(rig, motion, clearance=0.06)
    both = plain.contacts & cleared.contacts
    assert both.sum() > 0.9 * plain.contacts.sum()
    apart = np.linalg.norm(paths(rig, plain) - paths(rig, cleared), axis=-1)
    assert apart[both].max() < 2e-3


def test_clearance_lifts_no_foot_that_swings_higher_or_never_stands() -> None:
    rig, motion = going("two bones", Gait(lift=0.15))
    plain, cleared = lock_feet(rig, motion), lock_feet(rig, motion, clearance=0.02)
    assert np.abs(paths(rig, plain)[..., 1] - paths(rig, cleared)[..., 1]).max() < 0.02 * rig.leg_length
    never = np.zeros_like(plain.contacts)
    assert np.allclose(paths(rig, lock_feet(rig, motion, never)), paths(rig, lock_feet(rig, motion, never, clearance=0.06)))

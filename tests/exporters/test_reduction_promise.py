"""The tolerance of a reduction is a promise: whatever the clip, what its file holds is that near to the dense clip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from reduction_oracle import decoded, errors, made_clip, made_rig, with_tracks
from scipy.spatial.transform import Rotation

from akd_sdk.exporters.clip import Clip, Track
from akd_sdk.exporters.gltf import key_data
from akd_sdk.exporters.reduction import Reduced, ReductionOptions, reduce
from akd_sdk.rig import ContactPoint, Rig

Array = NDArray[np.float64]


def spinning(rig: Rig, frames: int, turns: float) -> Clip:
    """Every joint turns about an axis of its own, several times round."""
    base = made_clip(rig, frames)
    time = base.times
    tracks = []
    for track in base.tracks:
        values = track.values
        if track.path == "rotation":
            axis = np.array([np.cos(track.joint), np.sin(track.joint), 0.3])
            angle = 2.0 * np.pi * turns * time / max(time[-1], 1e-9)
            values = Rotation.from_rotvec(axis / np.linalg.norm(axis) * angle[:, None]).as_quat()
        tracks.append(replace(track, values=values))
    return with_tracks(base, *tracks)


def stepped(rig: Rig) -> Clip:
    """A clip one joint of which is held from key to key."""
    clip = made_clip(rig, 40)
    held = [replace(track, values=track.values[np.arange(40) // 8 * 8], interpolation="STEP") for track in clip.tracks if track.joint == 3]
    return with_tracks(clip, *(track for track in clip.tracks if track.joint != 3), *held)


def still(rig: Rig, frames: int) -> Clip:
    clip = made_clip(rig, frames)
    return with_tracks(clip, *(replace(track, values=np.repeat(track.values[:1], frames, axis=0)) for track in clip.tracks))


def shaking(rig: Rig) -> Clip:
    """Noise at every frame, turns of almost half a circle among it."""
    clip = made_clip(rig, 30)
    rng = np.random.default_rng(5)
    noisy = []
    for track in clip.tracks:
        wild = Rotation.random(30, random_state=rng).as_quat() if track.path == "rotation" else track.values + rng.normal(0, 0.1, (30, 3))
        noisy.append(replace(track, values=wild))
    return with_tracks(clip, *noisy)


def cases() -> dict[str, tuple[Rig, Clip]]:
    plain, large, small, huge = made_rig(), made_rig(file_unit=0.01, root_scale=100.0), made_rig(size=0.002), made_rig(size=100.0)
    return {
        "plain": (plain, made_clip(plain)),
        "armature 100 times too large": (large, made_clip(large)),
        "2 mm tall": (small, made_clip(small)),
        "100 m tall": (huge, made_clip(huge)),
        "kilometres off": (plain, made_clip(plain, offset=5000.0)),
        "scales": (plain, made_clip(plain, scaled=True)),
        "three turns in ten keys": (plain, spinning(plain, 10, 3.0)),
        "five turns": (plain, spinning(plain, 100, 5.0)),
        "one frame": (plain, made_clip(plain, 1)),
        "two frames": (plain, made_clip(plain, 2)),
        "three frames": (plain, made_clip(plain, 3)),
        "no motion": (plain, still(plain, 20)),
        "no track": (plain, with_tracks(made_clip(plain, 20))),
        "held": (plain, stepped(plain)),
        "noise": (plain, shaking(plain)),
        "fast": (plain, made_clip(plain, 60, speed=3.0)),
        "loop": (plain, replace(made_clip(plain), loop=True)),
        "120 frames a second": (plain, made_clip(plain, 200, fps=120.0)),
    }


CASES = cases()


def kept(rig: Rig, clip: Clip, reduced: Reduced, tolerance: float, players: tuple[str, ...] = ("slerp",)) -> None:
    """What holds of every reduction."""
    worst = max(errors(rig, clip, reduced.clip, player == "nlerp").max() for player in players)
    assert worst <= tolerance * (1.0 + 1e-6)
    assert reduced.report.worst_m == pytest.approx(worst, rel=1e-3, abs=1e-3 * tolerance)
    assert reduced.report.bytes <= reduced.report.dense_bytes
    assert reduced.report.bytes == sum(key_data(rig, reduced.clip).bytes(clip.name))
    channels = decoded(key_data(rig, reduced.clip))
    end = np.float32(clip.duration)
    assert max(channel.times[-1] for channel in channels) == end
    for channel in channels:
        assert channel.times[0] == 0.0
        assert channel.held or len(channel.times) == 1 or channel.times[-1] == end
        if channel.path == "rotation" and len(channel.times) > 1:
            apart = (channel.values[1:] * channel.values[:-1]).sum(axis=1)
            assert (apart >= 0.0).all(), "signs are not continuous"
            length = np.linalg.norm(channel.values, axis=1)
            angle = 2.0 * np.arccos(np.clip(apart / (length[1:] * length[:-1]), 0.0, 1.0))
            skipped = np.diff(channel.times) > 1.5 / clip.fps
            assert channel.held or angle[skipped].max(initial=0.0) <= np.radians(60.0) + 1e-6


@pytest.mark.parametrize("tolerance", [1e-5, 1e-4, 1e-3, 5e-3, 0.1])
@pytest.mark.parametrize("name", list(CASES))
def test_every_clip_stays_within_the_tolerance(name: str, tolerance: float) -> None:
    rig, clip = CASES[name]
    kept(rig, clip, reduce(rig, clip, ReductionOptions(tolerance_m=tolerance)), tolerance)


@pytest.mark.parametrize("name", ["plain", "armature 100 times too large", "scales", "held", "noise", "two frames", "loop"])
def test_the_longer_search_keeps_the_promise_too(name: str) -> None:
    rig, clip = CASES[name]
    options = ReductionOptions(tolerance_m=1e-3, effort="best")
    long, short = reduce(rig, clip, options), reduce(rig, clip, replace(options, effort="fast"))
    kept(rig, clip, long, 1e-3)
    assert long.report.bytes <= short.report.bytes * 1.02


@pytest.mark.parametrize("name", ["plain", "fast", "five turns", "three turns in ten keys"])
def test_players_that_mix_components_are_held_to_the_dense_clip_under_the_same_player(name: str) -> None:
    rig, clip = CASES[name]
    kept(rig, clip, reduce(rig, clip, ReductionOptions(tolerance_m=1e-3, players=("slerp", "nlerp"))), 1e-3, ("slerp", "nlerp"))


def test_planted_feet_move_less() -> None:
    rig, clip = CASES["plain"]
    feet = (ContactPoint("heel", "LH", 3, np.array([0.02, -0.05, 0.01])), ContactPoint("toe", "RH", 5, np.array([0.0, 0.1, 0.0])))
    rig = replace(rig, contact_points=feet)
    planted = np.zeros((clip.frames, 2), dtype=np.bool_)
    planted[10:25, 0] = planted[30:50, 1] = True
    clip = replace(clip, contacts=planted, contact_names=("LH_heel", "RH_toe"))
    tight = reduce(rig, clip, ReductionOptions(tolerance_m=2e-3, feet_tolerance_m=2e-4))
    kept(rig, clip, tight, 2e-3)
    loose = reduce(rig, clip, ReductionOptions(tolerance_m=2e-3, feet_tolerance_m=None))
    assert foot_error(rig, clip, tight.clip) <= 2e-4 < foot_error(rig, clip, loose.clip)
    assert tight.report.feet_worst_m == pytest.approx(
        foot_error(rig, clip, tight.clip), rel=2e-2
    )  # float32 keeps the root's place to 0.3 um
    assert tight.report.bytes > loose.report.bytes


def foot_error(rig: Rig, dense: Clip, reduced: Clip) -> float:
    """Metres at human size that contact points are off while planted, from the inner clips' own playback."""
    worst = 0.0
    assert dense.contacts is not None
    for point, column in zip(rig.contact_points, dense.contacts.T, strict=True):
        frames = np.flatnonzero(column)
        time = np.linspace(frames[0] / dense.fps, frames[-1] / dense.fps, 4 * (len(frames) - 1) + 1)
        where = [
            (clip.world(time)[:, point.joint, :3, :3] @ point.offset) + clip.world(time)[:, point.joint, :3, 3] for clip in (dense, reduced)
        ]
        worst = max(worst, float(np.linalg.norm(where[0] - where[1], axis=1).max()) * rig.human_scale)
    return worst


def test_a_loops_seam_is_the_dense_clips() -> None:
    rig, clip = CASES["loop"]
    dense, reduced = key_data(rig, clip), reduce(rig, clip, ReductionOptions(tolerance_m=3e-3)).clip
    truth = {(channel.node, channel.path): channel for channel in decoded(dense)}
    moving = [channel for channel in decoded(key_data(rig, reduced)) if len(channel.times) > 1]
    assert moving
    for channel in moving:
        true = truth[channel.node, channel.path].values
        step = 0.5 / 32767.0 + 1e-7 if channel.path == "rotation" else 0.0
        for end in (0, -1):
            sign = np.sign((true[end] * channel.values[end]).sum()) if channel.path == "rotation" else 1.0
            np.testing.assert_allclose(sign * channel.values[end], true[end], atol=step, rtol=0.0)


def test_held_tracks_have_keys_only_where_they_change() -> None:
    rig, clip = CASES["held"]
    reduced = reduce(rig, clip, ReductionOptions()).clip
    (track,) = [track for track in reduced.tracks if track.joint == 3]
    assert track.interpolation == "STEP"
    np.testing.assert_allclose(track.times, np.arange(5) * 8 / 30.0)


def test_what_does_not_move_is_one_key_or_none() -> None:
    rig, clip = CASES["no motion"]
    reduced = reduce(rig, clip, ReductionOptions(tolerance_m=1e-3)).clip
    keys = sorted(len(track.times) for track in reduced.tracks)
    assert keys[:-1] == [1] * (len(keys) - 1)
    assert keys[-1] == 2  # one of them says how long the clip is
    rest = rig.skeleton.rest
    at_rest = with_tracks(
        clip, *(Track(j, "rotation", clip.times, np.tile(rest.rotations[j], (clip.frames, 1))) for j in range(rig.skeleton.count))
    )
    assert reduce(rig, at_rest, ReductionOptions()).clip.tracks == ()


def test_the_same_clip_gives_the_same_keys() -> None:
    rig, clip = CASES["plain"]
    first, second = (reduce(rig, clip, ReductionOptions()) for _ in range(2))
    assert first.report == second.report
    for a, b in zip(first.clip.tracks, second.clip.tracks, strict=True):
        np.testing.assert_array_equal(a.times, b.times)
        np.testing.assert_array_equal(a.values, b.values)


def test_a_wider_tolerance_costs_fewer_bytes() -> None:
    rig = made_rig()
    clip = made_clip(rig, noise=0.0, speed=0.3)
    sizes = [reduce(rig, clip, ReductionOptions(tolerance_m=tolerance)).report.bytes for tolerance in (1e-4, 1e-3, 1e-2)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 0.6 * sizes[0]

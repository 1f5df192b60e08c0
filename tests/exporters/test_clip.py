"""Clips: what moves has a track, signs are continuous, root modes do what they say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion
from export_readback import true_positions
from scipy.spatial.transform import Rotation

from akd_sdk.errors import AkdError, ExportError
from akd_sdk.exporters import Clip, Track
from akd_sdk.gait.ground import ground_matrices
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "quadruped.glb")


def still(rig: Rig, frames: int = 4) -> Motion:
    pelvis = max(rig.skeleton.pelvis, 0)
    return Motion(
        "still",
        np.tile(rig.skeleton.rest.rotations, (frames, 1, 1)),
        np.tile(rig.skeleton.rest_world[pelvis, :3, 3], (frames, 1)),
        30.0,
    )


def test_a_clip_plays_as_the_motion(rig: Rig) -> None:
    motion = smooth_motion(rig, 4, scaled=True)
    clip = Clip.from_motion(rig, motion)
    assert clip.duration == motion.duration
    assert clip.frames == motion.frames
    np.testing.assert_allclose(clip.world(clip.times), world_from_motion(rig.skeleton, motion), atol=1e-9)
    times = np.linspace(0.0, clip.duration, 60)
    np.testing.assert_allclose(clip.world(times)[..., :3, 3], true_positions(rig, motion, times), atol=1e-9)
    np.testing.assert_allclose(clip.world(np.array([-1.0, 99.0])), clip.world(np.array([0.0, clip.duration])), atol=1e-12)


def test_what_stays_at_rest_has_no_track(rig: Rig) -> None:
    motion = still(rig)
    assert Clip.from_motion(rig, motion).tracks == ()
    turned = motion.rotations.copy()
    turned[:, 5] *= -1.0  # the same rotation
    turned[2, 7] = [0.0, 0.01, 0.0, np.sqrt(1.0 - 1e-4)]
    clip = Clip.from_motion(rig, motion.with_(rotations=turned))
    assert [(track.joint, track.path) for track in clip.tracks] == [(7, "rotation")]


def test_a_moved_root_has_a_translation_track_at_the_pelvis_alone(rig: Rig) -> None:
    motion = still(rig)
    clip = Clip.from_motion(rig, motion.with_(root=motion.root + np.linspace(0.0, 0.1, 4)[:, None]))
    assert [(track.joint, track.path) for track in clip.tracks] == [(rig.skeleton.pelvis, "translation")]


def test_signs_of_quaternions_are_continuous(rig: Rig) -> None:
    clip = Clip.from_motion(rig, smooth_motion(rig, 1))
    rotations = [track for track in clip.tracks if track.path == "rotation"]
    assert len(rotations) > 5
    for track in rotations:
        assert (np.sum(track.values[1:] * track.values[:-1], axis=-1) > 0.0).all()


def walking(rig: Rig, *, lap: bool) -> tuple[Motion, Motion]:
    """A loop in place, and the same going along a curve."""
    pose = smooth_motion(rig, 2, frames=21)
    pose = pose.with_(root=np.tile(pose.root[:1], (21, 1)))
    if lap:
        same = {name: getattr(pose, name).copy() for name in ("rotations", "translations")}
        for values in same.values():
            values[-1] = values[0]
        pose = pose.with_(**same, loop=True)
    travel = np.stack([0.3 * pose.times, 0.9 * pose.times, 0.7 * pose.times], -1)
    world = world_from_motion(rig.skeleton, pose)
    moves = ground_matrices(travel)
    top = rig.skeleton.pelvis
    rotations = pose.rotations.copy()
    rotations[:, top] = (Rotation.from_euler("Y", travel[:, 2:]) * Rotation.from_quat(pose.rotations[:, top])).as_quat()
    root = (moves @ world[:, top])[:, :3, 3]
    return pose, pose.with_(rotations=rotations, root=root, travel=travel)


def test_in_place_takes_the_travel_out_and_tells_it(rig: Rig) -> None:
    pose, gone = walking(rig, lap=True)
    clip = Clip.from_motion(rig, gone, "in_place")
    wanted = world_from_motion(rig.skeleton, pose)
    np.testing.assert_allclose(clip.world(clip.times), wanted, atol=1e-9)
    assert clip.travel is gone.travel
    poses = clip.world(np.array([0.0, clip.duration]))
    np.testing.assert_allclose(poses[1], poses[0], atol=1e-9)


def test_hips_leaves_all_motion_on_the_pelvis(rig: Rig) -> None:
    _, gone = walking(rig, lap=False)
    clip = Clip.from_motion(rig, gone, "hips")
    np.testing.assert_allclose(clip.world(clip.times), world_from_motion(rig.skeleton, gone), atol=1e-9)


def test_in_place_without_known_travel_takes_out_where_the_root_goes(rig: Rig) -> None:
    pose, _ = walking(rig, lap=True)
    wanted = world_from_motion(rig.skeleton, pose)
    still = Clip.from_motion(rig, pose, "in_place")
    np.testing.assert_allclose(still.world(still.times), wanted, atol=1e-9)
    straight = pose.with_(root=pose.root + np.stack([0.3 * pose.times, 0.0 * pose.times, 1.1 * pose.times], -1), loop=True)
    clip = Clip.from_motion(rig, straight, "in_place")
    np.testing.assert_allclose(clip.world(clip.times), wanted, atol=1e-9)
    assert clip.travel is not None
    np.testing.assert_allclose(clip.travel[-1], [0.3 * pose.duration, 1.1 * pose.duration, 0.0], atol=1e-9)


@pytest.mark.parametrize("mode", ["Hips", "", "feet"])
def test_other_root_modes_are_refused_with_the_known_ones(rig: Rig, mode: str) -> None:
    with pytest.raises(ExportError, match=r"--root-mode: unknown root mode .*known: hips, root, in_place"):
        Clip.from_motion(rig, still(rig), mode)


def test_motions_that_cannot_be_played_are_refused(rig: Rig) -> None:
    motion = still(rig)
    dead = motion.rotations.copy()
    dead[2, 3] = 0.0
    with pytest.raises(ExportError, match=f"still: the rotation of {rig.skeleton.names[3]} at frame 2 has length 0"):
        Clip.from_motion(rig, motion.with_(rotations=dead))
    with pytest.raises(ExportError, match="moves 3 joints"):
        Clip.from_motion(rig, motion.with_(rotations=motion.rotations[:, :3]))
    with pytest.raises(AkdError, match="not finite"):
        motion.with_(root=motion.root * np.nan)


@pytest.mark.parametrize(
    ("times", "values"),
    [
        ([0.0, 1.0], [[0.0, np.nan, 0.0]] * 2),
        ([0.0, 0.0], [[0.0] * 3] * 2),
        ([-1.0, 0.0], [[0.0] * 3] * 2),
        ([0.0], [[0.0] * 3] * 2),
        ([], []),
    ],
)
def test_tracks_that_cannot_be_written_are_refused(rig: Rig, times: list[float], values: list[list[float]]) -> None:
    track = Track(0, "translation", np.array(times), np.array(values))
    with pytest.raises(ExportError, match="c: the translation track of"):
        Clip("c", rig.skeleton, 30.0, 1.0, False, "hips", (track,))


@pytest.mark.parametrize(
    ("joint", "path", "values", "fault"),
    [
        (99, "translation", np.zeros((2, 3)), "a track of joint 99, translation: the skeleton has 28 joints"),
        (-1, "translation", np.zeros((2, 3)), "a track of joint -1"),
        (0, "colour", np.zeros((2, 3)), "a track of joint 0, colour"),
        (0, "rotation", np.zeros((2, 3)), "values of shape"),
        (0, "rotation", np.zeros((2, 4)), "holds a rotation of length 0"),
    ],
)
def test_tracks_of_what_does_not_exist_are_refused(rig: Rig, joint: int, path: str, values: np.ndarray, fault: str) -> None:
    track = Track(joint, path, np.array([0.0, 1.0]), values)  # type: ignore[arg-type]
    with pytest.raises(ExportError, match=fault):
        Clip("c", rig.skeleton, 30.0, 1.0, False, "hips", (track,))


def test_keys_after_the_end_two_tracks_of_one_and_broken_morphs_are_refused(rig: Rig) -> None:
    late = Track(0, "translation", np.array([0.0, 1.5]), np.zeros((2, 3)))
    with pytest.raises(ExportError, match=r"ends at 1\.5 s, after the clip"):
        Clip("c", rig.skeleton, 30.0, 1.0, False, "hips", (late,))
    with pytest.raises(ExportError, match="two translation tracks of quadruped"):
        Clip("c", rig.skeleton, 30.0, 1.5, False, "hips", (late, late))
    with pytest.raises(ExportError, match="morph weights of node 3"):
        Clip("c", rig.skeleton, 30.0, 0.1, False, "hips", (), morphs={3: np.full((4, 1), np.nan)})


@pytest.mark.parametrize(("fps", "duration"), [(0.0, 1.0), (np.inf, 1.0), (30.0, -1.0), (30.0, np.nan)])
def test_rates_and_durations_are_checked(rig: Rig, fps: float, duration: float) -> None:
    with pytest.raises(ExportError, match="no positive numbers"):
        Clip("c", rig.skeleton, fps, duration, False, "hips", ())


def test_facts_are_plain_json(rig: Rig) -> None:
    points = len(rig.contact_points)
    contacts = np.zeros((4, points), dtype=bool)
    contacts[1:3, 0] = contacts[3, 0] = contacts[0, 1] = True
    provenance = {"path": Path("a/b"), "seed": np.int64(3), "weights": (np.float32(0.5), float("nan")), "set": {"b", "a"}, 4: None}
    motion = still(rig).with_(contacts=contacts, travel=np.full((4, 3), 0.25), provenance=provenance, loop=True)
    facts = json.loads(json.dumps(Clip.from_motion(rig, motion).facts(), allow_nan=False))
    first, second = (f"{point.limb}_{point.kind}" for point in rig.contact_points[:2])
    assert facts["contacts"][first] == [[1, 3]]
    assert facts["contacts"][second] == [[0, 0]]
    assert facts["provenance"] == {"path": "a/b", "seed": 3, "weights": [0.5, None], "set": ["a", "b"], "4": None}
    assert facts["travel"] == {"x_m_z_m_yaw_rad": [[0.25] * 3] * 4}
    assert (facts["fps"], facts["frames"], facts["loop"], facts["root_mode"]) == (30.0, 4, True, "hips")


def test_whether_a_motion_was_tracked_stands_by_itself_in_the_facts(rig: Rig) -> None:
    told = {"tracked": True, "caps": (np.float64(0.05), 0.03)}
    facts = Clip.from_motion(rig, still(rig).with_(provenance={"prompt": "x", "physics": told})).facts()
    assert facts["physics"] == {"tracked": True, "caps": [0.05, 0.03]}
    assert facts["provenance"] == {"prompt": "x"}
    assert "physics" not in Clip.from_motion(rig, still(rig)).facts()
    only = Clip.from_motion(rig, still(rig).with_(provenance={"physics": told})).facts()
    assert "provenance" not in only


def test_names_are_clean(rig: Rig) -> None:
    assert Clip.from_motion(rig, still(rig).with_(name=" a\n\tb\0 ")).name == "a  b"
    assert Clip.from_motion(rig, still(rig).with_(name="\n")).name == "clip"

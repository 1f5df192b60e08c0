"""Held tracks: what a file holds from key to key is held again in what is written, until somebody moves it otherwise."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from akd_sdk.exporters import Clip, export
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


def _stepped(rig: Rig, folder: Path) -> Path:
    """The sample with a clip whose one joint jumps by STEP while another turns linearly."""
    frames, joints = 7, rig.skeleton.count
    rotations = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    angle = np.repeat([0.0, 0.4, 0.0], [3, 2, 2])
    for joint, turns in ((joints - 1, angle), (joints - 2, np.linspace(0.0, 0.3, frames))):
        rotations[:, joint] = np.stack([np.sin(turns / 2), 0 * turns, 0 * turns, np.cos(turns / 2)], axis=1)
    root = np.tile(rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3], (frames, 1))
    motion = Motion("jumps", rotations, root, 24.0, held=frozenset({(joints - 1, "rotation")}))
    return export(rig, Clip.from_motion(rig, motion), folder / "stepped.glb")


def _modes(path: Path) -> dict[int, str]:
    data = path.read_bytes()
    content = json.loads(data[20 : 20 + struct.unpack("<I", data[12:16])[0]])
    animation = next(one for one in content["animations"] if one["name"].startswith("jumps"))
    return {c["target"]["node"]: animation["samplers"][c["sampler"]].get("interpolation", "LINEAR") for c in animation["channels"]}


def test_held_stays_held_and_linear_linear(samples: Path, tmp_path: Path) -> None:
    rig = open_rig(samples / "biped.glb")
    last = rig.skeleton.count - 1
    path = _stepped(rig, tmp_path)
    again = open_rig(path)
    (motion,) = (clip for clip in again.clips if clip.name == "jumps")
    assert motion.held == {(last, "rotation")}
    copy = export(again, Clip.from_motion(again, motion.with_(name="jumps again")), tmp_path / "again.glb")
    modes = _modes(copy)
    assert modes[int(rig.skeleton.nodes[last])] == "STEP"
    assert modes[int(rig.skeleton.nodes[last - 1])] == "LINEAR"


def test_between_frames_a_held_track_keeps_the_frame_before(samples: Path, tmp_path: Path) -> None:
    rig = open_rig(_stepped(open_rig(samples / "biped.glb"), tmp_path))
    clip = Clip.from_motion(rig, next(one for one in rig.clips if one.name == "jumps"))
    last = rig.skeleton.count - 1
    between = clip.sample(np.array([2.5, 2.999, 4.5]) / 24.0).rotations[:, last, 0]
    assert between == pytest.approx([0.0, 0.0, np.sin(0.2)], abs=1e-6)


def test_what_is_moved_otherwise_is_held_no_more(samples: Path, tmp_path: Path) -> None:
    rig = open_rig(_stepped(open_rig(samples / "biped.glb"), tmp_path))
    motion = next(one for one in rig.clips if one.name == "jumps")
    assert not motion.with_(rotations=motion.rotations[::-1].copy()).held
    assert motion.with_(name="other").held == motion.held

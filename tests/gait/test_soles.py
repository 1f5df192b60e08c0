"""Whole soles stay over the ground, not their heel and toe alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from akd_sdk.gait import lock_feet
from akd_sdk.kinematics import motion_from_curves, skin_points, world_from_motion
from akd_sdk.motion import JointCurves
from akd_sdk.readers import open_rig

DEPTH_LEGS = 0.004


@pytest.mark.parametrize("rolling", [False, True])
def test_twisted_toes_do_not_push_their_edge_under_the_ground(samples: Path, rolling: bool) -> None:
    rig = open_rig(samples / "biped.glb")
    frames = 20
    angles = np.zeros((frames, rig.skeleton.count, 3))
    for toe in ("toes_l", "toes_r"):
        angles[:, rig.skeleton.names.index(toe), 2] = 0.5 * np.sin(np.linspace(0.0, np.pi, frames))
    raw = motion_from_curves(rig, JointCurves(angles, np.zeros((frames, 6)), 30.0), "made", {"prompt": "made"})
    planted = np.ones((frames, len(rig.contact_points)), dtype=bool)
    if rolling:
        planted[frames // 2 :, [p.kind == "heel" for p in rig.contact_points]] = False

    def lowest(motion: object) -> float:
        world = world_from_motion(rig.skeleton, motion)  # type: ignore[arg-type]
        return min(float(skin_points(skin, world)[..., 1].min()) for skin in rig.skins) / rig.leg_length

    assert lowest(raw) < -2.0 * DEPTH_LEGS
    assert lowest(lock_feet(rig, raw, planted)) > -DEPTH_LEGS

"""Walks that are known exactly, as joint curves that loop: artists' clips of a file, and one that is written down here."""

from __future__ import annotations

import numpy as np

from akd_sdk.gait import with_travel
from akd_sdk.kinematics import curves_from_motion, point_paths, world_from_curves
from akd_sdk.motion import JointCurves
from akd_sdk.rig import Rig

FOOTFALLS = {"LH": 0.0, "LF": 0.25, "RH": 0.5, "RF": 0.75}
SIDES = {1: "L", 2: "R"}


def clip_walk(rig: Rig, clip: str) -> JointCurves:
    """The joint curves of a clip of the file, travelling."""
    (motion,) = (c for c in rig.clips if c.name == clip)
    curves = curves_from_motion(rig, with_travel(rig, motion))
    return above_ground(rig, JointCurves(curves.angles, curves.root, curves.fps, True))


def above_ground(rig: Rig, curves: JointCurves) -> JointCurves:
    """The curves, lifted or lowered until the lowest sole just touches where soles are at rest: what is under the ground is not filmed."""
    joints = np.array([point.joint for point in rig.contact_points])
    offsets = np.array([point.offset for point in rig.contact_points])
    lowest = point_paths(world_from_curves(rig, curves), joints, offsets)[..., 1].min()
    root = curves.root.copy()
    root[:, 1] += rig.skeleton.points_at_rest(joints, offsets)[:, 1].min() - lowest
    return JointCurves(curves.angles, root, curves.fps, curves.loop)


def written_walk(rig: Rig, *, seconds: float = 1.0, fps: float = 30.0, hips_rad: float = 0.4) -> JointCurves:
    """Legs that swing about their hips with the footfalls of a walk, knees and elbows that bend in swing, a body that bobs and travels."""
    frames = round(seconds * fps)
    phase = np.arange(frames + 1) / frames
    angles = np.zeros((frames + 1, rig.skeleton.count, 3))
    for chain in rig.skeleton.chains:
        if chain.kind not in ("leg", "foreleg"):
            continue
        limb = SIDES[chain.side] + ("H" if chain.kind == "leg" else "F")
        turn = 2.0 * np.pi * (phase - FOOTFALLS[limb])
        angles[:, chain.joints[0], 0] = hips_rad * np.cos(turn)
        angles[:, chain.joints[1], 0] = 0.3 * (1.0 - np.cos(turn + 0.5 * np.pi)) * np.sign(rig.skeleton.limits[chain.joints[1], 0].sum())
    root = np.zeros((frames + 1, 6))
    root[:, :3] = 2.0 * hips_rad * rig.leg_length / seconds * (phase * seconds)[:, None] * rig.forward
    root[:, 1] += 0.03 * rig.leg_length * np.cos(4.0 * np.pi * phase)
    return above_ground(rig, JointCurves(angles, root, fps, True))

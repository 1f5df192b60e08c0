"""Motions that can be done by a body on the ground, written down here: steps with feet that stand, a pose that is held, a jump."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from walks import FOOTFALLS, SIDES, above_ground

from akd_sdk.gait import lock_feet, travel_of_root, with_travel
from akd_sdk.kinematics import motion_from_curves
from akd_sdk.motion import JointCurves, Motion
from akd_sdk.rig import Rig

TROT = {"LH": 0.0, "RF": 0.0, "RH": 0.5, "LF": 0.5}
HIPS_RAD, KNEES_RAD = 0.2, 0.3
GRAVITY = 9.81


def stepping(
    rig: Rig,
    *,
    hertz: float = 1.5,
    duty: float = 0.55,
    seconds: float = 2.0,
    turn_rad_s: float = 0.0,
    footfalls: Mapping[str, float] = TROT,
) -> Motion:
    """A loop that goes over the ground with its feet locked: every foot stands for `duty` of a stride, its hip turning evenly back.

    turn_rad_s: heading that is gained a second; the path is a circle then.
    """
    fps = 30.0
    frames = round(seconds * fps)
    times = np.arange(frames + 1) / fps
    angles = np.zeros((frames + 1, rig.skeleton.count, 3))
    planted = np.zeros((frames + 1, len(rig.contact_points)), dtype=np.bool_)
    for chain in rig.skeleton.chains:
        if chain.kind not in ("leg", "foreleg"):
            continue
        limb = SIDES[chain.side] + ("H" if chain.kind == "leg" else "F")
        phase = (times * hertz - footfalls[limb]) % 1.0
        stands, swing = phase < duty, np.pi * (phase - duty) / (1.0 - duty)
        angles[:, chain.joints[0], 0] = HIPS_RAD * np.where(stands, 1.0 - 2.0 * phase / duty, -np.cos(swing))
        bends = np.sign(rig.skeleton.limits[chain.joints[1], 0].sum())
        angles[:, chain.joints[1], 0] = KNEES_RAD * bends * np.where(stands, 0.0, np.sin(swing) ** 2)
        planted[:, [i for i, point in enumerate(rig.contact_points) if point.limb == limb]] = stands[:, None]
    root = np.zeros((frames + 1, 6))
    speed = 2.0 * HIPS_RAD * rig.leg_length * hertz / duty
    heading = turn_rad_s * times
    ahead, aside = (speed * times, 0.0 * times) if turn_rad_s == 0.0 else _circle(speed / turn_rad_s, heading)
    root[:, :3] = np.stack([aside, 0.0 * times, ahead], axis=1) @ rig.facing.T
    root[:, 3] = heading
    return _locked(rig, JointCurves(angles, root, fps, True), planted)


def walking(rig: Rig, **how: float) -> Motion:
    """`stepping` with the footfalls of a walk."""
    return stepping(rig, footfalls=FOOTFALLS, **how)


def standing(rig: Rig, *, seconds: float = 1.0, fps: float = 30.0) -> Motion:
    """The rest pose, held, on all feet."""
    frames = round(seconds * fps)
    still = JointCurves(np.zeros((frames + 1, rig.skeleton.count, 3)), np.zeros((frames + 1, 6)), fps)
    return _locked(rig, still, np.ones((frames + 1, len(rig.contact_points)), dtype=np.bool_))


def hovering(rig: Rig, *, flight_s: float = 0.2, seconds: float = 1.0) -> Motion:
    """A loop on the spot whose feet all let go for a while, though the root does not move at all."""
    fps = 30.0
    frames = round(seconds * fps)
    planted = np.ones((frames + 1, len(rig.contact_points)), dtype=np.bool_)
    planted[np.arange(frames + 1) / fps < flight_s] = False
    planted[-1] = planted[0]
    still = JointCurves(np.zeros((frames + 1, rig.skeleton.count, 3)), np.zeros((frames + 1, 6)), fps, True)
    return _locked(rig, still, planted)


def jumping(rig: Rig, *, flight_s: float = 0.3, crouch_legs: float = 0.15, fps: float = 60.0) -> Motion:
    """Standing, crouching, pushing off evenly, flying as a stone does, landing as it took off, standing: on the spot, no loop."""
    speed, crouch = 0.5 * GRAVITY * flight_s, crouch_legs * rig.leg_length
    push = 2.0 * crouch / speed
    bounds = np.cumsum([0.3, 0.5, push, flight_s, push, 0.5, 0.3])
    times = np.arange(round(bounds[-1] * fps) + 1) / fps
    fast = speed / push

    def ease(t: np.ndarray) -> np.ndarray:
        return 0.5 - 0.5 * np.cos(np.pi * np.clip(t, 0.0, 1.0))

    start, landed = bounds[1], bounds[4]
    flying = times - bounds[2]
    height = np.select(
        [times < bounds[0], times < start, times < bounds[2], times < bounds[3], times < landed, times < bounds[5]],
        [
            0.0 * times,
            -crouch * ease((times - bounds[0]) / 0.5),
            -crouch + 0.5 * fast * (times - start) ** 2,
            speed * flying - 0.5 * GRAVITY * flying**2,
            -crouch + 0.5 * fast * (landed - times) ** 2,
            -crouch * ease((bounds[5] - times) / 0.5),
        ],
        0.0,
    )
    planted = np.repeat(((times < bounds[2]) | (times >= bounds[3]))[:, None], len(rig.contact_points), axis=1)
    root = np.zeros((len(times), 6))
    root[:, 1] = height
    return _locked(rig, JointCurves(np.zeros((len(times), rig.skeleton.count, 3)), root, fps), planted, lift=False)


def _circle(radius: float, heading: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ways ahead and aside of a circle that is followed by its heading."""
    return radius * np.sin(heading), radius * (1.0 - np.cos(heading))


def _locked(rig: Rig, curves: JointCurves, planted: np.ndarray, *, lift: bool = True) -> Motion:
    if lift:
        curves = above_ground(rig, curves)
    motion = motion_from_curves(rig, curves, "written", {"prompt": "written down"})
    return lock_feet(rig, with_travel(rig, motion, travel_of_root(rig, motion)), planted)

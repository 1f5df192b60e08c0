"""Bodies made by hand and gaits that stand by construction, for the tests of feet and travel.

Legs move in sagittal planes; each foot's joint follows a given path and the two upper bones reach it by the law of cosines.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from akd_sdk.kinematics import motion_from_world
from akd_sdk.motion import Motion
from akd_sdk.rig import Chain, ContactPoint, Rig, Skeleton, Source, Transforms
from akd_sdk.rotations import IDENTITY, matrix_from_quat, quat_from_rotvec

THIGH, SHIN, HOCK = 0.42, 0.40, 0.25
SOLE, HEEL, TOE = 0.08, -0.05, 0.15


@dataclass(frozen=True)
class Leg:
    """Joints of a leg from hip to foot, its side (+1 left) and end, and the hip before the pelvis."""

    limb: str
    joints: tuple[int, ...]
    hip: np.ndarray


@dataclass
class Builder:
    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    solve: list[int] = field(default_factory=list)
    world: list[np.ndarray] = field(default_factory=list)

    def add(self, name: str, parent: int, position: np.ndarray, solve: int | None = None) -> int:
        self.names.append(name)
        self.parents.append(parent)
        self.solve.append(parent if solve is None else solve)
        self.world.append(np.asarray(position, dtype=np.float64))
        return len(self.names) - 1


def leg_points(hock: bool, fore: bool) -> np.ndarray:
    """Joints of a leg at rest from the hip: slightly bent, knee forward (elbow backward), foot joint above the sole."""
    side = -1.0 if fore else 1.0
    knee = np.array([0.0, -THIGH * np.cos(0.2), side * THIGH * np.sin(0.2)])
    ankle = knee + np.array([0.0, -SHIN * np.cos(0.25), -side * SHIN * np.sin(0.25)])
    points = [np.zeros(3), knee, ankle]
    if hock:
        points.append(ankle + np.array([0.0, -HOCK * np.cos(0.3), HOCK * np.sin(0.3)]))
    return np.stack(points)


def body(feet: int = 2, hock: bool = False, outside: bool = False, turn: float = 0.0) -> tuple[Rig, tuple[Leg, ...]]:
    """A rig of pelvis, chest and legs; `outside` hangs the feet on the armature; `turn` faces it away from +Z, radians."""
    build = Builder()
    facing = np.array([[np.cos(turn), 0.0, np.sin(turn)], [0.0, 1.0, 0.0], [-np.sin(turn), 0.0, np.cos(turn)]])
    shape = leg_points(hock, False)
    height = SOLE - shape[-1, 1]
    armature = build.add("armature", -1, np.zeros(3))
    pelvis = build.add("pelvis", armature, [0.0, height + 0.05, 0.0], -1)
    chest = build.add("chest", pelvis, facing @ np.array([0.0, height + 0.1, 0.7]))
    legs, chains, contacts = [], [], []
    for limb in ("LH", "RH", "LF", "RF")[:feet]:
        fore = limb[1] == "F"
        hip = np.array([0.12 if limb[0] == "L" else -0.12, height, 0.7 if fore else 0.0])
        shape = leg_points(hock, fore)
        joint, joints = chest if fore else pelvis, []
        for i, point in enumerate(shape):
            last = i == len(shape) - 1
            parent = armature if last and outside else joint
            joint = build.add(f"{limb}{i}", parent, facing @ (hip + point), joint)
            joints.append(joint)
        legs.append(Leg(limb, tuple(joints), hip))
        chains.append(Chain("foreleg" if fore else "leg", 1 if limb[0] == "L" else 2, tuple(joints)))
        for kind, ahead in (("heel", HEEL), ("toe", TOE)):
            contacts.append(ContactPoint(kind, limb, joint, facing @ np.array([0.0, -SOLE, ahead])))
    world, parents = np.stack(build.world), np.array(build.parents)
    local = np.where(parents[:, None] < 0, world, world - world[np.maximum(parents, 0)])
    count = len(world)
    skeleton = Skeleton(
        names=tuple(build.names),
        source_names=tuple(build.names),
        nodes=np.arange(count),
        parents=parents,
        rest=Transforms(local, np.tile(IDENTITY, (count, 1)), np.ones((count, 3))),
        solve_parents=np.array([-1, *build.solve[1:]]),
        frames=np.tile(IDENTITY, (count, 1)),
        limits=np.tile(np.array([-np.pi, np.pi]), (count, 3, 1)),
        groups=("none",) + ("other",) * (count - 1),
        sides=np.zeros(count, dtype=np.int64),
        chains=tuple(chains),
        roles=("ancestor",) + ("anatomy",) * (count - 1),
        pelvis=pelvis,
    )
    rig = Rig(
        name="treadmill body", skeleton=skeleton, skins=(), clips=(),
        source=Source(Path("made"), "test", 1.0, np.eye(3), np.zeros(3), np.ones(count)),
        body="biped" if feet == 2 else "quadruped", height=1.7, forward=facing[:, 2], contact_points=tuple(contacts),
        leg_length=float(np.linalg.norm(np.diff(shape, axis=0), axis=1).sum() + SOLE), human_scale=1.7 / (height + 0.1),
    )  # fmt: skip
    return rig, tuple(legs)


@dataclass(frozen=True)
class Gait:
    """A gait on a treadmill: `speed` m/s forward, `frequency` Hz, `duty`, `lift` m, `roll` rad of the sole at both ends of stance,
    `hips` how low the pelvis is carried against rest, m, `phases` of touch-down by limb."""

    speed: float = 1.0
    frequency: float = 1.0
    duty: float = 0.6
    lift: float = 0.1
    roll: float = 0.0
    hips: float = 0.06
    phases: tuple[tuple[str, float], ...] = (("LH", 0.0), ("RH", 0.5), ("LF", 0.25), ("RF", 0.75))


def foot_path(gait: Gait, phase: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the middle of a sole in stance, of the heel or toe that carries: forward (metres), height (metres), pitch (radians, toe down)."""
    stride = gait.speed / gait.frequency * gait.duty
    share = phase / gait.duty
    swing = np.clip((phase - gait.duty) / (1.0 - gait.duty), 0.0, 1.0)
    slope = -stride * (1.0 - gait.duty) / gait.duty
    a, b, u = -0.5 * stride, 0.5 * stride, swing
    hermite = (
        (2 * u**3 - 3 * u**2 + 1) * a + (u**3 - 2 * u**2 + u) * slope + (-2 * u**3 + 3 * u**2) * b + (u**3 - u**2) * slope
    )
    forward = np.where(phase < gait.duty, 0.5 * stride - stride * share, hermite)
    height = np.where(phase < gait.duty, 0.0, gait.lift * np.sin(np.pi * u) ** 2)
    ends = np.clip((share - 0.7) / 0.3, 0.0, 1.0) - np.clip((0.25 - share) / 0.25, 0.0, 1.0)
    pitch = gait.roll * np.where(phase < gait.duty, ends, 1.0 - 2.0 * (3 * u**2 - 2 * u**3))
    return forward, height, pitch


def rotation_x(angle: np.ndarray) -> np.ndarray:
    return matrix_from_quat(quat_from_rotvec(angle[:, None] * np.array([1.0, 0.0, 0.0])))


def walk(rig: Rig, legs: tuple[Leg, ...], gait: Gait, *, cycles: int = 2, fps: float = 30.0, noise: float = 0.0, seed: int = 0) -> Motion:
    """The gait in place, a loop of whole strides; `noise` metres of smooth unrest of the feet's joints, horizontal and vertical."""
    duration = cycles / gait.frequency
    count = round(duration * fps) + 1
    fps = (count - 1) / duration
    times = np.arange(count) / fps
    world = np.tile(rig.skeleton.rest_world, (count, 1, 1, 1))
    lowered = np.zeros((count, 3))
    lowered[:, 1] = -gait.hips + 0.01 * np.cos(4 * np.pi * gait.frequency * times)
    world[:, 1:, :3, 3] += lowered[:, None]
    generator = np.random.default_rng(seed)
    phases = dict(gait.phases)
    for leg in legs:
        phase = (times * gait.frequency - phases[leg.limb]) % 1.0
        phase[np.isclose(phase, 1.0)] = 0.0
        forward, height, pitch = foot_path(gait, phase)
        pivot = np.where(pitch > 0.0, TOE, HEEL)
        arm = np.stack([np.zeros(count), np.full(count, SOLE), -pivot], axis=1)
        turned = np.einsum("fij,fj->fi", rotation_x(pitch), arm)
        rest = rig.facing.T @ rig.skeleton.rest_world[leg.joints[-1], :3, 3]
        foot = turned + np.stack([np.full(count, rest[0]), height, rest[2] + forward + pivot], axis=1)
        waves = np.arange(1, 5)
        angles = 2 * np.pi * waves * times[:, None] / duration
        for axis in (1, 2):
            a, b = generator.normal(size=(2, 4)) * noise / 2
            foot[:, axis] += np.cos(angles) @ a + np.sin(angles) @ b
        pose_leg(world, rig, leg, foot, pitch, lowered)
    return motion_from_world(rig.skeleton, world, fps, name="walk", loop=True)


def pose_leg(world: np.ndarray, rig: Rig, leg: Leg, foot: np.ndarray, pitch: np.ndarray, lowered: np.ndarray) -> None:
    """Puts a leg's joints so that its foot joint is at `foot` (frames, 3), character frame, pitched; a hock keeps its rest lean."""
    facing, fore = rig.facing, leg.limb[1] == "F"
    shape = leg_points(len(leg.joints) == 4, fore)
    hip = leg.hip + lowered
    ankle = foot - (shape[-1] - shape[2])
    line = ankle - hip
    length = np.clip(np.linalg.norm(line, axis=1), 1e-6, THIGH + SHIN - 1e-9)
    lean = np.arctan2(-line[:, 2], -line[:, 1])
    inner = np.arccos((THIGH**2 + length**2 - SHIN**2) / (2 * THIGH * length)) * (1.0 if fore else -1.0)
    thigh = lean + inner
    knee = hip + THIGH * np.stack([np.zeros_like(thigh), -np.cos(thigh), -np.sin(thigh)], axis=1)
    shin = ankle - knee
    side = -1.0 if fore else 1.0
    turns = [rotation_x(thigh + side * 0.2), rotation_x(np.arctan2(-shin[:, 2], -shin[:, 1]) - side * 0.25)]
    turns += [np.tile(np.eye(3), (len(foot), 1, 1))] * (len(shape) - 3) + [rotation_x(pitch)]
    points = [hip, knee, ankle, foot] if len(shape) == 4 else [hip, knee, foot]
    for joint, turn, point in zip(leg.joints, turns, points, strict=True):
        world[:, joint, :3, :3] = facing @ turn @ facing.T
        world[:, joint, :3, 3] = point @ facing.T

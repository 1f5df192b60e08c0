"""Feet: which contact points and which chain of joints make one, and the paths of their points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.kinematics import point_paths
from akd_sdk.rig import Rig, Skeleton

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

LEG_KINDS = ("leg", "foreleg")
SOLE_LEGS = 0.02
"""Vertices of a foot within so many leg lengths over its lowest one make its sole."""
LOWEST_PERCENTILE, LOW_LEGS = 5.0, 0.025
"""A foot is low while the mean height of its points is less than so many leg lengths above this percentile of it."""


@dataclass(frozen=True)
class SoleEdge:
    """Outermost vertices of a sole: `joints` (n,) that carry them, `offsets` (n, 3) metres in the joints' rest axes."""

    joints: Ints
    offsets: Array


@dataclass(frozen=True)
class Foot:
    """One foot.

    Attributes:
        limb: LH, RH, LF or RF.
        points: indices into the rig's contact points.
        chain: joints from the limb's base to the one that carries the foot; empty where no chain leads to it.
        kind: "leg" or "foreleg".
        edge: the sole's outermost vertices, where somebody asked for them (`sole_edge`).
    """

    limb: str
    points: tuple[int, ...]
    chain: tuple[int, ...]
    kind: str
    edge: SoleEdge | None = None

    @property
    def is_peg(self) -> bool:
        """Whether the sole is a part of the lower leg, so that it cannot turn by itself."""
        return len(self.chain) == 2


def _place_on(chain: tuple[int, ...], skeleton: Skeleton, joint: int) -> int:
    """Position in the chain of the joint or its nearest solve ancestor there, -1 where there is none."""
    while joint >= 0:
        if joint in chain:
            return chain.index(joint)
        joint = int(skeleton.solve_parents[joint])
    return -1


def feet_of(rig: Rig) -> tuple[Foot, ...]:
    """The feet of a rig, in the order in which its contact points name them."""
    feet = []
    for limb in dict.fromkeys(point.limb for point in rig.contact_points):
        points = tuple(i for i, point in enumerate(rig.contact_points) if point.limb == limb)
        joints = [rig.contact_points[i].joint for i in points]
        chain: tuple[int, ...] = ()
        kind = "leg" if limb.endswith("H") else "foreleg"
        for candidate in rig.skeleton.chains:
            places = [_place_on(candidate.joints, rig.skeleton, joint) for joint in joints]
            if candidate.kind in LEG_KINDS and min(places) >= 0:
                # a heel that the skin gives to the lower leg does not make that the foot
                place = min(places) if min(places) > 1 else max(places)
                chain, kind = tuple(candidate.joints[: place + 1]), candidate.kind
                break
        feet.append(Foot(limb, points, chain, kind))
    return tuple(feet)


def sole_edge(rig: Rig, foot: Foot) -> SoleEdge:
    """The vertices of a foot's sole that lie farthest out in eight directions of the ground; none where no skin tells.

    Heel and toe say where a foot stands, but a wide sole that rolls goes under the ground with its edge.
    """
    skeleton, rest = rig.skeleton, rig.skeleton.rest_world
    below = np.zeros(skeleton.count, dtype=np.bool_)
    for j in skeleton.solve_order:
        parent = int(skeleton.solve_parents[j])
        below[j] = j == foot.chain[-1] or (parent >= 0 and below[parent])
    joints, places = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 3))]
    for skin in rig.skins:
        strongest = skin.joints[np.arange(len(skin.joints)), skin.weights.argmax(axis=1)]
        mine = below[strongest]
        if mine.any():
            joints.append(strongest[mine])
            places.append(skin.at_rest(rest)[mine])
    carriers, points = np.concatenate(joints), np.concatenate(places)
    if not len(points):
        return SoleEdge(carriers, points)
    low = np.flatnonzero(points[:, 1] <= points[:, 1].min() + SOLE_LEGS * leg_length(rig))
    angles = np.arange(8) * np.pi / 4.0
    outwards = points[low][:, [0, 2]] @ np.stack([np.cos(angles), np.sin(angles)])
    chosen = low[np.unique(outwards.argmax(axis=0))]
    inverse = np.linalg.inv(rest[carriers[chosen]])
    offsets = np.einsum("nij,nj->ni", inverse[:, :3, :3], points[chosen]) + inverse[:, :3, 3]
    return SoleEdge(carriers[chosen], offsets)


def leg_length(rig: Rig) -> float:
    """Metres from hip to sole, the measure of heights and speeds; half the height of a body without legs."""
    return rig.leg_length if rig.leg_length > 0.0 else 0.5 * rig.height


def contact_paths(rig: Rig, world: Array) -> Array:
    """World paths (frames, contact points, 3), metres, for joint transforms (frames, joints, 4, 4)."""
    joints = np.array([point.joint for point in rig.contact_points], dtype=np.int64)
    offsets = np.array([point.offset for point in rig.contact_points]).reshape(-1, 3)
    return point_paths(world, joints, offsets)


def low_feet(heights: Array, feet: tuple[Foot, ...], leg_m: float) -> Bools:
    """Whether each foot is as low as it gets, (frames, feet), for heights (frames, contact points), metres.

    The mean over heel and toe tells a sole that stands from a toe that hangs in swing; each foot is its own measure.
    """
    means = np.stack([heights[:, foot.points].mean(axis=1) for foot in feet], axis=1)
    return np.asarray(means < np.percentile(means, LOWEST_PERCENTILE, axis=0) + LOW_LEGS * leg_m)


def standing_height(heights: Array, feet: tuple[Foot, ...], leg_m: float) -> float:
    """Height, metres, on which the feet stand: the median over feet of their lowest point's height while they are low.

    Toes that roll or push through the ground do not lower it, as they would a percentile of all heights.
    """
    low = low_feet(heights, feet, leg_m)
    return float(np.median([np.median(heights[low[:, f]][:, foot.points].min(axis=1)) for f, foot in enumerate(feet)]))


def foot_forward(rig: Rig, world: Array, feet: tuple[Foot, ...]) -> Array:
    """How far (frames, feet) each foot's middle is before the pelvis along the rig's facing, metres."""
    paths = contact_paths(rig, world)
    pelvis = world[:, max(rig.skeleton.pelvis, 0), :3, 3]
    middles = [paths[:, foot.points].mean(axis=1) - pelvis for foot in feet]
    return np.stack([middle @ rig.forward for middle in middles], axis=1) if feet else np.zeros((len(world), 0))


def rest_hip_height(rig: Rig) -> float:
    """Metres from the sole to the hind legs' hips at rest; the leg length where there are no hind legs."""
    rest = rig.skeleton.rest_world
    hips = [rest[foot.chain[0], 1, 3] for foot in feet_of(rig) if foot.chain and foot.limb.endswith("H")]
    soles = contact_paths(rig, rest[None])[0, :, 1]
    return float(np.mean(hips) - soles.min()) if hips else leg_length(rig)


def velocities(paths: Array, fps: float, loop: bool) -> Array:
    """Central-difference velocities of paths (frames, ...), units a second; a loop (its last frame the first pose) wraps around."""
    if len(paths) < 2:
        return np.zeros_like(paths)
    if not loop or len(paths) < 4:
        return np.asarray(np.gradient(paths, axis=0) * fps)
    unique = paths[:-1]
    inner = (np.roll(unique, -1, axis=0) - np.roll(unique, 1, axis=0)) * (0.5 * fps)
    return np.concatenate([inner, inner[:1]])

"""T pose of a biped: arms level and out to the sides, legs straight down, feet flat and forward; trunk and head as they rest."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.errors import ExportError
from akd_sdk.rig import Chain, Rig

Array = NDArray[np.float64]

SHORTEST: Final = 1e-6
"""Bones shorter than this, in metres at human size, have no direction."""
UPRIGHT: Final = 0.3
"""A foot that points up or down so far that less than this of it lies on the ground keeps its yaw."""
UP: Final = np.array([0.0, 1.0, 0.0])
LIMBS: Final = (("arm", 1, "left arm"), ("arm", 2, "right arm"), ("leg", 1, "left leg"), ("leg", 2, "right leg"))


def t_pose_turns(rig: Rig) -> Array:
    """How far each joint turns from rest to the T pose, in world axes: (joints, 3, 3).

    The bones of arms and legs, y axes of the anatomical frames, are turned the short way from the base outwards, so that a palm that faces
    the thigh at rest faces the ground. Joints below follow rigidly.
    Raises ExportError: no biped, or a limb is not known or has no length.
    """
    if rig.body != "biped":
        what = "its kind of body is not known" if rig.body == "unknown" else f"this character is a {rig.body}"
        raise ExportError(f"a T pose is for bipeds, and {what}", "--t-pose", "leave it out: the zero pose is the rest pose then")
    aims: dict[int, tuple[Array, Array]] = {}
    level: dict[int, Array] = {}
    left = rig.facing @ np.array([1.0, 0.0, 0.0])
    for kind, side, called in LIMBS:
        chain = _limb(rig, kind, side, called)
        bones = _bones(rig, chain, called)
        if kind == "arm":
            aims |= {j: (bone, left if side == 1 else -left) for j, bone in bones.items()}
        else:
            aims |= {j: (bones[j], -UP) for j in chain.joints[:2]}
            if len(chain.joints) > 2:
                level[chain.joints[2]] = _forwards(rig, bones[chain.joints[2]] if len(chain.joints) > 3 else None)
    turns = np.tile(np.eye(3), (rig.skeleton.count, 1, 1))
    for j in rig.skeleton.solve_order:
        parent = int(rig.skeleton.solve_parents[j])
        if parent >= 0:
            turns[j] = turns[parent]
        if j in aims:
            bone, aim = aims[int(j)]
            turns[j] = _short_way(turns[j] @ bone, aim) @ turns[j]
        elif j in level:
            turns[j] = level[int(j)]
    return turns


def _limb(rig: Rig, kind: str, side: int, called: str) -> Chain:
    chains = [chain for chain in rig.skeleton.chains if chain.kind == kind and chain.side == side and len(chain.joints) > 1]
    if not chains:
        raise ExportError(f"a T pose needs arms and legs of two joints or more, and no such {called} was found", "--t-pose", "leave it out")
    return chains[0]


def _bones(rig: Rig, chain: Chain, called: str) -> dict[int, Array]:
    """Directions (3,) of the chain's bones at rest; its last joint keeps that of the one before."""
    ways = np.diff(rig.skeleton.rest_world[list(chain.joints), :3, 3], axis=0)
    lengths = np.linalg.norm(ways, axis=-1)
    if lengths.min() * rig.human_scale < SHORTEST:
        joint = rig.skeleton.names[chain.joints[int(lengths.argmin())]]
        raise ExportError(f"a T pose needs bones of some length, and {joint} of the {called} has none", "--t-pose", "leave it out")
    ways = ways / lengths[:, None]
    return dict(zip(chain.joints, [*ways, ways[-1]], strict=True))


def _forwards(rig: Rig, bone: Array | None) -> Array:
    """The turn (3, 3) about the vertical that makes a foot point forward and leaves its sole as flat as it rests."""
    if bone is None or np.hypot(bone[0], bone[2]) < UPRIGHT:
        return np.eye(3)
    yaw = np.arctan2(rig.forward[0], rig.forward[2]) - np.arctan2(bone[0], bone[2])
    return np.asarray(Rotation.from_euler("Y", float(yaw)).as_matrix())


def _short_way(a: Array, b: Array) -> Array:
    """The smallest rotation (3, 3) that brings one unit vector to another; of opposite ones, about an axis across them."""
    axis = np.cross(a, b)
    sine, cosine = float(np.linalg.norm(axis)), float(a @ b)
    if sine < 1e-9:
        if cosine > 0.0:
            return np.eye(3)
        axis = np.cross(a, np.eye(3)[int(np.abs(a).argmin())])
    return np.asarray(Rotation.from_rotvec(axis / np.linalg.norm(axis) * np.arctan2(sine, cosine)).as_matrix())

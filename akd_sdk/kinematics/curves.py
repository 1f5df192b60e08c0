"""Kinematics of joint curves on the anatomical tree, differentiable; and the way between curves and motions.

In world axes at rest every joint's rotation is about a fixed frame: with D the turn of a joint against rest and B its anatomical
axes at rest, `D = D_parent · exp(B · [flexion, abduction, twist])`, so that positions need no rest rotations at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from torch import Tensor

from akd_sdk.errors import RigError
from akd_sdk.kinematics.forward import motion_from_world, world_from_motion
from akd_sdk.motion import JointCurves, Motion
from akd_sdk.rig import Rig, Skeleton
from akd_sdk.rotations import matrix_from_quat, matrix_from_rotvec, nearest_rotation

Array = NDArray[np.float64]


def rest_turns(skeleton: Skeleton) -> Array:
    """World rotations of the joints at rest, scales and mirrors taken out, (joints, 3, 3)."""
    return nearest_rotation(skeleton.rest_world[:, :3, :3])


def anatomical_axes(skeleton: Skeleton) -> Array:
    """World axes at rest about which flexion, abduction and twist turn, as columns (joints, 3, 3).

    On the right side abduction and twist count negative, so that equal angles are mirror images.
    """
    axes = rest_turns(skeleton) @ matrix_from_quat(skeleton.frames)
    ordered = axes[:, :, [0, 2, 1]].copy()  # the frame has x flexion, y twist, z abduction
    ordered[skeleton.sides == 2, :, 1:] *= -1.0
    return np.asarray(ordered)


def _axis_turn(angle: Tensor, axis: int) -> Tensor:
    vector = torch.zeros(*angle.shape, 3, dtype=angle.dtype, device=angle.device)
    vector = vector.index_copy(-1, torch.tensor([axis], device=angle.device), angle[..., None])
    return matrix_from_rotvec(vector)


class CurveKinematics:
    """Forward kinematics of joint curves, batched by depth of the anatomical tree.

    Called with angles (frames, joints, 3) and root (frames, 6) it returns turns (frames, joints, 3, 3), world rotations against
    rest, and positions (frames, joints, 3), metres.
    """

    def __init__(self, skeleton: Skeleton, facing: Array, dtype: torch.dtype = torch.float32) -> None:
        if skeleton.pelvis < 0:
            raise RigError("the pelvis is not known, so there is no anatomical tree to move")
        depth = np.zeros(skeleton.count, dtype=np.int64)
        for j in skeleton.solve_order:
            parent = skeleton.solve_parents[j]
            depth[j] = 0 if parent < 0 else depth[parent] + 1
        levels = [np.flatnonzero(depth == d) for d in range(int(depth.max()) + 1)]
        slot = np.zeros(skeleton.count, dtype=np.int64)
        for level in levels:
            slot[level] = np.arange(len(level))
        rest = skeleton.rest_world[:, :3, 3]
        parents = skeleton.solve_parents

        def as_tensor(values: Array) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(values)).to(dtype)

        self._levels = [torch.from_numpy(level) for level in levels]
        self._slots = [torch.from_numpy(slot[parents[level]]) for level in levels[1:]]
        self._bones = [as_tensor((rest[level] - rest[parents[level]])[..., None]) for level in levels[1:]]
        self._roots = as_tensor(rest[levels[0]])
        self._pelvis = int(slot[skeleton.pelvis])
        self._axes = as_tensor(anatomical_axes(skeleton))
        self._facing = as_tensor(facing)
        self._unsort = torch.argsort(torch.cat(self._levels))

    def root_turn(self, root: Tensor) -> Tensor:
        """The pelvis's world turn (frames, 3, 3) for root (frames, 6): yaw, pitch, roll, intrinsic, in the character frame."""
        inner = _axis_turn(root[:, 3], 1) @ _axis_turn(root[:, 4], 0) @ _axis_turn(root[:, 5], 2)
        return self._facing @ inner @ self._facing.T

    def __call__(self, angles: Tensor, root: Tensor) -> tuple[Tensor, Tensor]:
        local = matrix_from_rotvec((self._axes @ angles[..., None])[..., 0])
        frames, pelvis = len(angles), self._pelvis
        still = torch.eye(3, dtype=angles.dtype).expand(frames, len(self._roots), 3, 3)
        moving = torch.zeros(len(self._roots), dtype=torch.bool)
        moving[pelvis] = True
        turn = torch.where(moving[None, :, None, None], self.root_turn(root)[:, None], still)
        position = self._roots + torch.where(moving[None, :, None], root[:, None, :3], torch.zeros_like(self._roots))
        turns, positions = [turn], [position]
        for level, slots, bones in zip(self._levels[1:], self._slots, self._bones, strict=True):
            parent = turn[:, slots]
            position = position[:, slots] + (parent @ bones)[..., 0]
            turn = parent @ local[:, level]
            turns.append(turn)
            positions.append(position)
        return torch.cat(turns, 1)[:, self._unsort], torch.cat(positions, 1)[:, self._unsort]


def world_from_curves(rig: Rig, curves: JointCurves) -> Array:
    """World transforms (frames, joints, 4, 4) of joint curves, metres, float64."""
    skeleton = rig.skeleton
    kinematics = CurveKinematics(skeleton, rig.facing, torch.float64)
    turns, positions = kinematics(torch.from_numpy(curves.angles), torch.from_numpy(curves.root))
    world = np.tile(skeleton.rest_world, (len(curves.angles), 1, 1, 1))
    world[..., :3, :3] = turns.numpy() @ skeleton.rest_world[:, :3, :3]
    world[..., :3, 3] = positions.numpy()
    return world


def motion_from_curves(rig: Rig, curves: JointCurves, name: str, provenance: Mapping[str, Any] | None = None) -> Motion:
    """The motion of joint curves in the file's tree, with translation keys where the two trees differ."""
    motion = motion_from_world(rig.skeleton, world_from_curves(rig, curves), curves.fps, name=name, loop=curves.loop)
    return motion.with_(provenance=dict(provenance or {}))


def curves_from_motion(rig: Rig, motion: Motion) -> JointCurves:
    """The joint angles of a motion; exact up to stretching of bones, which curves cannot hold."""
    skeleton = rig.skeleton
    if skeleton.pelvis < 0:
        raise RigError("the pelvis is not known, so a motion has no joint curves")
    world = world_from_motion(skeleton, motion)
    turns = nearest_rotation(world[..., :3, :3]) @ np.swapaxes(rest_turns(skeleton), -1, -2)
    parents = skeleton.solve_parents
    local = turns.copy()
    hung = np.flatnonzero(parents >= 0)
    local[:, hung] = np.swapaxes(turns[:, parents[hung]], -1, -2) @ turns[:, hung]
    vectors = Rotation.from_matrix(local.reshape(-1, 3, 3)).as_rotvec().reshape(*local.shape[:2], 3)
    angles = np.einsum("jia,fji->fja", anatomical_axes(skeleton), vectors)
    angles[:, parents < 0] = 0.0
    inner = rig.facing.T @ turns[:, skeleton.pelvis] @ rig.facing
    euler = np.unwrap(Rotation.from_matrix(inner).as_euler("YXZ"), axis=0)
    root = np.concatenate([motion.root - skeleton.rest_world[skeleton.pelvis, :3, 3], euler], axis=1)
    return JointCurves(angles, root, motion.fps, motion.loop)

"""The optimised body: coefficients of its curves in, where its joints, tokens and contact points are out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from akd_sdk.kinematics import CurveKinematics
from akd_sdk.motion import CurveBasis, JointCurves
from akd_sdk.rig import Rig, Skeleton
from akd_sdk.views.tokens import Tokens

Array = NDArray[np.float64]

ROOT_SHARE = 0.3
"""Hip heights of root displacement a unit of its coefficients: roots move less than limbs."""
DRIFT_SHARE = 5.0
"""Of these units, a second, the root's travel a unit of its coefficient: a walk makes one to two hip heights a second."""
SLOWED_HZ = 2.0
"""Coefficients of faster functions take smaller steps: 1 / (1 + (f / this)²)."""


@dataclass(frozen=True)
class Pose:
    """Where a body is at some times.

    Attributes:
        angles: (frames, joints, 3) radians.
        root: (frames, 6) metres and radians.
        turns: (frames, joints, 3, 3) world rotations against rest.
        positions: (frames, joints, 3) metres.
        tokens: (frames, tokens, 3) hip heights of the character frame.
        soles: (frames, points, 3) the same.
    """

    angles: Tensor
    root: Tensor
    turns: Tensor
    positions: Tensor
    tokens: Tensor
    soles: Tensor


def moving_joints(skeleton: Skeleton, tokens: Tokens) -> NDArray[np.bool_]:
    """(joints,) joints below the pelvis whose rotation moves a token: the others follow rigidly."""
    moving = np.zeros(skeleton.count, dtype=bool)
    for joint, tip in zip(tokens.joints, tokens.tips, strict=True):
        j = int(joint) if tip >= 0 else int(skeleton.solve_parents[joint])
        while j >= 0:
            moving[j] = True
            j = int(skeleton.solve_parents[j])
    moving[skeleton.pelvis] = False
    return moving & (skeleton.solve_parents >= 0)


def seen_joints(skeleton: Skeleton) -> NDArray[np.bool_]:
    """(joints,) joints of the anatomy below the pelvis: what turns under the skin is seen in pictures, token or not."""
    anatomy = np.array([role == "anatomy" for role in skeleton.roles]) & (skeleton.solve_parents >= 0)
    anatomy[skeleton.pelvis] = False
    return anatomy


class CurveBody:
    """Curves of a rig in a basis of functions of time.

    `seen`: for a prior that sees pixels. All joints of the anatomy turn, and the root has a steady velocity over the ground beside the
    basis, one more function that only it uses. Otherwise only joints turn that move tokens, and curves are in place.
    """

    def __init__(self, rig: Rig, tokens: Tokens, basis: CurveBasis, *, seen: bool = False) -> None:
        skeleton = rig.skeleton
        self.rig, self.basis, self.travels = rig, basis, seen
        self._kinematics = CurveKinematics(skeleton, rig.facing)
        rest = skeleton.rest_world[:, :3, 3]
        joints = tokens.joints
        root = rest[skeleton.pelvis]
        # One hip height in metres: tokens are the same points in hip heights, so any two of them tell.
        token_rest = self._points_at_rest(skeleton, tokens)
        span = np.linalg.norm(token_rest - token_rest[0], axis=1)
        far = int(span.argmax())
        self.hip_height = float(span[far] / np.linalg.norm(tokens.rest[far] - tokens.rest[0]))
        ground = token_rest[0, 1] - tokens.rest[0, 1] * self.hip_height
        origin = np.array([root[0], ground, root[2]]) - rig.facing @ (tokens.rest[0] * np.array([1.0, 0.0, 1.0])) * self.hip_height
        self._origin = _tensor(origin)
        self._inward = _tensor(rig.facing.T / self.hip_height)
        self._token_joints = torch.from_numpy(joints)
        self._token_arms = _tensor(token_rest - rest[joints])
        points = rig.contact_points
        self._sole_joints = torch.tensor([p.joint for p in points], dtype=torch.long)
        offsets = np.array([p.offset for p in points]).reshape(-1, 3)
        at_rest = skeleton.points_at_rest(self._sole_joints.numpy(), offsets)
        self._sole_arms = _tensor(at_rest - rest[self._sole_joints.numpy()])
        self.moving = torch.from_numpy(seen_joints(skeleton) if seen else moving_joints(skeleton, tokens))
        self.ground_m = float(ground)
        self._steps = self._step_sizes(skeleton.count)
        self._root_units = torch.tensor([ROOT_SHARE * self.hip_height] * 3 + [1.0] * 3)

    def _step_sizes(self, joints: int) -> Tensor:
        """What coefficients (functions, joints + 2, 3) are multiplied by."""
        steps = _tensor(1.0 / (1.0 + (self.basis.hertz / SLOWED_HZ) ** 2))[:, None, None]
        if not self.travels:
            return steps
        drift = torch.zeros(1, joints + 2, 3)
        drift[0, joints, [0, 2]] = DRIFT_SHARE
        return torch.cat([steps.expand(-1, joints + 2, 3), drift])

    @staticmethod
    def _points_at_rest(skeleton: Skeleton, tokens: Tokens) -> Array:
        offsets = np.array([skeleton.tips[t].offset if t >= 0 else np.zeros(3) for t in tokens.tips])
        return skeleton.points_at_rest(tokens.joints, offsets)

    def still(self) -> Tensor:
        """Coefficients of the rest pose, (functions, joints + 2, 3): the last two rows are the root's translation and rotation."""
        return torch.zeros(self.basis.count + self.travels, self.rig.skeleton.count + 2, 3)

    def curves(self, coefficients: Tensor, samples: Tensor) -> tuple[Tensor, Tensor]:
        """Angles (frames, joints, 3) and root (frames, 6) for basis samples (frames, functions)."""
        values = torch.einsum("fb,bjc->fjc", samples, coefficients * self._steps)
        angles = values[:, :-2] * self.moving[:, None]
        return angles, values[:, -2:].reshape(len(values), 6) * self._root_units

    def pose(self, coefficients: Tensor, samples: Tensor) -> Pose:
        """Where the body is at basis samples (frames, functions)."""
        angles, root = self.curves(coefficients, samples)
        turns, positions = self._kinematics(angles, root)
        tokens = self._place(turns, positions, self._token_joints, self._token_arms)
        soles = self._place(turns, positions, self._sole_joints, self._sole_arms)
        return Pose(angles, root, turns, positions, tokens, soles)

    def _place(self, turns: Tensor, positions: Tensor, joints: Tensor, arms: Tensor) -> Tensor:
        world = positions[:, joints] + (turns[:, joints] @ arms[..., None])[..., 0]
        return (world - self._origin) @ self._inward.T

    def sample(self, times_s: Array, gone_s: Array | None = None) -> Tensor:
        """Basis samples (frames, functions) at times in seconds; `gone_s` for how long the root has travelled by then, where that is not
        since the first of the times."""
        functions = self.basis.sample(times_s)
        if self.travels:
            gone = times_s - times_s[0] if gone_s is None else gone_s
            functions = np.concatenate([functions, gone[:, None]], axis=1)
        return _tensor(functions)

    def joint_curves(self, coefficients: Tensor, times_s: Array, fps: float, gone_s: Array | None = None) -> JointCurves:
        """The curves at times in seconds, float64."""
        angles, root = self.curves(coefficients.detach(), self.sample(times_s, gone_s))
        return JointCurves(angles.numpy().astype(np.float64), root.numpy().astype(np.float64), fps, self.basis.loop)


def _tensor(values: Array) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(torch.float32)

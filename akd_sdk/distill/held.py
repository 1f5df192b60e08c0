"""What curves are held to beside a video prior's belief: AKD's smoothness and ground losses, and what pictures do not show."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from akd_sdk.distill.body import CurveBody, Pose
from akd_sdk.distill.options import PixelOptions
from akd_sdk.gaussians import bone_boxes, world_of
from akd_sdk.rotations import matrix_from_rotvec, rotvec_from_matrix

EVEN_FPS = 16.0
"""Frames a second at which smoothness is judged, whatever the prior's are."""


def change_of_velocity(turns: Tensor, fps: float, *, loop: bool) -> Tensor:
    """Changes of angular velocity (frames or frames - 2, joints, 3), rad/s², of local rotations (frames, joints, 3, 3).

    Second differences of `log(R_i^T R_{i+1})`: coordinates jump by whole turns, relative rotations do not. Loops wrap around.
    """
    following = torch.cat([turns[1:], turns[:1]]) if loop else turns[1:]
    return _difference(rotvec_from_matrix(turns[: len(following)].transpose(-1, -2) @ following), loop=loop) * fps * fps


def change_of_speed(places: Tensor, fps: float, *, loop: bool) -> Tensor:
    """Second differences (frames or frames - 2, 3) of places (frames, 3), times fps². Loops wrap around."""
    following = torch.cat([places[1:], places[:1]]) if loop else places[1:]
    return _difference(following - places[: len(following)], loop=loop) * fps * fps


def _difference(steps: Tensor, *, loop: bool) -> Tensor:
    before = torch.cat([steps[-1:], steps[:-1]]) if loop else steps[:-1]
    return steps[-len(before) :] - before


class Held:
    """The losses of a body on pixels that no prior is asked for."""

    def __init__(self, body: CurveBody, options: PixelOptions) -> None:
        self._body, self._options = body, options
        skeleton = body.rig.skeleton
        limits = torch.from_numpy(skeleton.limits).float()
        self._low, self._high = limits[..., 0], limits[..., 1]
        self._moving = torch.nonzero(body.moving).flatten()
        self._rest = torch.from_numpy(np.ascontiguousarray(skeleton.rest_world)).float()
        boxes = bone_boxes(body.rig)
        self._box_joints = torch.from_numpy(boxes.joints)
        self._corners = torch.from_numpy(boxes.corners).float()
        seconds, loop = body.basis.seconds, body.basis.loop
        frames = max(4, math.ceil(seconds * EVEN_FPS))
        self._fps = frames / seconds if loop else (frames - 1) / seconds
        times = np.arange(frames) / self._fps
        self._even = body.sample(times, np.zeros_like(times))

    def loss(self, pose: Pose, coefficients: Tensor) -> Tensor:
        """The weighted sum."""
        options = self._options
        excess = torch.relu(pose.angles - self._high) + torch.relu(self._low - pose.angles)
        moving = pose.angles[:, self._moving]
        return (
            options.smoothness * self.smoothness(coefficients)
            + options.boxes * self.depth(pose)
            + options.effort * moving.square().sum(-1).mean()
            + options.twist * moving[..., 2].square().mean()
            + options.limits * excess[:, self._moving].square().sum(-1).mean()
        )

    def smoothness(self, coefficients: Tensor) -> Tensor:
        """Mean size of the change of velocity over the whole curve: of the moving joints and the root's rotation, rad/s², and of the root,
        hip heights/s² (AKD's L1 on second differences, times fps²)."""
        angles, root = self._body.curves(coefficients, self._even)
        vectors = torch.cat([angles[:, self._moving], root[:, None, [4, 3, 5]]], 1)
        turning = change_of_velocity(matrix_from_rotvec(vectors), self._fps, loop=self._body.basis.loop)
        moving = change_of_speed(root[:, :3] / self._body.hip_height, self._fps, loop=self._body.basis.loop)
        return torch.cat([turning, moving[:, None]], 1).abs().mean()

    def depth(self, pose: Pose) -> Tensor:
        """Mean depth of the corners of bone boxes below the ground, hip heights (AKD's ground loss)."""
        world = world_of(pose.turns, pose.positions, self._rest)[:, self._box_joints]
        heights = torch.einsum("fbi,bci->fbc", world[:, :, 1, :3], self._corners) + world[:, :, None, 1, 3]
        return torch.relu(self._body.ground_m - heights).mean() / self._body.hip_height

"""Posing Gaussians: world transforms of joints become centres and covariances, differentiably, by one matrix product."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from akd_sdk.errors import AkdError
from akd_sdk.gaussians.gaussians import Gaussians

Array = NDArray[np.float64]

LEAST_SHARE = 1e-8
"""Of its trace, what is added to a posed covariance in all directions: a folded one stays invertible."""


def world_of(turns: Tensor, positions: Tensor, rest_world: Tensor | Array) -> Tensor:
    """World transforms (frames, joints, 3, 4) of what `CurveKinematics` returns.

    turns: (frames, joints, 3, 3) world rotations against rest; positions: (frames, joints, 3) metres; rest_world: (joints, 4, 4).
    Differentiable in turns and positions, of their type and device.
    """
    rest = torch.as_tensor(rest_world)[:, :3, :3].to(turns)
    return torch.cat([turns @ rest, positions[..., None]], -1)


class GaussianPoser:
    """Poses Gaussians for joint transforms; built once.

    Called with world transforms (frames, joints, 3 or 4, 4), metres, it returns means (frames, n, 3) and covariances
    (frames, n, 3, 3) in the world, of the poser's type, differentiable in the transforms. `dtype` and `device` are those of the
    transforms.

    Centres and the roots of the covariances are linear in the transforms: both come from the product of the rows of the used joints
    with a constant (4 * used joints, 4 * n), and so does the gradient.
    """

    def __init__(self, gaussians: Gaussians, dtype: torch.dtype = torch.float32, device: str | torch.device = "cpu") -> None:
        used = (gaussians.weights != 0.0) | gaussians.axes.any(axis=(2, 3))
        joints, slots = np.unique(np.where(used, gaussians.joints, gaussians.joints[:, :1]), return_inverse=True)
        self._count = gaussians.count
        self._least = int(gaussians.joints.max(initial=-1)) + 1
        self._joints = torch.from_numpy(joints).to(device)
        table = _table(gaussians, slots.reshape(used.shape), len(joints))
        self._table = torch.from_numpy(table).to(device=device, dtype=dtype)

    def __call__(self, world: Tensor) -> tuple[Tensor, Tensor]:
        if world.ndim != 4 or world.shape[1] < self._least or world.shape[2] not in (3, 4) or world.shape[3] != 4:
            fault = f"transforms of shape {tuple(world.shape)} do not pose {self._least} joints"
            raise AkdError(fault, "world", "give (frames, joints, 4, 4)")
        frames = len(world)
        rows = world[:, self._joints, :3].transpose(1, 2).reshape(frames * 3, -1).to(self._table.dtype)
        moved = (rows @ self._table).reshape(frames, 3, self._count, 4).transpose(1, 2)
        means, roots = moved[..., 0], moved[..., 1:]
        covariances = roots @ roots.transpose(-1, -2)
        trace = covariances.diagonal(dim1=-2, dim2=-1).sum(-1)
        identity = torch.eye(3, dtype=roots.dtype, device=roots.device)
        return means, covariances + (LEAST_SHARE * trace)[..., None, None] * identity


def _table(gaussians: Gaussians, slots: NDArray[np.int64], used: int) -> Array:
    """(4 * used joints, n * 4): for each Gaussian the centre and the three columns of its covariance's root, in each joint's frame."""
    values, vectors = np.linalg.eigh(gaussians.covariances)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    table = np.zeros((used, 4, gaussians.count, 4))
    rows = np.arange(gaussians.count)
    for k in range(slots.shape[1]):
        weights = gaussians.weights[:, k, None]
        table[slots[:, k], :3, rows, 0] += weights * gaussians.arms[:, k]
        table[slots[:, k], 3, rows, 0] += weights[:, 0]
        table[slots[:, k], :, rows, 1:] += gaussians.axes[:, k] @ roots
    return table.reshape(4 * used, -1)

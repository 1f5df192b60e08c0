"""What the curves are held to besides the prior's belief."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from akd_sdk.distill.body import Pose
from akd_sdk.distill.options import DistillOptions
from akd_sdk.views.observation import BONE_SCALE, POSITION_SCALE, encode_displacements


@dataclass(frozen=True)
class Target:
    """All views of a belief in one: `sum_v |P_v X - y_v|² = (X - Y)ᵀ A (X - Y) + const` with A = mean PᵀP, Y = A⁻¹ mean Pᵀy.

    Attributes:
        displacement: (tokens, frames, 2 kinds, 3) Y.
        metric: (3, 3) A.
    """

    displacement: Tensor
    metric: Tensor


def fold(tracks: Tensor, rows: Tensor) -> Target:
    """The 3-D target of clean tracks (views, tokens, frames, 2, 2) seen by cameras with rows (views, 3, 3)."""
    projection = rows[:, :2]
    metric = torch.einsum("vci,vcj->ij", projection, projection) / len(rows)
    pulled = torch.einsum("vjtkc,vci->jtki", tracks, projection) / len(rows)
    regular = metric + 1e-6 * torch.eye(3)
    return Target(torch.linalg.solve(regular, pulled[..., None])[..., 0], metric)


def belief_loss(pose: Pose, rest: Tensor, parents: Tensor, target: Target) -> Tensor:
    """Squared distance to the target in the views' metric, mean over frames, tokens and kinds."""
    residual = encode_displacements(pose.tokens[None], rest, parents)[0] - target.displacement
    return 0.5 * torch.einsum("jtki,il,jtkl->jtk", residual, target.metric, residual).mean()


def regularisers(pose: Pose, lengths: tuple[Tensor, Tensor], count: int, options: DistillOptions) -> Tensor:
    """Smoothness, effort, twist, limits and ground together.

    lengths: lowest and highest angles (joints, 3); count: how many joints the means are over.
    """
    angles = torch.cat([pose.angles.reshape(len(pose.angles), -1), pose.root[:, 3:]], 1)
    frames = len(angles)
    second = angles[2:] - 2.0 * angles[1:-1] + angles[:-2]
    low, high = lengths
    excess = torch.relu(pose.angles - high) + torch.relu(low - pose.angles)
    heights = torch.cat([pose.tokens[..., 1], pose.soles[..., 1]], 1)
    return (
        options.smoothness * 16.0 * second.square().sum() / (count * (frames - 2))
        + options.effort * angles.square().sum() / (count * frames)
        + options.twist * pose.angles[..., 2].square().sum() / (count * frames)
        + options.limits * excess.square().sum() / (count * frames)
        + options.ground * torch.relu(-heights).square().mean()
    )


__all__ = ["BONE_SCALE", "POSITION_SCALE", "Target", "belief_loss", "fold", "regularisers"]

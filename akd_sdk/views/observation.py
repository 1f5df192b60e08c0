"""What a prior sees of a motion: 2-D tracks of the tokens in orthographic views."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from akd_sdk.views.camera import Cameras

POSITION_SCALE: Final = 0.30
"""Hip heights of displacement that make one unit of the position channel."""

BONE_SCALE: Final = 0.45
"""Bone lengths of change that make one unit of the bone channel."""

SHORTEST_BONE: Final = 0.08
"""Hip heights; shorter bones count as this long, so that stubs do not drown the rest."""


@dataclass(frozen=True)
class Observation:
    """A motion seen from several cameras.

    Attributes:
        cameras: the views.
        tracks: (views, tokens, frames, 2, 2) position and bone channel, each image right and up, as `encode_tracks` makes them.
    """

    cameras: Cameras
    tracks: Tensor


def own_parents(parents: Tensor) -> Tensor:
    """`parents` with -1 replaced by the token itself, so that they can index."""
    own = torch.arange(parents.shape[-1], device=parents.device).expand_as(parents)
    return torch.where(parents < 0, own, parents.long())


def bone_lengths(rest: Tensor, parents: Tensor) -> Tensor:
    """(..., tokens) hip heights between each token and its parent at rest, at least SHORTEST_BONE."""
    index = own_parents(parents)[..., None].expand(*rest.shape[:-1], 3)
    bones: Tensor = rest - rest.gather(-2, index)
    lengths: Tensor = torch.linalg.vector_norm(bones, dim=-1)
    return lengths.clamp_min(SHORTEST_BONE)


def encode_displacements(positions: Tensor, rest: Tensor, parents: Tensor) -> Tensor:
    """The two channels before projection: (batch, tokens, frames, 2 kinds, 3).

    Kind 0 is position minus rest over POSITION_SCALE, kind 1 the bone vector (token minus parent) minus its rest over
    BONE_SCALE bone lengths; arguments as for `encode_tracks`.
    """
    batch, frames, tokens, _ = positions.shape
    rest = rest.expand(batch, tokens, 3)
    index = own_parents(parents).expand(batch, tokens)
    moved = positions - rest[:, None]
    bones = moved - moved.gather(2, index[:, None, :, None].expand(batch, frames, tokens, 3))
    lengths = bone_lengths(rest, index)[:, None, :, None]
    return torch.stack([moved / POSITION_SCALE, bones / (BONE_SCALE * lengths)], -2).transpose(1, 2)


def encode_tracks(positions: Tensor, rest: Tensor, parents: Tensor, rows: Tensor) -> Tensor:
    """Tracks of a motion as the prior sees them.

    Args:
        positions: (views or 1, frames, tokens, 3) hip heights, character frame, travel removed.
        rest: (tokens, 3) or (views, tokens, 3) rest positions.
        parents: (tokens,) or (views, tokens), -1 for a root.
        rows: (views, 3, 3) of the cameras.

    Returns:
        (views, tokens, frames, 2 kinds, 2).
    """
    moved = encode_displacements(positions, rest, parents).expand(rows.shape[0], -1, -1, -1, -1)
    return torch.einsum("vci,vjtki->vjtkc", rows[:, :2], moved)

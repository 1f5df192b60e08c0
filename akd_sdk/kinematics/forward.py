"""Forward kinematics on the file's tree: local transforms over time become world transforms, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from akd_sdk.motion import Motion
from akd_sdk.rig import Skeleton
from akd_sdk.rotations import decompose, matrix_from_quat_torch

Array = NDArray[np.float64]

REST_TOLERANCE_M = 1e-7
"""Translations nearer to rest than this are rest: float noise of a round trip through matrices."""
REST_TOLERANCE_SCALE = 1e-6


def local_matrices(translations: Tensor, rotations: Tensor, scales: Tensor) -> Tensor:
    """T·R·S: (..., 3), (..., 4) xyzw, (..., 3) -> (..., 4, 4)."""
    top = torch.cat([matrix_from_quat_torch(rotations) * scales[..., None, :], translations[..., None]], -1)
    bottom = torch.zeros_like(top[..., :1, :])
    bottom[..., 3] = 1.0
    return torch.cat([top, bottom], -2)


def forward(local: Tensor, parents: Sequence[int], pelvis: int = -1, root: Tensor | None = None) -> Tensor:
    """World transforms of local ones.

    local: (frames, joints, 4, 4); parents: parents first, -1 for roots; root: (frames, 3) world position that `pelvis` is put at.
    Returns (frames, joints, 4, 4).
    """
    world: list[Tensor] = []
    for j, parent in enumerate(parents):
        matrix = local[:, j] if parent < 0 else world[parent] @ local[:, j]
        if j == pelvis and root is not None:
            column = torch.cat([root, torch.ones_like(root[:, :1])], -1)
            matrix = torch.cat([matrix[..., :3], column[..., None]], -1)
        world.append(matrix)
    return torch.stack(world, 1)


def world_from_motion(skeleton: Skeleton, motion: Motion) -> Array:
    """World transforms of every joint, (frames, joints, 4, 4), metres."""
    rest = skeleton.rest
    shape = (motion.frames, skeleton.count, 3)
    translations = np.broadcast_to(rest.translations, shape) if motion.translations is None else motion.translations
    scales = np.broadcast_to(rest.scales, shape) if motion.scales is None else motion.scales
    local = local_matrices(*(torch.from_numpy(np.array(a)) for a in (translations, motion.rotations, scales)))
    parents = [int(p) for p in skeleton.parents]
    world = forward(local, parents, skeleton.pelvis, torch.from_numpy(np.array(motion.root)))
    return np.asarray(world.numpy(), dtype=np.float64)


def motion_from_world(
    skeleton: Skeleton, world: Array, fps: float, *, name: str, loop: bool = False, like: Motion | None = None
) -> Motion:
    """The motion whose world transforms are `world` (frames, joints, 4, 4), metres.

    Translations and scales are left out where all are at rest (the pelvis is placed by `root`). `like` lends what transforms do
    not hold: morphs, contacts, travel, provenance, if it has as many frames.
    """
    local = np.empty_like(world)
    for j, parent in enumerate(skeleton.parents):
        local[:, j] = world[:, j] if parent < 0 else np.linalg.inv(world[:, parent]) @ world[:, j]
    translations, rotations, scales = decompose(local)
    pelvis = skeleton.pelvis
    placed_by_root = np.arange(skeleton.count) == pelvis
    moved = np.abs(translations - skeleton.rest.translations).max(axis=(0, 2)) > REST_TOLERANCE_M
    scaled = np.abs(scales / skeleton.rest.scales - 1.0).max() > REST_TOLERANCE_SCALE
    kept = {} if like is None or like.frames != len(world) else {
        "morphs": like.morphs, "contacts": like.contacts, "travel": like.travel, "provenance": like.provenance,
    }  # fmt: skip
    return Motion(
        name=name,
        rotations=rotations,
        root=world[:, max(pelvis, 0), :3, 3].copy(),
        fps=fps,
        loop=loop,
        translations=translations if (moved & ~placed_by_root).any() else None,
        scales=scales if scaled else None,
        **kept,  # type: ignore[arg-type]  # a dict of the four optional fields
    )


def point_paths(world: Array, joints: NDArray[np.int64], offsets: Array) -> Array:
    """Paths (frames, n, 3) of points fixed to joints (n,) at offsets (n, 3) in their axes, for world (frames, joints, 4, 4)."""
    chosen = world[:, joints]
    return np.asarray(np.einsum("fnij,nj->fni", chosen[..., :3, :3], offsets) + chosen[..., :3, 3])

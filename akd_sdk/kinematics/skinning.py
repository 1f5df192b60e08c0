"""Linear blend skinning in torch: a skin's vertices follow its joints."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from akd_sdk.rig import Skin

Array = NDArray[np.float64]

CHUNK_VALUES = 20_000_000
"""Numbers held at once while blending: bounds the memory of long clips on large meshes to some 200 MB."""


def blend(vertices: Tensor, matrices: Tensor, joints: Tensor, weights: Tensor) -> Tensor:
    """Blended vertices: `sum_k w_k M_k v` (glTF 2.0, 3.7.3.3).

    vertices (n, 3); matrices (frames, joints, 4, 4) bind space to world; joints, weights (n, k). Returns (frames, n, 3).
    """
    homogeneous = torch.cat([vertices, torch.ones_like(vertices[:, :1])], -1)
    total = torch.zeros(len(matrices), len(vertices), 3, dtype=vertices.dtype, device=vertices.device)
    rows = matrices[:, :, :3]
    for k in range(joints.shape[1]):
        moved = (rows[:, joints[:, k]] @ homogeneous[:, :, None])[..., 0]
        total = total + weights[:, k, None] * moved
    return total


def skin_points(skin: Skin, world: Array) -> Array:
    """World positions (frames, n, 3) of a skin's vertices for joint transforms (frames, joints, 4, 4), metres."""
    vertices, weights = torch.from_numpy(skin.vertices), torch.from_numpy(skin.weights)
    joints = torch.from_numpy(skin.joints)
    matrices = torch.from_numpy(np.ascontiguousarray(world @ skin.inverse_binds))
    step = max(1, CHUNK_VALUES // max(1, 15 * len(skin.vertices)))
    parts = [blend(vertices, matrices[i : i + step], joints, weights) for i in range(0, len(matrices), step)]
    return np.asarray(torch.cat(parts).numpy(), dtype=np.float64)

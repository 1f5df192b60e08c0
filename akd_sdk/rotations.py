"""Rotations: unit quaternions `xyzw`, rotation vectors, matrices on columns; numpy arrays, and torch where gradients flow.

Leading axes are free everywhere. Conversions that scipy has are scipy's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.float64]

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])


def quat_multiply(a_xyzw: Array, b_xyzw: Array) -> Array:
    """The rotation b, then a: `a * b`, (..., 4)."""
    ax, ay, az, aw = np.moveaxis(a_xyzw, -1, 0)
    bx, by, bz, bw = np.moveaxis(b_xyzw, -1, 0)
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=-1,
    )


def quat_conjugate(q_xyzw: Array) -> Array:
    """The inverse of a unit quaternion, (..., 4)."""
    return np.asarray(q_xyzw * np.array([-1.0, -1.0, -1.0, 1.0]))


def quat_normalize(q_xyzw: Array) -> Array:
    """q over its length, (..., 4); a quaternion of length zero becomes the identity."""
    length = np.linalg.norm(q_xyzw, axis=-1, keepdims=True)
    return np.where(length > 1e-12, q_xyzw / np.maximum(length, 1e-12), IDENTITY)


def quat_rotate(q_xyzw: Array, v: Array) -> Array:
    """Vectors v (..., 3) turned by unit quaternions (..., 4)."""
    xyz, w = q_xyzw[..., :3], q_xyzw[..., 3:]
    t = 2.0 * np.cross(xyz, v)
    return v + w * t + np.cross(xyz, t)


def matrix_from_quat(q_xyzw: Array) -> Array:
    """(..., 4) -> (..., 3, 3)."""
    flat = Rotation.from_quat(q_xyzw.reshape(-1, 4)).as_matrix()
    return np.asarray(flat, dtype=np.float64).reshape(*q_xyzw.shape[:-1], 3, 3)


def quat_from_matrix(m: Array) -> Array:
    """Rotation matrices (..., 3, 3) -> (..., 4); a matrix that is no rotation is taken to the nearest one."""
    flat = Rotation.from_matrix(m.reshape(-1, 3, 3)).as_quat()
    return np.asarray(flat, dtype=np.float64).reshape(*m.shape[:-2], 4)


def quat_from_rotvec(w: Array) -> Array:
    """Rotation vectors (..., 3), radians -> (..., 4)."""
    return np.asarray(Rotation.from_rotvec(w.reshape(-1, 3)).as_quat(), dtype=np.float64).reshape(*w.shape[:-1], 4)


def rotvec_from_quat(q_xyzw: Array) -> Array:
    """(..., 4) -> the shortest rotation vectors (..., 3), radians."""
    return np.asarray(Rotation.from_quat(q_xyzw.reshape(-1, 4)).as_rotvec(), dtype=np.float64).reshape(*q_xyzw.shape[:-1], 3)


def quat_continuous(q_xyzw: Array) -> Array:
    """The same rotations with signs chosen so that neighbours along the first axis lie in one hemisphere, (frames, ..., 4)."""
    if len(q_xyzw) < 2:
        return q_xyzw.copy()
    flips = np.where(np.sum(q_xyzw[1:] * q_xyzw[:-1], axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    signs = np.concatenate([np.ones_like(flips[:1]), np.cumprod(flips, axis=0)])
    return np.asarray(q_xyzw * signs)


def slerp(a_xyzw: Array, b_xyzw: Array, t: Array) -> Array:
    """The shorter great arc from a to b at t in 0..1; a, b (..., 4), t (...)."""
    dot = np.sum(a_xyzw * b_xyzw, axis=-1)
    b_near = np.where(dot[..., None] < 0.0, -b_xyzw, b_xyzw)
    angle = np.arccos(np.clip(np.abs(dot), 0.0, 1.0))
    sine = np.sin(angle)
    straight = sine < 1e-9  # the arc is too short to divide by: a straight line is exact to rounding
    safe = np.where(straight, 1.0, sine)
    wa = np.where(straight, 1.0 - t, np.sin((1.0 - t) * angle) / safe)
    wb = np.where(straight, t, np.sin(t * angle) / safe)
    return quat_normalize(wa[..., None] * a_xyzw + wb[..., None] * b_near)


def nearest_rotation(m: Array) -> Array:
    """The rotation nearest to each matrix (..., 3, 3), by singular values; of mirrored matrices with their first column turned round, so
    that a turn before them is one before their rotations."""
    u, _, vt = np.linalg.svd(m)
    near = np.asarray(u @ vt, dtype=np.float64)
    near[..., :, 0] *= np.sign(np.linalg.det(near))[..., None]
    return near


def compose(translations: Array, rotations_xyzw: Array, scales: Array) -> Array:
    """Local transforms T·R·S as matrices: (..., 3), (..., 4), (..., 3) -> (..., 4, 4)."""
    linear = matrix_from_quat(rotations_xyzw) * scales[..., None, :]
    matrix = np.zeros((*linear.shape[:-2], 4, 4))
    matrix[..., :3, :3] = linear
    matrix[..., :3, 3] = translations
    matrix[..., 3, 3] = 1.0
    return matrix


def decompose(matrix: Array) -> tuple[Array, Array, Array]:
    """T, R (xyzw) and S of affine matrices (..., 4, 4); a mirror goes into the sign of all three scales, shear is dropped."""
    linear = matrix[..., :3, :3]
    scales = np.linalg.norm(linear, axis=-2)
    mirrored = np.linalg.det(linear) < 0.0
    scales = np.where(mirrored[..., None], -scales, scales)
    safe = np.where(np.abs(scales) > 1e-30, scales, 1.0)
    return matrix[..., :3, 3].copy(), quat_from_matrix(nearest_rotation(linear / safe[..., None, :])), scales


def matrix_from_rotvec(w: Tensor) -> Tensor:
    """Rotation vectors (..., 3) -> matrices (..., 3, 3) in torch; values and gradients exact through zero (`sinc` forms)."""
    import torch

    angle = torch.sqrt((w * w).sum(-1) + 1e-24)[..., None, None]
    x, y, z = w.unbind(-1)
    zero = torch.zeros_like(x)
    k = torch.stack([zero, -z, y, z, zero, -x, -y, x, zero], -1).reshape(*w.shape, 3)
    sine = torch.sinc(angle / torch.pi)
    half = torch.sinc(angle / (2.0 * torch.pi))  # 1 - cos a = 2 sin(a/2)^2, which does not cancel in float32
    return torch.eye(3, dtype=w.dtype, device=w.device) + sine * k + (0.5 * half * half) * (k @ k)


def rotvec_from_matrix(m: Tensor) -> Tensor:
    """Rotation matrices (..., 3, 3) -> the shortest rotation vectors (..., 3) in torch, for turns of less than half a revolution.

    Values and gradients are exact through zero; at half a revolution the axis is lost.
    """
    import torch

    axis = 0.5 * torch.stack([m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]], -1)
    cosine = 0.5 * (m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2] - 1.0)
    sine = torch.sqrt((axis * axis).sum(-1) + 1e-24)
    return axis * (torch.atan2(sine, cosine) / sine)[..., None]


def matrix_from_quat_torch(q_xyzw: Tensor) -> Tensor:
    """Unit quaternions (..., 4) -> matrices (..., 3, 3) in torch."""
    import torch

    x, y, z, w = q_xyzw.unbind(-1)
    return torch.stack(
        [
            1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w),
            2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
            2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y),
        ],
        -1,
    ).reshape(*q_xyzw.shape[:-1], 3, 3)  # fmt: skip

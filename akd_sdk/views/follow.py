"""How a camera follows: a smooth path along the character's own, so that its bobbing stays visible."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from akd_sdk.errors import AkdError

FOLLOW_S: Final = 0.5
"""Seconds, the standard deviation of the Gaussian that smooths a path: strides of 1 Hz are taken out to 1 %."""
REACH: Final = 4.0
"""Standard deviations after which the Gaussian ends."""


def smooth_path(path: Tensor, fps: float, *, period: bool) -> Tensor:
    """A path without its fast parts, not delayed against it; straight and even travel is kept exactly.

    What is linear in time is set aside, the rest is weighed by a Gaussian of FOLLOW_S. The result is linear in `path`, and carries its
    gradient.

    Args:
        path: (frames, axes) metres.
        fps: frames a second.
        period: the last frame is the first pose moved on by the travel, as in a loop: the rest goes on around the seam, and so the
            camera meets itself there. Otherwise the rest is mirrored at both ends.

    Raises:
        AkdError: no frames, or no positive number of frames a second.
    """
    if path.ndim != 2 or not len(path):
        raise AkdError(f"a path has shape {tuple(path.shape)}, expected (frames, axes) with at least one frame")
    if not (math.isfinite(fps) and fps > 0.0):
        raise AkdError(f"fps is {fps}, expected a positive number")
    matrix = torch.from_numpy(smoothing_matrix(len(path), fps, period=period))
    smooth: Tensor = matrix.to(dtype=path.dtype, device=path.device) @ path
    return smooth


def smoothing_matrix(frames: int, fps: float, *, period: bool) -> NDArray[np.float64]:
    """(frames, frames) what `smooth_path` multiplies a path with; its rows sum to 1."""
    if frames < 3:
        return np.eye(frames)
    sigma = FOLLOW_S * fps
    reach = math.ceil(REACH * sigma)
    steps = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * (steps / sigma) ** 2)
    weights /= weights.sum()
    at = np.arange(frames)[:, None] + steps
    last = frames - 1
    if period:
        at = np.mod(at, last)  # the last frame is the first again
    else:
        at = np.mod(at, 2 * last)
        at = np.where(at > last, 2 * last - at, at)
    blur = np.zeros((frames, frames))
    np.add.at(blur, (np.broadcast_to(np.arange(frames)[:, None], at.shape), at), np.broadcast_to(weights, at.shape))
    trend = _trend(frames, period=period)
    return np.asarray(trend + blur @ (np.eye(frames) - trend))


def _trend(frames: int, *, period: bool) -> NDArray[np.float64]:
    """(frames, frames) projects a path to what is linear in time: from end to end of a loop, else by least squares.

    There the middle counts more than the ends (a Hann window): the bobbing of a few strides does not tilt the line.
    """
    time = np.linspace(-1.0, 1.0, frames)
    if period:
        slope = np.zeros((1, frames))
        slope[0, 0], slope[0, -1] = -0.5, 0.5
        return np.asarray(time[:, None] @ slope)
    weights = np.sin(np.pi * (np.arange(frames) + 0.5) / frames) ** 2
    return np.asarray(weights / weights.sum() + np.outer(time, weights * time) / (weights @ time**2))

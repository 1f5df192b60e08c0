"""Levers: how far an error of one track moves what hangs below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.reduction.work import SHELL_M, Work

Array = NDArray[np.float64]
TIGHTEST = 50.0
"""A planted foot asks at most so many times the precision of everything else from the tracks above it; the rest is left to the refit."""


@dataclass(frozen=True)
class Levers:
    """`weights`: for each line (frames,) metres that an error of 1 moves points by; `axes`, `places`: the dense clip's world pose."""

    weights: tuple[Array, ...]
    axes: Array
    places: Array


def levers_of(work: Work, tightness: float) -> Levers:
    """The levers of all lines; planted feet count `tightness` times, which is the tolerance over theirs."""
    axes, places = work.place(work.pose([line.values for line in work.lines]))
    axes = np.broadcast_to(axes, (work.frames, *axes.shape[1:]))
    places = np.broadcast_to(places, (work.frames, *places.shape[1:]))
    far = np.stack([_farthest(work, places, j) for j in range(work.joints)])
    weights = []
    for line in work.lines:
        j, parent = line.joint, int(work.parents[line.joint])
        tight = min(tightness, TIGHTEST)
        grown = np.linalg.norm(axes[:, parent], axis=1).max(axis=-1) if parent >= 0 else np.ones(work.frames)
        foot = _foot(work, axes, places, j) * tight
        if line.path == "rotation":
            weights.append(2.0 * np.maximum(far[j], foot))
        elif line.path == "translation":
            weights.append(grown * np.where(foot > 0.0, max(tight, 1.0), 1.0))
        else:
            size = np.maximum(np.abs(line.values).max(axis=1), 1e-9)
            weights.append(np.maximum(far[j], foot) / size)
    return Levers(tuple(weights), axes, places)


def _farthest(work: Work, places: Array, j: int) -> Array:
    """(frames,) distance from joint j to the farthest point that it moves."""
    below = work.below[j]
    return np.asarray(np.sqrt(((places[:, below] - places[:, j : j + 1]) ** 2).sum(axis=-1)).max(axis=1) + SHELL_M)


def _foot(work: Work, axes: Array, places: Array, j: int) -> Array:
    """(frames,) distance from joint j to the farthest planted contact point that it moves; 0 where none is."""
    out = np.zeros(work.frames)
    for joint, offset, planted in zip(work.feet.joint, work.feet.offset, work.feet.planted, strict=True):
        if joint in work.below[j]:
            point = places[:, joint] + axes[:, joint] @ offset
            out = np.maximum(out, np.where(planted, np.linalg.norm(point - places[:, j], axis=1), 0.0))
    return out

"""Smooth curves through what is fixed and above what is forbidden: least squares on second differences, open or periodic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import splu

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_ROUNDS = 12


def runs(mask: Bools, loop: bool) -> list[Ints]:
    """Stretches of True as arrays of frames in time order; where `loop`, the last frame is followed by the first."""
    frames = np.flatnonzero(mask)
    if not len(frames):
        return []
    stretches = np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1)
    if loop and len(stretches) > 1 and mask[0] and mask[-1]:
        stretches[0] = np.concatenate([stretches.pop(), stretches[0]])
    return stretches


def _penalty(count: int, stiffness: float, loop: bool) -> sparse.csc_matrix:
    """stiffness · D2ᵀD2 + 1 on `count` frames; periodic frames wrap around."""
    if count < 3:
        return sparse.identity(count, format="csc")
    if loop:
        rows = np.arange(count)
        columns = np.concatenate([(rows - 1) % count, rows, (rows + 1) % count])
        values = np.concatenate([np.ones(count), np.full(count, -2.0), np.ones(count)])
        second = sparse.csc_matrix((values, (np.tile(rows, 3), columns)), shape=(count, count))
    else:
        second = sparse.diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(count - 2, count), format="csc")
    return (stiffness * (second.T @ second) + sparse.identity(count)).tocsc()


def blend_through(values: Array, fixed: Bools, blend_frames: float, loop: bool) -> Array:
    """The curve (frames, n) that equals `values` where `fixed` (frames,) and elsewhere fades to zero, smoothly in value and slope.

    `blend_frames` is the time constant of the fade; a gap shorter than that is bridged.
    """
    free = ~fixed
    if fixed.all() or not fixed.any():
        return np.where(fixed[:, None], values, 0.0)
    matrix = _penalty(len(values), blend_frames**4, loop)
    known = np.where(fixed[:, None], values, 0.0)
    right = -(matrix @ known)[free]
    known[free] = splu(matrix[free][:, free].tocsc()).solve(right)
    return known


def smooth_fit(values: Array, weights: Array, blend_frames: float, loop: bool) -> Array:
    """The smooth curve (frames, n) nearest to `values` (frames, n) by weights (frames,); no weight fades to zero."""
    matrix = _penalty(len(values), blend_frames**4, loop) - sparse.identity(len(values))
    matrix = matrix + sparse.diags(weights + 1e-3)
    return np.asarray(splu(matrix.tocsc()).solve(weights[:, None] * values))


def smooth_above(lowest: Array, values: Array, fixed: Bools, blend_frames: float, loop: bool) -> Array:
    """The smooth curve (frames,) that equals `values` where `fixed` and is nowhere else under `lowest`, near zero where it may be.

    The worst place of every stretch that is too low is pinned in turn; what little is left after the last round is cut off.
    """
    held, wanted = fixed.copy(), values.copy()
    for _ in range(_ROUNDS):
        curve = blend_through(wanted[:, None], held, blend_frames, loop)[:, 0]
        lack = np.where(fixed, 0.0, lowest - curve)
        stretches = runs(lack > 1e-9, loop)
        if not stretches:
            break
        for stretch in stretches:
            worst = stretch[np.argmax(lack[stretch])]
            held[worst], wanted[worst] = True, lowest[worst]
    return np.where(fixed, values, np.maximum(curve, lowest))

"""Limb inverse kinematics: a chain of any number of bones is opened or folded to the length asked, then aimed at its target.

One number a frame opens (towards straight) or folds all inner joints together, each about its own bending axis, so a knee
keeps its side and a zigzag of knee and hock keeps its shape; the aim is the smallest turn. Closed in each frame, hence as smooth
in time as its input, and vectorised over frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

FOLD_RAD = 2.9
"""Bend of an inner joint that counts as fully folded: more than a squat, less than bones in one place."""
_GRID = np.linspace(-1.0, 1.0, 41)
_BISECTIONS = 44


@dataclass(frozen=True)
class LimbBends:
    """How the inner joints of a chain bend: `axes` (frames, inner joints, 3) unit world axes about which the natural bend is positive;
    `folds` (inner joints,) whether the joint may fold further (those whose side is not clear only open)."""

    axes: Array
    folds: Bools


@dataclass(frozen=True)
class LimbSolution:
    """Turns (frames, bones, 3, 3), world rotations to put before each bone's own; points (frames, bones + 1, 3), where the chain's points
    come to lie, metres; stretch (frames,), metres by which the target lies beyond reach (0 inside)."""

    turns: Array
    points: Array
    stretch: Array


def _unit(v: Array) -> Array:
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12))


def _turn_about(axes: Array, angles: Array) -> Array:
    """Rotations (..., 3, 3) about unit axes (..., 3) by angles (...)."""
    x, y, z = np.moveaxis(axes, -1, 0)
    zero = np.zeros_like(x)
    k = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(*axes.shape, 3)
    sine, versine = np.sin(angles)[..., None, None], 2.0 * np.sin(0.5 * angles)[..., None, None] ** 2
    return np.asarray(np.eye(3) + sine * k + versine * (k @ k))


def smallest_turn(a: Array, b: Array) -> Array:
    """The rotations (..., 3, 3) of least angle that take directions a (..., 3) to b (..., 3); opposite ones turn about any normal."""
    a, b = _unit(a), _unit(b)
    cross = np.cross(a, b)
    sine = np.linalg.norm(cross, axis=-1)
    angle = np.arctan2(sine, np.sum(a * b, axis=-1))
    spare = np.cross(a, np.eye(3)[np.argmin(np.abs(a), axis=-1)])
    return _turn_about(np.where((sine > 1e-12)[..., None], _unit(cross), _unit(spare)), angle)


def signed_bends(points: Array, axes: Array) -> Array:
    """Bends (frames, inner joints), radians, of a chain's points (frames, bones + 1, 3) about the axes (frames, inner joints, 3)."""
    bones = np.diff(points, axis=1)
    before, after = bones[:, :-1], bones[:, 1:]
    sine = np.sum(axes * np.cross(before, after), axis=-1)
    flat = np.sum(before * after, axis=-1) - np.sum(before * axes, axis=-1) * np.sum(after * axes, axis=-1)
    return np.asarray(np.arctan2(sine, flat))


def _opened(bones: Array, bends: LimbBends, now: Array, share: Array) -> tuple[Array, Array]:
    """Turns (frames, bones, 3, 3) and ends (frames, 3) of the chain when opened by `share` (frames,): 1 straight, 0 as it is, -1 folded."""
    folding = np.maximum(-share, 0.0)[:, None] * (FOLD_RAD - now) * bends.folds
    change = folding - np.maximum(share, 0.0)[:, None] * now
    local = _turn_about(bends.axes, change)
    turns = [np.broadcast_to(np.eye(3), (len(bones), 3, 3))]
    for k in range(local.shape[1]):
        turns.append(turns[-1] @ local[:, k])
    stacked = np.stack(turns, axis=1)
    return stacked, np.einsum("fkij,fkj->fi", stacked, bones)


def _length(bones: Array, bends: LimbBends, now: Array, share: Array) -> Array:
    return np.asarray(np.linalg.norm(_opened(bones, bends, now, share)[1], axis=-1))


def reach(points: Array, bends: LimbBends) -> Array:
    """The longest distance (frames,), metres, from first to last point that opening the chain gives."""
    bones, now = np.diff(points, axis=1), signed_bends(points, bends.axes)
    return np.asarray(np.max([_length(bones, bends, now, np.full(len(points), s)) for s in _GRID[_GRID >= 0.0]], axis=0))


def _share_for(bones: Array, bends: LimbBends, now: Array, wanted: Array) -> Array:
    """The opening (frames,) nearest to 0 at which the chain is `wanted` (frames,) long; where none is, the one that comes nearest."""
    frames = np.arange(len(bones))
    lengths = np.stack([_length(bones, bends, now, np.full(len(bones), s)) for s in _GRID], axis=1)
    middle = len(_GRID) // 2
    longer = wanted > lengths[:, middle]
    best = np.full(len(bones), middle)
    found = np.zeros(len(bones), dtype=np.bool_)
    for step in range(1, middle + 1):
        at = np.where(longer, middle + step, middle - step)
        there = lengths[frames, at]
        closer = np.abs(there - wanted) < np.abs(lengths[frames, best] - wanted)
        best = np.where(~found & closer, at, best)
        crossed = ~found & ((there >= wanted) == longer)
        best, found = np.where(crossed, at, best), found | crossed
    far = _GRID[best]
    near = np.where(found, _GRID[best - np.sign(best - middle)], far)
    for _ in range(_BISECTIONS):
        half = 0.5 * (near + far)
        past = (_length(bones, bends, now, half) >= wanted) == longer
        near, far = np.where(past, near, half), np.where(past, half, far)
    return np.asarray(0.5 * (near + far))


def solve_limb(points: Array, targets: Array, bends: LimbBends) -> LimbSolution:
    """Moves the end of a chain to its targets.

    points (frames, bones + 1, 3): the chain from its base to its end, metres, world; targets (frames, 3), metres, world. The base stays.
    A target beyond reach is approached as far as the straight chain goes, along its direction; bones of no length are carried along.
    """
    bones, now = np.diff(points, axis=1), signed_bends(points, bends.axes)
    line, was = targets - points[:, 0], points[:, -1] - points[:, 0]
    wanted = np.linalg.norm(line, axis=-1)
    share = _share_for(bones, bends, now, wanted)
    inner, end = _opened(bones, bends, now, share)
    line = np.where(wanted[:, None] > 1e-9, line, was)
    aim = smallest_turn(was, line) @ smallest_turn(end, was)
    turns = aim[:, None] @ inner
    moved = np.concatenate([points[:, :1], points[:, :1] + np.cumsum(np.einsum("fkij,fkj->fki", turns, bones), axis=1)], axis=1)
    return LimbSolution(turns, moved, np.maximum(wanted - np.linalg.norm(end, axis=-1), 0.0))


def bending_axes(points: Array, turns: Array, spare: Array) -> tuple[Array, Bools]:
    """The axes about which a chain's inner joints bend, read from how they do over a whole motion.

    points (frames, bones + 1, 3); turns (frames, bones, 3, 3): world rotations of the bones; spare (bones, 3): the axis to take, in
    the bone's own axes, where the joint does not bend clearly. Returns world axes (frames, inner joints, 3) carried by the bone before
    the joint, and whether each joint's side is clear (inner joints,); of a limb with none, the first inner joint folds.
    """
    bones = _unit(np.diff(points, axis=1))
    inner = bones.shape[1] - 1
    carried = turns[:, :inner]
    local = np.einsum("fkji,fkj->fki", carried, np.cross(bones[:, :-1], bones[:, 1:]))
    mean = local.mean(axis=0)
    clear = np.linalg.norm(mean, axis=-1) > CLEAR_SINE
    chosen = np.where(clear[:, None], _unit(mean), _unit(spare[:inner]))
    if inner and not clear.any():
        clear = np.arange(inner) == 0
    return np.asarray(np.einsum("fkij,kj->fki", carried, chosen)), np.asarray(clear, dtype=np.bool_)


CLEAR_SINE = 0.08
"""Mean sine of the bend over a motion (4.6 degrees) from which on a joint's bending side counts as known."""

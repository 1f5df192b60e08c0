"""Feasible: the root's path moved as little as need be for planted feet to be able to carry it.

Distilled and hand-made gaits hover: in flight their root does not fall, over their feet it is not balanced. A small periodic change of the
root's six coordinates (the feet are put back by limb IK) makes the wrench that the course asks for one that the ground can give: a
least-squares problem in the change's coefficients for given contact forces, solved in turns with the forces, as by Gauss and Newton.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.coordinates import ROOT, Coordinates
from akd_sdk.gait import lock_feet
from akd_sdk.motion import Motion
from akd_sdk.physics.course import Course, body_turns
from akd_sdk.physics.loads import EFFORT, Loads, carried
from akd_sdk.physics.rebuild import motion_of
from akd_sdk.rig import Rig

Array = NDArray[np.float64]

ROUNDS = 6
HARMONICS, LEAST_HZ, HIGHEST_HZ = 4.0, 6.0, 8.0
"""Of the stride that the change has, and frequencies up to which it goes at least and at most."""
MISSED = 0.05
"""A wrench of so many body weights (times pelvis height) that the ground cannot give costs as much as a change by the two below."""
SHIFT_LEGS, TURN_RAD = 0.03, 0.04
LARGEST_LEGS, LARGEST_RAD = 0.12, 0.15
"""Largest change: a motion that asks for more is none that this body could do, and help must show how far it is from one."""
CLEARANCE = 0.05
"""Leg lengths by which swinging feet are raised over the ground at least: bodies sag, and what only just clears it drags."""


def feasible(rig: Rig, coordinates: Coordinates, motion: Motion, course: Course, loads: Loads) -> Motion:
    """The motion with its root moved, its planted feet where they were, and its swinging feet clear of the ground."""
    coefficients = _change(loads, course, coordinates.facing, rig.leg_length)
    share = np.linspace(0.0, 1.0, motion.frames)
    change = _basis(share, course)[0] @ coefficients
    largest = np.abs(change).max(axis=0) / np.repeat([LARGEST_LEGS * rig.leg_length, LARGEST_RAD], 3)
    change /= max(1.0, float(largest.max()))
    values = coordinates.of(body_turns(rig, coordinates.articulation, motion), motion.root)
    values[:, :ROOT] += change
    moved = motion_of(rig, coordinates, values, motion)
    return lock_feet(rig, moved, motion.contacts, clearance=CLEARANCE)


def _basis(share: Array, course: Course) -> tuple[Array, Array]:
    """Basis functions (n, k) at shares of the course, and their second derivatives a second squared: periodic for a loop."""
    seconds = course.steps * course.dt
    highest_hz = min(max(HARMONICS / max(course.stride, 1e-9), LEAST_HZ), HIGHEST_HZ)
    highest = max(1, min(int(highest_hz * seconds * (1.0 if course.loop else 2.0)), course.steps // 8))
    rates = (2.0 if course.loop else 1.0) * np.pi * np.arange(1, highest + 1)
    angles = np.outer(share, rates)
    waves = [np.cos(angles), np.sin(angles)] if course.loop else [np.cos(angles)]
    basis = np.concatenate([np.ones((len(share), 1)), *waves], axis=1)
    squares = np.concatenate([[0.0], *[(rates / seconds) ** 2] * len(waves)])
    return basis, -squares * basis


def _change(loads: Loads, course: Course, facing: Array, leg_m: float) -> Array:
    """Coefficients (k, 6) of the change of the root's coordinates."""
    basis, second = _basis(loads.steps / course.steps, course)
    sizes = np.concatenate([np.full(3, SHIFT_LEGS * leg_m), np.full(3, TURN_RAD)])
    count = basis.shape[1]
    free = np.ones((count, ROOT), dtype=np.bool_)
    free[0, [1, 3, 4, 5]] = False  # a lasting change of height or attitude is no matter of balance
    weights = np.zeros((len(basis), ROOT, count, ROOT))
    weights[:, np.arange(ROOT), :, np.arange(ROOT)] = basis / sizes[:, None, None]
    held = weights.reshape(-1, count * ROOT)
    coefficients = np.zeros((count, ROOT))
    pushed = loads.needed[:, :3] @ facing.T
    for _ in range(ROUNDS):
        arms = _arms(loads, pushed, facing)
        wrenches = loads.needed[:, :ROOT] + np.einsum("kij,kj->ki", loads.inertia, second @ coefficients)
        wrenches += np.einsum("kij,kj->ki", arms, basis @ coefficients)
        shares, missing = carried(loads, wrenches)
        pushed = np.stack([facing @ (cone[:3] @ share) for cone, share in zip(loads.cones, shares)])
        rows = np.empty((len(basis), ROOT, count, ROOT))
        for k, share in enumerate(shares):
            left = _left_over(loads.cones[k][:ROOT, share > 1e-9] / loads.scale[:, None])
            rows[k] = np.einsum("ij,b->ibj", left @ (loads.inertia[k] / loads.scale[:, None]), second[k])
            rows[k] += np.einsum("ij,b->ibj", left @ (arms[k] / loads.scale[:, None]), basis[k])
        matrix = np.concatenate([rows.reshape(-1, count * ROOT) / MISSED, held])[:, free.reshape(-1)]
        wanted = -np.concatenate([missing.reshape(-1) / MISSED, held @ coefficients.reshape(-1)])
        step = np.zeros(count * ROOT)
        step[free.reshape(-1)] = np.linalg.solve(matrix.T @ matrix, matrix.T @ wanted)
        coefficients = coefficients + step.reshape(count, ROOT)
    return coefficients


def _arms(loads: Loads, pushed: Array, facing: Array) -> Array:
    """(samples, 6, 6) by how much the needed wrench grows with the root's shift while the ground pushes with forces (samples, 3)."""
    arms = np.zeros((len(pushed), ROOT, ROOT))
    for j in range(3):
        arms[:, 3:, j] = np.einsum("kai,ki->ka", loads.axes, np.cross(facing[:, j], pushed))
    return arms


def _left_over(columns: Array) -> Array:
    """(6, 6) maps a wrench to what forces along columns (6, n) cannot give of it."""
    if not columns.shape[1]:
        return np.eye(ROOT)
    return np.asarray(np.eye(ROOT) - columns @ np.linalg.solve(columns.T @ columns + EFFORT * np.eye(columns.shape[1]), columns.T))

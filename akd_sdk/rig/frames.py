"""Anatomical frames: flexion, twist and abduction axes of every joint at rest, in the joint's own rest axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.skeleton import Chain
from akd_sdk.rotations import nearest_rotation, quat_from_matrix

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

LATERAL = np.cos(np.radians(30.0))
"""Bones nearer to the lateral axis than 30 degrees (arms in T pose, wings) take up or down for their flexion axis."""


def bone_directions(rest: Array, solve_parents: Ints, order: Ints, chains: Sequence[Chain], pelvis: int) -> Array:
    """(joints, 3) unit vector along each joint's bone at rest: to the next of its chain; a leaf keeps its parent's.

    rest: (joints, 3) positions; order: solve parents before children.
    """
    following: dict[int, int] = {}
    for chain in chains:
        following.update(dict(zip(chain.joints, chain.joints[1:], strict=False)))
        if chain.kind == "spine" and pelvis >= 0:
            following[pelvis] = chain.joints[0]
    reach = _reaches(rest, solve_parents, order)
    leaves = {chain.joints[-1] for chain in chains}
    directions = np.tile(np.array([0.0, 1.0, 0.0]), (len(rest), 1))
    for j in order:
        parent = int(solve_parents[j])
        if j not in following and j not in leaves:
            children = np.flatnonzero(solve_parents == j)
            if len(children):
                following[int(j)] = int(children[np.argmax(reach[children])])
        bone = rest[following[int(j)]] - rest[j] if int(j) in following else np.zeros(3)
        length = float(np.linalg.norm(bone))
        if length > 1e-9:
            directions[j] = bone / length
        elif parent >= 0:
            directions[j] = directions[parent]
    return directions


def _reaches(rest: Array, solve_parents: Ints, order: Ints) -> Array:
    """(joints,) length of the longest path below each joint, its own bone to the parent included."""
    below = np.zeros(len(rest))
    for j in order[::-1]:
        parent = int(solve_parents[j])
        if parent >= 0:
            own = float(np.linalg.norm(rest[j] - rest[parent]))
            below[parent] = max(below[parent], below[j] + own)
            below[j] += own
    return below


def world_frames(directions: Array, sides: Ints, left: Array) -> Array:
    """(joints, 3, 3) anatomical axes in the world as columns x (flexion), y (along the bone), z (abduction).

    x lies across the bone nearest to the character's left; for a bone within 30 degrees of the lateral, nearest to up on the left
    side (and in the middle) and to down on the right side. Mirrored bones get mirrored frames: equal angles are mirror images.
    """
    up = np.array([0.0, 1.0, 0.0])
    lateral = np.abs(directions @ left) > LATERAL
    wanted = np.where(lateral[:, None], np.where((sides == 2)[:, None], -up, up), left)
    x = wanted - np.sum(wanted * directions, axis=1, keepdims=True) * directions
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack([x, directions, np.cross(x, directions)], axis=-1)


def local_frames(world: Array, rest_world: Array) -> Array:
    """(joints, 4) xyzw: world frames (joints, 3, 3) in the rest axes of joints at (joints, 4, 4)."""
    turns = nearest_rotation(rest_world[:, :3, :3])
    return quat_from_matrix(np.swapaxes(turns, 1, 2) @ world)

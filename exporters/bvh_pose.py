"""The body as a BVH has it: the anatomical tree, its zero pose, and where its joints are and how far they have turned over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.errors import ExportError
from akd_sdk.exporters.bvh_dialects import Dialect
from akd_sdk.exporters.clip import Clip
from akd_sdk.exporters.t_pose import t_pose_turns
from akd_sdk.rig import Rig, Skeleton
from akd_sdk.rotations import decompose, matrix_from_quat

Array = NDArray[np.float64]

LEAF_LENGTH: Final = 0.3
"""Length of an end without a known tip, in lengths of the bone before it."""
FACES_RAD: Final = 1e-3
"""A character that faces +Z but for this is not turned."""


@dataclass(frozen=True)
class Pose:
    """Where joints are and how far they have turned from the zero pose: points (frames, n, 3) metres, turns (frames, n, 3, 3), both in the
    file's axes."""

    points: Array
    turns: Array


@dataclass(frozen=True)
class BvhBody:
    """The character of a file.

    Attributes:
        rig: whose it is.
        order: (n) skeleton joints as the file has them, depth first.
        parents: (n) indices into it, -1 for the root.
        facing: (3, 3) from the world to the file's axes.
        zero: (n, 3, 3) turns from rest to the zero pose, world axes.
        stance: (n, 3, 3) turns from rest to the T pose, world axes; None: the character cannot take one, or nobody asked.
        why_not: why it cannot; None: it can, or nobody asked.
    """

    rig: Rig
    order: list[int]
    parents: list[int]
    facing: Array
    zero: Array
    stance: Array | None
    why_not: str | None

    @cached_property
    def rest(self) -> Array:
        """(n, 3) places at rest, metres, the file's axes."""
        return np.asarray(self.rig.skeleton.rest_world[self.order, :3, 3] @ self.facing.T)

    @cached_property
    def offsets(self) -> Array:
        """(n, 3) from the parent in the zero pose, metres, the file's axes; the root's is its rest place."""
        made = self.rest.copy()
        for i, parent in enumerate(self.parents):
            if parent >= 0:
                made[i] = self._in_file(self.zero[parent]) @ (self.rest[i] - self.rest[parent])
        return made

    def end(self, i: int) -> Array:
        """Where the leaf i ends, (3,) metres from it in the zero pose: its virtual tip, else a piece of the bone before it carried on."""
        skeleton, joint = self.rig.skeleton, self.order[i]
        for tip in skeleton.tips:
            if tip.joint == joint:
                return np.asarray(self.facing @ self.zero[i] @ skeleton.rest_world[joint, :3, :3] @ tip.offset)
        return np.asarray(self.offsets[i] * LEAF_LENGTH)

    def at(self, clip: Clip, times: Array) -> Pose:
        """The clip at times (frames,), seconds."""
        world = clip.world(times)[:, self.order]
        at_rest = matrix_from_quat(decompose(self.rig.skeleton.rest_world[self.order])[1])
        turned = matrix_from_quat(decompose(world)[1]) @ at_rest.swapaxes(-1, -2)
        turns = self._in_file(turned @ self.zero.swapaxes(-1, -2))
        return Pose(world[..., :3, 3] @ self.facing.T, turns)

    def first(self) -> Pose:
        """The T pose, its feet as high as at rest, or the rest pose where there is none: one frame."""
        if self.stance is None:
            return Pose(self.rest[None], self._in_file(self.zero.swapaxes(-1, -2))[None])
        points = self.rest.copy()
        for i, parent in enumerate(self.parents):
            if parent >= 0:
                points[i] = points[parent] + self._in_file(self.stance[parent]) @ (self.rest[i] - self.rest[parent])
        legs = {j for chain in self.rig.skeleton.chains if chain.kind == "leg" for j in chain.joints}
        low = [i for i, j in enumerate(self.order) if j in legs]
        points[:, 1] += self.rest[low, 1].min() - points[low, 1].min()
        return Pose(points[None], self._in_file(self.stance @ self.zero.swapaxes(-1, -2))[None])

    def _in_file(self, turns: Array) -> Array:
        """Turns (..., 3, 3) of the world in the file's axes."""
        return np.asarray(self.facing @ turns @ self.facing.T)


def body_of(rig: Rig, dialect: Dialect, *, t_pose: bool, root: int = -1) -> BvhBody:
    """The character as a dialect wants it; `t_pose`: its zero pose has to be a T pose; `root`: a joint above the pelvis that travels.

    Raises ExportError: a T pose was asked for that the character cannot take.
    """
    order, parents = _tree(rig.skeleton)
    if root >= 0 and root not in order:
        order, parents = [root, *order], [-1, *(parent + 1 for parent in parents)]
    stance, why_not = None, None
    if t_pose or dialect.t_pose or dialect.first_frame:
        try:
            stance = t_pose_turns(rig)[order]
        except ExportError as fault:
            if t_pose:
                raise
            why_not = fault.fault
    zero = stance if stance is not None and (t_pose or dialect.t_pose) else np.tile(np.eye(3), (len(order), 1, 1))
    yaw = float(np.arctan2(rig.forward[0], rig.forward[2])) if dialect.faces_z else 0.0
    facing = np.eye(3) if abs(yaw) < FACES_RAD else Rotation.from_euler("Y", -yaw).as_matrix()
    return BvhBody(rig, order, parents, np.asarray(facing), zero, stance, why_not)


def _tree(skeleton: Skeleton) -> tuple[list[int], list[int]]:
    """The anatomical joints under the nearest of them above, depth first; tops beside the root hang on the root."""
    anatomy = [j for j, role in enumerate(skeleton.roles) if role == "anatomy"] or list(range(skeleton.count))
    known = set(anatomy)
    above = {}
    for j in anatomy:
        parent = int(skeleton.solve_parents[j])
        while parent >= 0 and parent not in known:
            parent = int(skeleton.solve_parents[parent])
        above[j] = parent
    tops = [j for j in anatomy if above[j] < 0]
    root = skeleton.pelvis if skeleton.pelvis in tops else tops[0]
    children: dict[int, list[int]] = {j: [] for j in anatomy}
    for j in anatomy:
        if j != root:
            children[above[j] if above[j] >= 0 else root].append(j)
    order: list[int] = []
    parents: list[int] = []
    waiting = [(root, -1)]
    while waiting:
        j, parent = waiting.pop()
        waiting += [(child, len(order)) for child in reversed(children[j])]
        order.append(j)
        parents.append(parent)
    return order, parents

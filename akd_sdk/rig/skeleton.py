"""Skeleton: joints, their rest transforms, and what each joint is in the body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import RigError
from akd_sdk.rotations import IDENTITY, compose

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Transforms:
    """Local transforms T·R·S of joints: translations (joints, 3) metres, rotations (joints, 4) xyzw, scales (joints, 3)."""

    translations: Array
    rotations: Array
    scales: Array

    @property
    def matrices(self) -> Array:
        """(joints, 4, 4)."""
        return compose(self.translations, self.rotations, self.scales)


@dataclass(frozen=True)
class Chain:
    """Joints of one limb or of a part of the axis, from its base outwards.

    Attributes:
        kind: "spine", "neck", "tail", "leg", "foreleg", "arm", "wing", "finger" or "other".
        side: 0 middle, 1 left, 2 right.
        joints: joint indices; each one's solve parent is the one before.
        tip: index of the virtual tip at its end, -1 where there is none.
    """

    kind: str
    side: int
    joints: tuple[int, ...]
    tip: int = -1


@dataclass(frozen=True)
class Tip:
    """A virtual end of a leaf joint, read from the skin: `kind` "toe", "head", "hand", "tail" or "other"; `offset` (3,) metres in the
    joint's rest axes (its world rest matrix maps it to the world)."""

    kind: str
    joint: int
    offset: Array


@dataclass(frozen=True)
class ContactPoint:
    """A lowest point of a sole: `kind` "heel" or "toe", `limb` LH, RH, LF or RF, `offset` (3,) metres in the joint's rest axes."""

    kind: str
    limb: str
    joint: int
    offset: Array


@dataclass(frozen=True)
class Skeleton:
    """Joints parents first, with rest pose and anatomy. `bare` makes one without anatomy.

    Attributes:
        names: unique names.
        source_names: the file's own names, None where it has none.
        nodes: (joints,) node index in the file.
        parents: (joints,) the file's tree, -1 for a root, always smaller than the joint.
        rest: local rest transforms in the file's tree, metres.
        solve_parents: (joints,) the anatomical tree, rooted at the pelvis (-1). Joints of other roles hang where they follow rigidly;
            those that stay still (ancestors of the pelvis) have -1 too. A solve parent may have a larger index than its child.
        frames: (joints, 4) xyzw, the anatomical frame A in the joint's rest axes: x flexion, y along the bone, z abduction.
        limits: (joints, 3, 2) lowest and highest flexion, abduction, twist, radians.
        groups: the kinematic group of each joint, "none" for what is no anatomy, "unknown" where it could not be told.
        sides: (joints,) 0 middle, 1 left, 2 right; anatomical.
        chains: limbs and parts of the axis.
        roles: "anatomy", "ancestor", "control", "socket" or "unknown" for each joint.
        pelvis: the joint where trunk and hind legs meet, -1 if not found.
        tips: virtual ends of leaf joints.
    """

    names: tuple[str, ...]
    source_names: tuple[str | None, ...]
    nodes: Ints
    parents: Ints
    rest: Transforms
    solve_parents: Ints
    frames: Array
    limits: Array
    groups: tuple[str, ...]
    sides: Ints
    chains: tuple[Chain, ...] = ()
    roles: tuple[str, ...] = ()
    pelvis: int = -1
    tips: tuple[Tip, ...] = field(default=())

    def __post_init__(self) -> None:
        count = len(self.names)
        if not count:
            raise RigError("the skeleton has no joints")
        if len(set(self.names)) != count:
            raise RigError("joint names are not unique")
        if not (self.parents < np.arange(count)).all():
            raise RigError("joints are not sorted parents first")

    @classmethod
    def bare(cls, names: Sequence[str], source_names: Sequence[str | None], nodes: Ints, parents: Ints, rest: Transforms) -> Skeleton:
        """A skeleton of which only the file's tree is known."""
        count = len(names)
        return cls(
            names=tuple(names),
            source_names=tuple(source_names),
            nodes=nodes,
            parents=parents,
            rest=rest,
            solve_parents=parents.copy(),
            frames=np.tile(IDENTITY, (count, 1)),
            limits=np.tile(np.array([-np.pi, np.pi]), (count, 3, 1)),
            groups=("unknown",) * count,
            sides=np.zeros(count, dtype=np.int64),
            roles=("unknown",) * count,
        )

    @property
    def count(self) -> int:
        return len(self.names)

    @cached_property
    def rest_world(self) -> Array:
        """(joints, 4, 4) world transforms at rest, metres."""
        local = self.rest.matrices
        world = np.empty_like(local)
        for j, parent in enumerate(self.parents):
            world[j] = local[j] if parent < 0 else world[parent] @ local[j]
        return world

    @cached_property
    def solve_order(self) -> Ints:
        """(joints,) joint indices, solve parents before their children."""
        depth = np.full(self.count, -1)
        for start in range(self.count):
            path = []
            j = start
            while j >= 0 and depth[j] < 0:
                if j in path:
                    raise RigError("the anatomical tree has a cycle", self.names[j])
                path.append(j)
                j = int(self.solve_parents[j])
            base = -1 if j < 0 else int(depth[j])
            for step, k in enumerate(reversed(path)):
                depth[k] = base + 1 + step
        return np.argsort(depth, kind="stable").astype(np.int64)

    def points_at_rest(self, joints: Ints, offsets: Array) -> Array:
        """World rest positions of points (n, 3) fixed to joints (n,) by offsets (n, 3) in their rest axes."""
        world = self.rest_world[joints]
        return np.asarray(np.einsum("nij,nj->ni", world[:, :3, :3], offsets) + world[:, :3, 3])

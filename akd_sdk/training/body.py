"""A body of the teacher: named joints with groups, sides and rest positions, and which of them make which limb."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from akd_sdk.training.legs import LegMotion, LegShape, solve
from akd_sdk.training.turns import Array
from akd_sdk.views.tokens import GROUPS, SIDES, Tokens


@dataclass(frozen=True)
class Leg:
    """A leg of a body: its shape, its joints from hip to tip, and the girdle joint above it, if any."""

    shape: LegShape
    joints: tuple[int, ...]
    girdle: int | None = None


@dataclass(frozen=True)
class Arm:
    """An arm or wing: joints from shoulder to end, segment lengths, the collar joint above it, if any."""

    joints: tuple[int, ...]
    lengths: tuple[float, ...]
    collar: int | None
    wing: bool


@dataclass
class Body:
    """A body under construction and, once built, the teacher's puppet.

    Lists hold one entry a joint, parents first. Lengths are hip heights, the frame is the character's.
    """

    kind: str
    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    sides: list[int] = field(default_factory=list)
    chain: list[float] = field(default_factory=list)
    points: list[Array] = field(default_factory=list)
    trunk: list[int] = field(default_factory=list)
    neck: list[int] = field(default_factory=list)
    tail: list[int] = field(default_factory=list)
    head: int = -1
    head_tip: int | None = None
    middle_root: int | None = None
    legs: dict[str, Leg] = field(default_factory=dict)
    arms: dict[str, Arm] = field(default_factory=dict)
    toy: bool = False

    def add(self, name: str, parent: int, label: tuple[str, str], chain: float, point: Array) -> int:
        """Append a joint with its (group, side) label; returns its index."""
        self.names.append(name)
        self.parents.append(parent)
        self.groups.append(GROUPS.index(label[0]))
        self.sides.append(SIDES.index(label[1]))
        self.chain.append(chain)
        self.points.append(np.asarray(point, dtype=np.float64))
        return len(self.names) - 1

    def add_leg(self, name: str, shape: LegShape, parent: int, girdle: int | None = None) -> None:
        """Append the joints of a leg, standing at rest."""
        still = LegMotion(shape.tip[None], np.array([shape.foot_angle]), np.array([shape.toe_angle]), np.ones(1, dtype=bool))
        points = [point[0] for point in solve(shape, shape.hip[None], still)]
        lengths = [0.0, *(float(np.linalg.norm(b - a)) for a, b in pairwise(points))]
        share = np.cumsum(lengths) / sum(lengths)
        label = ("leg" if name[1] == "H" else "foreleg", "left" if name[0] == "L" else "right")
        joints = []
        above = parent if girdle is None else girdle
        for i, (point, along) in enumerate(zip(points, share)):
            above = self.add(f"{name}{i}", above, label, float(along), point)
            joints.append(above)
        self.legs[name] = Leg(shape, tuple(joints), girdle)

    @property
    def pelvis(self) -> int:
        return self.trunk[0]

    @property
    def chest(self) -> int:
        return self.trunk[-1]

    @property
    def rest(self) -> Array:
        """(joints, 3) rest positions."""
        return np.stack(self.points)

    @property
    def feet(self) -> dict[str, int]:
        """The tip of each leg."""
        return {name: leg.joints[-1] for name, leg in self.legs.items()}

    def tokens(self) -> Tokens:
        """The body as a prior sees it, the first joint over the origin."""
        rest = self.rest
        return Tokens(
            names=tuple(self.names),
            rest=rest - rest[0] * np.array([1.0, 0.0, 1.0]),
            parents=np.array(self.parents, dtype=np.int64),
            groups=np.array(self.groups, dtype=np.int64),
            sides=np.array(self.sides, dtype=np.int64),
            chain=np.array(self.chain),
            joints=np.full(len(self.names), -1, dtype=np.int64),
            tips=np.full(len(self.names), -1, dtype=np.int64),
            feet=self.feet,
            hips={name: leg.joints[0] for name, leg in self.legs.items()},
            body=self.kind,
        )

"""The grammar of BVH: a hierarchy of offsets and channels, then a line of numbers a frame."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError

Array = NDArray[np.float64]

POSITIONS = ("Xposition", "Yposition", "Zposition")
ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
"""Of rotations, applied from left to right to columns: "ZXY" is Rz · Rx · Ry."""

DECIMALS = 7
"""Of centimetres and degrees: 1e-9 m, and 2e-9 rad, which is nothing at the end of any chain. Fixed notation, because some readers
stumble over exponents."""


def rotation_channels(order: str) -> tuple[str, ...]:
    """Names of the three rotation channels of an order."""
    return tuple(f"{axis}rotation" for axis in order)


@dataclass(frozen=True)
class BvhJoint:
    """A joint in the order of the file (depth first).

    Attributes:
        name: without white space or braces.
        parent: index in the file's order, -1 for the root.
        offset: (3,) from the parent in the zero pose.
        channels: names of its channels, in the order of its numbers.
        end: (3,) offset of the end site of a joint without children, else None.
    """

    name: str
    parent: int
    offset: Array
    channels: tuple[str, ...]
    end: Array | None = None


@dataclass(frozen=True)
class Bvh:
    """A whole file.

    Attributes:
        joints: depth first.
        frame_time: seconds.
        values: (frames, channels), positions in the unit of the offsets, angles in degrees.
        decimals: of all numbers.
    """

    joints: tuple[BvhJoint, ...]
    frame_time: float
    values: Array
    decimals: int = DECIMALS

    def __post_init__(self) -> None:
        channels = sum(len(joint.channels) for joint in self.joints)
        if self.values.ndim != 2 or self.values.shape[1] != channels:
            raise ExportError(f"values have shape {self.values.shape}, expected (frames, {channels})")
        if not np.isfinite(self.values).all():
            raise ExportError("values hold numbers that are not finite")

    def text(self) -> str:
        """The file's text, lines ended by a line feed."""
        children: list[list[int]] = [[] for _ in self.joints]
        for index, joint in enumerate(self.joints):
            if joint.parent >= 0:
                children[joint.parent].append(index)
        lines = ["HIERARCHY"]
        closed = 0
        depths: list[int] = []
        for index, joint in enumerate(self.joints):
            depth = 0 if joint.parent < 0 else depths[joint.parent] + 1
            depths.append(depth)
            for level in range(closed - 1, depth - 1, -1):
                lines.append("\t" * level + "}")
            lines += self._head(joint, depth, leaf=not children[index])
            closed = depth + 1
        for level in range(closed - 1, -1, -1):
            lines.append("\t" * level + "}")
        lines += ["MOTION", f"Frames: {len(self.values)}", f"Frame Time: {self.frame_time!r}"]
        lines += [self._numbers(row) for row in self.values]
        return "\n".join(lines) + "\n"

    def rounded(self) -> Bvh:
        """What a reader finds in the text."""
        joints = tuple(
            replace(joint, offset=self._round(joint.offset), end=None if joint.end is None else self._round(joint.end))
            for joint in self.joints
        )
        return replace(self, joints=joints, values=self._round(self.values))

    def _head(self, joint: BvhJoint, depth: int, *, leaf: bool) -> list[str]:
        """A joint's lines up to its children, its closing brace left out."""
        pad, inner = "\t" * depth, "\t" * (depth + 1)
        lines = [
            f"{pad}{'ROOT' if joint.parent < 0 else 'JOINT'} {joint.name}",
            f"{pad}{{",
            f"{inner}OFFSET {self._numbers(joint.offset)}",
            f"{inner}CHANNELS {len(joint.channels)} {' '.join(joint.channels)}",
        ]
        if leaf:
            end = np.zeros(3) if joint.end is None else joint.end
            lines += [f"{inner}End Site", f"{inner}{{", f"{inner}\tOFFSET {self._numbers(end)}", f"{inner}}}"]
        return lines

    def _round(self, values: Array) -> Array:
        return np.asarray(np.round(values, self.decimals) + 0.0)  # no negative zeros

    def _numbers(self, values: Array) -> str:
        return " ".join(f"{value:.{self.decimals}f}" for value in self._round(values).tolist())


def euler(matrices: Array, order: str = "ZXY") -> Array:
    """Angles a, b, c with R = R0(a) · R1(b) · R2(c), axes as `order` says, continuous over frames, through the pole b = 90 degrees too.

    matrices: (frames, joints, 3, 3) rotations. Returns (frames, joints, 3) radians.
    """
    axes = ["XYZ".index(axis) for axis in order]
    back = np.zeros((3, 3))
    back[[2, 0, 1], axes] = 1.0  # the axes of the order become Z, X, Y; a mirror where they are no turn of these
    return np.asarray(np.linalg.det(back) * _euler_zxy(back @ matrices @ back.T))


def _euler_zxy(matrices: Array) -> Array:
    angles = np.empty(matrices.shape[:-1])
    before = np.zeros(matrices.shape[1:-1])
    for frame, m in enumerate(matrices):
        polar = np.hypot(m[:, 0, 1], m[:, 1, 1]) < POLE
        first = np.where(polar, before[:, 0], np.arctan2(-m[:, 0, 1], m[:, 1, 1]))
        options = [_with_first(m, first + turn) for turn in (0.0, np.pi)]
        near = [option + 2.0 * np.pi * np.round((before - option) / (2.0 * np.pi)) for option in options]
        cost = [np.abs(option - before).sum(axis=-1, keepdims=True) for option in near]
        before = np.where(cost[1] < cost[0] - 1e-9, near[1], near[0])
        angles[frame] = before
    return angles


POLE = 1e-7
"""Cosine of the middle angle under which the first and the last turn about one axis: the first is then kept from the frame before."""


def _with_first(m: Array, a: Array) -> Array:
    """Angles (joints, 3) of rotations m (joints, 3, 3), the first being given (or given turned by half): Rx(b) · Ry(c) = Rz(-a) · m."""
    cos, sin = np.cos(a), np.sin(a)
    x, y = cos[:, None] * m[:, 0] + sin[:, None] * m[:, 1], cos[:, None] * m[:, 1] - sin[:, None] * m[:, 0]
    b = np.arctan2(m[:, 2, 1], y[:, 1])
    c = np.arctan2(x[:, 2], x[:, 0])
    return np.stack([a, b, c], -1)

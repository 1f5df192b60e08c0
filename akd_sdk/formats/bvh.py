"""The grammar of BVH: a hierarchy of offsets and channels, then a line of numbers a frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError

Array = NDArray[np.float64]

POSITIONS = ("Xposition", "Yposition", "Zposition")
ROTATIONS_ZXY = ("Zrotation", "Xrotation", "Yrotation")
"""Applied from left to right to columns: Rz · Rx · Ry."""

DECIMALS = 7
"""Of centimetres and degrees: 1e-9 m, and 2e-9 rad, which is nothing at the end of any chain. Fixed notation, because some readers
stumble over exponents."""


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
    """

    joints: tuple[BvhJoint, ...]
    frame_time: float
    values: Array

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
            lines += _head(joint, depth, leaf=not children[index])
            closed = depth + 1
        for level in range(closed - 1, -1, -1):
            lines.append("\t" * level + "}")
        lines += ["MOTION", f"Frames: {len(self.values)}", f"Frame Time: {self.frame_time!r}"]
        rounded = np.round(self.values, DECIMALS) + 0.0  # no negative zeros
        lines += [" ".join(f"{value:.{DECIMALS}f}" for value in row) for row in rounded.tolist()]
        return "\n".join(lines) + "\n"


def _head(joint: BvhJoint, depth: int, *, leaf: bool) -> list[str]:
    """A joint's lines up to its children, its closing brace left out."""
    pad, inner = "\t" * depth, "\t" * (depth + 1)
    lines = [
        f"{pad}{'ROOT' if joint.parent < 0 else 'JOINT'} {joint.name}",
        f"{pad}{{",
        f"{inner}OFFSET {_numbers(joint.offset)}",
        f"{inner}CHANNELS {len(joint.channels)} {' '.join(joint.channels)}",
    ]
    if leaf:
        end = np.zeros(3) if joint.end is None else joint.end
        lines += [f"{inner}End Site", f"{inner}{{", f"{inner}\tOFFSET {_numbers(end)}", f"{inner}}}"]
    return lines


def _numbers(vector: Array) -> str:
    return " ".join(f"{value:.{DECIMALS}f}" for value in (np.round(vector, DECIMALS) + 0.0).tolist())


def euler_zxy(matrices: Array) -> Array:
    """Angles a, b, c with R = Rz(a) · Rx(b) · Ry(c), continuous over frames, through the pole b = 90 degrees too.

    matrices: (frames, joints, 3, 3) rotations. Returns (frames, joints, 3) radians.
    """
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

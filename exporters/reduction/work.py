"""Work: the clip to reduce as its file will hold it: the file's own tree and unit, brought to human size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.clip import Clip, Path3, Track
from akd_sdk.exporters.gltf import file_values
from akd_sdk.exporters.reduction.stored import as_float32
from akd_sdk.rig import Rig
from akd_sdk.rotations import matrix_from_quat, quat_continuous, quat_normalize

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
PATHS: tuple[Path3, ...] = ("translation", "rotation", "scale")
SHELL_M = 0.03
"""Distance of the three points from their joint, metres at human size."""


@dataclass(frozen=True)
class Feet:
    """Contact points: `joint` (points,), `offset` (points, 3) in the joint's own axes, `planted` (points, frames)."""

    joint: Ints
    offset: Array
    planted: NDArray[np.bool_]

    @property
    def any(self) -> bool:
        return bool(self.planted.any())


@dataclass(frozen=True)
class Line:
    """One dense track: `values` (frames, 3 or 4) as float32 gives them back, held from frame to frame or not, and rest's value."""

    joint: int
    path: Path3
    values: Array
    held: bool
    rest: Array

    @property
    def turns(self) -> bool:
        return self.path == "rotation"


@dataclass(frozen=True)
class Work:
    """A dense clip in the file's space, translations multiplied by `unit` so that distances are metres at human size.

    Attributes:
        names: of the joints.
        parents: (joints,) -1 for a root.
        rest: translations (joints, 3), rotations (joints, 4), scales (joints, 3) of the file's nodes.
        fps: frames a second.
        times: (frames,) seconds, as float32 holds them.
        unit: metres at human size of one unit of the file.
        lines: dense tracks, by joint and property.
        feet: contact points with their planted frames.
        seam: the first and last key of each track stay as they are.
    """

    names: tuple[str, ...]
    parents: Ints
    rest: tuple[Array, Array, Array]
    fps: float
    times: Array
    unit: float
    lines: tuple[Line, ...]
    feet: Feet
    seam: bool

    @property
    def joints(self) -> int:
        return len(self.parents)

    @property
    def frames(self) -> int:
        return len(self.times)

    @cached_property
    def below(self) -> tuple[Ints, ...]:
        """For each joint itself and all under it, parents first."""
        lists: list[list[int]] = [[j] for j in range(self.joints)]
        for j in range(self.joints - 1, -1, -1):
            if self.parents[j] >= 0:
                lists[self.parents[j]] += lists[j]
        return tuple(np.array(sorted(joints), dtype=np.int32) for joints in lists)

    @cached_property
    def chains(self) -> tuple[Ints, ...]:
        """For each joint itself and all above it, from the root."""
        out: list[Ints] = []
        for j, parent in enumerate(self.parents):
            above = out[parent] if parent >= 0 else np.empty(0, dtype=np.int32)
            out.append(np.append(above, np.int32(j)).astype(np.int32))
        return tuple(out)

    @cached_property
    def depth(self) -> Ints:
        """(joints,) number of joints above each."""
        return np.array([len(chain) - 1 for chain in self.chains], dtype=np.int32)

    def pose(self, values: list[Array]) -> tuple[Array, Array, Array]:
        """Local T, R, S of all joints (n, joints, 3 or 4) where the lines have these values (n, 3 or 4)."""
        count = len(values[0]) if values else 1
        moves, turns, grows = (np.tile(part, (count, 1, 1)) for part in self.rest)
        for line, value in zip(self.lines, values, strict=True):
            part = {"translation": moves, "rotation": turns, "scale": grows}[line.path]
            part[:, line.joint] = quat_normalize(value) if line.turns else value
        return moves, turns, grows

    def place(self, pose: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        """World axes (n, joints, 3, 3), scale and shear with them, and places (n, joints, 3) of local T, R, S."""
        moves, turns, grows = pose
        axes = matrix_from_quat(turns) * grows[..., None, :]
        places = moves.copy()
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                places[:, j] = places[:, parent] + np.einsum("nij,nj->ni", axes[:, parent], moves[:, j])
                axes[:, j] = axes[:, parent] @ axes[:, j]
        return axes, places


def work_of(rig: Rig, clip: Clip, feet: bool = True) -> Work:
    """The dense clip on its own frame grid, as the rig's file would hold it in float32."""
    skeleton = rig.skeleton
    unit = rig.source.scale * rig.human_scale
    frames = clip.frames
    pose = clip.sample(clip.times)
    dense = {"translation": pose.translations, "rotation": pose.rotations, "scale": pose.scales}
    still = {"translation": skeleton.rest.translations, "rotation": skeleton.rest.rotations, "scale": skeleton.rest.scales}
    start = np.zeros(1)

    def in_file(j: int, path: Path3, values: Array) -> Array:
        read = file_values(rig, Track(j, path, start, values))
        return np.asarray(read * unit if path == "translation" else read)

    rest = tuple(np.concatenate([in_file(j, path, still[path][j : j + 1]) for j in range(skeleton.count)]) for path in PATHS)
    lines = []
    for track in sorted(clip.tracks, key=lambda track: (track.joint, PATHS.index(track.path))):
        values = in_file(track.joint, track.path, dense[track.path][:, track.joint])
        if track.path == "rotation":
            values = quat_continuous(values)
        values = as_float32(values, unit if track.path == "translation" else 1.0)
        lines.append(Line(track.joint, track.path, values, track.interpolation == "STEP", rest[PATHS.index(track.path)][track.joint]))
    times = clip.times.astype(np.float32).astype(np.float64)
    parents = skeleton.parents.astype(np.int32)
    points = _feet(rig, clip, unit) if feet else _no_feet(frames)
    return Work(skeleton.names, parents, (rest[0], rest[1], rest[2]), clip.fps, times, unit, tuple(lines), points, clip.loop)


def _no_feet(frames: int) -> Feet:
    return Feet(np.zeros(0, dtype=np.int32), np.zeros((0, 3)), np.zeros((0, frames), dtype=np.bool_))


def _feet(rig: Rig, clip: Clip, unit: float) -> Feet:
    """The rig's contact points that the clip plants; the joints' own units are the file's again."""
    points = {f"{point.limb}_{point.kind}": point for point in rig.contact_points}
    if clip.contacts is None or len(clip.contacts) != clip.frames:
        return _no_feet(clip.frames)
    named = clip.contact_names if len(clip.contact_names) == clip.contacts.shape[1] else tuple(points)
    joint, offset, planted = [], [], []
    for name, column in zip(named, clip.contacts.T, strict=False):
        point = points.get(name)
        if point is not None and column.any():
            joint.append(point.joint)
            offset.append(point.offset * (unit / rig.source.units[point.joint]))
            planted.append(column)
    if not joint:
        return _no_feet(clip.frames)
    return Feet(np.array(joint, dtype=np.int32), np.array(offset), np.array(planted, dtype=np.bool_))


def stretches(planted: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last frame of each run of planted frames."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], planted, [False]]).astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in list(pairwise(edges))[::2]]

"""BVH: the anatomical tree, its zero pose the rest pose in world axes, positions where bones change their length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import Clip, require_own, unique_name
from akd_sdk.exporters.options import PLAIN, ExportOptions
from akd_sdk.formats.atomic import write_whole
from akd_sdk.formats.bvh import POSITIONS, ROTATIONS_ZXY, Bvh, BvhJoint, euler_zxy
from akd_sdk.rig import Rig, Skeleton
from akd_sdk.rotations import decompose, matrix_from_quat

Array = NDArray[np.float64]

CENTIMETRES = 100.0
STRETCH_TOLERANCE_M = 5e-6
"""Bones that change by more than this, at human size, get positions a frame; ten that change by less stray 0.05 mm."""
LEAF_LENGTH = 0.3
"""Length of an end without a known tip, in lengths of the bone before it."""


@dataclass(frozen=True)
class _Tree:
    """Joints as the file has them: `order` skeleton joints depth first, `parents` indices into it."""

    order: list[int]
    parents: list[int]


def export_bvh(rig: Rig, clips: Sequence[Clip], path: str | PathLike[str], *, force: bool = False, options: ExportOptions = PLAIN) -> Path:
    """Write one clip as BVH, centimetres, Y up, one frame a frame of the clip; its path.

    The joints are those of the anatomical tree (all joints where it is not known), the root is the pelvis, tips are end sites. Every
    joint has Z, X, Y rotations; the root, and joints whose distance to their parent changes, have positions before them, which
    replace the offset (as Blender and MotionBuilder read them).
    Raises ExportError: not exactly one clip, a clip of another skeleton, the file cannot be written.
    """
    options.only(path)
    if len(clips) != 1:
        raise ExportError(f"a BVH holds one clip, not {len(clips)}", path, "write a file for each")
    clip = clips[0]
    require_own(rig, clip)
    return write_whole(path, bvh_of(rig, clip).text().encode(), force=force)


def bvh_of(rig: Rig, clip: Clip) -> Bvh:
    """The clip as a BVH."""
    skeleton = rig.skeleton
    tree = _tree(skeleton)
    rest, world = skeleton.rest_world[tree.order], clip.world(clip.times)[:, tree.order]
    turned = _turns(rest, world)
    offsets = np.stack([rest[i, :3, 3] - (rest[p, :3, 3] if p >= 0 else 0.0) for i, p in enumerate(tree.parents)])
    locals_, places = np.empty_like(turned), np.empty_like(world[..., :3, 3])
    for i, parent in enumerate(tree.parents):
        here = world[:, i, :3, 3]
        if parent < 0:
            locals_[:, i], places[:, i] = turned[:, i], here
            continue
        back = turned[:, parent].swapaxes(-1, -2)
        locals_[:, i] = back @ turned[:, i]
        places[:, i] = (back @ (here - world[:, parent, :3, 3])[..., None])[..., 0]
    stretch = np.linalg.norm(places - offsets, axis=-1).max(axis=0) * rig.human_scale > STRETCH_TOLERANCE_M
    placed = stretch | (np.array(tree.parents) < 0)
    degrees = np.degrees(euler_zxy(locals_))
    columns = [part for i in range(len(tree.order)) for part in ([places[:, i] * CENTIMETRES] * int(placed[i]) + [degrees[:, i]])]
    return Bvh(_joints(rig, tree, offsets, placed), 1.0 / clip.fps, np.concatenate(columns, axis=1))


def _tree(skeleton: Skeleton) -> _Tree:
    """The anatomical joints under the nearest of them above; tops beside the root hang on the root."""
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
    return _Tree(order, parents)


def _turns(rest: Array, world: Array) -> Array:
    """How far each joint has turned from rest, in world axes: (frames, joints, 3, 3)."""
    at_rest = matrix_from_quat(decompose(rest)[1])
    return np.asarray(matrix_from_quat(decompose(world)[1]) @ at_rest.swapaxes(-1, -2))


def _joints(rig: Rig, tree: _Tree, offsets: Array, placed: NDArray[np.bool_]) -> tuple[BvhJoint, ...]:
    taken: set[str] = set()
    leaves = set(range(len(tree.order))) - set(tree.parents)
    return tuple(
        BvhJoint(
            name=unique_name(bvh_name(rig.skeleton.names[j]), taken),
            parent=parent,
            offset=np.zeros(3) if parent < 0 else offsets[i] * CENTIMETRES,
            channels=(POSITIONS if placed[i] else ()) + ROTATIONS_ZXY,
            end=_end(rig.skeleton, j, offsets[i]) * CENTIMETRES if i in leaves else None,
        )
        for i, (j, parent) in enumerate(zip(tree.order, tree.parents, strict=True))
    )


def bvh_name(name: str) -> str:
    """A name that a BVH reader takes for one word: white space and braces become underlines."""
    return re.sub(r"[\s{}]+", "_", name).strip("_") or "joint"


def _end(skeleton: Skeleton, joint: int, offset: Array) -> Array:
    """Where a leaf ends, (3,) metres from it in world axes at rest: its virtual tip, else a piece of the bone before it carried on."""
    for tip in skeleton.tips:
        if tip.joint == joint:
            return np.asarray(skeleton.rest_world[joint, :3, :3] @ tip.offset)
    return offset * LEAF_LENGTH

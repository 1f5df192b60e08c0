"""Root modes: where a clip's travel over the ground goes: it stays on the pelvis, goes to a root above it, or is taken out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.pose import local_pose, world_from_local
from akd_sdk.gait import estimate_travel
from akd_sdk.gait.ground import carried, ground_matrices, inverse_ground
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig, Skeleton, Transforms
from akd_sdk.rotations import nearest_rotation, quat_from_matrix, quat_multiply

Array = NDArray[np.float64]

ROOT_MODES: Final = ("hips", "root", "in_place")
STILL_M: Final = 1e-6
FAR_M: Final = 0.5
"""A pelvis that is further from its rest place than this in place, at human size, takes the root along, so that the root lies below it."""
CLOSED: Final = 1e-6
"""Ends of a loop that differ by less, radians and shares of a metre at human size, are the same pose: rounding of the travel taken out."""


@dataclass(frozen=True)
class RootResidual:
    """What a root mode leaves to the pelvis, and what it costs.

    Attributes:
        sway_m: how far the pelvis strays over the ground from its mean place above the root, at worst.
        bob_m: how far it rises and sinks, from lowest to highest.
        error_m: how far any joint is from where the motion has it (in place: from where it has it less the travel), at worst.
    """

    sway_m: float
    bob_m: float
    error_m: float


@dataclass(frozen=True)
class Rooted:
    """A motion's pose in a root mode.

    Attributes:
        pose: local transforms (frames, joints).
        moved: joints whose local transforms the mode changed.
        joint: the joint that carries the travel: the root of "root", else the pelvis; -1: none.
        travel: (frames, 3) x, z metres and yaw radians; None: not known, or the mode was not asked.
        residual: None for "hips", which changes nothing.
    """

    pose: Transforms
    moved: frozenset[int]
    joint: int
    travel: Array | None
    residual: RootResidual | None


def in_root_mode(rig: Rig, motion: Motion, mode: str) -> Rooted:
    """The motion's pose with its travel where the mode wants it.

    A motion that does not say its travel has the smoothed path of its root for it, where that goes somewhere.
    Raises ExportError: a mode that is not known; "root" for a character without pelvis, or without a joint above all that travels.
    """
    if mode not in ROOT_MODES:
        raise ExportError(f"unknown root mode {mode!r}", "--root-mode", f"known: {', '.join(ROOT_MODES)}")
    skeleton, pose = rig.skeleton, local_pose(rig.skeleton, motion)
    if mode == "hips":
        return Rooted(pose, frozenset(), skeleton.pelvis, motion.travel, None)
    travel = _travel(rig, motion)
    if mode == "in_place":
        moved, joint = in_place(skeleton, pose, travel), skeleton.pelvis
    else:
        joint = root_joint(rig)
        if joint < 0:
            what = (
                "no joint above the pelvis that could carry the travel"
                if skeleton.pelvis >= 0
                else "no pelvis whose travel a root could carry"
            )
            raise ExportError(f"the character has {what}", rig.source.path, "--add-root adds a root bone; --root-mode hips needs none")
        moved = on_root(rig, pose, travel, joint)
    if motion.loop:
        _close(moved, joint if mode == "root" else -1, CLOSED / rig.human_scale)
    return Rooted(moved, _changed(pose, moved), joint, travel, _residual(rig, (pose, moved), travel, mode))


def _changed(before: Transforms, after: Transforms) -> frozenset[int]:
    """Joints whose local transforms differ by more than rounding."""
    differ = [np.abs(a - b).max(axis=(0, 2)) > CLOSED for a, b in zip(_parts(before), _parts(after), strict=True)]
    return frozenset(int(j) for j in np.flatnonzero(np.any(differ, axis=0)))


def _travel(rig: Rig, motion: Motion) -> Array:
    """The travel (frames, 3) that the motion's root has: what it states, else its smoothed path where that goes somewhere."""
    still = np.zeros((motion.frames, 3))
    if motion.travel is not None or rig.skeleton.pelvis < 0:
        return still if motion.travel is None else motion.travel
    found = estimate_travel(rig, motion)
    return found.path if found.in_root else still


def root_joint(rig: Rig) -> int:
    """The joint that carries the travel in the mode "root", -1 where there is none.

    All that travels with the pelvis hangs below it. Of several it is the topmost bone of a skin; where none is a bone, the lowest node
    (the armature).
    """
    shared = shared_above(rig.skeleton)
    bones = [j for j in shared if j in bones_of(rig)]
    return bones[-1] if bones else shared[0] if shared else -1


def shared_above(skeleton: Skeleton) -> list[int]:
    """The joints above the pelvis and above all that travels with it, the nearest first."""
    if skeleton.pelvis < 0:
        return []
    travelling = [set(_above(skeleton, int(j))) for j in np.flatnonzero(carried(skeleton))]
    return [j for j in _above(skeleton, skeleton.pelvis) if all(j in line for line in travelling)]


def bones_of(rig: Rig) -> frozenset[int]:
    """The joints that skins list."""
    used = np.any([skin.inverse_binds.any(axis=(1, 2)) for skin in rig.skins], axis=0) if rig.skins else np.zeros(0, dtype=np.bool_)
    return frozenset(int(j) for j in np.flatnonzero(used))


def _above(skeleton: Skeleton, joint: int) -> list[int]:
    """The joints above one in the file's tree, the nearest first."""
    found = []
    while (joint := int(skeleton.parents[joint])) >= 0:
        found.append(joint)
    return found


def on_root(rig: Rig, pose: Transforms, travel: Array, root: int) -> Transforms:
    """The same pose (frames, joints) with ground travel and yaw on the joint `root`; what is above it rests, all else is where it was."""
    skeleton = rig.skeleton
    world, rest = world_from_local(skeleton, pose), skeleton.rest_world
    carry = ground_matrices(travel) @ _start(rig, world, travel)
    above = _above(skeleton, root)
    old = {j: world[:, j] for j in (*above, root)}
    new = {j: np.broadcast_to(rest[j], world[:, j].shape) for j in above} | {root: carry @ rest[root]}
    made = Transforms(pose.translations.copy(), pose.rotations.copy(), pose.scales.copy())
    for j in above:
        for values, still in zip(_parts(made), _parts(skeleton.rest), strict=True):
            values[:, j] = still[j]
    parent = int(skeleton.parents[root])
    up = rest[parent] if parent >= 0 else np.eye(4)
    for values, still in zip(_parts(made), _parts(skeleton.rest), strict=True):
        values[:, root] = still[root]
    _move(made, root, np.linalg.inv(up) @ carry @ up)
    for j, parent in enumerate(skeleton.parents):
        if j not in old and parent in old:
            _move(made, j, _map(skeleton, int(parent), old[parent], new[parent]))
    return made


def _parts(pose: Transforms) -> tuple[Array, Array, Array]:
    return pose.translations, pose.rotations, pose.scales


def _start(rig: Rig, world: Array, travel: Array) -> Array:
    """Where the root begins (4, 4): at rest, but below a pelvis that is far away."""
    pelvis, start = rig.skeleton.pelvis, np.eye(4)
    stays = (ground_matrices(inverse_ground(travel)) @ world[:, pelvis])[:, :3, 3].mean(axis=0)
    away = stays - rig.skeleton.rest_world[pelvis, :3, 3]
    away[1] = 0.0
    if np.linalg.norm(away) * rig.human_scale > FAR_M:
        start[:3, 3] = away
    return start


def _map(skeleton: Skeleton, joint: int, old: Array, new: Array) -> Array:
    """The map (frames, 4, 4) from the axes of a joint where it was to its axes where it is."""
    if (np.abs(np.linalg.det(new[:, :3, :3])) < 1e-30).any():
        raise ExportError(f"{skeleton.names[joint]}, above the pelvis, is scaled to nothing", None, "--root-mode hips leaves it alone")
    return np.asarray(np.linalg.solve(new, old), dtype=np.float64)


def _move(pose: Transforms, joint: int, maps: Array) -> None:
    """Apply maps (frames, 4, 4), turns and shifts with at most one scale for all axes, to a joint's local transforms, in place."""
    linear = maps[:, :3, :3]
    if np.abs(maps - np.eye(4)).max() < 1e-12:
        return
    scale = np.cbrt(np.linalg.det(linear))
    turn = nearest_rotation(linear)
    pose.translations[:, joint] = (linear @ pose.translations[:, joint, :, None])[..., 0] + maps[:, :3, 3]
    pose.rotations[:, joint] = quat_multiply(quat_from_matrix(turn), pose.rotations[:, joint])
    if np.abs(scale - 1.0).max() > 1e-9:
        pose.scales[:, joint] *= scale[:, None]


def in_place(skeleton: Skeleton, pose: Transforms, travel: Array) -> Transforms:
    """The same pose (frames, joints) with the travel taken out of every joint that goes along.

    What stands still above the pelvis (the armature) stays where it is; a root bone that carries the travel loses it.
    """
    world = world_from_local(skeleton, pose)
    back = ground_matrices(inverse_ground(travel))
    stays = _stays(skeleton, world)
    made = Transforms(pose.translations.copy(), pose.rotations.copy(), pose.scales.copy())
    for j, parent in enumerate(skeleton.parents):
        if stays[j] or (parent >= 0 and not stays[parent]):
            continue  # it stays, or its parent carries it back
        up = np.eye(4) if parent < 0 else world[0, parent]  # a parent that stays does not move
        if abs(np.linalg.det(up[:3, :3])) < 1e-30:
            continue  # scaled to nothing: there is no travel to be seen below
        _move(made, j, np.linalg.inv(up) @ back @ up)
    return made


def _stays(skeleton: Skeleton, world: Array) -> NDArray[np.bool_]:
    """Which joints (joints,) stand still above the pelvis."""
    still = np.abs(world - world[:1]).max(axis=(0, 2, 3)) <= STILL_M
    stays = still & (skeleton.solve_parents < 0) & (np.arange(skeleton.count) != skeleton.pelvis)
    for j, parent in enumerate(skeleton.parents):
        stays[j] &= parent < 0 or stays[parent]
    return np.asarray(stays)


def _close(pose: Transforms, travelling: int, tolerance_m: float) -> None:
    """End a loop in its very first pose, the joint that travels aside, where only rounding keeps it from it; in place."""
    for values, bound in ((pose.translations, tolerance_m), (pose.scales, CLOSED)):
        near = np.abs(values[-1] - values[0]).max(axis=-1) <= bound
        near[travelling if travelling >= 0 else slice(0, 0)] = False
        values[-1, near] = values[0, near]
    product = np.sum(pose.rotations[-1] * pose.rotations[0], axis=-1)
    gap = np.abs(pose.rotations[-1] - np.where(product < 0.0, -1.0, 1.0)[:, None] * pose.rotations[0]).max(axis=-1)
    near = gap <= CLOSED
    near[travelling if travelling >= 0 else slice(0, 0)] = False
    pose.rotations[-1, near] = pose.rotations[0, near]


def _residual(rig: Rig, poses: tuple[Transforms, Transforms], travel: Array, mode: str) -> RootResidual:
    """What the mode leaves, from the poses before and after it."""
    skeleton = rig.skeleton
    before, after = (world_from_local(skeleton, pose) for pose in poses)
    back = ground_matrices(inverse_ground(travel))
    wanted = before[..., :3, 3].copy()
    if mode == "in_place":
        goes = ~_stays(skeleton, before)
        wanted[:, goes] = (back[:, None] @ before[:, goes])[..., :3, 3]
    else:
        goes = np.ones(skeleton.count, dtype=np.bool_)
        goes[[root_joint(rig), *_above(skeleton, root_joint(rig))]] = False
    error = np.linalg.norm((after[..., :3, 3] - wanted)[:, goes], axis=-1).max(initial=0.0)
    if skeleton.pelvis < 0:
        return RootResidual(0.0, 0.0, float(error))
    stays = (back @ before[:, skeleton.pelvis])[:, :3, 3]
    sway = np.linalg.norm((stays - stays.mean(axis=0))[:, [0, 2]], axis=-1).max()
    return RootResidual(float(sway), float(np.ptp(stays[:, 1])), float(error))

"""The animations of a glTF file as `Motion`s of its skeleton."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.animation import Animation, Channel
from akd_sdk.motion import Motion
from akd_sdk.readers.gltf.facts import told_contacts, told_fps, told_loop
from akd_sdk.readers.gltf.joints import Joints, unique
from akd_sdk.readers.gltf.rate import TOLERANCE_S, Rate, frame_rate
from akd_sdk.rig import Skeleton
from akd_sdk.rotations import compose, quat_continuous

Array = NDArray[np.float64]

LARGEST: Final = 50_000_000
"""Frames times joints of the longest clip: an hour of a hundred joints is a fifth of it."""

SAME_ANGLE_RAD: Final = 0.02
SAME_PLACE: Final = 0.005
"""First and last pose agree up to these: radians, and a share of the height."""

STILL: Final = 1e-6
"""A translation that moves less than this share of the height is at rest."""


@dataclass
class Clips:
    """What clips are read with, and what was noticed.

    Attributes:
        joints: with units in metres.
        skeleton: in metres, with its anatomy.
        height: metres.
        morph_targets: how many each mesh node with morph targets has.
        contact_names: of the rig's contact points.
        notes: what was left out, one line each.
    """

    joints: Joints
    skeleton: Skeleton
    height: float
    morph_targets: Mapping[int, int]
    contact_names: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)

    @property
    def root(self) -> int:
        """The joint whose path is the motion's root: the pelvis, or the first joint of the skin where none was found."""
        return self.skeleton.pelvis if self.skeleton.pelvis >= 0 else self.joints.of_node[self.joints.skins[0][0]]


def read_clips(clips: Clips, animations: Iterable[Animation]) -> tuple[Motion, ...]:
    """One `Motion` an animation that moves the character, in the skeleton's (metric) units.

    Raises:
        ReadError: an animation is too long to be one.
    """
    animations = [a for a in animations if _concerns(clips, a)]
    names = unique(a.name or f"animation_{a.index}" for a in animations)
    return tuple(_motion(clips, animation, name) for animation, name in zip(animations, names))


def _concerns(clips: Clips, animation: Animation) -> bool:
    name = animation.name or f"animation_{animation.index}"
    outside = [c for c in animation.channels if _target(clips, c) is None]
    ignored = len(outside) + animation.ignored
    if ignored == len(animation.channels) + animation.ignored:
        clips.notes.append(f"animation {name!r} moves no joint and is left out")
        return False
    if ignored:
        clips.notes.append(f"animation {name!r}: {ignored} channels of nodes outside the skeleton are left out")
    return True


def _target(clips: Clips, channel: Channel) -> int | None:
    """The joint (or, for weights, the mesh node) that a channel moves."""
    if channel.path == "weights":
        return channel.node if channel.node in clips.morph_targets else None
    return clips.joints.of_node.get(channel.node)


def _motion(clips: Clips, animation: Animation, name: str) -> Motion:
    channels = [c for c in animation.channels if _target(clips, c) is not None]
    rate = frame_rate(np.unique(np.concatenate([c.times for c in channels])), told_fps(animation.extras))
    if rate.frames * clips.skeleton.count > LARGEST:
        raise ReadError(f"animation {name!r} lasts {rate.frames / rate.fps:g} s: too long to be a clip")
    local, morphs = _sample(clips, channels, rate, name)
    root = _path(clips.skeleton, local, clips.root)
    provenance: dict[str, Any] = {
        "animation": animation.index,
        "rate": "the file's" if rate.own or rate.frames == 1 else "resampled: the keys lie on no grid",
    }
    loop = told_loop(animation.extras)
    if loop is None:
        loop = _is_loop(clips, local, root)
        provenance["loop"] = "guessed: first and last pose agree" if loop else "guessed: first and last pose differ, or nothing moves"
    return Motion(
        name=name,
        rotations=quat_continuous(local.rotations),
        root=root,
        fps=rate.fps,
        loop=loop,
        translations=local.translations if _moves(clips, local) else None,
        scales=local.scales if np.abs(local.scales - clips.skeleton.rest.scales).max() > 1e-6 else None,
        morphs=morphs,
        contacts=told_contacts(animation.extras, rate.frames, clips.contact_names),
        provenance=provenance,
        held=_held(clips, channels) if rate.own else frozenset(),
    )


@dataclass(frozen=True)
class _Local:
    """Local transforms over time, (frames, joints, 3 or 4), metres."""

    translations: Array
    rotations: Array
    scales: Array


def _sample(clips: Clips, channels: list[Channel], rate: Rate, name: str) -> tuple[_Local, dict[int, Array]]:
    times = np.arange(rate.frames) / rate.fps
    snap = TOLERANCE_S if rate.own else 0.0
    rest, above = clips.skeleton.rest, clips.joints.parent_units
    local = _Local(*(np.repeat(part[None], rate.frames, axis=0) for part in (rest.translations, rest.rotations, rest.scales)))
    morphs: dict[int, Array] = {}
    seen: set[tuple[int, str]] = set()
    for channel in channels:
        if (channel.node, channel.path) in seen:
            clips.notes.append(f"animation {name!r} moves {channel.path} of node {channel.node} twice: the first channel counts")
            continue
        seen.add((channel.node, channel.path))
        values = channel.at(times, snap)
        if channel.path == "weights":
            targets = clips.morph_targets[channel.node]
            if values.shape[1] != targets:
                raise ReadError(f"animation {name!r} has {values.shape[1]} weights for the {targets} morph targets of node {channel.node}")
            morphs[channel.node] = values
            continue
        j = clips.joints.of_node[channel.node]
        if channel.path == "translation":
            local.translations[:, j] = values * above[j]
        elif channel.path == "rotation":
            local.rotations[:, j] = values
        else:
            local.scales[:, j] = values * above[j] / clips.joints.units[j]
    return local, morphs


def _held(clips: Clips, channels: list[Channel]) -> frozenset[tuple[int, str]]:
    """Joints and properties whose keys hold until the next; the first channel of each counts."""
    first: dict[tuple[int, str], Channel] = {}
    for channel in channels:
        first.setdefault((channel.node, channel.path), channel)
    return frozenset((clips.joints.of_node[node], path) for (node, path), channel in first.items() if path != "weights" and channel.step)


def _path(skeleton: Skeleton, local: _Local, joint: int) -> Array:
    """(frames, 3) world positions of a joint."""
    line = [joint]
    while skeleton.parents[line[-1]] >= 0:
        line.append(int(skeleton.parents[line[-1]]))
    world = np.broadcast_to(np.eye(4), (len(local.rotations), 4, 4))
    for j in reversed(line):
        world = world @ compose(local.translations[:, j], local.rotations[:, j], local.scales[:, j])
    return world[:, :3, 3].copy()


def _moves(clips: Clips, local: _Local) -> bool:
    """Whether a joint other than the pelvis leaves its resting place."""
    away = np.abs(local.translations - clips.skeleton.rest.translations).max(axis=(0, 2))
    if clips.skeleton.pelvis >= 0:
        away[clips.skeleton.pelvis] = 0.0  # the root places it
    return bool(away.max() > STILL * clips.height)


def _is_loop(clips: Clips, local: _Local, root: Array) -> bool:
    """Whether the last pose is the first, wherever it is on the ground, and something moves between."""
    if len(root) < 3:
        return False
    turned = 2.0 * np.arccos(np.clip(np.abs(np.sum(local.rotations * local.rotations[:1], axis=-1)), 0.0, 1.0))
    moved = np.linalg.norm(local.translations - local.translations[:1], axis=-1) / clips.height
    line = clips.root
    while line >= 0:
        moved[:, line] = 0.0
        line = int(clips.skeleton.parents[line])
    risen = np.abs(root[:, 1] - root[0, 1]) / clips.height
    if max(turned.max(), moved.max(), risen.max()) < 1e-3:
        return False
    return bool(turned[-1].max() < SAME_ANGLE_RAD and moved[-1].max() < SAME_PLACE and risen[-1] < SAME_PLACE)

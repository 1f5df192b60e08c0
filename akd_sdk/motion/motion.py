"""Motion: what a character does over time, in its file's tree; JointCurves: the same as angles of the anatomical tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import AkdError

Array = NDArray[np.float64]

MOVING = frozenset({"rotations", "root", "fps", "translations", "scales"})
"""Fields of a motion that say how it moves."""


def _finite(name: str, values: Array | None, shape: tuple[int, ...]) -> None:
    if values is None:
        return
    if values.shape != shape:
        raise AkdError(f"{name} have shape {values.shape}, expected {shape}")
    if not np.isfinite(values).all():
        raise AkdError(f"{name} hold values that are not finite")


@dataclass(frozen=True, repr=False)
class Motion:
    """Local transforms of every joint over time.

    Attributes:
        name: the clip's name.
        rotations: (frames, joints, 4) unit `xyzw`, local to the file's parent, absolute.
        root: (frames, 3) world position of the pelvis, metres. It overrides the pelvis's own translation.
        fps: frames a second; frame i is at i / fps, so the clip lasts (frames - 1) / fps.
        loop: the last frame is the first pose, moved on by the travel.
        translations: (frames, joints, 3) local, metres; None: at rest (the pelvis is where `root` says).
        scales: (frames, joints, 3) local; None: at rest.
        morphs: morph-target weights by mesh node, (frames, targets) each.
        contacts: (frames, contact points) planted or not, in the order of the rig's contact points; None: not known.
        travel: (frames, 3) the part of the root's path that is travel over the ground: x, z in metres and yaw in radians since
            the first frame; None: the motion is in place, or nobody asked.
        provenance: where the motion comes from: file and clip, or prompt, prior, seed.
        held: joints and properties ("translation", "rotation", "scale") that are held from frame to frame, as STEP keys of a file are.
    """

    name: str
    rotations: Array
    root: Array
    fps: float
    loop: bool = False
    translations: Array | None = None
    scales: Array | None = None
    morphs: Mapping[int, Array] = field(default_factory=dict)
    contacts: NDArray[np.bool_] | None = None
    travel: Array | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    held: frozenset[tuple[int, str]] = frozenset()

    def __post_init__(self) -> None:
        if self.rotations.ndim != 3 or self.rotations.shape[-1] != 4 or not len(self.rotations):
            raise AkdError(f"rotations have shape {self.rotations.shape}, expected (frames, joints, 4) with at least one frame")
        frames, joints, _ = self.rotations.shape
        if not (np.isfinite(self.fps) and self.fps > 0.0):
            raise AkdError(f"fps is {self.fps}, expected a positive number")
        _finite("rotations", self.rotations, (frames, joints, 4))
        _finite("root", self.root, (frames, 3))
        _finite("translations", self.translations, (frames, joints, 3))
        _finite("scales", self.scales, (frames, joints, 3))
        _finite("travel", self.travel, (frames, 3))
        if self.contacts is not None and (self.contacts.ndim != 2 or len(self.contacts) != frames):
            raise AkdError(f"contacts have shape {self.contacts.shape}, expected ({frames}, contact points)")

    def __repr__(self) -> str:
        frames, joints, _ = self.rotations.shape
        return f"Motion({self.name!r}, {frames} frames at {self.fps:g} fps, {joints} joints{', loop' if self.loop else ''})"

    @property
    def frames(self) -> int:
        return len(self.rotations)

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (self.frames - 1) / self.fps

    @property
    def times(self) -> Array:
        """(frames,) seconds."""
        return np.arange(self.frames) / self.fps

    def with_(self, **changes: Any) -> Motion:
        """A copy with some fields changed, checked anew. Where it moves otherwise, nothing is held any more unless that is said too."""
        if MOVING & changes.keys() and "held" not in changes:
            changes["held"] = frozenset()
        return replace(self, **changes)


@dataclass(frozen=True)
class JointCurves:
    """Joint angles and the root's six degrees of freedom, on the anatomical tree.

    Attributes:
        angles: (frames, joints, 3) flexion, abduction, twist in radians about the rest pose, in each joint's anatomical frame;
            the pelvis's are zero, its rotation is the root's.
        root: (frames, 6) the pelvis's displacement from rest in metres (x, y, z, world), then yaw, pitch, roll in radians
            (intrinsic Y, X, Z of the character frame, about the rest orientation).
        fps: frames a second.
        loop: the curves are periodic with the last frame equal to the first.
    """

    angles: Array
    root: Array
    fps: float
    loop: bool = False

    def __post_init__(self) -> None:
        if self.angles.ndim != 3 or not len(self.angles):
            raise AkdError(f"angles have shape {self.angles.shape}, expected (frames, joints, 3) with at least one frame")
        _finite("angles", self.angles, (*self.angles.shape[:2], 3))
        _finite("root", self.root, (len(self.angles), 6))

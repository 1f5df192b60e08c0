"""Articulated: a character for engines that simulate it: bodies and hinges with their names, axes and zero pose, Z up and facing +X."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies import Articulation, articulate
from akd_sdk.bodies.coordinates import ROOT, Coordinates, hinge_frames, relative
from akd_sdk.bodies.hinge_limits import hinge_limits
from akd_sdk.exporters.clip import Clip, require_own
from akd_sdk.formats.usd import identifiers
from akd_sdk.kinematics import rest_turns
from akd_sdk.rig import Rig
from akd_sdk.rotations import nearest_rotation

Array = NDArray[np.float64]

FORWARD_X: Final = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Character frame (left +X, Y up, facing +Z) to Isaac's (facing +X, left +Y, Z up)."""
HINGES: Final = ("flexion", "abduction", "twist")
"""Of each joint, from the parent to the child."""
JOINTS, SURFACE = "Joints", "Surface"
"""Prims beside the bodies: their names are taken."""
NEUTRAL_DEG: Final = (0.0, 45.0, -45.0, 90.0, -90.0)
"""Abduction of a joint's zero pose. Few and fixed, so that one character is the same articulation whatever clips are written of it."""
FAR_DEG: Final = 60.0
"""A clip's abduction from the zero pose beyond which another one is tried: the hinges lock at 90."""
POLE_DEG: Final = 80.0
"""Abduction from which on flexion and twist hardly differ: noted."""
STRETCH_M: Final = 1e-4
"""What a joint moves in its parent, at human size, that a hinge cannot follow: noted beyond this."""


@dataclass(frozen=True)
class Articulated:
    """An articulation as it is called and turned in a file.

    Attributes:
        coordinates: of the articulation, about its zero pose.
        axes: (3, 3) rotation from the rig's world to the file's.
        bodies: a name a body, identifiers of USD, all different.
        links: (bodies) names of the two small bodies between a body and its parent, after flexion and after abduction; none for the root.
        limits: (bodies, 3, 2) lowest and highest flexion, abduction, twist from the zero pose, radians.
        notes: what is odd.
    """

    coordinates: Coordinates
    axes: Array
    bodies: tuple[str, ...]
    links: tuple[tuple[str, ...], ...]
    limits: Array
    notes: tuple[str, ...]

    @property
    def articulation(self) -> Articulation:
        return self.coordinates.articulation

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the hinges, depth first, flexion, abduction and twist of each joint: the coordinates after the root's."""
        return tuple(f"{body}_{hinge}" for body in self.bodies[1:] for hinge in HINGES)

    @property
    def frames(self) -> Array:
        """(bodies, 3, 3) hinge frames in the file's axes: columns flexion, twist, abduction at rest."""
        return np.asarray(self.axes @ hinge_frames(self.articulation))

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of names, hinges and zero pose: a trajectory fits the articulation that has the same."""
        hinges = np.concatenate([self.frames, self.coordinates.neutral])
        rounded = np.round(hinges, 5) + 0.0  # no negative zeros
        return hashlib.sha256(",".join(self.dofs).encode() + rounded.tobytes()).hexdigest()[:16]

    def placed(self, turns: Array, origins: Array) -> tuple[Array, Array]:
        """Turns (..., 3, 3) and origins (..., 3) in the file's axes."""
        return np.asarray(self.axes @ turns @ self.axes.T), np.asarray(origins @ self.axes.T)

    def zero_pose(self) -> tuple[Array, Array]:
        """Turns (bodies, 3, 3) and origins (bodies, 3) in the file's axes with all hinges at zero, the root as at rest."""
        turns, origins = self.coordinates.bodies(np.zeros((1, self.coordinates.count)))
        return self.placed(turns[0], origins[0])


def articulated(rig: Rig, clips: Sequence[Clip]) -> Articulated:
    """The articulation of a rig, its hinges free for these clips.

    The zero pose is rest, where no clip comes near the poles of its abductions; else the joint's abduction is a fixed 45 or 90 degrees.
    Raises RigError: the rig has no bodies. ExportError: a clip of another character.
    """
    for clip in clips:
        require_own(rig, clip)
    articulation = articulate(rig)
    paths = [_at_rest(articulation), *(body_paths(rig, articulation, clip, clip.times) for clip in clips)]
    turns = np.concatenate([found for found, _ in paths])
    coordinates = Coordinates(articulation, rig.facing, _neutral(articulation, turns))
    values = np.concatenate([coordinates.of(*_rooted(path)) for path in paths])
    taken = {JOINTS, SURFACE}
    bodies = identifiers((body.name for body in articulation.bodies), taken)
    links = [tuple(identifiers([f"{name}_{hinge}_link" for hinge in HINGES[:2]], taken)) for name in bodies[1:]]
    notes = [*articulation.notes, *_near_poles(coordinates, values, bodies), *_stretched(rig, coordinates, paths, bodies)]
    limits = hinge_limits(coordinates, values)
    return Articulated(coordinates, FORWARD_X @ rig.facing.T, tuple(bodies), ((), *links), limits, tuple(notes))


def body_paths(rig: Rig, articulation: Articulation, clip: Clip, times: Array) -> tuple[Array, Array]:
    """Turns against rest (frames, bodies, 3, 3) and origins (frames, bodies, 3) of bodies at times (frames,), as the clip moves joints."""
    joints = np.array([body.joint for body in articulation.bodies])
    world = clip.world(times)[:, joints]
    turns = nearest_rotation(world[:, :, :3, :3]) @ np.swapaxes(rest_turns(rig.skeleton)[joints], -1, -2)
    return np.asarray(turns), np.asarray(world[:, :, :3, 3])


def _at_rest(articulation: Articulation) -> tuple[Array, Array]:
    """The rest pose as a path of one frame: it is within the limits, whatever the clips do."""
    count = len(articulation.bodies)
    return np.tile(np.eye(3), (1, count, 1, 1)), np.stack([body.origin for body in articulation.bodies])[None]


def _rooted(path: tuple[Array, Array]) -> tuple[Array, Array]:
    return path[0], path[1][:, 0]


def _neutral(articulation: Articulation, turns: Array) -> Array:
    """(bodies, 3, 3) zero poses in hinge frames: for each joint the first that keeps clear of the poles, else the clearest."""
    local = relative(articulation, turns)[:, 1:]
    frames = hinge_frames(articulation)[1:]
    inner = np.swapaxes(frames, -1, -2) @ local @ frames
    tried = np.stack([_abducted(degrees).T @ inner for degrees in NEUTRAL_DEG])
    found = np.abs(np.arcsin(np.clip(tried[..., 0, 1], -1.0, 1.0))).max(axis=1)  # the middle angle of X-Z-Y
    chosen = np.where(found[0] <= np.radians(FAR_DEG), 0, found.argmin(axis=0))
    return np.stack([np.eye(3), *(_abducted(NEUTRAL_DEG[i]) for i in chosen)])


def _abducted(degrees: float) -> Array:
    """(3, 3) turn about the abduction axis of a hinge frame."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _near_poles(coordinates: Coordinates, values: Array, names: Sequence[str]) -> list[str]:
    far = np.degrees(np.abs(values[:, ROOT + 1 :: 3]).max(axis=0))
    near = [i for i, degrees in enumerate(far) if degrees > POLE_DEG]
    return [f"{names[i + 1]} comes to {far[i]:.0f} degrees of abduction, near the pole of its hinges" for i in near]


def _stretched(rig: Rig, coordinates: Coordinates, paths: Sequence[tuple[Array, Array]], names: Sequence[str]) -> list[str]:
    """Notes on joints that the clips move in their parents: hinges cannot follow."""
    found = np.zeros(len(names))
    for turns, origins in paths:
        _, rigid = coordinates.bodies(coordinates.of(turns, origins[:, 0]))
        found = np.maximum(found, np.linalg.norm(rigid - origins, axis=-1).max(axis=0))
    worst = int(found.argmax())
    if not found[worst] * rig.human_scale > STRETCH_M:
        return []
    return [f"clips move joints in their parents, which hinges cannot: {names[worst]} strays by up to {1e3 * found[worst]:.2g} mm"]

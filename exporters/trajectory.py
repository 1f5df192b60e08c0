"""Trajectory: a clip as states of an articulation's hinges and bodies over time, in the layout of Isaac Lab's motion files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.bodies.coordinates import ROOT
from akd_sdk.errors import ExportError
from akd_sdk.exporters.articulated import Articulated, body_paths
from akd_sdk.exporters.clip import Clip
from akd_sdk.rig import Rig
from akd_sdk.rotations import quat_continuous

Array = NDArray[np.float64]

LEAST_FPS: Final = 60.0
"""Isaac Lab's loader takes the nearest frame and goes on from there, half a frame beyond it: frames have to be dense."""
CONVENTIONS: Final = {
    "quaternion_order": "wxyz",
    "axes": "world; Z up, right-handed; metres, radians, seconds",
    "order": "depth first; a simulator may use another order: match by name",
    "angles": "turns of the hinges from the zero pose of the articulation: flexion, abduction, twist, from the parent to the child",
    "bodies": "origins and axes of the bodies as the file of the articulation has them, the root first",
    "velocities": "central differences over two frames, across the seam of a loop; one-sided at ends; bodies' of their origins, world axes",
}
"""Said in every file."""


@dataclass(frozen=True)
class Trajectory:
    """States frame by frame, in the file's axes.

    Attributes:
        fps: frames a second.
        angles, rates: (frames, hinges) radians, and a second.
        positions, velocities: (frames, bodies, 3) of origins, metres, and a second.
        turns: (frames, bodies, 3, 3).
        spins: (frames, bodies, 3) angular velocity, radians a second.
    """

    fps: float
    angles: Array
    rates: Array
    positions: Array
    velocities: Array
    turns: Array
    spins: Array

    @property
    def quat_wxyz(self) -> Array:
        """(frames, bodies, 4) unit, signs continuous over time, the first w not negative."""
        shape = (*self.turns.shape[:2], 4)
        quat = quat_continuous(Rotation.from_matrix(self.turns.reshape(-1, 3, 3)).as_quat(canonical=True).reshape(shape))
        return np.roll(quat, 1, axis=-1)


def frame_rate(clip: Clip, fps: float | None) -> float:
    """Frames a second: those asked for, else the first multiple of the clip's own that is dense enough.

    Raises ExportError: fewer than 60, or so that the clip does not end on a frame.
    """
    if fps is None:
        return clip.fps * float(np.ceil(LEAST_FPS / clip.fps - 1e-9))
    if fps < LEAST_FPS:
        hint = f"give {LEAST_FPS:g} or more, or leave it out"
        raise ExportError(f"{fps:g} frames a second are too few for Isaac Lab's loader", "--fps", hint)
    if abs(clip.duration * fps - round(clip.duration * fps)) > 1e-6 * max(clip.duration * fps, 1.0):
        hint = f"give a multiple of {clip.fps:g}, or leave it out"
        raise ExportError(f"{clip.name}, {clip.duration:g} s long, does not end on a frame at {fps:g} a second", "--fps", hint)
    return float(fps)


def trajectory_of(rig: Rig, character: Articulated, clip: Clip, fps: float) -> Trajectory:
    """The states of a clip: the hinges' angles from its joints' turns, bodies where hinges of fixed length then are."""
    coordinates = character.coordinates
    times = np.arange(round(clip.duration * fps) + 1) / fps
    turned, origins = body_paths(rig, character.articulation, clip, times)
    values = coordinates.of(turned, origins[:, 0])
    turns, positions = character.placed(*coordinates.bodies(values))
    angles = values[:, ROOT:]
    if clip.loop and len(times) > 1:
        gained = angles[-1] - angles[0]
        wide_angles = _between(angles[-2] - gained, angles, angles[1] + gained)
        wide_turns, wide_positions = _loop_neighbours(turns, positions)
    else:
        wide_angles = _between(None, angles, None)
        wide_turns, wide_positions = _end_neighbours(turns, positions)
    rates, velocities = (_differences(wide, fps) for wide in (wide_angles, wide_positions))
    return Trajectory(fps, angles, rates, positions, velocities, turns, _spins(wide_turns, fps))


def _between(before: Array | None, values: Array, after: Array | None) -> Array:
    """Values (frames, ...) with one more at either end: those given, else such that differences are one-sided there."""
    first, second, last = values[0], values[min(1, len(values) - 1)], values[-1]
    before = 2.0 * first - second if before is None else before
    after = 2.0 * last - values[max(len(values) - 2, 0)] if after is None else after
    return np.concatenate([before[None], values, after[None]])


def _end_neighbours(turns: Array, positions: Array) -> tuple[Array, Array]:
    first, second = turns[0], turns[min(1, len(turns) - 1)]
    last, previous = turns[-1], turns[max(len(turns) - 2, 0)]
    before, after = first @ np.swapaxes(second, -1, -2) @ first, last @ np.swapaxes(previous, -1, -2) @ last
    return _between(before, turns, after), _between(None, positions, None)


def _loop_neighbours(turns: Array, positions: Array) -> tuple[Array, Array]:
    """What is a frame before the first and after the last of a loop, moved on as the root is from its first to its last frame."""
    onward = turns[-1, 0] @ turns[0, 0].T
    before = (positions[-2] - positions[-1, 0]) @ onward + positions[0, 0]
    after = (positions[1] - positions[0, 0]) @ onward.T + positions[-1, 0]
    return _between(onward.T @ turns[-2], turns, onward @ turns[1]), _between(before, positions, after)


def _differences(values: Array, fps: float) -> Array:
    return np.asarray(0.5 * fps * (values[2:] - values[:-2]))


def _spins(turns: Array, fps: float) -> Array:
    """(frames, bodies, 3) angular velocities in world axes for turns (frames + 2, bodies, 3, 3)."""
    across = turns[2:] @ np.swapaxes(turns[:-2], -1, -2)
    return np.asarray(0.5 * fps * Rotation.from_matrix(across.reshape(-1, 3, 3)).as_rotvec().reshape(*across.shape[:2], 3))


def save_trajectory(path: Path, character: Articulated, clip: Clip, found: Trajectory) -> None:
    """Write a trajectory as .npz: Isaac Lab's nine arrays, single precision, and what they mean."""
    singles = {
        "dof_positions": found.angles,
        "dof_velocities": found.rates,
        "body_positions": found.positions,
        "body_rotations": found.quat_wxyz,
        "body_linear_velocities": found.velocities,
        "body_angular_velocities": found.spins,
    }
    data: dict[str, Any] = {
        "fps": np.array(int(found.fps)) if found.fps == round(found.fps) else np.array(found.fps),
        "dof_names": np.array(character.dofs, dtype=np.str_),
        "body_names": np.array(character.bodies, dtype=np.str_),
        **{name: values.astype(np.float32) for name, values in singles.items()},
        "name": np.array(clip.name),
        "loop": np.array(clip.loop),
        "mass_kg": np.array(character.articulation.mass),
        "root_height_m": np.array(character.articulation.root_height),
        "articulation": np.array(character.fingerprint),
        "notes": np.array(character.notes, dtype=np.str_),
        **{name: np.array(text) for name, text in CONVENTIONS.items()},
    }
    np.savez_compressed(path, **data)

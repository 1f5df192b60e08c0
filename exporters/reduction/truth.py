"""Truth: the dense clip's world pose at frames and between, and the error of other keys against it; plain numpy, for the last word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.reduction.options import Player
from akd_sdk.exporters.reduction.work import SHELL_M, Work, stretches
from akd_sdk.rotations import quat_normalize, slerp

Array = NDArray[np.float64]
Ints = NDArray[np.int32]
FINER = 4
"""Samples in a frame at which errors are measured."""
CHUNK = 4096
KEPT = 1_000_000
"""Joints times samples of which the dense clip's play is kept: about 100 MB."""


@dataclass(frozen=True)
class Keys:
    """Keys of one line as a file gives them back: frames (keys,), values (keys, 3 or 4), held or not."""

    frames: Ints
    values: Array
    held: bool = False


@dataclass(frozen=True)
class Measured:
    """Displacements in metres at human size.

    Attributes:
        worst: the largest of all joints' points.
        p99: the 99th percentile over joints and times of the largest of a joint's points.
        joint: the joint of the largest.
        time: its time in seconds.
        feet: the largest of planted contact points, None where none is planted.
    """

    worst: float
    p99: float
    joint: int
    time: float
    feet: float | None


def dense_keys(work: Work) -> list[Keys]:
    """The dense clip itself."""
    frames = np.arange(work.frames, dtype=np.int32)
    return [Keys(frames, line.values, line.held) for line in work.lines]


class Judge:
    """Measures keys of one clip against the dense clip; how that plays is kept as long as it is small enough."""

    def __init__(self, work: Work, players: Sequence[Player]) -> None:
        self.work, self.players = work, players
        self.samples = np.arange((work.frames - 1) * FINER + 1)
        self._dense = dense_keys(work)
        self._true: dict[tuple[Player, int], tuple[Array, Array]] = {}

    def measure(self, keys: Sequence[Keys | None]) -> Measured:
        """The error of keys (None: the line is at rest) at four times the clip's rate, the worst over players."""
        work, samples = self.work, self.samples
        errors = np.zeros((len(samples), work.joints))
        feet = [0.0]
        for player in self.players:
            for start in range(0, len(samples), CHUNK):
                part = samples[start : start + CHUNK]
                true, played = self._reference(player, start), _world(work, keys, part, player)
                errors[part] = np.maximum(errors[part], point_errors(true, played))
                feet.append(_feet_error(work, true, played, part))
        at, joint = np.unravel_index(int(errors.argmax()), errors.shape)
        seconds = float(samples[at] / (FINER * work.fps))
        planted = max(feet) if work.feet.any else None
        return Measured(float(errors[at, joint]), float(np.percentile(errors, 99)), int(joint), seconds, planted)

    def _reference(self, player: Player, start: int) -> tuple[Array, Array]:
        """How the dense clip plays from a sample on, to the chunk's end."""
        key = (player, start)
        if key in self._true:
            return self._true[key]
        true = _world(self.work, self._dense, self.samples[start : start + CHUNK], player)
        if len(self.samples) * self.work.joints <= KEPT:
            self._true[key] = true
        return true


def point_errors(true: tuple[Array, Array], played: tuple[Array, Array]) -> Array:
    """(n, joints) the largest displacement of a joint's three points, of world axes and places."""
    length = np.linalg.norm(true[0], axis=2)
    step = SHELL_M / np.maximum(length, 1e-30)
    apart = (played[0] - true[0]) * step[:, :, None, :] + (played[1] - true[1])[..., None]
    return np.asarray(np.sqrt((apart**2).sum(axis=2)).max(axis=-1))


def _feet_error(work: Work, true: tuple[Array, Array], played: tuple[Array, Array], part: NDArray[np.int64]) -> float:
    """The largest displacement of a contact point within a stretch of planted frames."""
    worst = 0.0
    for joint, offset, planted in zip(work.feet.joint, work.feet.offset, work.feet.planted, strict=True):
        inside = np.zeros(len(part), dtype=np.bool_)
        for first, last in stretches(planted):
            inside |= (part >= first * FINER) & (part <= last * FINER)
        if inside.any():
            apart = (played[1] - true[1])[inside, joint] + (played[0] - true[0])[inside, joint] @ offset
            worst = max(worst, float(np.linalg.norm(apart, axis=1).max()))
    return worst


def _world(work: Work, keys: Sequence[Keys | None], part: NDArray[np.int64], player: Player) -> tuple[Array, Array]:
    values = [
        np.tile(line.rest, (len(part), 1)) if key is None else _sampled(work, key, part, line.turns, player)
        for line, key in zip(work.lines, keys, strict=True)
    ]
    pose = work.pose(values)
    if not values:
        pose = (np.tile(pose[0], (len(part), 1, 1)), np.tile(pose[1], (len(part), 1, 1)), np.tile(pose[2], (len(part), 1, 1)))
    return work.place(pose)


def _sampled(work: Work, key: Keys, part: NDArray[np.int64], turns: bool, player: Player) -> Array:
    """Values (n, width) of keys at samples of the finer grid."""
    times, time = work.times[key.frames], part / (FINER * work.fps)
    after = np.searchsorted(times, time, side="right")
    low, high = np.maximum(after - 1, 0), np.minimum(after, len(times) - 1)
    first, second = key.values[low], key.values[high]
    if turns:
        first, second = quat_normalize(first), quat_normalize(second)
    if key.held:
        return first
    span = times[high] - times[low]
    share = np.clip((time - times[low]) / np.where(span > 0.0, span, 1.0), 0.0, 1.0) * (span > 0.0)
    if not turns:
        return np.asarray(first * (1.0 - share[:, None]) + second * share[:, None])
    if player == "slerp":
        return slerp(first, second, share)
    near = np.where((first * second).sum(axis=1, keepdims=True) < 0.0, -second, second)
    return quat_normalize(first * (1.0 - share[:, None]) + near * share[:, None])

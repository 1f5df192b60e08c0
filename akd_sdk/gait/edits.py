"""Edits: the same motion over other frames: another frame rate, a loop repeated."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import AkdError
from akd_sdk.gait.ground import compose_ground
from akd_sdk.gait.travel import Travel, in_place, with_travel
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig
from akd_sdk.rotations import quat_continuous, slerp

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def resample(motion: Motion, fps: float) -> Motion:
    """The motion at another frame rate, between frames as engines play it: straight lines, rotations along the shorter arc.

    Its length is kept to the nearest whole frame; a loop's last frame stays its last. A point is planted
    between two frames if it is in both.
    """
    if not (np.isfinite(fps) and fps > 0.0):
        raise AkdError(f"fps is {fps}", hint="give a positive number of frames a second")
    count = max(1, round(motion.duration * fps)) + 1 if motion.frames > 1 else 1
    at = np.minimum(np.linspace(0.0, motion.frames - 1.0, count), motion.frames - 1.0)
    if not motion.loop:
        at = np.minimum(np.arange(count) * (motion.fps / fps), motion.frames - 1.0)
    low = np.minimum(at.astype(np.int64), max(motion.frames - 2, 0))
    high = np.minimum(low + 1, motion.frames - 1)
    share = at - low

    def line(values: Array) -> Array:
        t = share.reshape(-1, *([1] * (values.ndim - 1)))
        return np.asarray((1.0 - t) * values[low] + t * values[high])

    signed = quat_continuous(motion.rotations)
    shares = np.broadcast_to(share[:, None], (count, signed.shape[1]))
    rate = fps if not motion.loop or count < 2 else (count - 1) / motion.duration
    return motion.with_(
        rotations=slerp(signed[low], signed[high], shares),
        root=line(motion.root),
        fps=rate,
        translations=None if motion.translations is None else line(motion.translations),
        scales=None if motion.scales is None else line(motion.scales),
        morphs={node: line(weights) for node, weights in motion.morphs.items()},
        contacts=None if motion.contacts is None else _both(motion.contacts, low, high, share),
        travel=None if motion.travel is None else line(motion.travel),
    )


def _both(contacts: Bools, low: Ints, high: Ints, share: Array) -> Bools:
    """Contacts between frames: those of both neighbours."""
    before = contacts[low] | (share > 1.0 - 1e-9)[:, None]
    return np.asarray(before & (contacts[high] | (share < 1e-9)[:, None]))


def repeat(rig: Rig, motion: Motion, cycles: int) -> Motion:
    """A loop played `cycles` times, moved on by its travel each time; still a loop.

    Raises AkdError for a motion that does not loop, or fewer than one cycle.
    """
    if not motion.loop:
        raise AkdError(f"{motion.name} does not loop", hint="only a loop can be repeated")
    if cycles < 1:
        raise AkdError(f"{cycles} cycles were asked for", hint="ask for one or more")
    if cycles == 1 or motion.frames < 2:
        return motion
    still, path = in_place(rig, motion) if motion.travel is not None else (motion, np.zeros((motion.frames, 3)))
    frames = np.append(np.tile(np.arange(motion.frames - 1), cycles), 0)

    def tiled(values: Array | None) -> Array | None:
        return None if values is None else values[frames]

    long = still.with_(
        rotations=still.rotations[frames],
        root=still.root[frames],
        translations=tiled(still.translations),
        scales=tiled(still.scales),
        morphs={node: weights[frames] for node, weights in still.morphs.items()},
        contacts=None if still.contacts is None else still.contacts[frames],
    )
    if motion.travel is None:
        return long
    laps, lap = [], np.zeros(3)
    for _ in range(cycles):
        laps.append(np.stack([compose_ground(lap, step) for step in path[:-1]]))
        lap = compose_ground(lap, path[-1])
    return with_travel(rig, long, Travel(np.concatenate([*laps, lap[None]]), False))

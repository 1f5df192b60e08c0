"""Which moments are shown, from where, and how large: one frame of reference for a whole clip."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from akd_sdk.motion import Motion
from akd_sdk.rig import Rig
from akd_sdk.sheet.model import Model
from akd_sdk.views.camera import Cameras

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

VIEWS = (("side", math.pi / 2.0, 0.0), ("three quarters", math.pi / 4.0, math.radians(16.0)))
"""Name, azimuth and elevation (radians) of each row of pictures: the character faces right, then right and towards the viewer."""


@dataclass(frozen=True)
class Framing:
    """Where the camera is at each shown moment.

    Attributes:
        frames: (moments,) frames of the motion.
        centres: (moments, 3) the point on the ground the picture follows, metres.
        yaws: (moments,) radians the picture has turned with the character.
        forward: (3,) the character's facing at the start.
        tick: metres between marks on the ground.
    """

    frames: Ints
    centres: Array
    yaws: Array
    facing: Array
    tick: float

    def rows(self, view: int, moment: int) -> Array:
        """(3, 3) right, up and towards the viewer in the world, for a view of VIEWS."""
        _, azimuth, elevation = VIEWS[view]
        camera = Cameras(torch.tensor([azimuth], dtype=torch.float64), torch.tensor([elevation], dtype=torch.float64))
        return np.asarray(camera.rows[0].numpy() @ self.heading(moment).T)

    def heading(self, moment: int) -> Array:
        """(3, 3) maps the character frame (facing +Z, left +X) to the world as the character has turned by now."""
        s, c = math.sin(self.yaws[moment]), math.cos(self.yaws[moment])
        return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]) @ self.facing


def shown_frames(motion: Motion, count: int) -> Ints:
    """Frames evenly spread over the clip; the last one is left out of a loop, as it is the first."""
    last = motion.frames - 1
    spread = np.arange(count) / (count if motion.loop else max(count - 1, 1)) * last
    return np.floor(spread + 0.5).astype(np.int64)


def framing_of(rig: Rig, motion: Motion, frames: Ints) -> Framing:
    """The camera follows the motion's travel, or, where none is known, a straight line through the pelvis's path if that leads away."""
    centre = motion.root[0] * [1.0, 0.0, 1.0]
    yaws = np.zeros(len(frames))
    if motion.travel is not None:
        path = np.zeros((len(frames), 3))
        path[:, [0, 2]] = motion.travel[frames, :2]
        yaws = motion.travel[frames, 2]
    else:
        path = _drift(motion, rig)[frames]
    return Framing(frames, centre + path, yaws, rig.facing, _tick(rig.height))


def _drift(motion: Motion, rig: Rig) -> Array:
    """(frames, 3) the straight even part of the pelvis's ground path; zero where it stays within a third of the height."""
    path = motion.root * [1.0, 0.0, 1.0]
    if motion.frames < 2 or np.linalg.norm(path[-1] - path[0]) < rig.height / 3.0:
        return np.zeros_like(path)
    times = np.arange(motion.frames) - (motion.frames - 1) / 2.0
    speed = times @ path / (times @ times)
    start = path.mean(axis=0) + times[0] * speed
    return np.asarray(start - path[0] + (times - times[0])[:, None] * speed)


def _tick(height: float) -> float:
    """A round length near a seventh of the height."""
    aim = max(height, 1e-6) / 7.0
    power = 10.0 ** math.floor(math.log10(aim))
    return max((power * f for f in (1.0, 2.0, 5.0) if power * f <= aim), default=power)


def bounds(model: Model, framing: Framing, view: int) -> tuple[Array, Array]:
    """Lowest and highest right and up (2,), metres from the followed point, over all shown moments; the ground is inside."""
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for moment in range(len(framing.frames)):
        rows = framing.rows(view, moment)[:2]
        flat = (model.points[moment] - framing.centres[moment]) @ rows.T
        low, high = np.minimum(low, flat.min(axis=0)), np.maximum(high, flat.max(axis=0))
    low[1] = min(low[1], 0.0)
    return low, high

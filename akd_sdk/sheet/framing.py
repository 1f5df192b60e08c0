"""Which moments are shown, from where, and how large: one frame of reference for a whole clip."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from akd_sdk.gait.contacts import ground_height
from akd_sdk.gait.feet import contact_paths
from akd_sdk.gait.travel import Travel, estimate_travel
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig
from akd_sdk.sheet.model import Model
from akd_sdk.views.camera import Cameras

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

Views = tuple[tuple[str, float, float], ...]
"""Name, azimuth and elevation (radians) of each row of pictures."""

VIEWS: Views = (("side", math.pi / 2.0, 0.0), ("three quarters", math.pi / 4.0, math.radians(16.0)))
"""The character faces right, then right and towards the viewer."""


@dataclass(frozen=True)
class Framing:
    """Where the camera is at each shown moment.

    Attributes:
        frames: (moments,) frames of the motion.
        centres: (moments, 3) the point on the ground the picture follows, metres.
        yaws: (moments,) radians the picture has turned with the character.
        passed: (moments,) metres of ground that have gone by, forwards; on a treadmill too.
        facing: (3, 3) maps the character frame to the world at the start.
        tick: metres between marks on the ground.
        views: the rows of pictures.
    """

    frames: Ints
    centres: Array
    yaws: Array
    passed: Array
    facing: Array
    tick: float
    views: Views = VIEWS

    def rows(self, view: int, moment: int) -> Array:
        """(3, 3) right, up and towards the viewer in the world, for one of the views."""
        _, azimuth, elevation = self.views[view]
        camera = Cameras(torch.tensor([azimuth], dtype=torch.float64), torch.tensor([elevation], dtype=torch.float64))
        return np.asarray(camera.rows[0].numpy() @ self.heading(moment).T)

    def heading(self, moment: int) -> Array:
        """(3, 3) maps the character frame (facing +Z, left +X) to the world as the character has turned by now."""
        return np.asarray(_turn(float(self.yaws[moment])) @ self.facing)


def shown_frames(motion: Motion, count: int) -> Ints:
    """Frames evenly spread over the clip; the last one is left out of a loop, as it is the first."""
    last = motion.frames - 1
    spread = np.arange(count) / (count if motion.loop else max(count - 1, 1)) * last
    return np.floor(spread + 0.5).astype(np.int64)


def framing_of(rig: Rig, motion: Motion, frames: Ints) -> Framing:
    """The camera follows the travel that is in the motion's root, and its turns; it looks at the ground where the feet find it.

    Where the motion walks in place, the ground passes by as the feet ask for.
    """
    start = motion.root[0] * [1.0, 0.0, 1.0]
    start[1] = ground_height(rig, motion, contact_paths(rig, world_from_motion(rig.skeleton, motion))) if rig.contact_points else 0.0
    travel = estimate_travel(rig, motion) if rig.skeleton.pelvis >= 0 else Travel(np.zeros((motion.frames, 3)), False)
    followed = travel.path if travel.in_root else np.zeros((motion.frames, 3))
    turns = np.stack([_turn(float(yaw)) for yaw in travel.path[:, 2]])
    places = turns @ start
    places[:, [0, 2]] += travel.path[:, :2]
    ahead = turns @ rig.forward
    steps = np.einsum("fi,fi->f", np.diff(places, axis=0), 0.5 * (ahead[1:] + ahead[:-1]))
    passed = np.concatenate([[0.0], np.cumsum(steps)])
    centres = np.stack([_turn(float(yaw)) @ start for yaw in followed[frames, 2]])
    centres[:, [0, 2]] += followed[frames, :2]
    return Framing(frames, centres, followed[frames, 2], passed[frames], rig.facing, round_length(rig.height / 4.0))


def _turn(yaw: float) -> Array:
    """(3, 3) rotation about the vertical."""
    s, c = math.sin(yaw), math.cos(yaw)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def round_length(most: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not over `most`."""
    aim = max(most, 1e-6)
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

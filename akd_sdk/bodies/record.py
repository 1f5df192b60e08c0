"""TrackRecord: what a tracking did over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TrackRecord:
    """Of one motion under physics, frame by frame at `fps`.

    Attributes:
        fps: frames a second.
        feet: name of each foot (limb, such as LH), the columns of `heights`.
        heights: (frames, feet) lowest point of each foot's collider over the ground, metres.
        heights_before: (frames, feet) the same of the motion that was tracked.
        force: (frames, 3) help on the root, newton over body weight, world axes.
        torque: (frames, 3) help on the root, N m over body weight times pelvis height, world axes.
        com: (frames, 3) centre of mass, metres.
        com_before: (frames, 3) of the motion that was tracked.
        support: (frames, 2, 2) lowest and highest x and z of what touches the ground, metres; NaN where nothing does.
        flight: (frames,) where the motion that was tracked has no foot planted.
    """

    fps: float
    feet: tuple[str, ...]
    heights: Array
    heights_before: Array
    force: Array
    torque: Array
    com: Array
    com_before: Array
    support: Array
    flight: NDArray[np.bool_]

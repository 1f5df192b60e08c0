"""A shot: how a motion is filmed for a prior that looks at pixels."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from akd_sdk.views.camera import Cameras


@dataclass(frozen=True)
class Shot:
    """What is the same for all frames of the videos of one step.

    Attributes:
        cameras: azimuth and elevation of each view, about the character's facing.
        times_s: (frames,) when the frames are taken, seconds of the motion's own time.
        size: height and width in pixels.
        tile_m: side of the tiles of the checkerboard ground, metres; None where there is no ground to see.
    """

    cameras: Cameras
    times_s: Tensor
    size: tuple[int, int]
    tile_m: float | None

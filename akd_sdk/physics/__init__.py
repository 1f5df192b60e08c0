"""Physics: a motion tracked by an articulation on the ground, with gravity, friction and contact."""

from akd_sdk.physics.options import TrackOptions
from akd_sdk.physics.track import track
from akd_sdk.physics.tracked import Tracked

__all__ = ["TrackOptions", "Tracked", "track"]

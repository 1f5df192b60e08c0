"""Bodies: a rig as an articulation of rigid bodies, and the record of what it did."""

from akd_sdk.bodies.articulate import articulate
from akd_sdk.bodies.articulation import Articulation, Body, Shape
from akd_sdk.bodies.record import TrackRecord

__all__ = ["Articulation", "Body", "Shape", "TrackRecord", "articulate"]

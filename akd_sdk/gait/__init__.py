"""Gait: contacts, travel, foot locking, motion metrics and edits of a motion."""

from akd_sdk.gait.contacts import find_contacts
from akd_sdk.gait.edits import repeat, resample
from akd_sdk.gait.locking import lock_feet
from akd_sdk.gait.metrics import GaitFit, MotionMetrics, measure
from akd_sdk.gait.travel import Travel, estimate_travel, in_place, set_down, travel_of_root, with_travel

__all__ = [
    "GaitFit",
    "MotionMetrics",
    "Travel",
    "estimate_travel",
    "find_contacts",
    "in_place",
    "lock_feet",
    "measure",
    "repeat",
    "resample",
    "set_down",
    "travel_of_root",
    "with_travel",
]

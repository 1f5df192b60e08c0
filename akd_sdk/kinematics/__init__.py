"""Kinematics: motions and joint curves become world transforms, and skins follow them."""

from akd_sdk.kinematics.curves import (
    CurveKinematics,
    anatomical_axes,
    curves_from_motion,
    motion_from_curves,
    rest_turns,
    world_from_curves,
)
from akd_sdk.kinematics.forward import forward, local_matrices, motion_from_world, point_paths, world_from_motion
from akd_sdk.kinematics.skinning import blend, skin_points

__all__ = [
    "CurveKinematics",
    "anatomical_axes",
    "blend",
    "curves_from_motion",
    "forward",
    "local_matrices",
    "motion_from_curves",
    "motion_from_world",
    "point_paths",
    "rest_turns",
    "skin_points",
    "world_from_curves",
    "world_from_motion",
]

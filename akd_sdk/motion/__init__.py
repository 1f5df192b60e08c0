"""Motions and joint curves: values over time, checked once when made."""

from akd_sdk.motion.basis import CurveBasis
from akd_sdk.motion.motion import JointCurves, Motion

__all__ = ["CurveBasis", "JointCurves", "Motion"]

"""Metrics: how good a motion is, measured at human size and 30 frames a second."""

from __future__ import annotations

from pydantic import Field

from akd_sdk.schemas.base import Schema


class GaitFit(Schema):
    """How well a motion's feet keep the phases of one gait.

    Attributes:
        coherence: 0..1, share of the feet's movement that follows the gait's phases at one frequency.
        swing: the feet's peak-to-peak movement over the embedded prior's mean for that gait.
    """

    coherence: float
    swing: float


class Metrics(Schema):
    """Measured of a motion.

    Attributes:
        planted_share: share of contact points and frames that are planted.
        contact_duty: mean planted share of a foot over the clip.
        skate_mm: mean horizontal movement of planted points over the ground, mm per 1/30 s; None where nothing is planted.
        penetration_mean_percent: mean depth of contact points below the ground, % of leg length.
        penetration_worst_percent: worst depth, % of leg length.
        float_share: share of frames in which the reference has a planted point and the motion has none near the ground; None
            without a reference.
        jitter: rms third difference of joint positions times fps cubed, m/s³.
        duty: duty by the shape of the feet's path, None where the motion is no gait.
        frequency_hz: strides a second, None where the motion is no gait.
        gaits: fit to each gait that the body has.
    """

    planted_share: float
    contact_duty: float
    skate_mm: float | None
    penetration_mean_percent: float
    penetration_worst_percent: float
    float_share: float | None = None
    jitter: float
    duty: float | None = None
    frequency_hz: float | None = None
    gaits: dict[str, GaitFit] = Field(default_factory=dict)

"""Records of trackings made by hand, for tests of what shows them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies import TrackRecord
from akd_sdk.gait import MotionMetrics
from akd_sdk.motion import Motion
from akd_sdk.physics import Tracked


def trot_record(feet: tuple[str, ...] = ("LF", "RF", "LH", "RH"), *, frames: int = 61, help_bw: float = 0.05) -> TrackRecord:
    """A trot of two seconds whose feet rise by 6 cm, 4 mm lower than wanted; it falls behind by 3 % of 2.4 m, is in flight for 0.08 s
    twice a second, and has help of `help_bw` body weights along x (torque: a third of it, about z) between the flights."""
    times = np.arange(frames) / 30.0
    phases = np.array([0.0, 0.5, 0.5, 0.0])[: len(feet)]
    before = np.maximum(0.0, 0.06 * np.cos(2.0 * np.pi * (2.0 * times[:, None] + phases)))
    flight = times % 0.5 < 0.08
    com_before = np.stack([0.0 * times, 0.36 + 0.01 * np.cos(25.0 * times), 1.2 * times], axis=1)
    com = com_before * [1.0, 1.0, 0.97] - [0.0, 0.01, 0.0]
    support = np.stack([com[:, [0, 2]] - [0.08, 0.3], com[:, [0, 2]] + [0.08, 0.25]], axis=1)
    support[flight] = np.nan
    force: NDArray[np.float64] = np.where(flight[:, None], 0.0, [help_bw, 0.0, 0.0])
    return TrackRecord(
        fps=30.0,
        feet=feet,
        heights=before - 0.004,
        heights_before=before,
        force=force,
        torque=force[:, ::-1] / 3.0,
        com=com,
        com_before=com_before,
        support=support,
        flight=flight,
    )


def tracked_of(
    motion: Motion, metrics: MotionMetrics, *, caps: tuple[float, float] = (0.087, 0.052), alone_s: float | None = 1.03
) -> Tracked:
    """What a tracking might have made of a motion: itself, 2 cm lower."""
    used = caps[0] > 0.0
    told = {"tracked": True, "effort": "default", "caps": list(caps)}
    return Tracked(
        motion=motion.with_(root=motion.root - np.array([0.0, 0.02, 0.0]), provenance={**motion.provenance, "physics": told}),
        record=trot_record(help_bw=0.05 if used else 0.0),
        effort="default",
        caps=caps,
        mean_force=0.0373 if used else 0.0,
        peak_force=0.05 if used else 0.0,
        mean_torque=0.0124 if used else 0.0,
        peak_torque=0.0167 if used else 0.0,
        alone_s=alone_s,
        before=metrics,
        after=replace(metrics, skate_mm=5.5),
        bodies=19,
        mass=16.9,
        dt=1.0 / 240.0,
        cycles=2 if motion.loop else 0,
        closure_deg=0.4 if motion.loop else 0.0,
        closure_speed=0.03 if motion.loop else 0.0,
        seconds=1.5,
        notes=("top-heavy: the head has 59 % of the mass",),
    )

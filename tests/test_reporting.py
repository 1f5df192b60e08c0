"""What the report doubts of a clip."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from akd_sdk import reporting
from akd_sdk.gait import GaitFit, MotionMetrics
from akd_sdk.kinematics import motion_from_world
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig


@pytest.fixture(scope="module")
def still(samples: Path) -> Motion:
    """Two seconds at rest."""
    skeleton = open_rig(samples / "biped.glb").skeleton
    return motion_from_world(skeleton, np.broadcast_to(skeleton.rest_world, (61, skeleton.count, 4, 4)), 30.0, name="still")


def measured(gaits: dict[str, GaitFit], duty: float = 0.6) -> MotionMetrics:
    return MotionMetrics(0.5, duty, 1.0, 0.0, 0.0, 0.0, 100.0, 1.0, 1.0 if gaits else None, duty if gaits else None, gaits)


@pytest.mark.parametrize(
    ("action", "fit", "duty", "doubts"),
    [
        ("walk", {"walk": GaitFit(0.97, 0.9)}, 0.6, []),
        ("walk", {"walk": GaitFit(0.7, 0.9)}, 0.6, ["0.70 of 1"]),
        ("run", {"walk": GaitFit(0.99, 1.0), "run": GaitFit(0.99, 0.2)}, 0.4, ["20 % as far"]),
        ("walk", {}, 0.9, ["no walk came out"]),
        ("idle", {}, 1.0, []),
        ("jump", {}, 0.5, []),
        ("jump", {}, 0.0, ["no foot ever stands"]),
    ],
)
def test_a_clip_that_is_not_what_was_asked_for_is_doubted(
    still: Motion, action: str, fit: dict[str, GaitFit], duty: float, doubts: list[str]
) -> None:
    found = reporting.doubts(action, still, measured(fit, duty))
    assert len(found) == len(doubts)
    assert all(said in line for said, line in zip(doubts, found, strict=True))


def test_clips_shorter_than_a_stride_are_not_judged_by_strides(still: Motion) -> None:
    glimpse = still.with_(fps=120.0)
    assert reporting.doubts("walk", glimpse, measured({})) == ()
    assert reporting.doubts("walk", glimpse, measured({"walk": GaitFit(0.6, 1.0)})) == ()

"""Artists' clips: plausible belts by the size of the body, and feet that hold once they are locked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from akd_sdk.gait import lock_feet, measure, with_travel
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

# Belts in leg lengths a second: the stance speeds that the feet themselves show (forefeet and hind feet of some disagree twofold).
BELTS = {
    "khronos/Fox.glb": {"Survey": (0.0, 0.0), "Walk": (1.8, 2.6), "Run": (3.8, 5.5)},
    "quaternius/animals_pack/Wolf.glb": {"Idle": (0.0, 0.0), "Walk": (0.8, 1.5), "Gallop": (3.2, 4.5)},
    "quaternius/animals_pack/Deer.glb": {"Eating": (0.0, 0.0), "Walk": (0.7, 1.0), "Gallop": (3.2, 4.2)},
    "khronos/CesiumMan.glb": {"animation_0": (1.2, 1.8)},
    "kaykit_adventurers/Knight.glb": {
        "Idle": (0.0, 0.0),
        "Walking_A": (1.2, 1.7),
        "Walking_Backwards": (-1.7, -1.2),
        "Running_A": (7.5, 9.5),
    },
}


def clips(rig: Rig, wanted: dict[str, tuple[float, float]]) -> list[tuple[Motion, tuple[float, float]]]:
    return [(clip, wanted[name]) for clip in rig.clips if (name := clip.name.split("|")[-1]) in wanted]


@pytest.mark.parametrize("file", BELTS)
def test_artists_clips_travel_plausibly_and_stand_when_locked(file: str, shared: Path) -> None:
    rig = open_rig(shared / "data" / "rigs" / file)
    found = clips(rig, BELTS[file])
    assert len(found) == len(BELTS[file])
    for clip, (slowest, fastest) in found:
        going = with_travel(rig, clip)
        assert going.travel is not None
        belt = going.travel[-1, [0, 1]] @ rig.forward[[0, 2]] / clip.duration / rig.leg_length
        assert slowest - 1e-9 <= belt <= fastest + 1e-9, clip.name
        locked = lock_feet(rig, going)
        before, after = measure(rig, going.with_(contacts=locked.contacts)), measure(rig, locked)
        assert after.skate_mm is not None, clip.name
        assert before.skate_mm is not None
        assert after.skate_mm <= 1.5, clip.name
        assert after.skate_mm <= before.skate_mm + 0.01
        assert after.penetration_worst_percent <= max(before.penetration_worst_percent, 1.0) + 1e-9, clip.name
        assert after.jitter <= 1.35 * before.jitter + 1.0, clip.name
        assert np.isfinite(locked.rotations).all()

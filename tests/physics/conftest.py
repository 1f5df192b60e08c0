"""The sample characters, motions that they can do, and those motions made ready and tracked: once a process."""

from __future__ import annotations

from pathlib import Path

import pytest
from steps import hovering, standing, stepping

from akd_sdk.motion import Motion
from akd_sdk.physics import Tracked, TrackOptions, track
from akd_sdk.physics.track import Prepared, prepare
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


@pytest.fixture(scope="session")
def biped(samples: Path) -> Rig:
    return open_rig(samples / "biped.glb")


@pytest.fixture(scope="session")
def quadruped(samples: Path) -> Rig:
    return open_rig(samples / "quadruped.glb")


@pytest.fixture(scope="session")
def steps(biped: Rig) -> Motion:
    return stepping(biped)


@pytest.fixture(scope="session")
def circle(biped: Rig) -> Motion:
    """Steps that turn by more than half a circle a loop."""
    return stepping(biped, turn_rad_s=1.7)


@pytest.fixture(scope="session")
def stepping_ready(biped: Rig, steps: Motion) -> Prepared:
    return prepare(biped, steps, TrackOptions())


@pytest.fixture(scope="session")
def circle_ready(biped: Rig, circle: Motion) -> Prepared:
    return prepare(biped, circle, TrackOptions())


@pytest.fixture(scope="session")
def standing_ready(biped: Rig) -> Prepared:
    return prepare(biped, standing(biped), TrackOptions())


@pytest.fixture(scope="session")
def hovering_ready(biped: Rig) -> Prepared:
    return prepare(biped, hovering(biped), TrackOptions())


@pytest.fixture(scope="session")
def tracked_steps(biped: Rig, steps: Motion) -> Tracked:
    return track(biped, steps)

"""Articulations made by hand are refused in one line, with their body, where no simulation could use them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from akd_sdk.bodies import Articulation, articulate
from akd_sdk.errors import PhysicsError
from akd_sdk.motion import Motion
from akd_sdk.physics import track
from akd_sdk.physics.soundness import check_sound
from akd_sdk.rig import Rig

pytestmark = pytest.mark.xdist_group("physics")

BODY = 4


@pytest.fixture(scope="module")
def sound(biped: Rig) -> Articulation:
    return articulate(biped)


def refused(articulation: Articulation) -> str:
    with pytest.raises(PhysicsError) as caught:
        check_sound(articulation)
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith(f"{articulation.name}: ")
    return said


def changed(articulation: Articulation, **fields: Any) -> Articulation:
    """With other fields of one body."""
    bodies = list(articulation.bodies)
    bodies[BODY] = replace(bodies[BODY], **fields)
    return replace(articulation, bodies=tuple(bodies))


@pytest.mark.parametrize("name", ["biped", "quadruped"])
def test_what_articulate_makes_is_sound(name: str, request: pytest.FixtureRequest) -> None:
    check_sound(articulate(request.getfixturevalue(name)))


@pytest.mark.parametrize("gain", ["stiffness", "damping", "armature"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, 1e300])
def test_gains_that_are_none_are_told_with_their_body(gain: str, value: float, sound: Articulation) -> None:
    values = getattr(sound, gain).copy()
    values[BODY, 1] = value
    said = refused(replace(sound, **{gain: values}))
    assert f"{gain} of {sound.bodies[BODY].name} is {value:g}" in said


def test_a_joint_that_nothing_drives_is_refused(sound: Articulation) -> None:
    values = sound.stiffness.copy()
    values[BODY] = 0.0
    assert f"stiffness of {sound.bodies[BODY].name} is 0" in refused(replace(sound, stiffness=values))
    check_sound(replace(sound, damping=np.zeros_like(values), armature=np.zeros_like(values)))


def test_gains_of_other_bodies_are_refused(sound: Articulation) -> None:
    assert "stiffness is an array of (3, 3)" in refused(replace(sound, stiffness=sound.stiffness[:3]))


@pytest.mark.parametrize("mass", [0.0, -1.0, np.nan, 1e300])
def test_masses_that_are_none_are_refused(mass: float, sound: Articulation) -> None:
    assert f"mass of {sound.bodies[BODY].name} is {mass:g} kg" in refused(changed(sound, mass=mass))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("inertia", np.zeros((3, 3))),
        ("inertia", -np.eye(3)),
        ("inertia", np.full((3, 3), np.nan)),
        ("centre", np.full(3, np.nan)),
        ("origin", np.array([0.0, np.inf, 0.0])),
        ("limits", np.full((3, 2), np.nan)),
        ("limits", np.tile([0.5, -0.5], (3, 1))),
    ],
)
def test_numbers_of_a_body_that_are_none_are_refused(field: str, value: np.ndarray, sound: Articulation) -> None:
    assert sound.bodies[BODY].name in refused(changed(sound, **{field: value}))


@pytest.mark.parametrize(
    "change",
    [
        lambda shape: replace(shape, half=np.zeros(3)),
        lambda shape: replace(shape, half=np.full(3, np.nan)),
        lambda shape: replace(shape, centre=np.full(3, np.inf)),
        lambda shape: replace(shape, kind="ball"),
    ],
    ids=["of nothing", "not a number", "nowhere", "ball"],
)
def test_colliders_that_are_none_are_refused(change: Callable[[Any], Any], sound: Articulation) -> None:
    assert sound.bodies[BODY].name in refused(changed(sound, shape=change(sound.bodies[BODY].shape)))


def test_a_tracking_looks_before_it_simulates(biped: Rig, steps: Motion, sound: Articulation, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(sound, stiffness=sound.stiffness * 1e300)
    monkeypatch.setattr(import_module("akd_sdk.physics.track"), "articulate", lambda rig: broken)
    with pytest.raises(PhysicsError, match=r"stiffness of \w+ is .*e\+303"):
        track(biped, steps)

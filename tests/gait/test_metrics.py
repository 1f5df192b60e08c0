"""Metrics: known movements give known numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from treadmill import Gait, body, walk

from akd_sdk.gait import Travel, find_contacts, measure, resample, with_travel
from akd_sdk.gait.ground import exponential
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig

PROMPT = {"prompt": "walking"}


def belted(rig: Rig, motion: Motion, speed: float) -> Motion:
    path = exponential(motion.times[:, None] * np.array([0.0, speed, 0.0]))
    return with_travel(rig, motion, Travel(path, False))


@pytest.mark.parametrize("made", [False, True])
def test_feet_planted_by_construction_do_not_skate(made: bool) -> None:
    rig, legs = body(feet=4, hock=True)
    motion = walk(rig, legs, Gait()).with_(provenance=PROMPT if made else {})
    metrics = measure(rig, with_travel(rig, motion))
    assert metrics.skate_mm is not None
    assert metrics.skate_mm < 0.5
    assert metrics.contact_duty == pytest.approx(0.6, abs=0.06)
    assert metrics.penetration_worst_percent < 0.01
    assert metrics.speed == pytest.approx(1.0, rel=0.02)


def test_a_wrong_belt_skates_by_its_error() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait())
    contacts = find_contacts(rig, motion, Travel(exponential(motion.times[:, None] * np.array([0.0, 1.0, 0.0])), False))
    inside = contacts & np.roll(contacts, 1, axis=0) & np.roll(contacts, -1, axis=0)
    metrics = measure(rig, belted(rig, motion, 1.09).with_(contacts=inside))
    assert metrics.skate_mm == pytest.approx(0.09 * 1000 / 30 * rig.human_scale, rel=0.02)


def test_skate_does_not_depend_on_frame_rate_or_size() -> None:
    rig, legs = body()
    values = []
    for fps in (30.0, 60.0, 120.0):
        motion = belted(rig, walk(rig, legs, Gait(), fps=fps), 1.09)
        contacts = find_contacts(rig, motion)
        values.append(measure(rig, motion.with_(contacts=contacts & np.roll(contacts, 1, axis=0) & np.roll(contacts, -1, axis=0))).skate_mm)
    assert values == pytest.approx([values[0]] * 3, rel=0.05)
    twice = measure(replace(rig, human_scale=2.0 * rig.human_scale), motion.with_(contacts=contacts)).skate_mm
    assert twice == pytest.approx(2.0 * measure(rig, motion.with_(contacts=contacts)).skate_mm)


def test_no_contact_has_no_skate() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait())
    assert measure(rig, motion.with_(contacts=np.zeros((motion.frames, 4), dtype=bool))).skate_mm is None


def test_penetration_is_the_depth_over_the_leg() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait(lift=0.2)).with_(provenance=PROMPT)
    sunk = motion.with_(root=motion.root - np.array([0.0, 0.02, 0.0]))
    metrics = measure(rig, sunk)
    assert metrics.penetration_worst_percent == pytest.approx(100 * 0.02 / rig.leg_length, rel=1e-6)
    assert 0.5 * metrics.penetration_worst_percent < metrics.penetration_mean_percent < metrics.penetration_worst_percent


def test_a_hovering_motion_floats_where_the_reference_stands() -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait()).with_(provenance=PROMPT)
    high = motion.with_(root=motion.root + np.array([0.0, 0.1, 0.0]))
    assert measure(rig, motion, motion).float_share == 0.0
    assert measure(rig, high, motion).float_share == 1.0
    assert measure(rig, motion).float_share is None


def test_jitter_of_a_sine_is_its_third_derivative() -> None:
    rig, _ = body()
    frames, amplitude = 121, 0.15
    times = np.arange(frames) / 30.0
    root = np.tile(rig.skeleton.rest_world[1, :3, 3], (frames, 1))
    root[:, 1] += amplitude * np.sin(2 * np.pi * times)
    motion = Motion("bob", np.tile(rig.skeleton.rest.rotations, (frames, 1, 1)), root, 30.0)
    # differences over a step h see a sine of frequency w at (2 / h sin(w h / 2))^3
    expected = amplitude * rig.human_scale / np.sqrt(2) * (2 * 30.0 * np.sin(np.pi / 30.0)) ** 3
    assert measure(rig, motion).jitter == pytest.approx(expected, rel=0.01)


def test_a_walk_is_measured_as_a_walk() -> None:
    rig, legs = body(feet=4)
    metrics = measure(rig, walk(rig, legs, Gait(frequency=1.0)))
    assert metrics.frequency_hz == pytest.approx(1.0)
    assert max(metrics.gaits, key=lambda gait: metrics.gaits[gait].coherence) == "walk"
    assert metrics.gaits["walk"].coherence > 0.9
    assert metrics.duty == pytest.approx(0.6, abs=0.06)


def test_a_body_at_rest_is_no_gait() -> None:
    rig, legs = body()
    metrics = measure(rig, walk(rig, legs, Gait(speed=0.0, lift=0.0)))
    assert metrics.gaits == {}
    assert metrics.duty is None
    assert metrics.speed == 0.0


def test_bodies_without_feet_are_measured_too() -> None:
    rig, legs = body()
    metrics = measure(replace(rig, contact_points=(), leg_length=0.0), walk(rig, legs, Gait()))
    assert metrics.skate_mm is None
    assert metrics.contact_duty == 0.0
    assert metrics.jitter > 0.0


@pytest.mark.parametrize("frames", [1, 2, 4])
def test_few_frames_give_numbers(frames: int) -> None:
    rig, legs = body()
    motion = walk(rig, legs, Gait())
    metrics = measure(rig, motion.with_(rotations=motion.rotations[:frames], root=motion.root[:frames], loop=False))
    assert np.isfinite([metrics.jitter, metrics.speed, metrics.penetration_worst_percent]).all()


def test_other_frame_rates_are_measured_at_thirty() -> None:
    rig, legs = body()
    fast = belted(rig, walk(rig, legs, Gait(), fps=120.0), 1.0)
    assert measure(rig, fast) == measure(rig, resample(fast, 30.0))

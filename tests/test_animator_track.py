"""Tracking through the Animator: the motion comes back, the report says what it took, and a failure is said, never hidden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from track_records import tracked_of

from akd_sdk import AkdError, Animator, DistillOptions, PhysicsError, RigError
from akd_sdk.exporters import Clip
from akd_sdk.gait import measure
from akd_sdk.kinematics import motion_from_curves
from akd_sdk.motion import Motion
from akd_sdk.physics import Tracked, TrackOptions
from akd_sdk.rig import Rig
from tests.support.walks import written_walk

QUICK = DistillOptions(steps=2, inner=2)


def tracking(rig: Rig, motion: Motion, options: TrackOptions, **_: Any) -> Tracked:
    return tracked_of(motion, measure(rig, motion))


def falling(*_: Any, **__: Any) -> Tracked:
    raise PhysicsError("it falls after 0.40 s", "walk", "lock its feet")


def boneless(*_: Any, **__: Any) -> Tracked:
    raise RigError("holds no volume", "dog.glb")


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("akd_sdk.animator.track", tracking)


@pytest.fixture(scope="module")
def made(samples: Path) -> tuple[Animator, Motion]:
    animator = Animator.open(samples / "quadruped.glb", seed=4)
    return animator, animator.animate("a dog walks", seconds=1.0, how=QUICK)


@pytest.fixture
def animator(made: tuple[Animator, Motion]) -> Animator:
    """As it is right after the animation."""
    fresh = Animator(made[0].rig, made[0].prior, made[0].seed)
    fresh._report = made[0].report
    return fresh


@pytest.fixture
def walk(made: tuple[Animator, Motion]) -> Motion:
    return made[1]


def foreign(walk: Motion) -> Motion:
    """As if it came from the file."""
    return walk.with_(provenance={"animation": 0}, name="Walk", contacts=None)


@pytest.mark.usefixtures("simulated")
def test_a_tracking_adds_itself_to_the_report_of_its_animation(animator: Animator, walk: Motion) -> None:
    before = animator.report
    moved = animator.track(walk)
    np.testing.assert_allclose(moved.root, walk.root - [0.0, 0.02, 0.0])
    report = animator.report
    found = report.physics
    assert found is not None
    assert (found.kept, found.fault, found.effort, found.friction) == (True, None, "default", 0.8)
    assert found.force is not None
    assert (found.force.cap, found.force.mean, found.force.peak) == (0.087, 0.0373, 0.05)
    assert (found.alone_s, found.bodies, found.mass_kg, found.cpu_s) == (1.03, 19, 16.9, 1.5)
    assert (found.cycles, found.closure_deg, found.closure_speed) == (0, None, None)
    assert found.after is not None
    assert found.after.skate_mm == 5.5
    assert report.delivered == found.after
    assert report.after == before.after
    assert (report.prompt, report.distillation, report.before) == (before.prompt, before.distillation, before.before)
    assert report.options is not None
    assert (report.options.physics, before.options and before.options.physics) == (True, False)
    assert {"newton", "mujoco"} <= set(report.versions)
    assert "tracking" in report.seconds
    assert "distilling" in report.seconds
    assert "top-heavy: the head has 59 % of the mass" in report.warnings
    assert "tracked with help of 0.037 body weights on average" in report.summary()


@pytest.mark.usefixtures("simulated")
def test_what_the_gait_lost_is_said(animator: Animator, walk: Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    def drunk(rig: Rig, motion: Motion, options: TrackOptions, **_: Any) -> Tracked:
        tracked = tracked_of(motion, measure(rig, motion))
        return replace(tracked, after=replace(tracked.after, contact_duty=0.0))

    monkeypatch.setattr("akd_sdk.animator.track", drunk)
    animator.track(walk)
    assert "after tracking no foot ever stands on the ground" in animator.report.warnings


@pytest.mark.usefixtures("simulated")
def test_a_motion_that_was_edited_still_belongs_to_its_animation(animator: Animator, walk: Motion) -> None:
    animator.track(walk.with_(name="stroll"))
    assert animator.report.prompt is not None
    assert animator.report.clip.name == "stroll"


@pytest.mark.usefixtures("simulated")
def test_tracked_twice_the_report_is_of_the_last(animator: Animator, walk: Motion) -> None:
    first = animator.track(walk, friction=0.5)
    animator.track(first, friction=0.6)
    assert animator.report.physics is not None
    assert animator.report.physics.friction == 0.6
    assert animator.report.prompt is not None
    assert len(animator.report.warnings) == len(set(animator.report.warnings))


@pytest.mark.usefixtures("simulated")
def test_a_clip_of_the_file_gets_a_report_of_its_own(animator: Animator, walk: Motion) -> None:
    animator.track(foreign(walk))
    report = animator.report
    assert (report.options, report.prompt, report.distillation, report.before, report.after) == (None,) * 5
    assert report.clip.name == "Walk"
    assert report.physics is not None
    lines = str(report).splitlines()
    assert lines[1].startswith("Walk: 31 frames")
    assert lines[2].startswith("tracked with help")
    assert "skate 5.5 mm" in lines[3]


@pytest.mark.usefixtures("simulated")
def test_without_any_animation_a_clip_can_be_tracked(samples: Path, walk: Motion, tmp_path: Path) -> None:
    animator = Animator.open(samples / "quadruped.glb")
    moved = animator.track(foreign(walk))
    animator.export(moved, tmp_path / "walk.bvh")
    assert [Path(file.path).name for file in animator.report.files] == ["walk.bvh"]
    assert {"reading", "tracking", "exporting"} <= set(animator.report.seconds)


@pytest.mark.usefixtures("simulated")
def test_what_is_exported_says_that_it_was_tracked(animator: Animator, walk: Motion) -> None:
    moved = animator.track(walk)
    facts = Clip.from_motion(animator.rig, moved).facts()
    assert facts["physics"] == {"tracked": True, "effort": "default", "caps": [0.087, 0.052]}
    assert facts["provenance"]["prompt"] == "a dog walks"


@pytest.mark.parametrize("failing", [falling, boneless])
def test_a_failed_tracking_is_refused_and_the_report_stays(
    failing: Any, animator: Animator, walk: Motion, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = animator.report
    monkeypatch.setattr("akd_sdk.animator.track", failing)
    with pytest.raises(AkdError, match=r"falls after 0\.40 s|holds no volume"):
        animator.track(walk)
    assert animator.report == before
    with pytest.raises(AkdError, match="nothing was tracked yet"):
        _ = animator.tracked


@pytest.mark.parametrize(
    ("failing", "why"), [(falling, "walk: it falls after 0.40 s; lock its feet"), (boneless, "dog.glb: holds no volume")]
)
def test_if_it_may_fail_the_motion_comes_back_and_everything_says_so(
    failing: Any, why: str, animator: Animator, walk: Motion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("akd_sdk.animator.track", failing)
    moved = animator.track(walk, effort="best", strict=False)
    np.testing.assert_array_equal(moved.rotations, walk.rotations)
    np.testing.assert_array_equal(moved.root, walk.root)
    found = animator.report.physics
    assert found is not None
    assert (found.kept, found.fault, found.effort, found.after) == (False, why, "best", None)
    assert animator.report.delivered == animator.report.after
    assert str(animator.report).splitlines()[-1] == f"not tracked: {why}"
    assert Clip.from_motion(animator.rig, moved).facts()["physics"] == {"tracked": False, "why": why}


def test_the_seed_and_options_reach_the_simulation(animator: Animator, walk: Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[TrackOptions] = []

    def watched(rig: Rig, motion: Motion, options: TrackOptions, **_: Any) -> Tracked:
        seen.append(options)
        return tracked_of(motion, measure(rig, motion), caps=(0.0, 0.0), alone_s=None)

    monkeypatch.setattr("akd_sdk.animator.track", watched)
    animator.track(walk, effort="best", friction=0.5, help=False, budget=3.0)
    assert seen == [TrackOptions(effort="best", friction=0.5, help=False, budget_s=3.0, seed=4)]
    assert "tracked without any help" in animator.report.summary()


@pytest.mark.parametrize(
    ("options", "named"), [({"friction": -0.1}, "--friction"), ({"effort": "most"}, "--effort"), ({"budget": 0.0}, "--budget")]
)
def test_options_that_cannot_be_are_refused_even_if_it_may_fail(
    options: dict[str, Any], named: str, animator: Animator, walk: Motion
) -> None:
    with pytest.raises(AkdError, match=named):
        animator.track(walk, strict=False, **options)


@pytest.mark.usefixtures("simulated")
def test_a_plot_is_of_the_last_tracking(animator: Animator, walk: Motion, tmp_path: Path) -> None:
    with pytest.raises(AkdError, match="nothing was tracked yet; call track first"):
        animator.plot(tmp_path / "plot.png")
    moved = animator.track(walk)
    assert animator.tracked.motion is moved
    animator.plot(tmp_path / "plot.png")
    animator.sheet(moved, tmp_path / "sheet.png", before=walk)
    assert [Path(file.path).name for file in animator.report.files] == ["plot.png", "sheet.png"]
    animator.animate("a dog walks", seconds=1.0, how=QUICK)
    with pytest.raises(AkdError, match="nothing was tracked yet"):
        animator.plot(tmp_path / "other.png")


def test_a_clip_that_walks_in_place_and_skates_travels_with_its_feet_held(animator: Animator) -> None:
    rig = animator.rig
    going = motion_from_curves(rig, written_walk(rig), "Walk")
    in_place = going.with_(root=going.root * [1.0, 1.0, 0.0] + going.root[0] * [0.0, 0.0, 1.0])
    held = animator.lock_feet(in_place)
    before, after = measure(rig, in_place), measure(rig, held)
    assert before.skate_mm is not None
    assert before.skate_mm > 5.0
    assert after.skate_mm is not None
    assert after.skate_mm < 0.5
    assert (held.root[-1] - held.root[0])[2] > 0.5
    assert held.travel is not None
    assert held.contacts is not None

"""Distillation on bodies that no file holds: the asked gait comes out, loops close, seeds matter, lengths are what was asked."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from akd_sdk.distill import Distilled, DistillOptions, distill
from akd_sdk.errors import AkdError, PromptError
from akd_sdk.gait import lock_feet, with_travel
from akd_sdk.gait.coherence import DUTY_LINE, TEACHER_SWING
from akd_sdk.kinematics import motion_from_curves, world_from_motion
from akd_sdk.priors import load_prior
from akd_sdk.progress import Progress
from akd_sdk.rig import Rig
from akd_sdk.views.tokens import Tokens

sys.path.insert(0, str(Path(__file__).parent))

from bodies import METRES_PER_HIP, drawn_rig

from tests.gaits.cases import GAITS
from tests.gaits.measure import coherence, fit_cycle

LEAST_SWING = 0.8
"""Of the teacher's mean of the gait, as for game rigs."""

DRAWN = [
    (11, "quadruped", "walk"), (12, "quadruped", "trot"), (13, "quadruped", "pace"), (14, "quadruped", "gallop"),
    (15, "quadruped", "trot"), (16, "biped", "walk"), (17, "biped", "run"), (18, "biped", "walk"),
    (19, "bird", "walk"), (20, "bird", "run"),
]  # fmt: skip
SENTENCE = {"quadruped": "an animal {}s", "biped": "a person {}s", "bird": "a bird {}s"}


def make(rig: Rig, tokens: Tokens, action: str, seed: int = 0, **options: object) -> Distilled:
    prior = load_prior("mini")
    prompt = prior.parse(SENTENCE[tokens.body].format(action), tokens.body)
    return distill(rig, tokens, prior, prompt, DistillOptions(**options), seed=seed)  # type: ignore[arg-type]


def forward_of_feet(rig: Rig, tokens: Tokens, made: Distilled) -> np.ndarray:
    """How far the feet are before the root in the clip as it is delivered: travelling, its feet locked."""
    raw = with_travel(rig, motion_from_curves(rig, made.curves, "drawn", {"prompt": "drawn"}))
    places = world_from_motion(rig.skeleton, lock_feet(rig, raw))[..., :3, 3] / METRES_PER_HIP
    return np.stack([places[:, foot, 2] - places[:, 0, 2] for foot in tokens.feet.values()], axis=1)


@pytest.mark.parametrize(("seed", "kind", "gait"), DRAWN)
def test_a_drawn_body_does_the_gait_that_was_asked_for(seed: int, kind: str, gait: str) -> None:
    rig, tokens = drawn_rig(seed, kind)
    made = make(rig, tokens, gait, loop=True)
    forward = forward_of_feet(rig, tokens, made)
    cycle = fit_cycle(forward, np.arange(len(forward)) / made.curves.fps)
    limbs = tuple(tokens.feet)
    assert coherence(cycle, gait, limbs) >= 0.95
    if kind == "quadruped":
        assert max(GAITS["quadruped"], key=lambda other: coherence(cycle, other, limbs)) == gait
    assert np.median(cycle.swings) >= LEAST_SWING * TEACHER_SWING[kind, gait]
    duty = DUTY_LINE[0] * cycle.backward + DUTY_LINE[1]
    if gait in ("walk", "run", "gallop"):  # trots and paces may have either
        assert (duty > 0.5) == (gait == "walk")
    assert made.strides == round(cycle.frequency * (len(forward) - 1) / made.curves.fps)


def test_a_loop_ends_in_its_first_pose() -> None:
    rig, tokens = drawn_rig(12, "quadruped")
    curves = make(rig, tokens, "trot", loop=True, steps=6, inner=4).curves
    np.testing.assert_array_equal(curves.angles[0], curves.angles[-1])
    np.testing.assert_array_equal(curves.root[0], curves.root[-1])


def test_the_same_seed_gives_the_same_curves_and_another_does_not() -> None:
    rig, tokens = drawn_rig(12, "quadruped")
    first, again, other = (make(rig, tokens, "trot", seed, steps=6, inner=4).curves.angles for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.01


@pytest.mark.parametrize("seconds", [0.5, 1.0, 1.7, 2.0])
def test_a_clip_lasts_as_long_as_asked(seconds: float) -> None:
    rig, tokens = drawn_rig(16, "biped")
    curves = make(rig, tokens, "jump", seconds=seconds, steps=4, inner=2).curves
    assert len(curves.angles) == round(seconds * 30) + 1


def test_a_longer_loop_repeats_a_shorter_one() -> None:
    rig, tokens = drawn_rig(16, "biped")
    made = make(rig, tokens, "walk", seconds=6.0, loop=True, steps=6, inner=4)
    count = len(made.curves.angles) - 1
    assert count % 3 == 0
    np.testing.assert_array_equal(made.curves.angles[: count // 3], made.curves.angles[count // 3 : 2 * count // 3])
    assert abs(count / 30 - 6.0) <= 1.5


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"seconds": 0.0}, "no length"),
        ({"seconds": -1.0}, "no length"),
        ({"seconds": float("nan")}, "no length"),
        ({"seconds": 0.2}, "too short"),
        ({"seconds": 2.5}, "longer than"),
        ({"seconds": 1e9, "loop": True}, "ten minutes"),
        ({"fps": 0.0}, "frames a second"),
        ({"fps": float("inf")}, "frames a second"),
    ],
)
def test_lengths_that_cannot_be_made_are_refused(options: dict[str, float], fault: str) -> None:
    with pytest.raises(AkdError, match=fault) as refused:
        DistillOptions(**options).checked(2.0)
    assert refused.value.path in ("--seconds", "--fps")


def test_progress_runs_from_start_to_end_and_may_stop_the_work() -> None:
    rig, tokens = drawn_rig(16, "biped")
    prior = load_prior("mini")
    prompt = prior.parse("a person walks", "biped")
    told: list[Progress] = []
    distill(rig, tokens, prior, prompt, DistillOptions(loop=True, steps=4, inner=1), progress=told.append)
    fractions = [p.fraction for p in told]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0

    def stop(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        distill(rig, tokens, prior, prompt, DistillOptions(steps=4, inner=1), progress=stop)


def test_progress_counts_the_optimisers_steps() -> None:
    rig, tokens = drawn_rig(16, "biped")
    prior = load_prior("mini")
    told: list[Progress] = []
    options = DistillOptions(loop=True, mode="annealed", steps=96)  # as many as it takes to find the stride first
    distill(rig, tokens, prior, prior.parse("a person walks", "biped"), options, progress=told.append)
    begun = next(p.fraction for p in told if "step 1 of 96" in p.detail)
    assert begun == pytest.approx(0.5, abs=0.02)


def test_an_action_that_a_body_cannot_do_is_refused() -> None:
    rig, tokens = drawn_rig(16, "biped")
    with pytest.raises(PromptError):
        make(rig, tokens, "trot")

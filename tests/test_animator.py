"""The Animator refuses what cannot be before it begins to work."""

from __future__ import annotations

from pathlib import Path

import pytest

from akd_sdk import AkdError, Animator, DistillOptions

SAMPLES = Path(__file__).resolve().parents[1] / "samples"


@pytest.fixture(scope="module")
def animator() -> Animator:
    return Animator.open(SAMPLES / "quadruped.glb")


@pytest.mark.parametrize(("how", "name"), [({"seconds": 1.0}, "seconds"), ({"loop": True}, "loop"), ({"fps": 24.0}, "fps")])
def test_a_length_that_only_how_holds_is_refused(how: dict[str, float], name: str, animator: Animator) -> None:
    with pytest.raises(AkdError, match=f"give {name} to animate itself"):
        animator.animate("a dog walks", how=DistillOptions(**how))  # type: ignore[arg-type]


@pytest.mark.parametrize("guidance", [float("nan"), float("inf")])
def test_a_guidance_that_is_no_number_is_refused(guidance: float, animator: Animator) -> None:
    with pytest.raises(AkdError, match="--guidance"):
        animator.animate("a dog walks", guidance=guidance)


def test_how_may_hold_the_length_of_the_call(animator: Animator) -> None:
    how = DistillOptions(seconds=1.0, fps=24.0, steps=1, inner=1)
    motion = animator.animate("a dog walks", seconds=1.0, fps=24.0, how=how)
    assert repr(motion) == "Motion('walk', 25 frames at 24 fps, 28 joints)"

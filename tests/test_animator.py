"""The Animator refuses what cannot be before it begins to work; what pixels showed of travel it keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from akd_sdk import AkdError, Animator, DistillOptions
from akd_sdk.distill import Distilled
from akd_sdk.gaussians import bone_gaussians
from akd_sdk.readers import open_rig
from akd_sdk.splat import Scene, load_splatter
from tests.support.oracle import KnownMotion, OraclePrior
from tests.support.walks import written_walk

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


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_travel_that_was_found_in_pixels_is_kept_whatever_the_feet_ask_for(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rig = open_rig(SAMPLES / "quadruped.glb")
    curves = written_walk(rig)
    known = KnownMotion(rig, curves)
    root = curves.root.copy()
    root[:, :3] -= (1.0 - share) * known.velocity * (np.arange(len(root)) / curves.fps)[:, None]
    found = Distilled(replace(curves, root=root), 1.0, 1, DistillOptions(loop=True).settled("pixels", 2.0))
    monkeypatch.setattr("akd_sdk.animator.distill", lambda *_, **__: found)
    prior = OraclePrior(known, Scene(rig, bone_gaussians(rig), load_splatter("warp")), 12, 12.0, (32, 32))
    motion = Animator(rig, prior).animate("a dog walks", seconds=1.0, loop=True)
    assert motion.travel is not None
    np.testing.assert_allclose((motion.root[-1] - motion.root[0]) * [1, 0, 1], share * known.velocity * known.seconds, atol=1e-3)
    np.testing.assert_allclose(motion.travel[-1, :2], (share * known.velocity * known.seconds)[[0, 2]], atol=1e-3)

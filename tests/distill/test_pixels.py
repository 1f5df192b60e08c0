"""Distillation on pixels: a character comes from its rest pose to a walk that a prior believes in, limbs and travel."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from akd_sdk.distill import Distilled, DistillOptions, PixelOptions, Stage, distill
from akd_sdk.distill.body import CurveBody
from akd_sdk.distill.held import change_of_velocity
from akd_sdk.distill.optimise import Look
from akd_sdk.distill.pixels import PixelView
from akd_sdk.errors import AkdError, BackendError, PriorError
from akd_sdk.gaussians import bone_gaussians
from akd_sdk.motion import CurveBasis
from akd_sdk.progress import Progress
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.rotations import matrix_from_rotvec
from akd_sdk.splat import Scene, load_splatter
from akd_sdk.views.rig_tokens import tokens_of
from akd_sdk.views.shot import Shot
from tests.support.oracle import KnownMotion, OraclePrior
from tests.support.oracle_score import score
from tests.support.walks import written_walk

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "quadruped.glb"
FRAMES, SIZE, VIEWS = 12, 64, 3
PIXELS = PixelOptions(look="bones", stages=(Stage(0.5, 2.0, 300.0), Stage(1.0, 1.0, 100.0), Stage(1.0, 0.5, 10.0)))
OPTIONS = DistillOptions(seconds=1.0, loop=True, steps=150, views=VIEWS, rate=0.04, pixels=PIXELS)


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLE)


@pytest.fixture(scope="module")
def known(rig: Rig) -> KnownMotion:
    return KnownMotion(rig, written_walk(rig))


@pytest.fixture(scope="module")
def oracle(rig: Rig, known: KnownMotion) -> OraclePrior:
    scene = Scene(rig, bone_gaussians(rig), load_splatter("warp"))
    return OraclePrior(known, scene, FRAMES, FRAMES / known.seconds, (SIZE, SIZE))


def make(rig: Rig, oracle: OraclePrior, options: DistillOptions, **more: object) -> Distilled:
    return distill(rig, tokens_of(rig), oracle, oracle.parse("a walk", "quadruped"), options, seed=1, **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def found(rig: Rig, oracle: OraclePrior) -> Distilled:
    return make(rig, oracle, OPTIONS)


def test_a_known_walk_is_found_again_from_the_rest_pose(rig: Rig, known: KnownMotion, found: Distilled) -> None:
    result = score(rig, known, found.curves)
    assert result.coherence >= 0.9
    assert result.bones_deg <= 5.0
    assert result.root_percent <= 5.0


def test_without_the_checkerboard_limbs_move_and_the_travel_does_not_come_back(rig: Rig, known: KnownMotion, oracle: OraclePrior) -> None:
    blind = make(rig, oracle, replace(OPTIONS, pixels=replace(PIXELS, ground=False)))
    result = score(rig, known, blind.curves)
    assert result.coherence >= 0.9
    assert abs(result.travel_percent) <= 5.0


def test_without_the_smoothness_loss_the_jitter_rises(rig: Rig, known: KnownMotion, oracle: OraclePrior, found: Distilled) -> None:
    rough = make(rig, oracle, replace(OPTIONS, pixels=replace(PIXELS, smoothness=0.0)))
    assert score(rig, known, rough.curves).jitter > 1.05 * score(rig, known, found.curves).jitter


def test_a_loop_that_travels_ends_in_its_first_pose_moved_on(found: Distilled, known: KnownMotion) -> None:
    curves = found.curves
    np.testing.assert_array_equal(curves.angles[0], curves.angles[-1])
    np.testing.assert_allclose(curves.root[0, 3:], curves.root[-1, 3:], atol=1e-12)
    step = curves.root[-1, :3] - curves.root[0, :3]
    assert step[1] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(step, known.velocity * known.seconds, atol=0.05 * np.linalg.norm(known.velocity))


@pytest.mark.parametrize("mode", ["annealed", "random-t"])
def test_a_resumed_run_on_pixels_equals_an_uninterrupted_one(mode: str, rig: Rig, oracle: OraclePrior, tmp_path: Path) -> None:
    options = replace(OPTIONS, mode=mode, steps=6)
    whole = make(rig, oracle, options)
    calls = []

    def stop(report: Progress) -> None:
        calls.append(report)
        if len(calls) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(rig, oracle, options, progress=stop, checkpoint=tmp_path / "kept.pt")
    resumed = make(rig, oracle, options, checkpoint=tmp_path / "kept.pt", resume=True)
    np.testing.assert_array_equal(resumed.curves.angles, whole.curves.angles)
    np.testing.assert_array_equal(resumed.curves.root, whole.curves.root)


class TwoPasses(OraclePrior):
    """The same, as a model that is short of memory: what is encoded first has no graph."""

    two_pass = True

    def encode(self, pixels: Tensor) -> Tensor:
        self.graphs.append(torch.is_grad_enabled())
        return 2.0 * pixels

    def alpha_sigma(self, t: float) -> tuple[float, float]:
        return 1.0, 0.0

    def estimate(self, latents: Tensor, t: float, prompt: object, shot: Shot) -> Tensor:
        return latents - 1.0

    @property
    def graphs(self) -> list[bool]:
        return vars(self).setdefault("_graphs", [])


class OnePass(TwoPasses):
    two_pass = False


def test_the_pull_at_the_pixels_is_the_encoders_transpose_times_the_distance(rig: Rig, known: KnownMotion, oracle: OraclePrior) -> None:
    body = CurveBody(rig, tokens_of(rig), CurveBasis(1.0, 4.0, loop=True), seen=True)
    times = np.arange(FRAMES) / FRAMES
    samples = body.sample(times)
    gradients = []
    for kind, expected in ((OnePass, [True] * VIEWS), (TwoPasses, [False, True] * VIEWS)):
        prior = kind(known, oracle.scene, FRAMES, float(FRAMES), (SIZE, SIZE))
        view = PixelView(body, oracle.scene, (prior, prior.parse("a walk", "quadruped")), OPTIONS.settled("pixels", 1.0), Stage())
        coefficients = body.still().requires_grad_()
        view.begin(Look(coefficients, times, samples, 0.5, torch.Generator().manual_seed(3)))
        pull, distance = view._pull(view.film(body.pose(coefficients, samples), view._shot).detach())
        # z - x0 = 1 everywhere and J = 2: the mean over the numbers of a view, then over the views
        torch.testing.assert_close(pull, torch.full_like(pull, 2.0 / pull.numel()))
        assert float(distance) == pytest.approx(0.5)
        assert prior.graphs == expected
        gradients.append(pull)
    assert torch.equal(*gradients)


def test_the_gradient_does_not_depend_on_the_scale_of_latents(rig: Rig, known: KnownMotion, oracle: OraclePrior) -> None:
    body = CurveBody(rig, tokens_of(rig), CurveBasis(1.0, 4.0, loop=True), seen=True)
    times = np.arange(FRAMES) / FRAMES
    gradients = []
    for gain in (1.0, 0.01, 30.0):
        scaled = replace(oracle, encoder=lambda pixels, gain=gain: gain * pixels)
        view = PixelView(body, oracle.scene, (scaled, scaled.parse("a walk", "quadruped")), OPTIONS.settled("pixels", 1.0), Stage())
        coefficients = body.still().requires_grad_()
        view.begin(Look(coefficients, times, body.sample(times), 0.5, torch.Generator().manual_seed(3)))
        view.loss(body.pose(coefficients, body.sample(times))).backward()
        gradients.append(coefficients.grad)
    scale = float(gradients[0].abs().max())
    for other in gradients[1:]:
        torch.testing.assert_close(other, gradients[0], atol=1e-4 * scale, rtol=1e-4)


def test_a_prior_that_believes_in_no_numbers_is_refused(rig: Rig, known: KnownMotion, oracle: OraclePrior) -> None:
    class Lost(OraclePrior):
        def estimate(self, latents: Tensor, t: float, prompt: object, shot: Shot) -> Tensor:
            return torch.full_like(latents, float("nan"))

    lost = Lost(known, oracle.scene, FRAMES, float(FRAMES), (SIZE, SIZE))
    with pytest.raises(PriorError, match="not finite"):
        make(rig, lost, replace(OPTIONS, steps=2))


def test_mas_and_pixels_do_not_go_together(rig: Rig, oracle: OraclePrior) -> None:
    with pytest.raises(AkdError) as refused:
        make(rig, oracle, replace(OPTIONS, mode="mas"))
    assert refused.value.path == "--mode"


@pytest.mark.parametrize("fps", [12.0, 60.0])
def test_the_smoothness_of_a_swing_is_its_angular_acceleration_at_any_rate(fps: float) -> None:
    times = torch.arange(round(fps), dtype=torch.float64) / fps
    angle = 0.5 * torch.sin(2.0 * torch.pi * times)
    vectors = torch.stack([angle, torch.zeros_like(angle), torch.zeros_like(angle)], -1)[:, None]
    change = change_of_velocity(matrix_from_rotvec(vectors), fps, loop=True)
    exact = 0.5 * (2.0 * torch.pi) ** 2 * (2.0 / torch.pi)  # mean size of A w² sin
    assert float(change[..., 0].abs().mean()) == pytest.approx(float(exact), rel=0.06)
    whole_turns = vectors + torch.tensor([2.0 * torch.pi, 0.0, 0.0], dtype=torch.float64)
    torch.testing.assert_close(change_of_velocity(matrix_from_rotvec(whole_turns), fps, loop=True), change, atol=1e-5, rtol=1e-5)


def test_running_out_of_memory_says_what_to_make_smaller(rig: Rig, known: KnownMotion, oracle: OraclePrior) -> None:
    class Large(OraclePrior):
        def estimate(self, latents: Tensor, t: float, prompt: object, shot: Shot) -> Tensor:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")

    large = Large(known, oracle.scene, FRAMES, float(FRAMES), (SIZE, SIZE))
    with pytest.raises(BackendError, match=r"12 frames of 64 x 64.*--views.*--size") as refused:
        make(rig, large, replace(OPTIONS, steps=2))
    assert "\n" not in str(refused.value)

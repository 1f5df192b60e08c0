"""One step of distillation on pixels: what the prior is shown and told, and each loss beside its belief against arithmetic of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from akd_sdk.distill import DistillOptions, PixelOptions, distill
from akd_sdk.distill.body import ROOT_SHARE, CurveBody, Pose
from akd_sdk.distill.held import Held
from akd_sdk.gaussians import bone_boxes
from akd_sdk.kinematics import skin_points, world_from_curves
from akd_sdk.motion import CurveBasis
from akd_sdk.priors import Prompt
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.views.rig_tokens import tokens_of
from akd_sdk.views.shot import Shot

FRAMES, SIZE, STEPS, VIEWS = 8, (32, 40), 12, 2
NOTHING = PixelOptions(smoothness=0.0, boxes=0.0, effort=0.0, twist=0.0, limits=0.0)


@dataclass
class Recorder:
    """A prior that remembers what it is shown; it believes in it, so the character stands still."""

    shown: list[tuple[Tensor, Tensor, float, Shot]] = field(default_factory=list)
    clean: Tensor | None = None
    name, observes, device, two_pass, notes = "recorder", "pixels", "cpu", False, ()
    frames, fps, size = FRAMES, 8.0, SIZE

    def parse(self, sentence: str, body: str) -> Prompt:
        return Prompt(sentence, body, "walk")

    def encode(self, pixels: Tensor) -> Tensor:
        self.clean = pixels.detach().clone()
        return pixels

    def alpha_sigma(self, t: float) -> tuple[float, float]:
        return math.cos(t), math.sin(t)

    def estimate(self, latents: Tensor, t: float, prompt: Prompt, shot: Shot) -> Tensor:
        assert self.clean is not None
        self.shown.append((self.clean, latents.clone(), t, shot))
        return self.clean


@pytest.fixture(scope="module")
def rig(samples: Path) -> Rig:
    return open_rig(samples / "quadruped.glb")


@pytest.fixture(scope="module")
def shown(rig: Rig) -> list[tuple[Tensor, Tensor, float, Shot]]:
    prior = Recorder()
    options = DistillOptions(seconds=1.0, loop=True, steps=STEPS, views=VIEWS, pixels=replace(NOTHING, look="bones"))
    distill(rig, tokens_of(rig), prior, prior.parse("a walk", "quadruped"), options, seed=4)
    return prior.shown


def test_latents_are_noised_as_much_as_the_prior_is_told(shown: list[tuple[Tensor, Tensor, float, Shot]]) -> None:
    """Unit noise, drawn anew for each view of each step; times fall evenly over the range."""
    assert len(shown) == STEPS * VIEWS
    noises = [(noisy - math.cos(t) * clean) / math.sin(t) for clean, noisy, t, _ in shown]
    for noise in noises:
        assert float(noise.mean()) == pytest.approx(0.0, abs=0.03)
        assert float(noise.std()) == pytest.approx(1.0, abs=0.03)
    overlaps = np.corrcoef(np.stack([noise.flatten().numpy() for noise in noises])) - np.eye(len(noises))
    assert np.abs(overlaps).max() < 0.05
    np.testing.assert_allclose([t for _, _, t, _ in shown], np.repeat(np.linspace(0.98, 0.02, STEPS), VIEWS), atol=1e-9)


def test_each_step_looks_from_elsewhere_and_says_from_where(shown: list[tuple[Tensor, Tensor, float, Shot]]) -> None:
    azimuths = np.array([float(shot.cameras.azimuth[0]) for *_, shot in shown]).reshape(STEPS, VIEWS)
    elevations = np.degrees([float(shot.cameras.elevation[0]) for *_, shot in shown])
    assert all(shot.cameras.count == 1 and shot.size == SIZE for *_, shot in shown)
    np.testing.assert_allclose(np.diff(azimuths, axis=1), 2.0 * np.pi / VIEWS, atol=1e-5)
    assert len(np.unique(azimuths[:, 0].round(4))) == STEPS
    assert np.ptp(azimuths[:, 0]) > 2.0, "all around"
    assert 5.0 <= elevations.min() < 8.0
    assert 17.0 < elevations.max() <= 20.0
    # the same standing body in both views of a step: other directions, other pictures
    assert all(not torch.equal(shown[i][0], shown[i + 1][0]) for i in range(0, len(shown), VIEWS))


def posed(rig: Rig, size: float = 0.3) -> tuple[CurveBody, Tensor, Pose]:
    body = CurveBody(rig, tokens_of(rig), CurveBasis(1.0, 4.0, loop=True), seen=True)
    coefficients = size * torch.randn(body.still().shape, generator=torch.Generator().manual_seed(2))
    return body, coefficients, body.pose(coefficients, body.sample(np.arange(FRAMES) / FRAMES))


def held(rig: Rig, **weights: float) -> float:
    body, coefficients, pose = posed(rig)
    return float(Held(body, replace(NOTHING, **weights)).loss(pose, coefficients))


def test_losses_of_angles_are_means_of_squares(rig: Rig) -> None:
    body, _, pose = posed(rig)
    angles = pose.angles[:, body.moving].double().numpy()
    low, high = np.moveaxis(rig.skeleton.limits[body.moving.numpy()], -1, 0)
    excess = np.maximum(angles - high, 0.0) + np.maximum(low - angles, 0.0)
    assert (excess > 0).any()
    assert held(rig, effort=2.0) == pytest.approx(2.0 * (angles**2).sum(-1).mean(), rel=1e-5)
    assert held(rig, twist=3.0) == pytest.approx(3.0 * (angles[..., 2] ** 2).mean(), rel=1e-5)
    assert held(rig, limits=5.0) == pytest.approx(5.0 * (excess**2).sum(-1).mean(), rel=1e-5)


def test_the_loss_of_smoothness_is_weighted_once(rig: Rig) -> None:
    body, coefficients, _ = posed(rig)
    change = float(Held(body, NOTHING).smoothness(coefficients))
    assert change > 1.0
    assert held(rig, smoothness=0.5) == pytest.approx(0.5 * change, rel=1e-5)


@pytest.mark.parametrize("raised_m", [0.5, -0.05, -0.1])
def test_the_loss_of_the_ground_is_the_mean_depth_of_the_corners_of_boxes(rig: Rig, raised_m: float) -> None:
    """Only where skin is below the ground, since the boxes are around it."""
    body = CurveBody(rig, tokens_of(rig), CurveBasis(1.0, 4.0, loop=True), seen=True)
    times = np.arange(FRAMES) / FRAMES
    raised = body.still()
    raised[0, -2, 1] = raised_m / (ROOT_SHARE * body.hip_height)  # the first function is 1
    loss = float(Held(body, replace(NOTHING, boxes=2.0)).loss(body.pose(raised, body.sample(times)), raised))
    world = world_from_curves(rig, body.joint_curves(raised, times, float(FRAMES)))
    boxes = bone_boxes(rig)
    heights = np.concatenate([corners @ world[0, j, 1, :3] + world[0, j, 1, 3] for j, corners in zip(boxes.joints, boxes.corners)])
    assert loss == pytest.approx(2.0 * np.maximum(body.ground_m - heights, 0.0).mean() / body.hip_height, rel=1e-4, abs=1e-9)
    lowest = min(float(skin_points(skin, world)[..., 1].min()) for skin in rig.skins)
    assert (loss > 0.0) == (lowest < body.ground_m)

"""The whole chain, joint angles to latents of a real encoder's class: its gradient against central differences, and one step of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tiny_video import SIZES, tiny_checkpoint
from torch import Tensor

from akd_sdk.gaussians import bone_gaussians, world_of
from akd_sdk.kinematics import CurveKinematics
from akd_sdk.priors.video import LatentVideoPrior, VideoOptions, load_video_prior
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.splat import Scene, load_splatter
from akd_sdk.views.camera import Cameras
from akd_sdk.views.shot import Shot

FAMILIES = ("cogvideox", "ltx", "wan")


@pytest.fixture(scope="module")
def dog(samples: Path) -> Rig:
    return open_rig(samples / "quadruped.glb")


@pytest.fixture(scope="module")
def priors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LatentVideoPrior]:
    root = tmp_path_factory.mktemp("checkpoints")
    made = {}
    for model in FAMILIES:
        frames, size = SIZES[model]
        options = VideoOptions(device="cpu", memory_gb=64.0, frames=frames, size=size, dtype=torch.float64)
        made[model] = load_video_prior(model, tiny_checkpoint(model, root / model), options)
    return made


class Chain:
    """Films of a dog whose joints swing and whose root travels, in float64 by the dense twin, as latents of a prior."""

    def __init__(self, rig: Rig, prior: LatentVideoPrior) -> None:
        self._rig, self.prior = rig, prior
        self._kinematics = CurveKinematics(rig.skeleton, rig.facing, torch.float64)
        self._scene = Scene(rig, bone_gaussians(rig), load_splatter("torch"), dtype=torch.float64, ground_m=-10.0)
        self._times = torch.arange(prior.frames, dtype=torch.float64) / prior.fps
        cameras = Cameras(torch.tensor([1.2], dtype=torch.float64), torch.tensor([0.2], dtype=torch.float64))
        self.shot = Shot(cameras, self._times, prior.size, 0.6)

    def still(self) -> Tensor:
        """(joints + 2, 3) amplitudes: of the joints' swing, radians, and of the root's travel, metres, and turn, radians."""
        return torch.zeros(self._rig.skeleton.count + 2, 3, dtype=torch.float64)

    def __call__(self, theta: Tensor) -> Tensor:
        swing = torch.sin(6.0 * self._times)[:, None, None] * theta[:-2]
        root = self._times[:, None] * theta[-2:].reshape(6)
        turns, positions = self._kinematics(swing, root)
        world = world_of(turns, positions, self._rig.skeleton.rest_world)
        video = self._scene.film(world, self.shot, positions[:, self._rig.skeleton.pelvis])
        return self.prior.encode(video)


def exact_norm(norm: Any, values: Tensor) -> Tensor:
    """What the norm of diffusers computes, in the precision of its input."""
    scaled = values * torch.rsqrt(values.square().mean(-1, keepdim=True) + norm.eps)
    return scaled if norm.weight is None else scaled * norm.weight


@pytest.mark.parametrize("model", FAMILIES)
def test_gradient_at_joint_angles_agrees_with_central_differences(
    dog: Rig, priors: dict[str, LatentVideoPrior], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """<g, encode(film(theta))> along random directions of all joints, and of the root.

    LTX's norms are float32 inside, whose rounding hides small differences: here they are taken in the precision that is asked for.
    """
    monkeypatch.setattr("diffusers.models.normalization.RMSNorm.forward", exact_norm)
    chain = Chain(dog, priors[model])
    step = 1e-7  # few Gaussians cross a cut-off of the splatting on so short a way
    generator = torch.Generator().manual_seed(3)
    theta = (0.1 * torch.randn(chain.still().shape, generator=generator, dtype=torch.float64)).requires_grad_()
    latents = chain(theta)
    weights = torch.randn(latents.shape, generator=generator, dtype=torch.float64)
    (gradient,) = torch.autograd.grad(latents, theta, grad_outputs=weights)
    for part in (slice(None, -2), slice(-2, None)):
        along = torch.zeros_like(gradient)
        along[part] = torch.randn(along[part].shape, generator=generator, dtype=torch.float64)
        with torch.no_grad():
            ends = [float((weights * chain(theta + sign * step * along)).sum()) for sign in (1.0, -1.0)]
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(float((gradient * along).sum()), rel=1e-5)


def test_norms_that_compute_in_float32_leave_the_gradient_within_a_percent(
    dog: Rig, priors: dict[str, LatentVideoPrior], monkeypatch: pytest.MonkeyPatch
) -> None:
    """LTX as it is, against the same with exact norms, whose gradient is that of central differences."""
    chain = Chain(dog, priors["ltx"])
    theta = (0.1 * torch.randn(chain.still().shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64)).requires_grad_()
    found = []
    for exact in (False, True):
        if exact:
            monkeypatch.setattr("diffusers.models.normalization.RMSNorm.forward", exact_norm)
        latents = chain(theta)
        weights = torch.randn(latents.shape, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
        found += torch.autograd.grad(latents, theta, grad_outputs=weights)
    assert 0.0 < float((found[0] - found[1]).norm()) < 1e-2 * float(found[1].norm())


@pytest.mark.parametrize("model", FAMILIES)
def test_one_step_of_distillation_reaches_the_joints(dog: Rig, priors: dict[str, LatentVideoPrior], model: str) -> None:
    """Noise, belief, and the pull back to joints and root: small in the direction that it says, the distance falls."""
    chain = Chain(dog, priors[model])
    prior = chain.prior
    theta = chain.still().requires_grad_()
    latents = chain(theta)
    clean = latents.detach()
    alpha, sigma = prior.alpha_sigma(0.6)
    noise = torch.randn(clean.shape, generator=torch.Generator().manual_seed(5), dtype=clean.dtype)
    believed = prior.estimate(alpha * clean + sigma * noise, 0.6, prior.parse("a dog walks", "quadruped"), chain.shot)
    (pull,) = torch.autograd.grad(latents, theta, grad_outputs=clean - believed)
    assert torch.isfinite(pull).all()
    moved = np.abs(pull.numpy()).max(axis=1)
    assert (moved[:-2] > 0).sum() > 10, "joints are pulled"
    assert (moved[-2:] > 0).all(), "the root is pulled, in place and turn"
    with torch.no_grad():
        closer = chain(theta - 1e-3 * pull / pull.norm())
    assert float((closer - believed).norm()) < float((clean - believed).norm())

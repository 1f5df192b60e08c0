"""Posing: values against the formula written out, gradients against central differences, and the way from joint curves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from gaussian_cases import bent, elbow, posed, rig_of, tube

from akd_sdk.errors import AkdError
from akd_sdk.gaussians import GaussianPoser, bone_gaussians, surface_gaussians, world_of
from akd_sdk.kinematics import CurveKinematics, world_from_curves
from akd_sdk.motion import JointCurves
from akd_sdk.rig import Rig

EXACT = 1e-12
FLOAT32_M = 2e-6
"""A few roundings of metres."""


@pytest.fixture
def dog(samples: Path) -> Rig:
    return rig_of(samples, None, "quadruped")


def test_the_product_is_the_formula_written_out(dog: Rig) -> None:
    gaussians, world = surface_gaussians(dog, 500), bent(dog)
    means, covariances = posed(gaussians, world)
    for f, n in ((0, 0), (1, 77), (2, 499)):
        centre, linear = np.zeros(3), np.zeros((3, 3))
        for k, joint in enumerate(gaussians.joints[n]):
            matrix = world[f, joint, :3]
            centre += gaussians.weights[n, k] * (matrix @ [*gaussians.arms[n, k], 1.0])
            linear += matrix @ gaussians.axes[n, k]
        wanted = linear @ gaussians.covariances[n] @ linear.T
        assert np.abs(means[f, n] - centre).max() < EXACT
        assert np.abs(covariances[f, n] - wanted - 1e-8 * np.trace(wanted) * np.eye(3)).max() < EXACT


def test_posed_covariances_are_symmetric_and_invertible_even_when_folded() -> None:
    rig = tube()
    _, covariances = posed(surface_gaussians(rig, 500), elbow(rig, np.pi))
    assert np.abs(covariances - np.swapaxes(covariances, -1, -2)).max() < EXACT
    values = np.linalg.eigvalsh(covariances)
    assert values.min() > 0.0


def test_a_rigid_motion_moves_everything_rigidly(dog: Rig) -> None:
    gaussians = surface_gaussians(dog, 500)
    turn = np.eye(4)
    turn[:3, :3] = [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    turn[:3, 3] = [3.0, -2.0, 5.0]
    means, covariances = posed(gaussians, (turn @ dog.skeleton.rest_world)[None])
    assert np.abs(means[0] - gaussians.means @ turn[:3, :3].T - turn[:3, 3]).max() < 10 * EXACT
    turned = turn[:3, :3] @ gaussians.covariances @ turn[:3, :3].T
    assert (np.abs(covariances[0] - turned).max(axis=(1, 2)) / np.trace(turned, axis1=1, axis2=2)).max() < 2e-8


def test_the_gradient_is_that_of_central_differences(dog: Rig) -> None:
    gaussians = bone_gaussians(dog)
    poser = GaussianPoser(gaussians, torch.float64)
    world = torch.from_numpy(bent(dog, frames=2)).requires_grad_()
    generator = torch.Generator().manual_seed(1)
    a, b = torch.randn(3, generator=generator, dtype=torch.float64), torch.randn(3, 3, generator=generator, dtype=torch.float64)

    def value(w: torch.Tensor) -> torch.Tensor:
        means, covariances = poser(w)
        return (means * a).sin().sum() + (covariances * b).sum()

    (gradient,) = torch.autograd.grad(value(world), world)
    for _ in range(6):
        direction = torch.randn(world.shape, generator=generator, dtype=torch.float64)
        direction[..., 3, :] = 0.0
        h = 1e-6
        slope = (value(world.detach() + h * direction) - value(world.detach() - h * direction)) / (2 * h)
        assert float((gradient * direction).sum()) == pytest.approx(float(slope), rel=1e-7, abs=1e-7)


def test_gradients_reach_the_joint_curves(dog: Rig) -> None:
    poser = GaussianPoser(surface_gaussians(dog, 500), torch.float64)
    kinematics = CurveKinematics(dog.skeleton, dog.facing, torch.float64)
    rest = torch.from_numpy(dog.skeleton.rest_world)
    generator = torch.Generator().manual_seed(2)
    angles = 0.4 * torch.randn(1, dog.skeleton.count, 3, generator=generator, dtype=torch.float64)
    root = 0.3 * torch.randn(1, 6, generator=generator, dtype=torch.float64)
    weights = torch.randn(500, 3, generator=generator, dtype=torch.float64)
    angles.requires_grad_()
    root.requires_grad_()

    def value(a: torch.Tensor, r: torch.Tensor) -> torch.Tensor:
        means, covariances = poser(world_of(*kinematics(a, r), rest))
        return (means[0] * weights).sum() + 1e3 * (covariances[0] * weights[:, :, None]).sum()

    assert torch.autograd.gradcheck(value, (angles, root), eps=1e-6, atol=1e-6, rtol=1e-5)


def test_world_of_is_the_world_of_the_curves(dog: Rig) -> None:
    rng = np.random.default_rng(0)
    curves = JointCurves(rng.uniform(-0.8, 0.8, (4, dog.skeleton.count, 3)), rng.uniform(-0.5, 0.5, (4, 6)), 30.0)
    kinematics = CurveKinematics(dog.skeleton, dog.facing, torch.float64)
    turns, positions = kinematics(torch.from_numpy(curves.angles), torch.from_numpy(curves.root))
    assert np.abs(world_of(turns, positions, dog.skeleton.rest_world).numpy() - world_from_curves(dog, curves)[..., :3, :]).max() < EXACT


def test_float32_and_three_rows_pose_alike(dog: Rig) -> None:
    gaussians, world = surface_gaussians(dog, 2000), bent(dog)
    exact, _ = posed(gaussians, world)
    means, covariances = GaussianPoser(gaussians)(torch.from_numpy(world[:, :, :3]).float())
    assert means.dtype == covariances.dtype == torch.float32
    assert np.abs(means.numpy() - exact).max() < FLOAT32_M * np.abs(exact).max()


def test_transforms_of_another_skeleton_are_refused(dog: Rig) -> None:
    poser = GaussianPoser(surface_gaussians(dog, 500))
    for shape in ((3, 5, 4, 4), (3, dog.skeleton.count, 4, 3), (dog.skeleton.count, 4, 4)):
        with pytest.raises(AkdError, match="do not pose"):
            poser(torch.zeros(shape))

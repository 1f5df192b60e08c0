"""Ground paths: rigid motions of the plane, against matrix exponentials."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from treadmill import body

from akd_sdk.gait.ground import (
    carried,
    compose_ground,
    exponential,
    ground_matrices,
    ground_velocities,
    integrate,
    inverse_ground,
    logarithm,
    move_points,
    move_world,
)


def twists(count: int = 20) -> np.ndarray:
    return np.random.default_rng(0).uniform(-2.0, 2.0, (count, 3))


def generator(twist: np.ndarray) -> np.ndarray:
    """The Lie algebra's matrix of a twist: what turns about Y and moves along X and Z."""
    x, z, yaw = twist
    return np.array([[0, 0, yaw, x], [0, 0, 0, 0], [-yaw, 0, 0, z], [0, 0, 0, 0]])


def test_exponential_is_the_matrix_exponential() -> None:
    for twist in [*twists(), np.array([1.0, -2.0, 0.0]), np.array([1.0, -2.0, 1e-12])]:
        expected = expm(generator(twist))
        assert np.abs(ground_matrices(exponential(twist[None]))[0] - expected).max() < 1e-12


def test_logarithm_inverts_the_exponential() -> None:
    for twist in [*twists(), np.array([1.0, -2.0, 0.0])]:
        assert np.abs(logarithm(exponential(twist[None])[0]) - twist).max() < 1e-9


def test_inverse_undoes_a_path() -> None:
    path = twists()
    points = np.random.default_rng(1).normal(size=(len(path), 4, 3))
    assert np.abs(move_points(inverse_ground(path), move_points(path, points)) - points).max() < 1e-12


def test_composition_is_the_product_of_maps() -> None:
    first, then = twists(2)
    product = ground_matrices(first[None])[0] @ ground_matrices(then[None])[0]
    assert np.abs(ground_matrices(compose_ground(first, then)[None])[0] - product).max() < 1e-12


def test_integrating_a_constant_twist_is_its_exponential() -> None:
    twist = np.array([0.3, 1.2, 0.8])
    path = integrate(np.tile(twist, (60, 1)), 1.0 / 30.0)
    assert np.abs(path - exponential(np.linspace(0.0, 2.0, 61)[:, None] * twist)).max() < 1e-12


def test_ancestors_of_the_pelvis_stay() -> None:
    rig, _ = body(feet=4, outside=True)
    skeleton = rig.skeleton
    assert carried(skeleton).tolist() == [False] + [True] * (skeleton.count - 1)
    path = np.array([[1.0, 2.0, 0.5]])
    moved = move_world(skeleton, skeleton.rest_world[None], ground_matrices(path))
    assert np.array_equal(moved[0, 0], skeleton.rest_world[0])
    assert np.abs(moved[0, 1:, :3, 3] - move_points(path, skeleton.rest_world[None, 1:, :3, 3])[0]).max() < 1e-12


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_velocity_of_a_loop_does_not_know_its_seam(turn: float) -> None:
    twist, fps = np.array([0.1, 1.0, turn]), 30.0
    lap = exponential(2.0 * twist[None])[0]
    times = np.arange(-20, 81) / fps
    swing = np.stack([0.1 * np.sin(np.pi * times), np.zeros_like(times), 0.2 * np.cos(2 * np.pi * times)], axis=1)[:, None]
    path = exponential(times[:, None] * twist)
    long = move_points(path, swing)
    whole = ground_velocities(long, fps, None)[20:81]
    assert np.abs(ground_velocities(long[20:81], fps, lap) - whole).max() < 1e-9

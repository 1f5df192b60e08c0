"""Limb inverse kinematics: laws, and an optimiser as the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from akd_sdk.kinematics.limb_ik import FOLD_RAD, LimbBends, bending_axes, reach, signed_bends, smallest_turn, solve_limb

LENGTHS = {"two bones": [0.42, 0.40], "three bones": [0.35, 0.38, 0.25], "four bones": [0.2, 0.3, 0.3, 0.2]}
FORWARD = np.array([1.0, 0.0, 0.0])


def chain(lengths: list[float], bend: float, frames: int = 1, seed: int = 0) -> tuple[np.ndarray, LimbBends]:
    """Zigzag chains (knee forward, hock back, ...) with bends near `bend`, turned at random about their base."""
    generator = np.random.default_rng(seed)
    signs = np.array([1.0, -1.0, 1.0, -1.0])[: len(lengths) - 1]
    bends = bend * (1.0 + 0.2 * generator.uniform(-1, 1, (frames, len(signs))))
    angle = np.concatenate([np.zeros((frames, 1)), np.cumsum(bends * signs, axis=1)], axis=1)
    bones = np.array(lengths)[None, :, None] * np.stack([np.zeros_like(angle), -np.cos(angle), -np.sin(angle)], axis=-1)
    points = np.concatenate([np.zeros((frames, 1, 3)), np.cumsum(bones, axis=1)], axis=1)
    turns = Rotation.from_rotvec(generator.normal(size=(frames, 3)) * 0.4).as_matrix()
    axes = np.einsum("fij,kj->fki", turns, signs[:, None] * FORWARD)
    points = np.einsum("fij,fkj->fki", turns, points) + generator.normal(size=(frames, 1, 3))
    return points, LimbBends(axes, np.ones(len(signs), dtype=bool))


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_targets_inside_reach_are_met(lengths: list[float]) -> None:
    points, bends = chain(lengths, 0.7, 200)
    generator = np.random.default_rng(1)
    direction = Rotation.from_rotvec(generator.normal(size=(200, 3)) * 0.5).apply(points[:, -1] - points[:, 0])
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    longest = reach(points, bends)
    asked = generator.uniform(0.55, 0.999, 200) * longest
    solution = solve_limb(points, points[:, 0] + asked[:, None] * direction, bends)
    assert np.abs(solution.points[:, -1] - (points[:, 0] + asked[:, None] * direction)).max() < 1e-6
    assert solution.stretch.max() < 1e-6


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_bones_keep_their_length_and_turns_are_rotations(lengths: list[float]) -> None:
    points, bends = chain(lengths, 0.7, 50)
    target = points[:, -1] + np.random.default_rng(2).normal(size=(50, 3)) * 0.1
    solution = solve_limb(points, target, bends)
    assert np.abs(np.linalg.norm(np.diff(solution.points, axis=1), axis=-1) - lengths).max() < 1e-12
    assert np.abs(solution.turns @ np.swapaxes(solution.turns, -1, -2) - np.eye(3)).max() < 1e-12
    assert np.linalg.det(solution.turns).min() > 0.999


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_a_target_that_is_met_already_changes_nothing(lengths: list[float]) -> None:
    points, bends = chain(lengths, 0.7, 20)
    solution = solve_limb(points, points[:, -1], bends)
    assert np.abs(solution.points - points).max() < 1e-9


def test_two_bones_agree_with_the_law_of_cosines() -> None:
    points, bends = chain([0.42, 0.40], 0.6, 30)
    asked = np.linspace(0.3, 0.81, 30)
    line = points[:, -1] - points[:, 0]
    target = points[:, 0] + line / np.linalg.norm(line, axis=1, keepdims=True) * asked[:, None]
    solution = solve_limb(points, target, bends)
    turned = LimbBends(np.einsum("fij,fkj->fki", solution.turns[:, 0], bends.axes), bends.folds)
    expected = np.pi - np.arccos((0.42**2 + 0.40**2 - asked**2) / (2 * 0.42 * 0.40))
    assert np.abs(signed_bends(solution.points, turned.axes)[:, 0] - expected).max() < 1e-6


def test_three_bones_open_in_proportion() -> None:
    points, bends = chain(LENGTHS["three bones"], 0.8, 1)
    now = signed_bends(points, bends.axes)[0]
    a, b, c = LENGTHS["three bones"]

    def length(share: float) -> float:
        first, second = (1.0 - share) * now
        return float(np.hypot(a + b * np.cos(first) + c * np.cos(first - second), b * np.sin(first) + c * np.sin(first - second)))

    asked = 0.97 * (a + b + c)
    share = brentq(lambda s: length(s) - asked, 0.0, 1.0, xtol=1e-14)
    line = points[0, -1] - points[0, 0]
    solution = solve_limb(points, points[:, 0] + asked * line / np.linalg.norm(line), bends)
    turned = np.einsum("fij,fkj->fki", solution.turns[:, 0], bends.axes[:, :1])
    assert signed_bends(solution.points[:, :3], turned)[0, 0] == pytest.approx((1.0 - share) * now[0], abs=1e-6)


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_joints_keep_their_bending_side(lengths: list[float]) -> None:
    points, bends = chain(lengths, 0.5, 100)
    generator = np.random.default_rng(3)
    target = points[:, -1] + generator.normal(size=(100, 3)) * 0.25
    solution = solve_limb(points, target, bends)
    for k in range(len(lengths) - 1):
        axis = np.einsum("fij,fj->fi", solution.turns[:, k], bends.axes[:, k])
        bend = signed_bends(solution.points[:, k : k + 3], axis[:, None])[:, 0]
        assert bend.min() > -1e-6
        assert bend.max() < FOLD_RAD + 1e-6


@pytest.mark.parametrize("lengths", LENGTHS.values(), ids=LENGTHS)
def test_continuous_through_full_stretch(lengths: list[float]) -> None:
    points, bends = chain(lengths, 0.6)
    frames = 401
    asked = np.linspace(0.9, 1.1, frames) * sum(lengths)
    points, axes = np.repeat(points, frames, 0), np.repeat(bends.axes, frames, 0)
    line = points[0, -1] - points[0, 0]
    target = points[:, 0] + asked[:, None] * line / np.linalg.norm(line)
    solution = solve_limb(points, target, LimbBends(axes, bends.folds))
    step = sum(lengths) * 0.2 / (frames - 1)
    assert np.abs(np.diff(solution.points[:, -1], axis=0)).max() <= 1.01 * step
    # an inner joint moves as the square root of what is missing to full stretch
    assert np.abs(np.diff(solution.points, axis=0)).max() < 2.0 * np.sqrt(step * sum(lengths))
    beyond = asked > sum(lengths) + 1e-9
    assert np.abs(solution.stretch[beyond] - (asked[beyond] - sum(lengths))).max() < 1e-9


def test_bones_of_no_length_give_numbers() -> None:
    points, bends = chain([0.4, 0.0, 0.4], 0.5, 5)
    solution = solve_limb(points, points[:, 0] + np.array([0.0, -0.6, 0.1]), bends)
    for values in (solution.turns, solution.points, solution.stretch):
        assert np.isfinite(values).all()
    everything = np.zeros((3, 3, 3))
    axes, folds = bending_axes(everything, np.tile(np.eye(3), (3, 2, 1, 1)), np.tile(FORWARD, (2, 1)))
    flat = solve_limb(everything, np.ones((3, 3)), LimbBends(axes, folds))
    assert np.isfinite(flat.points).all()


def test_target_at_the_base_gives_numbers() -> None:
    points, bends = chain([0.4, 0.4], 0.5, 2)
    assert np.isfinite(solve_limb(points, points[:, 0].copy(), bends).points).all()


def test_bending_axes_are_those_of_the_motion() -> None:
    points, bends = chain(LENGTHS["three bones"], 0.6, 40)
    swing = Rotation.from_rotvec(np.random.default_rng(4).normal(size=(40, 3)) * 0.2).as_matrix()
    turned = np.einsum("fij,fkj->fki", swing, points)
    axes, folds = bending_axes(turned, np.repeat(swing[:, None], 3, axis=1) @ _frame(bends), np.tile(FORWARD, (3, 1)))
    assert folds.all()
    assert np.abs(axes - np.einsum("fij,fkj->fki", swing, bends.axes)).max() < 1e-9


def _frame(bends: LimbBends) -> np.ndarray:
    """Rotations of the bones, (frames, 3, 3, 3), in which the axes stay the same."""
    x = bends.axes[:, 0]
    return np.repeat(np.stack([smallest_turn(FORWARD, axis) for axis in x])[:, None], 3, axis=1)


def test_an_unbent_limb_folds_about_the_spare_axis() -> None:
    points = np.tile(np.array([[0.0, 0.0, 0.0], [0.0, -0.4, 0.0], [0.0, -0.8, 0.0]]), (4, 1, 1))
    axes, folds = bending_axes(points, np.tile(np.eye(3), (4, 2, 1, 1)), np.tile(FORWARD, (2, 1)))
    assert folds.tolist() == [True]
    solution = solve_limb(points, points[:, 0] + np.array([0.0, -0.7, 0.0]), LimbBends(axes, folds))
    assert solution.points[:, 1, 2].min() > 0.1  # the knee goes forward
    assert np.abs(solution.points[:, -1] - [0.0, -0.7, 0.0]).max() < 1e-6


def test_smallest_turn_agrees_with_scipy() -> None:
    generator = np.random.default_rng(5)
    a, b = generator.normal(size=(2, 50, 3))
    a[0], b[0] = [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]
    turn = smallest_turn(a, b)
    unit = b / np.linalg.norm(b, axis=1, keepdims=True)
    assert np.abs(np.einsum("fij,fj->fi", turn, a / np.linalg.norm(a, axis=1, keepdims=True)) - unit).max() < 1e-12
    angle = np.arccos(np.clip(np.sum(a * b, axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1), -1, 1))
    assert np.abs(Rotation.from_matrix(turn).magnitude() - angle).max() < 1e-7

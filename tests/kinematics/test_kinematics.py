"""Kinematics against scipy's rotations and against itself through another path."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from akd_sdk.kinematics import curves_from_motion, motion_from_curves, motion_from_world, world_from_curves, world_from_motion
from akd_sdk.motion import JointCurves, Motion
from akd_sdk.rig import Rig, Skeleton, Source, Transforms
from akd_sdk.rotations import matrix_from_rotvec

SCIPY_TOLERANCE = 1e-10


def random_rig(seed: int, crossed: bool = False) -> Rig:
    """Twelve joints in random rest poses under a turned ancestor; `crossed`: a foot hangs elsewhere in the anatomical tree."""
    rng = np.random.default_rng(seed)
    parents = np.array([-1, 0, 1, 2, 3, 1, 5, 6, 1, 8, 9, 1])
    count = len(parents)
    rest = Transforms(rng.normal(size=(count, 3)), Rotation.random(count, rng=rng).as_quat(), np.ones((count, 3)))
    solve = parents.copy()
    solve[[0, 1]] = -1
    solve[11] = 7 if crossed else 1
    skeleton = Skeleton(
        names=tuple(f"j{i}" for i in range(count)),
        source_names=(None,) * count,
        nodes=np.arange(count),
        parents=parents,
        rest=rest,
        solve_parents=solve,
        frames=Rotation.random(count, rng=rng).as_quat(),
        limits=np.zeros((count, 3, 2)),
        groups=("unknown",) * count,
        sides=rng.integers(0, 3, count),
        pelvis=1,
    )
    source = Source(Path("made.glb"), "made", 1.0, np.array([0, 0, 0, 1.0]), np.zeros(3), np.ones(count))
    return Rig("made", skeleton, (), (), source, "unknown", 1.0, np.array([0.6, 0.0, 0.8]), (), 0.0, 1.0)


def random_curves(seed: int, joints: int) -> JointCurves:
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-1.0, 1.0, (9, joints, 3))
    angles[:, [0, 1]] = 0.0
    root = rng.uniform(-1.0, 1.0, (9, 6))
    return JointCurves(angles, root, 30.0)


def scipy_world(rig: Rig, curves: JointCurves) -> tuple[np.ndarray, np.ndarray]:
    """Positions and world rotations by the design's formula, joint by joint: local = rest · A · exp([f, t, a]) · A⁻¹."""
    skeleton = rig.skeleton
    rest = [Rotation.from_matrix(m[:3, :3]) for m in skeleton.rest_world]
    place = skeleton.rest_world[:, :3, 3]
    facing = Rotation.from_matrix(rig.facing)
    positions = np.zeros((len(curves.angles), skeleton.count, 3))
    turns = np.zeros((len(curves.angles), skeleton.count, 3, 3))
    for f, (angles, root) in enumerate(zip(curves.angles, curves.root)):
        world: dict[int, Rotation] = {}
        for j in skeleton.solve_order:
            parent = int(skeleton.solve_parents[j])
            if j == skeleton.pelvis:
                world[j] = facing * Rotation.from_euler("YXZ", root[3:]) * facing.inv() * rest[j]
                positions[f, j] = place[j] + root[:3]
            elif parent < 0:
                world[j], positions[f, j] = rest[j], place[j]
            else:
                sign = -1.0 if skeleton.sides[j] == 2 else 1.0
                flexion, abduction, twist = angles[j]
                frame = Rotation.from_quat(skeleton.frames[j])
                turn = frame * Rotation.from_rotvec([flexion, sign * twist, sign * abduction]) * frame.inv()
                world[j] = world[parent] * rest[parent].inv() * rest[j] * turn
                positions[f, j] = positions[f, parent] + (world[parent] * rest[parent].inv()).apply(place[j] - place[parent])
            turns[f, j] = world[j].as_matrix()
    return positions, turns


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_joint_curves_follow_the_formula_of_the_design(seed: int, crossed: bool) -> None:
    rig = random_rig(seed, crossed)
    curves = random_curves(seed, rig.skeleton.count)
    positions, turns = scipy_world(rig, curves)
    world = world_from_curves(rig, curves)
    np.testing.assert_allclose(world[..., :3, 3], positions, atol=SCIPY_TOLERANCE)
    np.testing.assert_allclose(world[..., :3, :3], turns, atol=SCIPY_TOLERANCE)


@pytest.mark.parametrize("crossed", [False, True])
def test_the_motion_of_curves_stands_where_the_curves_stand(crossed: bool) -> None:
    rig = random_rig(5, crossed)
    curves = random_curves(5, rig.skeleton.count)
    motion = motion_from_curves(rig, curves, "made")
    np.testing.assert_allclose(world_from_motion(rig.skeleton, motion), world_from_curves(rig, curves), atol=SCIPY_TOLERANCE)
    assert (motion.translations is None) is not crossed, "translation keys are needed exactly where the two trees differ"


def test_curves_come_back_from_their_motion() -> None:
    rig = random_rig(2, crossed=True)
    curves = random_curves(2, rig.skeleton.count)
    again = curves_from_motion(rig, motion_from_curves(rig, curves, "made"))
    still = rig.skeleton.solve_parents < 0
    np.testing.assert_allclose(again.root, curves.root, atol=1e-9)
    np.testing.assert_allclose(again.angles[:, ~still], curves.angles[:, ~still], atol=1e-9)


def test_a_motion_comes_back_from_its_world_transforms() -> None:
    rig = random_rig(7)
    rng = np.random.default_rng(7)
    frames, count = 5, rig.skeleton.count
    motion = Motion(
        "made",
        Rotation.random(frames * count, rng=rng).as_quat().reshape(frames, count, 4),
        rng.normal(size=(frames, 3)),
        24.0,
        translations=rng.normal(size=(frames, count, 3)),
        scales=rng.uniform(0.5, 2.0, (frames, count, 1)) * np.ones(3),
    )
    world = world_from_motion(rig.skeleton, motion)
    again = motion_from_world(rig.skeleton, world, 24.0, name="made")
    np.testing.assert_allclose(world_from_motion(rig.skeleton, again), world, atol=1e-9)


def test_rotation_vectors_keep_values_and_gradients_through_zero() -> None:
    for scale in (0.0, 1e-9, 1e-5, 1e-2, 1.0, 3.0):
        w = (torch.tensor([[0.3, -0.5, 0.8]], dtype=torch.float64) * scale).requires_grad_()
        matrix = matrix_from_rotvec(w)
        np.testing.assert_allclose(matrix.detach().numpy(), Rotation.from_rotvec(w.detach().numpy()).as_matrix(), atol=1e-14)
        assert torch.autograd.gradcheck(matrix_from_rotvec, (w,), eps=1e-7, atol=1e-5)

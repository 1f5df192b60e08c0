"""Colliders: boxes that stand on the sole and capsules that lie along the bone."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from made_rigs import box
from scipy.spatial.transform import Rotation

from akd_sdk.bodies import Shape
from akd_sdk.bodies.feet import Foot
from akd_sdk.bodies.shapes import THINNEST, bone_capsule, foot_box

HEIGHT = 1.7
ORIGIN = np.array([0.3, 0.1, -0.2])
FORWARD = np.array([0.0, 0.0, 1.0])


def foot(heading: np.ndarray = FORWARD, turn: np.ndarray | None = None, points: np.ndarray | None = None) -> Foot:
    points = np.zeros((0, 3)) if points is None else points
    return Foot(points, heading, 0.25, ORIGIN, np.eye(3) if turn is None else turn)


def lowest(shape: Shape, origin: np.ndarray = ORIGIN, turn: np.ndarray | None = None) -> float:
    return float(shape.lowest((np.eye(3) if turn is None else turn)[None], origin[None])[0])


def test_a_box_has_its_foot_in_it_and_its_sole_under_it() -> None:
    shoe = box((0.1, 0.08, 0.25), (0.3, 0.05, -0.1))
    shape = foot_box(np.asarray(shoe.vertices), foot(), HEIGHT)
    np.testing.assert_allclose(shape.half, (0.05, 0.04, 0.125), atol=1e-12)
    np.testing.assert_allclose(ORIGIN + shape.centre, (0.3, 0.05, -0.1), atol=1e-12)
    assert lowest(shape) == pytest.approx(0.01, abs=1e-12)


@pytest.mark.parametrize("degrees", [30.0, 90.0, 200.0])
def test_a_box_is_turned_to_where_its_foot_points(degrees: float) -> None:
    turn = Rotation.from_euler("y", degrees, degrees=True).as_matrix()
    points = np.asarray(box((0.1, 0.08, 0.25)).vertices) @ turn.T
    np.testing.assert_allclose(foot_box(points, foot(turn @ FORWARD), HEIGHT).half, (0.05, 0.04, 0.125), atol=1e-12)


def test_skin_high_over_the_sole_makes_no_box() -> None:
    leg = np.concatenate([box((0.1, 0.08, 0.25)).vertices, box((0.4, 0.1, 0.4), (0.0, 0.6, 0.0)).vertices])
    np.testing.assert_allclose(foot_box(leg, foot(), HEIGHT).half, (0.05, 0.04, 0.125), atol=1e-12)


def test_a_box_keeps_to_its_foot_when_the_rest_pose_has_it_turned() -> None:
    turn = Rotation.from_euler("xyz", (70.0, 20.0, -10.0), degrees=True).as_matrix()
    points = np.asarray(box((0.1, 0.08, 0.25), (0.3, 0.05, -0.1)).vertices)
    level, turned = foot_box(points, foot(), HEIGHT), foot_box(points, foot(turn=turn), HEIGHT)
    np.testing.assert_allclose(turned.centre, turn @ level.centre, atol=1e-12)
    assert lowest(turned, turn=turn.T) == pytest.approx(lowest(level), abs=1e-12)


def test_a_foot_without_skin_stands_on_its_heel_and_toe() -> None:
    ends = np.array([(0.3, 0.0, -0.1), (0.3, 0.0, 0.15)])
    shape = foot_box(np.zeros((0, 3)), foot(points=ends), HEIGHT)
    assert lowest(shape) == pytest.approx(0.0, abs=1e-12)
    assert shape.half[2] == pytest.approx(0.125)
    assert shape.half.min() > 0.01


def test_a_capsule_lies_along_its_bone_and_is_as_thick() -> None:
    bone = np.array([0.6, 0.8, 0.0])
    tube = trimesh.creation.cylinder(radius=0.05, height=0.6, sections=64)
    tube = tube.subdivide_to_size(0.02)
    tube.apply_transform(trimesh.geometry.align_vectors((0.0, 0.0, 1.0), bone))
    tube.apply_translation((0.0, 1.0, 0.0))
    shape = bone_capsule(np.asarray(tube.vertices), bone, ORIGIN, 0.1, HEIGHT)
    np.testing.assert_allclose(np.cross(shape.axes[:, 1], bone), 0.0, atol=1e-12)
    assert np.linalg.det(shape.axes) == pytest.approx(1.0)
    assert shape.half[0] == pytest.approx(0.05, rel=0.03)
    assert shape.half[0] + shape.half[1] == pytest.approx(0.3, rel=0.1)  # the outermost rings are the 2 % left out
    np.testing.assert_allclose(ORIGIN + shape.centre, (0.0, 1.0, 0.0), atol=0.01)


@pytest.mark.parametrize("bone", [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.6, 0.8, 0.0)])
def test_a_capsule_reaches_no_lower_than_its_skin(bone: tuple[float, float, float]) -> None:
    plate = np.asarray(box((0.5, 0.06, 0.5), (0.0, 0.2, 0.0)).subdivide_to_size(0.02).vertices)
    shape = bone_capsule(plate, np.array(bone), ORIGIN, 0.1, HEIGHT)
    assert lowest(shape) >= plate[:, 1].min() - THINNEST * HEIGHT
    assert shape.half[0] > 0.0


def test_a_body_without_skin_is_a_ball_at_its_joint() -> None:
    shape = bone_capsule(np.zeros((0, 3)), np.array([0.0, 1.0, 0.0]), ORIGIN, 0.07, HEIGHT)
    np.testing.assert_array_equal(shape.half, (0.07, 0.0, 0.07))
    np.testing.assert_array_equal(shape.centre, 0.0)

"""Limits of hinges: those of the anatomy, about the neutral pose, unless the motion itself goes beyond."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from akd_sdk.bodies.coordinates import Coordinates
from akd_sdk.bodies.hinge_limits import SLACK_RAD, hinge_limits
from akd_sdk.physics.track import Prepared

pytestmark = pytest.mark.xdist_group("physics")


def at_rest(ready: Prepared) -> Coordinates:
    return Coordinates(ready.articulation, np.eye(3), np.tile(np.eye(3), (len(ready.articulation.bodies), 1, 1)))


def anatomical(ready: Prepared) -> np.ndarray:
    return np.stack([body.limits for body in ready.articulation.bodies])[1:]


def test_a_motion_within_them_keeps_the_anatomy_s_limits(standing_ready: Prepared) -> None:
    coordinates = at_rest(standing_ready)
    low, high = np.moveaxis(anatomical(standing_ready), -1, 0)
    inside = np.zeros((1, coordinates.count))
    inside[0, 6:] = (0.5 * (low + high)).reshape(-1)
    wide = high - low > 2.0 * SLACK_RAD
    found = hinge_limits(coordinates, inside)[1:]
    assert wide.sum() > 20
    assert np.allclose(found[wide], anatomical(standing_ready)[wide])


def test_limits_give_way_to_a_motion_that_leaves_them(standing_ready: Prepared) -> None:
    coordinates = at_rest(standing_ready)
    beyond = np.zeros((2, coordinates.count))
    beyond[0, 6:], beyond[1, 6:] = -4.0, 4.0
    assert np.allclose(hinge_limits(coordinates, beyond)[1:], [-4.0 - SLACK_RAD, 4.0 + SLACK_RAD])


def test_limits_are_counted_from_the_neutral_pose(standing_ready: Prepared) -> None:
    coordinates = at_rest(standing_ready)
    neutral = coordinates.neutral.copy()
    neutral[2] = Rotation.from_rotvec([0.4, 0.0, 0.0]).as_matrix()
    moved = hinge_limits(Coordinates(coordinates.articulation, np.eye(3), neutral), np.zeros((1, coordinates.count)))
    plain = coordinates.articulation.bodies[2].limits[0]
    assert np.allclose(moved[2, 0], [min(plain[0] - 0.4, -SLACK_RAD), max(plain[1] - 0.4, SLACK_RAD)])


def test_what_is_followed_lies_within_the_limits_of_the_model(circle_ready: Prepared) -> None:
    low, high = circle_ready.plant.model.jnt_range[6:].T
    values = circle_ready.reference.values[:, 6:]
    assert (values > low).all()
    assert (values < high).all()

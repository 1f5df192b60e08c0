"""Gains and armature: what bears the body is driven by its weight, what hangs by its own inertia."""

from __future__ import annotations

import numpy as np
import pytest
from made_rigs import FACING, MIDDLE, box, parts

from akd_sdk.bodies.drives import ARMATURE, BEARING, BEARING_DAMPING_S, HANGING, HANGING_RATIO, drives_of
from akd_sdk.bodies.inertia import Masses, about, masses_of
from akd_sdk.bodies.tree import BodyTree
from akd_sdk.bodies.volume import flesh_inside

# A trunk with a leg of two bones and a tail of two, each bone 0.3 m.
ORIGINS = np.array([(0.0, 1.0, 0.0), (0.0, 0.6, 0.2), (0.0, 0.3, 0.2), (0.0, 1.0, -0.5), (0.0, 1.0, -0.8)])
FEET = ("", "", "LH", "", "")
HEIGHT = 1.0


@pytest.fixture(scope="module")
def masses() -> Masses:
    bones = [box((0.3, 0.3, 1.0), (0.0, 1.0, 0.0)), *(box((0.1, 0.3, 0.1), (0.0, y, 0.2)) for y in (0.45, 0.15))]
    tail = [box((0.1, 0.1, 0.3), (0.0, 1.0, z)) for z in (-0.65, -0.95)]
    return masses_of(flesh_inside(parts([*bones, *tail]), FACING, MIDDLE), np.arange(5), ORIGINS, 1.2)


@pytest.fixture(scope="module")
def tree() -> BodyTree:
    return BodyTree(np.arange(5), np.array([-1, 0, 1, 0, 3]), np.arange(5), np.ones(5, dtype=np.bool_))


def test_joints_on_the_way_to_a_foot_are_driven_by_the_weight(tree: BodyTree, masses: Masses) -> None:
    drives = drives_of(tree, masses, np.tile(np.eye(3), (5, 1, 1)), ORIGINS, FEET, HEIGHT)
    wanted = BEARING * 9.81 * masses.total * HEIGHT
    np.testing.assert_allclose(drives.stiffness[[1, 2]], wanted)
    np.testing.assert_allclose(drives.damping[[1, 2]], BEARING_DAMPING_S * wanted)


def test_what_hangs_swings_at_one_rate_about_every_axis(tree: BodyTree, masses: Masses) -> None:
    drives = drives_of(tree, masses, np.tile(np.eye(3), (5, 1, 1)), ORIGINS, FEET, HEIGHT)
    hanging = np.diag(about(masses, range(3, 5), ORIGINS[3])) + drives.armature[3]
    np.testing.assert_allclose(drives.stiffness[3] / hanging, HANGING)
    np.testing.assert_allclose(drives.damping[3], 2 * HANGING_RATIO * np.sqrt(drives.stiffness[3] * hanging))
    assert drives.stiffness[3, 2] < drives.stiffness[3, 0]  # along the tail there is less to turn
    assert (drives.stiffness[4] < drives.stiffness[3]).all()


def test_the_root_is_driven_by_nothing_and_all_else_has_armature(tree: BodyTree, masses: Masses) -> None:
    drives = drives_of(tree, masses, np.tile(np.eye(3), (5, 1, 1)), ORIGINS, FEET, HEIGHT)
    assert not np.stack([drives.stiffness[0], drives.damping[0], drives.armature[0]]).any()
    np.testing.assert_allclose(drives.armature[1:], ARMATURE * masses.total * HEIGHT**2)

"""Masses of bodies that hold little, and how masses add up."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from made_rigs import FACING, MIDDLE, box, parts

from akd_sdk.bodies.inertia import LIGHTEST, about, masses_of
from akd_sdk.bodies.volume import Flesh, flesh_inside

SMALL_SIDE = 0.05


def trunk_and_finger() -> tuple[list[trimesh.Trimesh], Flesh]:
    made = [box((0.6, 1.0, 0.4)), box((SMALL_SIDE,) * 3, (0.0, 1.0, 0.0))]
    return made, flesh_inside(parts(made), FACING, MIDDLE)


def test_a_light_body_is_raised_and_the_sum_kept() -> None:
    made, flesh = trunk_and_finger()
    masses = masses_of(flesh, np.arange(2), np.zeros((2, 3)), 1.5)
    assert masses.lifted.tolist() == [False, True]
    assert masses.masses[1] == pytest.approx(LIGHTEST * masses.total, rel=1e-9)
    assert masses.total == pytest.approx(1000.0 * sum(part.volume for part in made), rel=0.01)


def test_a_body_that_holds_nothing_lies_where_it_is_told_and_can_be_turned() -> None:
    _, flesh = trunk_and_finger()
    spare = np.array([(0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.3, 0.2, 0.1)])
    masses = masses_of(flesh, np.array([0, 1]), spare, 1.5)
    np.testing.assert_array_equal(masses.centres[2], spare[2])
    assert masses.lifted[2]
    assert np.linalg.eigvalsh(masses.inertias[2])[0] > 0.0


def test_many_bodies_that_hold_nothing_leave_half_of_the_mass_to_the_rest() -> None:
    _, flesh = trunk_and_finger()
    masses = masses_of(flesh, np.array([0, 1]), np.zeros((2000, 3)), 1.5)
    assert masses.masses.min() > 0.0
    assert masses.masses[0] > 0.49 * masses.total


@pytest.mark.parametrize("size", [0.01, 100.0])
def test_principal_moments_are_those_of_a_real_thing_at_any_size(size: float) -> None:
    thin = [box((0.001 * size, size, size)), box((0.001 * size, 0.001 * size, size), (0.0, 0.0, 2.0 * size))]
    masses = masses_of(flesh_inside(parts(thin), FACING, MIDDLE), np.arange(2), np.zeros((2, 3)), size)
    for inertia in masses.inertias:
        low, middle, high = np.linalg.eigvalsh(inertia)
        assert 0.0 < low <= middle <= high
        assert high <= (low + middle) * (1 + 1e-12)


def test_several_bodies_turn_as_one_about_a_point() -> None:
    _, flesh = trunk_and_finger()
    both = masses_of(flesh, np.arange(2), np.zeros((2, 3)), 1e-3)
    one = masses_of(flesh, np.zeros(2, dtype=np.int64), np.zeros((1, 3)), 1e-3)
    point = np.array([0.1, -0.5, 0.2])
    np.testing.assert_allclose(about(both, range(2), point), about(one, range(1), point), rtol=0.02, atol=0.5)

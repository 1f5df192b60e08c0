"""Rotations taken out of matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from akd_sdk.rotations import nearest_rotation


@pytest.mark.parametrize("mirror", [[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0], [-2.0, -2.0, -2.0]])
def test_a_turn_of_a_mirrored_frame_is_found_in_its_rotations(mirror: list[float]) -> None:
    rng = np.random.default_rng(3)
    turns = Rotation.random(20, random_state=rng).as_matrix()
    rest = np.diag(mirror) @ Rotation.random(20, random_state=rng).as_matrix()
    turned, still = nearest_rotation(turns @ rest), nearest_rotation(rest)
    np.testing.assert_allclose(np.linalg.det(turned), 1.0)
    np.testing.assert_allclose(turned @ np.swapaxes(still, -1, -2), turns, atol=1e-12)

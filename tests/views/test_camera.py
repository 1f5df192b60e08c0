import math

import pytest
import torch

from akd_sdk.views.camera import Cameras


def test_rows_are_a_rotation_for_any_camera():
    azimuth, elevation = torch.rand(50, dtype=torch.float64) * 7, torch.rand(50, dtype=torch.float64) - 0.5
    rows = Cameras(azimuth, elevation).rows
    eye = torch.eye(3, dtype=torch.float64).expand(50, 3, 3)
    assert torch.allclose(rows @ rows.transpose(1, 2), eye, atol=1e-12)
    # Image right, image up and towards the viewer are right-handed.
    assert torch.allclose(torch.linalg.det(rows), torch.ones(50, dtype=torch.float64), atol=1e-12)


def test_frontal_camera_sees_the_left_hand_on_the_right():
    rows = Cameras(torch.zeros(1), torch.zeros(1)).rows[0]
    assert torch.allclose(rows @ torch.tensor([1.0, 0, 0]), torch.tensor([1.0, 0, 0]), atol=1e-6)
    assert torch.allclose(rows @ torch.tensor([0, 0, 1.0]), torch.tensor([0, 0, 1.0]), atol=1e-6)


def test_quarter_turn_camera_sees_the_character_face_right():
    rows = Cameras(torch.tensor([math.pi / 2]), torch.zeros(1)).rows[0]
    assert torch.allclose(rows @ torch.tensor([0, 0, 1.0]), torch.tensor([1.0, 0, 0]), atol=1e-6)


def test_raised_camera_looks_down_and_sees_the_front_lower():
    rows = Cameras(torch.zeros(1), torch.tensor([0.5])).rows[0]
    assert float(rows[1] @ torch.tensor([0, 0, 1.0])) < 0
    assert float(rows[2] @ torch.tensor([0, 1.0, 0])) > 0


def test_params_are_sines_and_cosines():
    params = Cameras(torch.tensor([0.3]), torch.tensor([0.2])).params[0]
    assert params.tolist() == pytest.approx([math.sin(0.3), math.cos(0.3), math.sin(0.2), math.cos(0.2)], abs=1e-6)


def test_ring_is_even_seeded_and_within_its_elevation():
    cameras = Cameras.ring(5, (-0.1, 0.4), torch.Generator().manual_seed(3))
    again = Cameras.ring(5, (-0.1, 0.4), torch.Generator().manual_seed(3))
    assert torch.equal(cameras.azimuth, again.azimuth)
    assert torch.allclose(cameras.azimuth.diff(), torch.full((4,), 2 * math.pi / 5), atol=1e-5)
    assert bool(((cameras.elevation >= -0.1) & (cameras.elevation <= 0.4)).all())

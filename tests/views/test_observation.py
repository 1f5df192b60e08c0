import numpy as np
import pytest
import torch

from akd_sdk.views.camera import Cameras
from akd_sdk.views.observation import bone_lengths, encode_tracks

REST = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.5, 0.1], [0.0, 0.49, 0.1]])
PARENTS = torch.tensor([-1, 0, 1])


def test_resting_body_has_no_tracks():
    rows = Cameras(torch.rand(3), torch.rand(3)).rows
    tracks = encode_tracks(REST.expand(1, 7, 3, 3), REST, PARENTS, rows)
    assert tracks.shape == (3, 3, 7, 2, 2)
    assert float(tracks.abs().max()) < 1e-6


def test_channels_are_scaled_displacement_and_bone_change():
    moved = REST.clone()
    moved[1] += torch.tensor([0.0, 0.3, 0.0])
    rows = Cameras(torch.zeros(1), torch.zeros(1)).rows
    tracks = encode_tracks(moved.expand(1, 1, 3, 3), REST, PARENTS, rows)[0, :, 0]
    length = float(np.hypot(0.5, 0.1))
    assert tracks[1, 0].tolist() == pytest.approx([0.0, 1.0], abs=1e-6)
    assert tracks[1, 1].tolist() == pytest.approx([0.0, 0.3 / (0.45 * length)], abs=1e-5)
    # The third token stays where it was: only its bone vector changes; its bone of 0.01 counts as 0.08.
    assert tracks[2, 0].tolist() == pytest.approx([0.0, 0.0], abs=1e-6)
    assert tracks[2, 1].tolist() == pytest.approx([0.0, -0.3 / (0.45 * 0.08)], abs=1e-4)


def test_roots_have_no_bone_channel_and_short_bones_are_clamped():
    assert bone_lengths(REST, PARENTS).tolist() == pytest.approx([0.08, float(np.hypot(0.5, 0.1)), 0.08], abs=1e-6)
    shifted = REST + torch.tensor([0.0, 0.2, 0.0])
    tracks = encode_tracks(shifted.expand(1, 2, 3, 3), REST, PARENTS, Cameras(torch.zeros(1), torch.zeros(1)).rows)
    assert float(tracks[:, :, :, 1].abs().max()) < 1e-5


def test_one_body_and_many_bodies_encode_alike():
    rows = Cameras(torch.rand(4), torch.rand(4)).rows
    positions = REST + 0.1 * torch.randn(4, 5, 3, 3)
    alone = encode_tracks(positions, REST, PARENTS, rows)
    many = encode_tracks(positions, REST.expand(4, 3, 3), PARENTS.expand(4, 3), rows)
    assert torch.equal(alone, many)

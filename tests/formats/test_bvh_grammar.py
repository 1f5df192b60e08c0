"""The grammar of BVH and its angles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from akd_sdk.errors import ExportError
from akd_sdk.formats.bvh import ORDERS, POSITIONS, Bvh, BvhJoint, euler, rotation_channels

ZXY = rotation_channels("ZXY")


def small(values: np.ndarray) -> Bvh:
    joints = (
        BvhJoint("root", -1, np.zeros(3), POSITIONS + ZXY),
        BvhJoint("leg", 0, np.array([0.0, -1.0, 0.0]), ZXY, np.array([0.0, -2.5, 1e-5])),
        BvhJoint("tail", 0, np.array([0.0, 0.0, -1.0]), ZXY),
    )
    return Bvh(joints, 1 / 30, values)


def test_text_is_the_published_grammar() -> None:
    text = small(np.zeros((1, 12))).text()
    number = "0.0000000"
    assert text.splitlines() == [
        "HIERARCHY",
        "ROOT root",
        "{",
        f"\tOFFSET {number} {number} {number}",
        "\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation",
        "\tJOINT leg",
        "\t{",
        f"\t\tOFFSET {number} -1.0000000 {number}",
        "\t\tCHANNELS 3 Zrotation Xrotation Yrotation",
        "\t\tEnd Site",
        "\t\t{",
        f"\t\t\tOFFSET {number} -2.5000000 0.0000100",
        "\t\t}",
        "\t}",
        "\tJOINT tail",
        "\t{",
        f"\t\tOFFSET {number} {number} -1.0000000",
        "\t\tCHANNELS 3 Zrotation Xrotation Yrotation",
        "\t\tEnd Site",
        "\t\t{",
        f"\t\t\tOFFSET {number} {number} {number}",
        "\t\t}",
        "\t}",
        "}",
        "MOTION",
        "Frames: 1",
        "Frame Time: 0.03333333333333333",
        " ".join([number] * 12),
    ]


def test_numbers_have_no_exponents_and_no_negative_zero() -> None:
    text = small(np.full((2, 12), -1e-12)).text()
    assert "e-" not in text.split("MOTION")[1].replace("Frame Time", "")
    assert "-0.0000000" not in text


@pytest.mark.parametrize("values", [np.zeros((1, 11)), np.full((1, 12), np.nan)])
def test_values_that_do_not_fit_are_refused(values: np.ndarray) -> None:
    with pytest.raises(ExportError):
        small(values)


@pytest.mark.parametrize("order", ORDERS)
def test_angles_give_the_rotations_back_in_every_order(order: str) -> None:
    turns = Rotation.random(200, rng=np.random.default_rng(0)).as_matrix().reshape(10, 20, 3, 3)
    angles = euler(turns, order)
    again = Rotation.from_euler(order, angles.reshape(-1, 3)).as_matrix().reshape(turns.shape)
    np.testing.assert_allclose(again, turns, atol=1e-12)


def test_rounded_is_what_the_text_says() -> None:
    made = small(np.random.default_rng(0).normal(size=(3, 12)) * 100.0)
    again = np.array([line.split() for line in made.text().splitlines()[-3:]], dtype=np.float64)
    np.testing.assert_array_equal(made.rounded().values, again)
    assert not np.array_equal(made.values, again)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("lean", [0.0, 1e-9, 0.02])
def test_angles_stay_continuous_at_the_pole_and_over_full_turns(lean: float, order: str) -> None:
    t = np.linspace(0.0, 1.0, 400)
    over = Rotation.from_euler(order, np.stack([np.full(400, 0.3), 4.0 * np.pi * t, np.full(400, lean)], -1))
    around = Rotation.from_euler(order, np.stack([6.0 * np.pi * t, np.full(400, np.pi / 2 - lean), np.zeros(400)], -1))
    turns = np.stack([over.as_matrix(), around.as_matrix()], axis=1)
    angles = euler(turns, order)
    again = Rotation.from_euler(order, angles.reshape(-1, 3)).as_matrix().reshape(turns.shape)
    np.testing.assert_allclose(again, turns, atol=2e-7)
    assert np.abs(np.diff(angles, axis=0)).max() < 0.5
    assert np.abs(np.diff(angles[:, 0, 1], axis=0)).max() < 0.05  # the middle angle goes on through 90 degrees, and is not turned back

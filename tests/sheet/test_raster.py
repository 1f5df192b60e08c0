"""The rasteriser against counting by hand and against point-in-triangle tests."""

from __future__ import annotations

import numpy as np
import pytest

from akd_sdk.sheet import raster
from akd_sdk.sheet.raster import rasterise


def triangle(*corners: tuple[float, float, float]) -> np.ndarray:
    return np.array([corners], dtype=np.float32)


def covered(corners: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    picture = np.zeros(size, dtype=bool)
    seen = rasterise(corners, size)
    picture[seen.rows, seen.columns] = True
    return picture


def test_a_right_triangle_covers_the_pixels_whose_middles_it_holds() -> None:
    picture = covered(triangle((0, 0, 0), (4, 0, 0), (0, 4, 0)), (5, 6))
    expected = np.array([[1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]], dtype=bool)
    # Middles on the long edge (column + row = 3) may fall on either side: they are the edge itself.
    on_edge = np.add.outer(np.arange(5), np.arange(6)) == 3
    assert (picture == expected)[~on_edge].all()


def test_random_triangles_cover_what_a_point_in_triangle_test_says() -> None:
    rng = np.random.default_rng(5)
    size = (40, 50)
    y, x = np.mgrid[0 : size[0], 0 : size[1]] + 0.5
    for _ in range(60):
        corners = np.append(rng.uniform(-20, 70, (3, 2)), np.zeros((3, 1)), axis=1).astype(np.float32)
        a, b, c = corners[:, :2].astype(float)
        sides = np.stack([(q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]) for p, q in ((a, b), (b, c), (c, a))])
        inside = (sides > 1e-3).all(axis=0) | (sides < -1e-3).all(axis=0)
        outside = ~((sides > -1e-3).all(axis=0) | (sides < 1e-3).all(axis=0))
        picture = covered(corners[None], size)
        assert picture[inside].all()
        assert not picture[outside].any()


def test_both_windings_cover_the_same() -> None:
    corners = triangle((2, 1, 0), (17, 5, 0), (6, 14, 0))
    assert (covered(corners, (16, 20)) == covered(corners[:, ::-1], (16, 20))).all()


def test_the_nearer_of_two_hides_the_farther_in_any_order() -> None:
    near, far = triangle((0, 0, 2), (20, 0, 2), (0, 20, 2)), triangle((0, 0, 1), (20, 0, 1), (0, 20, 1))
    assert set(rasterise(np.concatenate([far, near]), (10, 10)).triangles) == {1}
    assert set(rasterise(np.concatenate([near, far]), (10, 10)).triangles) == {0}


def test_triangles_that_cross_each_other_are_seen_each_where_it_is_nearer() -> None:
    rising = np.concatenate([triangle((0, 0, 0), (20, 0, 20), (0, 20, 0)), triangle((20, 0, 20), (20, 20, 20), (0, 20, 0))])
    level = np.concatenate([triangle((0, 0, 10), (20, 0, 10), (0, 20, 10)), triangle((20, 0, 10), (20, 20, 10), (0, 20, 10))])
    seen = rasterise(np.concatenate([rising, level]), (20, 20))
    assert len(seen.rows) == 400
    right = seen.columns >= 10
    assert (seen.triangles[right] < 2).all()
    assert (seen.triangles[~right] >= 2).all()
    np.testing.assert_allclose(seen.depth, np.maximum(seen.columns + 0.5, 10.0), atol=1e-4)


def test_shares_rebuild_the_middle_of_the_pixel() -> None:
    corners = triangle((1, 2, 3), (30, 5, -1), (12, 28, 7))
    seen = rasterise(corners, (32, 32))
    np.testing.assert_allclose(seen.shares.sum(axis=1), 1.0, atol=1e-6)
    middles = np.einsum("pi,pij->pj", seen.shares, corners[seen.triangles])[:, :2]
    np.testing.assert_allclose(middles, np.stack([seen.columns, seen.rows], axis=1) + 0.5, atol=1e-3)


def test_a_mesh_without_gaps_covers_every_pixel_once() -> None:
    rng = np.random.default_rng(2)
    n = 9
    x, y = np.meshgrid(np.linspace(0, 64, n), np.linspace(0, 64, n))
    points = np.stack([x, y, rng.uniform(0, 5, x.shape)], axis=-1)
    points[1:-1, 1:-1, :2] += rng.uniform(-3, 3, (n - 2, n - 2, 2))
    a, b, c, d = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    corners = np.concatenate([np.stack([a, b, c], axis=-2).reshape(-1, 3, 3), np.stack([a, c, d], axis=-2).reshape(-1, 3, 3)])
    assert covered(corners.astype(np.float32), (64, 64)).all()


def test_nothing_and_what_is_outside_or_edge_on_draws_nothing() -> None:
    assert not covered(np.zeros((0, 3, 3), dtype=np.float32), (8, 8)).any()
    assert not covered(triangle((-9, 0, 0), (-1, 0, 0), (-5, 7, 0)), (8, 8)).any()
    assert not covered(triangle((1, 1, 0), (1, 6, 0), (1, 3, 5)), (8, 8)).any()


def test_work_in_small_pieces_gives_the_same_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    corners = (rng.uniform(0, 60, (300, 1, 3)) + rng.uniform(-8, 8, (300, 3, 3))).astype(np.float32)
    whole = rasterise(corners, (60, 60))
    monkeypatch.setattr(raster, "CHUNK_TRIANGLES", 7)
    monkeypatch.setattr(raster, "CHUNK_FRAGMENTS", 50)
    pieces = rasterise(corners, (60, 60))
    for name in ("rows", "columns", "triangles", "shares", "depth"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(pieces, name))

"""Gaussians on the skin: they ride on the really deformed mesh, cover it evenly, and have its colours."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gaussian_cases import AROUND, SAMPLES, SHARED, TUBE_LENGTH, TUBE_RADIUS, Triangles, bent, elbow, posed, rest_bent, rig_of, tube
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from akd_sdk.errors import AkdError, RigError
from akd_sdk.gaussians import Gaussians, surface_gaussians
from akd_sdk.gaussians.influences import Spots, influences_of
from akd_sdk.gaussians.mesh import rest_mesh
from akd_sdk.gaussians.surface import FEWEST, MOST
from akd_sdk.kinematics import skin_points, world_from_motion
from akd_sdk.rig import Rig

EXACT_M = 1e-12
"""Float64 sums of a few products of metres."""
LOCATED_SHARE = 1e-7
"""Of the longest edge: a centre is found again on its triangle at rest no better than this."""
LEAST_SHARE = 2e-8
"""Of the trace: what keeps a posed covariance invertible, and rounding."""


@pytest.fixture(params=SAMPLES)
def sample(request: pytest.FixtureRequest, samples: Path) -> Rig:
    return rig_of(samples, None, request.param)


@pytest.fixture(params=SHARED)
def character(request: pytest.FixtureRequest, samples: Path, shared: Path) -> Rig:
    return rig_of(samples, shared, request.param)


def assert_on_the_mesh(rig: Rig, world: NDArray[np.float64]) -> None:
    """Centres are where the mesh carries the points on which they lie at rest."""
    gaussians, mesh = surface_gaussians(rig, FEWEST), Triangles(rig)
    triangles, shares = mesh.locate(gaussians.means)
    there = np.einsum("nc,fnci->fni", shares, mesh.corners(world)[:, triangles])
    means, _ = posed(gaussians, world)
    assert np.abs(means - there).max() < LOCATED_SHARE * mesh.longest_edge()


def test_centres_lie_on_the_deformed_mesh(sample: Rig) -> None:
    assert_on_the_mesh(sample, bent(sample))


def test_centres_lie_on_the_mesh_where_rest_is_not_the_bind_pose(sample: Rig) -> None:
    assert_on_the_mesh(rest_bent(sample), bent(sample))


def test_centres_lie_on_the_mesh_of_characters_in_their_own_clips(character: Rig) -> None:
    world = world_from_motion(character.skeleton, character.clips[0])
    assert_on_the_mesh(character, world[[len(world) // 3, len(world) // 2]])


def test_a_centre_at_a_vertex_goes_where_the_vertex_goes(sample: Rig) -> None:
    mesh, world = rest_mesh(sample), bent(sample)
    count = len(mesh.triangles)
    each = np.arange(count)
    for corner in range(3):
        shares = np.tile(np.eye(3)[corner], (count, 1))
        spots = Spots(each, shares, np.tile([0.0, 1.0, 0.0], (count, 1)), each, each, np.ones(count))
        moved = influences_of(mesh, spots)
        arms = np.concatenate([moved.arms, np.ones((*moved.arms.shape[:2], 1))], axis=2)
        means = np.einsum("nk,fnkij,nkj->fni", moved.weights, world[:, moved.joints, :3], arms)
        vertices = np.concatenate([skin_points(skin, world) for skin in sample.skins], axis=1)
        assert np.abs(means - vertices[:, mesh.triangles[:, corner]]).max() < EXACT_M * 10.0


@pytest.mark.parametrize("turned", [False, True])
def test_the_rest_pose_gives_the_gaussians_themselves(sample: Rig, turned: bool) -> None:
    rig = rest_bent(sample) if turned else sample
    gaussians = surface_gaussians(rig, 700)
    means, covariances = posed(gaussians, rig.skeleton.rest_world[None])
    trace = np.trace(gaussians.covariances, axis1=1, axis2=2)[:, None, None]
    assert np.abs(means[0] - gaussians.means).max() < 10.0 * EXACT_M
    assert (np.abs(covariances[0] - gaussians.covariances) / trace).max() < LEAST_SHARE
    assert np.abs(gaussians.weights.sum(axis=1) - 1.0).max() < EXACT_M


def errors_of_covariances(rig: Rig, world: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Relative errors (frames, cells) of `A C A^T`, with C the second moments at rest of the mesh's own points around a centre, against
    those of the same points on the deformed mesh."""
    gaussians, mesh = surface_gaussians(rig, count), Triangles(rig)
    triangles, shares = mesh.spread(60 * count, 5)
    rest = mesh.rest
    faces = np.cross(rest[:, 1] - rest[:, 0], rest[:, 2] - rest[:, 0])
    faces /= np.maximum(np.linalg.norm(faces, axis=1, keepdims=True), 1e-30)
    points = np.einsum("pc,pci->pi", shares, rest[triangles])
    width = np.sqrt(0.5 * np.linalg.norm(np.cross(rest[:, 1] - rest[:, 0], rest[:, 2] - rest[:, 0]), axis=1).sum() / count)
    own = faces[mesh.locate(gaussians.means)[0]]
    near = cKDTree(np.concatenate([gaussians.means / width, own], axis=1))
    cells = near.query(np.concatenate([points / width, faces[triangles]], axis=1))[1]
    moved = np.einsum("pc,fpci->fpi", shares, mesh.corners(world)[:, triangles])
    maps = np.einsum("fnkia,nkab->fnib", world[:, gaussians.joints, :3], gaussians.axes)
    errors = []
    for n in np.flatnonzero(np.bincount(cells, minlength=count) >= 20):
        before = np.cov(points[cells == n].T)
        after = [np.cov(frame[cells == n].T) for frame in moved]
        found = [a @ before @ a.T for a in maps[:, n]]
        errors.append([np.linalg.norm(f - a) / np.linalg.norm(a) for f, a in zip(found, after)])
    return np.array(errors).T


FIRST_ORDER = {0.2: (0.015, 0.08), 0.9: (0.05, 0.30)}
"""Largest median, and largest error of nine in ten Gaussians, for joints turned by up to so many radians: with the blended matrix alone
they are three to fifteen times larger."""


@pytest.mark.parametrize("largest_rad", FIRST_ORDER)
def test_covariances_follow_the_mesh_around_them(sample: Rig, largest_rad: float) -> None:
    errors = errors_of_covariances(sample, bent(sample, frames=2, largest_rad=largest_rad), 800)
    median, most = FIRST_ORDER[largest_rad]
    assert np.median(errors) < median
    assert np.quantile(errors, 0.9) < most


def test_covariances_follow_the_mesh_of_characters(character: Rig) -> None:
    errors = errors_of_covariances(character, bent(character, frames=1, largest_rad=0.9), 800)
    assert np.median(errors) < FIRST_ORDER[0.9][0]
    assert np.quantile(errors, 0.9) < FIRST_ORDER[0.9][1]


def test_covariances_become_exact_as_cells_become_small() -> None:
    rig = tube()
    world = elbow(rig, 1.0)
    coarse, fine = (np.quantile(errors_of_covariances(rig, world, count), 0.9) for count in (500, 2500))
    assert fine < 0.6 * coarse
    assert fine < 0.03


def test_a_bend_opens_its_outer_side_and_closes_its_inner() -> None:
    rig = tube()
    gaussians = surface_gaussians(rig, 2000)
    _, covariances = posed(gaussians, elbow(rig, 0.8))
    sizes = np.trace(covariances[0], axis1=1, axis2=2) / np.trace(gaussians.covariances, axis1=1, axis2=2)
    bend = np.abs(gaussians.means[:, 1] - 0.5 * TUBE_LENGTH) < 0.05
    outer, inner = gaussians.means[:, 2] < -0.8 * TUBE_RADIUS, gaussians.means[:, 2] > 0.8 * TUBE_RADIUS
    assert np.median(sizes[bend & outer]) > 1.2
    assert np.median(sizes[bend & inner]) < 0.9


def test_gaussians_are_flat_on_the_surface(sample: Rig) -> None:
    gaussians, mesh = surface_gaussians(sample, 4000), Triangles(sample)
    values, vectors = np.linalg.eigh(gaussians.covariances)
    chosen = np.arange(0, 4000, 20)
    corners = mesh.rest[mesh.locate(gaussians.means[chosen])[0]]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    faces /= np.linalg.norm(faces, axis=1, keepdims=True)
    assert np.median(np.abs(np.einsum("ni,ni->n", faces, vectors[chosen, :, 0]))) > 0.97
    assert np.median(np.sqrt(values[:, 0] / values[:, 1])) < 0.4
    assert values.min() > 0.0


def straight_on(points: NDArray[np.float64], normals: NDArray[np.float64], gaussians: Gaussians) -> NDArray[np.float64]:
    """How opaque the surface is at points (p, 3), looked at along the normals (p, 3): by the Gaussians near it, projected."""
    near = cKDTree(gaussians.means).query(points, k=24)[1]
    right = np.cross(normals, np.eye(3)[np.abs(normals).argmin(axis=1)])
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    plane = np.stack([right, np.cross(normals, right)], axis=1)[:, None]
    away = (plane @ (points[:, None] - gaussians.means[near])[..., None])[..., 0]
    inverse = np.linalg.inv(plane @ gaussians.covariances[near] @ np.swapaxes(plane, -1, -2))
    alphas = gaussians.opacities[near] * np.exp(-0.5 * np.einsum("pki,pkij,pkj->pk", away, inverse, away))
    return np.asarray(1.0 - np.prod(1.0 - alphas, axis=1))


@pytest.mark.parametrize("count", [FEWEST, 5000])
def test_the_surface_is_closed_at_any_count(samples: Path, count: int) -> None:
    dog = rig_of(samples, None, "quadruped")
    gaussians, mesh = surface_gaussians(dog, count), Triangles(dog)
    assert gaussians.count == count
    triangles, shares = mesh.spread(3000, 8)
    corners = mesh.rest[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    cover = straight_on(np.einsum("pc,pci->pi", shares, corners), normals, gaussians)
    assert np.median(cover) > 0.92
    assert np.quantile(cover, 0.05) > 0.75


def test_what_is_hidden_inside_gets_no_gaussians() -> None:
    rig = tube()
    outer = rig.skins[0]
    sheath = replace(outer, vertices=outer.vertices * [1.6, 1.02, 1.6] - [0.0, 0.01, 0.0])
    lids = [replace(outer, vertices=outer.vertices * [1.6, 0.0, 1.6] + [0.0, y, 0.0], triangles=lid()) for y in (-0.02, 1.02)]
    gaussians = surface_gaussians(replace(rig, skins=(outer, sheath, *lids)), 1000)
    around = np.linalg.norm(gaussians.means[:, [0, 2]], axis=1)
    inside = (around < 1.1 * TUBE_RADIUS) & (np.abs(gaussians.means[:, 1] - 0.5) < 0.505)
    assert inside.mean() < 0.01
    open_ended = surface_gaussians(replace(rig, skins=(outer,)), 1000)
    assert open_ended.count == 1000


def lid() -> NDArray[np.int64]:
    """A disc of triangles over the lowest ring of the tube."""
    return np.stack([np.zeros(AROUND - 2, dtype=np.int64), np.arange(1, AROUND - 1), np.arange(2, AROUND)], axis=1)


def test_points_are_spread_more_evenly_than_at_random() -> None:
    rig = tube()
    gaussians, mesh = surface_gaussians(rig, 1000), Triangles(rig)
    triangles, shares = mesh.spread(1000, 3)
    random = np.einsum("pc,pci->pi", shares, mesh.rest[triangles])

    def unevenness(points: NDArray[np.float64]) -> float:
        nearest = cKDTree(points).query(points, k=2)[0][:, 1]
        return float(nearest.std() / nearest.mean())

    assert unevenness(gaussians.means) < 0.4 * unevenness(random)


def test_the_same_seed_gives_the_same_gaussians() -> None:
    rig = tube()
    one, same, other = (surface_gaussians(rig, 600, seed=seed) for seed in (3, 3, 4))
    assert all(np.array_equal(getattr(one, name), getattr(same, name)) for name in Gaussians.__dataclass_fields__)
    assert not np.array_equal(one.means, other.means)


def srgb_of(linear: float) -> float:
    """IEC 61966-2-1."""
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1.0 / 2.4) - 0.055


COLOUR_TOLERANCE = 2e-3
"""Half a step of a byte, in float32."""


def test_a_plain_material_is_shown_in_its_colour() -> None:
    colours = surface_gaussians(tube(colour=(0.5, 0.2, 0.001, 1.0)), 500, shading=0.0).colours
    assert np.abs(colours - [srgb_of(0.5), srgb_of(0.2), srgb_of(0.001)]).max() < COLOUR_TOLERANCE


def test_vertex_colours_multiply_the_factor() -> None:
    rig = tube(colour=(0.5, 0.5, 0.5, 1.0))
    vertices = rig.skins[0].vertices
    paint = np.where(vertices[:, 1:2] > 0.5 * TUBE_LENGTH, [[1.0, 0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0, 1.0]])
    painted = replace(rig, skins=(replace(rig.skins[0], colours=paint),))
    gaussians = surface_gaussians(painted, 500, shading=0.0)
    top = gaussians.means[:, 1] > 0.6 * TUBE_LENGTH
    assert np.abs(gaussians.colours[top] - [srgb_of(0.5), 0.0, 0.0]).max() < COLOUR_TOLERANCE


def halves() -> NDArray[np.uint8]:
    """A texture that is green below (v < .5) and see-through red above."""
    texture = np.zeros((64, 64, 4), dtype=np.uint8)
    texture[:32] = (0, 188, 0, 255)
    texture[32:] = (255, 0, 0, 0)
    return texture


def test_textures_are_seen_and_what_their_alpha_cuts_out_has_no_gaussians() -> None:
    gaussians = surface_gaussians(tube(texture=halves()), 800, shading=0.0)
    assert gaussians.means[:, 1].max() < 0.52 * TUBE_LENGTH
    assert np.abs(gaussians.colours - [0.0, 188.0 / 255.0, 0.0]).max() < COLOUR_TOLERANCE


def test_an_alpha_that_would_cut_out_everything_is_none() -> None:
    texture = halves()
    texture[..., 3] = 0
    gaussians = surface_gaussians(tube(texture=texture), 800, shading=0.0)
    assert gaussians.means[:, 1].max() > 0.9 * TUBE_LENGTH


def test_baked_light_comes_from_above_and_can_be_left_out() -> None:
    rig = tube()
    lit, plain = surface_gaussians(rig, 800), surface_gaussians(rig, 800, shading=0.0)
    assert np.abs(plain.colours - 1.0).max() < COLOUR_TOLERANCE
    ahead, behind = lit.means[:, 2] > 0.9 * TUBE_RADIUS, lit.means[:, 2] < -0.9 * TUBE_RADIUS
    assert lit.colours[ahead].mean() > lit.colours[behind].mean() + 0.1
    assert lit.colours.min() >= 1.0 - 0.35 - COLOUR_TOLERANCE


def test_light_is_seen_on_black_too() -> None:
    lit = surface_gaussians(tube(colour=(0.0, 0.0, 0.0, 1.0)), 800).colours
    assert np.ptp(lit) > 0.03
    assert 0.08 < lit.min() < lit.max() < 0.2
    assert surface_gaussians(tube(colour=(0.0, 0.0, 0.0, 1.0)), 800, shading=0.0).colours.max() < COLOUR_TOLERANCE


def test_a_huge_texture_is_sampled_and_not_converted() -> None:
    texture = np.broadcast_to(np.array([10, 200, 30, 255], dtype=np.uint8), (40_000, 40_000, 4))
    rig = tube(texture=texture)
    tracemalloc.start()
    gaussians = surface_gaussians(rig, 500, shading=0.0)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200e6
    assert np.abs(gaussians.colours * 255.0 - [10, 200, 30]).max() < 255.0 * COLOUR_TOLERANCE


@pytest.mark.parametrize("count", [0, FEWEST - 1, MOST + 1])
def test_a_count_out_of_range_is_refused(count: int) -> None:
    with pytest.raises(AkdError, match="ask for 500 to 20000"):
        surface_gaussians(tube(), count)


def test_shading_out_of_range_is_refused() -> None:
    with pytest.raises(AkdError, match=r"give 0 \(none\) to 1"):
        surface_gaussians(tube(), shading=1.5)


def with_skin(rig: Rig, **changes: object) -> Rig:
    return replace(rig, skins=(replace(rig.skins[0], **changes),))  # type: ignore[arg-type]  # any of its fields


def test_a_rig_without_skin_is_refused() -> None:
    with pytest.raises(RigError, match=r"tube\.glb: has no skinned triangles"):
        surface_gaussians(replace(tube(), skins=()))
    with pytest.raises(RigError, match=r"tube\.glb: has no skinned triangles"):
        surface_gaussians(with_skin(tube(), triangles=np.zeros((0, 3), dtype=np.int64)))


def test_a_mesh_without_area_is_refused() -> None:
    rig = tube()
    with pytest.raises(RigError, match=r"tube\.glb: the mesh has no area"):
        surface_gaussians(with_skin(rig, vertices=rig.skins[0].vertices * [0.0, 1.0, 0.0]))


def test_triangles_without_area_among_others_get_no_gaussians() -> None:
    rig = tube()
    flat = np.repeat(np.arange(40), 3).reshape(-1, 3)
    gaussians = surface_gaussians(with_skin(rig, triangles=np.concatenate([rig.skins[0].triangles, flat])), 500)
    assert np.isfinite(gaussians.axes).all()
    assert np.isfinite(gaussians.covariances).all()


def test_weights_that_are_none_are_refused() -> None:
    rig = tube()
    weights = rig.skins[0].weights.copy()
    weights[3] = 0.0
    with pytest.raises(RigError, match=r"tube\.glb: mesh tube: the skin weights of 1 vertices do not sum to 1"):
        surface_gaussians(with_skin(rig, weights=weights))


def test_a_weight_on_a_joint_that_is_not_bound_is_refused() -> None:
    rig = tube()
    binds = rig.skins[0].inverse_binds.copy()
    binds[1] = 0.0
    with pytest.raises(RigError, match="mesh tube has weights on upper, which it has no inverse bind matrix for"):
        surface_gaussians(with_skin(rig, inverse_binds=binds))


def test_a_mesh_that_is_not_finite_at_rest_is_refused() -> None:
    rig = tube()
    vertices = rig.skins[0].vertices.copy()
    vertices[5, 1] = np.inf
    with pytest.raises(RigError, match="the mesh at rest is not finite"), np.errstate(invalid="ignore"):
        surface_gaussians(with_skin(rig, vertices=vertices))

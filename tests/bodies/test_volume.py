"""What is inside a skin: volumes, centres and inertias of solids, and of skins that are no clean solids."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from made_rigs import FACING, MIDDLE, box, parts, solid, worm

from akd_sdk.bodies.inertia import DENSITY, masses_of
from akd_sdk.bodies.rest_skin import RestSkin, rest_skin
from akd_sdk.bodies.volume import flesh_inside
from akd_sdk.errors import RigError

VOLUME_TOLERANCE = 0.01
"""Share: half of what is promised for closed meshes."""

MASS_TOLERANCE = 0.02
"""Share: what is promised; a stick fifty times as long as thick has a few thousand points."""

UNSAMPLED = 0.04
"""Share of a solid's largest moment by which sampling may miss any entry of its inertia."""


def volume(skin: RestSkin) -> float:
    flesh = flesh_inside(skin, FACING, MIDDLE)
    return flesh.volume * len(flesh.points)


SOLIDS = {
    "box along the axes": box((0.3, 1.0, 0.2)),
    "thin plate": box((0.01, 1.0, 1.0)),
    "ball": trimesh.creation.icosphere(subdivisions=3, radius=0.4),
    "ring": trimesh.creation.torus(major_radius=0.5, minor_radius=0.1),
    "stick": trimesh.creation.cylinder(radius=0.01, height=1.0, transform=trimesh.transformations.rotation_matrix(0.7, (1.0, 0.3, 0.2))),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_a_closed_mesh_has_its_volume_centre_and_inertia(name: str) -> None:
    mesh = SOLIDS[name].copy()
    mesh.apply_translation((0.2, 1.0, -0.4))
    skin = solid(mesh)
    masses = masses_of(flesh_inside(skin, FACING, MIDDLE), np.zeros(1, dtype=np.int64), np.zeros((1, 3)), 1e-3)
    assert masses.total == pytest.approx(DENSITY * mesh.volume, rel=MASS_TOLERANCE)
    np.testing.assert_allclose(masses.centres[0], mesh.center_mass, atol=0.01 * mesh.scale)
    mesh.density = masses.total / mesh.volume
    wanted = np.asarray(mesh.moment_inertia)
    np.testing.assert_allclose(masses.inertias[0], wanted, atol=UNSAMPLED * np.abs(wanted).max())


@pytest.mark.parametrize("size", [1e-4, 1e5])
def test_size_changes_nothing_but_the_scale(size: float) -> None:
    mesh = SOLIDS["ring"]
    grown = mesh.copy()
    grown.apply_scale(size)
    assert volume(solid(grown)) / size**3 == pytest.approx(volume(solid(mesh)), rel=1e-6)


def test_a_mesh_turned_inside_out_is_turned_round() -> None:
    mesh = SOLIDS["ring"].copy()
    mesh.invert()
    assert volume(solid(mesh)) == pytest.approx(SOLIDS["ring"].volume, rel=VOLUME_TOLERANCE)


def test_one_part_turned_inside_out_among_others_counts() -> None:
    mirrored = box((0.2, 0.4, 0.2), (0.5, 0.0, 0.0))
    mirrored.invert()
    assert volume(parts([box((0.2, 0.4, 0.2)), mirrored])) == pytest.approx(2 * 0.2 * 0.4 * 0.2, rel=VOLUME_TOLERANCE)


def test_overlapping_and_nested_parts_count_once() -> None:
    overlapping = parts([box((1.0, 1.0, 1.0)), box((1.0, 1.0, 1.0), (0.5, 0.0, 0.0))])
    nested = parts([box((1.0, 1.0, 1.0)), box((0.6, 0.6, 0.6)), box((0.3, 0.3, 0.3))])
    assert volume(overlapping) == pytest.approx(1.5, rel=VOLUME_TOLERANCE)
    assert volume(nested) == pytest.approx(1.0, rel=VOLUME_TOLERANCE)


def test_a_cavity_holds_nothing() -> None:
    hole = box((0.8, 0.8, 0.8))
    hole.invert()
    assert volume(parts([box((1.0, 1.0, 1.0)), hole])) == pytest.approx(1.0 - 0.8**3, rel=VOLUME_TOLERANCE)


def test_a_mesh_doubled_to_be_seen_from_both_sides_holds_what_it_did() -> None:
    back = SOLIDS["ball"].copy()
    back.invert()
    both = trimesh.util.concatenate([SOLIDS["ball"], back])
    assert volume(read(both)) == pytest.approx(SOLIDS["ball"].volume, rel=VOLUME_TOLERANCE)


def read(mesh: trimesh.Trimesh) -> RestSkin:
    """The mesh as a rig's skin is read."""
    return rest_skin(worm(1, mesh=mesh))


def test_parts_that_touch_wall_to_wall_both_count() -> None:
    stacked = trimesh.util.concatenate([box((1.0, 1.0, 1.0), (0.0, float(i), 0.0)) for i in range(3)])
    assert volume(read(stacked)) == pytest.approx(3.0, rel=VOLUME_TOLERANCE)


def test_an_open_mesh_survives_and_is_known_to_be_open() -> None:
    ball = SOLIDS["ball"]
    open_below = trimesh.Trimesh(ball.vertices, ball.faces[ball.triangles_center[:, 1] > -0.37], process=False)
    skin = solid(open_below)
    assert volume(skin) == pytest.approx(ball.volume, rel=0.05)
    assert 0.0 < skin.open_edges < 0.1
    assert solid(ball).open_edges == 0.0


def test_seams_do_not_open_a_mesh() -> None:
    ball = SOLIDS["ball"]
    torn = trimesh.Trimesh(ball.vertices[ball.faces.ravel()], np.arange(3 * len(ball.faces)).reshape(-1, 3), process=False)
    assert solid(torn).open_edges == 0.0


TURNED = trimesh.transformations.rotation_matrix(0.6, (1.0, 2.0, 0.5))


def sheet(cells: int, wave: float = 0.0) -> trimesh.Trimesh:
    x, z = (part.ravel() for part in np.meshgrid(np.linspace(-1, 1, cells + 1), np.linspace(-1, 1, cells + 1), indexing="ij"))
    at = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = (part.ravel() for part in (at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]))
    made = trimesh.Trimesh(np.stack([x, wave * x, z], axis=1), np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]))
    made.apply_transform(TURNED)
    return made


@pytest.mark.parametrize("mesh", [sheet(1), sheet(40), trimesh.Trimesh([(0, 0, 0), (1, 2, 3), (2, 4, 6)], [(0, 1, 2)], process=False)])
def test_what_is_flat_is_refused_in_one_line(mesh: trimesh.Trimesh) -> None:
    with pytest.raises(RigError, match="no volume") as refused:
        flesh_inside(solid(mesh), FACING, MIDDLE)
    assert "\n" not in str(refused.value)


def test_sheets_that_enclose_nothing_are_refused() -> None:
    apart = sheet(1)
    apart.apply_translation((5.0, 0.0, 0.0))
    with pytest.raises(RigError, match="no volume"):
        flesh_inside(parts([sheet(20), apart]), FACING, MIDDLE)


def test_a_mirrored_body_has_mirrored_insides() -> None:
    arms = [box((0.4, 0.1, 0.1), (side * 0.5, 0.3, 0.0)) for side in (1.0, -1.0)]
    flesh = flesh_inside(parts([box((0.4, 1.0, 0.2)), *arms]), FACING, MIDDLE)
    assert flesh.weights.sum(axis=0).A1[1] == pytest.approx(flesh.weights.sum(axis=0).A1[2], rel=1e-9)


def test_each_part_of_a_coarse_body_is_moved_by_its_own_joint() -> None:
    """Twelve triangles a part: the nearest corners alone would give much of the trunk to the arms."""
    made = [
        box((0.4, 0.8, 0.2)),
        box((0.1, 0.5, 0.1), (0.3, 0.1, 0.0)),
        box((0.1, 0.5, 0.1), (-0.3, 0.1, 0.0)),
        box((0.2, 0.3, 0.2), (0.0, 0.6, 0.0)),
    ]
    masses = masses_of(flesh_inside(parts(made), FACING, MIDDLE), np.arange(4), np.zeros((4, 3)), 1.0)
    np.testing.assert_allclose(masses.masses, [DENSITY * part.volume for part in made], rtol=0.06)

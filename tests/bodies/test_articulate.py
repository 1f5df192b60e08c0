"""Bodies of whole rigs: the samples, rigs of others, and rigs that are hard to make bodies of."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import trimesh
from gltf_build import Post
from made_rigs import worm
from opened import opened
from scipy.spatial.transform import Rotation

from akd_sdk.bodies import Articulation, articulate
from akd_sdk.bodies.feet import stance_of
from akd_sdk.bodies.rest_skin import rest_skin
from akd_sdk.errors import RigError
from akd_sdk.kinematics import world_from_curves
from akd_sdk.motion import JointCurves
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

MASS_TOLERANCE = 0.02
"""Share of a closed mesh's volume."""

ANIMALS = ["Wolf", "Deer", "Fox", "Horse"]
SAMPLES = ["quadruped", "biped"]


@lru_cache(maxsize=2)
def bodies_of(path: Path) -> Articulation:
    return articulate(opened(path))


def sample(samples: Path, name: str) -> tuple[Rig, Articulation]:
    path = samples / f"{name}.glb"
    return opened(path), bodies_of(path)


def enclosed(rig: Rig, count: int) -> float:
    """m³ inside any of the rig's closed parts, told by the solid angle (van Oosterom and Strackee 1983) at random points."""
    skin = rest_skin(rig)
    whole = trimesh.Trimesh(skin.points, skin.triangles, process=False)
    whole.merge_vertices(merge_tex=True, merge_norm=True)
    low, high = whole.bounds
    points = np.random.default_rng(5).uniform(low, high, (count, 3))
    inside = np.zeros(count, dtype=np.bool_)
    for part in whole.split(only_watertight=True):
        near = np.flatnonzero(((points >= part.bounds[0]) & (points <= part.bounds[1])).all(axis=1))
        for chunk in np.array_split(near, max(1, len(near) * len(part.faces) // 2_000_000)):
            a, b, c = (part.triangles[None, :, i] - points[chunk, None] for i in range(3))
            la, lb, lc = (np.linalg.norm(side, axis=2) for side in (a, b, c))
            over = np.einsum("pti,pti->pt", a, np.cross(b, c))
            under = la * lb * lc + (a * b).sum(2) * lc + (b * c).sum(2) * la + (c * a).sum(2) * lb
            inside[chunk] |= np.abs(np.arctan2(over, under).sum(axis=1)) > math.pi
    return float(np.prod(high - low) * inside.mean())


def test_a_closed_sample_has_the_mass_of_its_mesh(samples: Path) -> None:
    rig, bodies = sample(samples, "quadruped")
    skin = rest_skin(rig)
    assert skin.open_edges == 0.0
    assert bodies.mass == pytest.approx(1000.0 * trimesh.Trimesh(skin.points, skin.triangles).volume, rel=MASS_TOLERANCE)


def test_a_sample_of_overlapping_parts_has_the_mass_of_what_they_enclose(samples: Path) -> None:
    rig, bodies = sample(samples, "biped")
    skin = rest_skin(rig)
    wanted = 1000.0 * enclosed(rig, 40_000)
    assert wanted < 0.9 * 1000.0 * trimesh.Trimesh(skin.points, skin.triangles).volume  # which counts what overlaps twice
    assert bodies.mass == pytest.approx(wanted, rel=0.04)  # some 2000 of the oracle's points are inside: 2 % by chance


@pytest.mark.parametrize("name", SAMPLES)
def test_bodies_come_depth_first_and_are_things_that_can_be(samples: Path, name: str) -> None:
    rig, bodies = sample(samples, name)
    assert bodies.bodies[0].joint == rig.skeleton.pelvis
    for i, parent in enumerate(bodies.parents):
        between = bodies.parents[parent + 1 : i] if parent >= 0 else []
        assert all(p >= parent for p in between), "a branch is in two pieces"
    for body in bodies.bodies:
        low, middle, high = np.linalg.eigvalsh(body.inertia)
        assert low > 0.0
        assert high <= (low + middle) * (1 + 1e-9)
        assert body.mass >= 0.0019 * bodies.mass
        np.testing.assert_allclose(body.shape.axes.T @ body.shape.axes, np.eye(3), atol=1e-9)
        assert np.linalg.det(body.axes) < 0  # flexion, abduction, twist: right-handed as flexion, twist, abduction


@pytest.mark.parametrize("name", SAMPLES)
def test_every_joint_of_the_body_is_one_or_follows_one(samples: Path, name: str) -> None:
    rig, bodies = sample(samples, name)
    held = [j for body in bodies.bodies for j in (body.joint, *body.merged)]
    assert len(held) == len(set(held))
    assert {j for j, role in enumerate(rig.skeleton.roles) if role in ("anatomy", "unknown")} <= set(held)


@pytest.mark.parametrize("name", SAMPLES)
def test_left_and_right_weigh_the_same(samples: Path, name: str) -> None:
    _, bodies = sample(samples, name)
    masses = {body.name: body.mass for body in bodies.bodies}
    pairs = [(masses[name], masses[f"{name[:-2]}_r"]) for name in masses if name.endswith("_l")]
    assert len(pairs) >= 5
    for left, right in pairs:
        assert left == pytest.approx(right, rel=0.05)  # vertices on the middle line of a sample lean to one side


@pytest.mark.parametrize("name", SAMPLES)
def test_feet_are_boxes_whose_soles_lie_on_the_lowest_skin(samples: Path, name: str) -> None:
    rig, bodies = sample(samples, name)
    feet = [body for body in bodies.bodies if body.foot]
    assert {body.foot for body in feet} == {point.limb for point in rig.contact_points}
    lowest = float(rest_skin(rig).points[:, 1].min())
    assert bodies.ground_at_rest == pytest.approx(lowest, abs=1e-3 * rig.height)
    for body in feet:
        assert body.shape.kind == "box"
        assert body.shape.lowest(np.eye(3)[None], body.origin[None])[0] == pytest.approx(lowest, abs=2e-3 * rig.height)
    for point in rig.contact_points:
        joint = np.array([point.joint])
        place = rig.skeleton.points_at_rest(joint, point.offset[None])[0]
        boxes = [b.shape.axes.T @ (place - b.origin - b.shape.centre) / b.shape.half for b in feet if point.joint in (b.joint, *b.merged)]
        assert len(boxes) == 1
        assert np.abs(boxes[0]).max() <= 1 + 1e-9


@pytest.mark.parametrize("name", SAMPLES)
def test_bodies_move_as_the_skeleton_does(samples: Path, name: str) -> None:
    rig, bodies = sample(samples, name)
    rng = np.random.default_rng(1)
    angles = np.zeros((3, rig.skeleton.count, 3))
    joints = [body.joint for body in bodies.bodies[1:]]
    angles[:, joints] = rng.normal(0.0, 0.3, (3, len(joints), 3))
    world = world_from_curves(rig, JointCurves(angles, np.zeros((3, 6)), 30.0, False))
    turns, places = [np.tile(np.eye(3), (3, 1, 1))], [np.tile(bodies.bodies[0].origin, (3, 1))]
    for body in bodies.bodies[1:]:
        bone = body.origin - bodies.bodies[body.parent].origin
        places.append(places[body.parent] + turns[body.parent] @ bone)
        turns.append(turns[body.parent] @ Rotation.from_rotvec(angles[:, body.joint] @ body.axes.T).as_matrix())
    np.testing.assert_allclose(np.stack(places, 1), world[:, [body.joint for body in bodies.bodies]][..., :3, 3], atol=1e-9)


@pytest.mark.parametrize("height", [0.01, 100.0])
def test_a_height_scales_everything_and_nothing_else(samples: Path, height: float) -> None:
    path = samples / "quadruped.glb"
    usual, other = bodies_of(path), articulate(open_rig(path, height=height))
    size = height / usual.height
    assert other.mass == pytest.approx(size**3 * usual.mass, rel=1e-4)
    np.testing.assert_allclose([b.mass / size**3 for b in other.bodies], [b.mass for b in usual.bodies], rtol=1e-3)
    np.testing.assert_allclose([b.shape.half / size for b in other.bodies], [b.shape.half for b in usual.bodies], rtol=1e-3)
    on_the_way = next(i for i, body in enumerate(usual.bodies) if body.foot)
    np.testing.assert_allclose(other.stiffness[on_the_way] / size**4, usual.stiffness[on_the_way], rtol=1e-3)
    np.testing.assert_allclose(other.armature / size**5, usual.armature, rtol=1e-3)


def test_samples_have_nothing_odd(samples: Path) -> None:
    for name in SAMPLES:
        assert sample(samples, name)[1].notes == ()


@pytest.mark.parametrize(
    ("file", "height", "kilograms"),
    [("khronos/Fox.glb", 0.5, 16.9), ("khronos/CesiumMan.glb", 1.7, 77.6), ("quaternius/animals_pack/Wolf.glb", 0.9, 91.8)],
)
def test_rigs_of_others_weigh_what_a_prototype_measured(shared: Path, file: str, height: float, kilograms: float) -> None:
    rig = open_rig(shared / "data" / "rigs" / file, height=height)
    bodies = articulate(rig)
    skin = rest_skin(rig)
    mesh = trimesh.Trimesh(skin.points, skin.triangles, process=False)
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    assert bodies.mass == pytest.approx(kilograms, rel=0.01)
    assert mesh.is_watertight
    assert bodies.mass == pytest.approx(1000.0 * mesh.volume, rel=MASS_TOLERANCE)


@pytest.mark.parametrize("animal", ANIMALS)
def test_paws_that_hang_on_controls_in_the_file_are_feet_of_the_legs(shared: Path, animal: str) -> None:
    rig = opened(shared / "data" / "rigs" / "quaternius" / "animals_pack" / f"{animal}.glb")
    bodies = articulate(rig)
    for limb in ("LH", "RH", "LF", "RF"):
        feet = [i for i, body in enumerate(bodies.bodies) if body.foot == limb]
        assert feet, f"no {limb}"
        low = min(float(bodies.bodies[i].shape.lowest(np.eye(3)[None], bodies.bodies[i].origin[None])[0]) for i in feet)
        assert low - bodies.ground_at_rest < 0.01 * rig.height
        way, parent = 0, feet[0]
        while parent > 0:
            way, parent = way + 1, int(bodies.parents[parent])
        assert way >= 3


def test_a_large_head_and_an_open_skin_are_named(shared: Path) -> None:
    man = articulate(opened(shared / "data" / "rigs" / "khronos" / "CesiumMan.glb"))
    knight = articulate(opened(shared / "data" / "rigs" / "kaykit_adventurers" / "Knight.glb"))
    assert any(note.startswith("top-heavy") and "3" in note for note in man.notes)
    assert not any("open" in note for note in man.notes)
    assert any(note.startswith("top-heavy") and "6" in note for note in knight.notes)
    assert any("open" in note for note in knight.notes)


def test_soles_are_those_of_a_standing_body_where_the_rest_pose_leaps(shared: Path) -> None:
    rig = opened(shared / "data" / "rigs" / "gdquest" / "mannequiny.glb")
    bodies, stance = articulate(rig), stance_of(rig)
    feet = [body for body in bodies.bodies if body.foot]
    at_rest = [float(b.shape.lowest(np.eye(3)[None], b.origin[None])[0]) for b in feet]
    standing = [float(b.shape.lowest(stance.turns[b.joint].T[None], stance.origins[b.joint][None])[0]) for b in feet]
    assert np.ptp(at_rest) > 0.1 * rig.height
    assert np.ptp(standing) < 0.01 * rig.height


@pytest.mark.parametrize("file", ["khronos/Fox.glb", "quaternius/animals_pack/Wolf.glb", "kaykit_adventurers/Knight.glb"])
def test_a_rig_is_cheap(shared: Path, file: str) -> None:
    rig = opened(shared / "data" / "rigs" / file)
    articulate(rig)
    spent = []
    for _ in range(3):
        start = time.process_time()
        articulate(rig)
        spent.append(time.process_time() - start)
    assert min(spent) < 0.7


def test_a_mesh_of_300000_triangles_takes_seconds() -> None:
    mesh = trimesh.creation.icosphere(subdivisions=7)
    mesh.apply_scale((0.03, 0.03, 0.5))
    rig = worm(20, mesh=mesh)
    start = time.process_time()
    bodies = articulate(rig)
    assert time.process_time() - start < 10.0
    assert bodies.mass == pytest.approx(1000.0 * mesh.volume, rel=MASS_TOLERANCE)


@pytest.mark.parametrize("zero_length", [False, True])
def test_300_joints_and_bones_of_no_length_give_bodies(zero_length: bool) -> None:
    rig = worm(300, zero_length=zero_length)
    bodies = articulate(rig)
    skin = rest_skin(rig)
    assert bodies.mass == pytest.approx(1000.0 * trimesh.Trimesh(skin.points, skin.triangles).volume, rel=MASS_TOLERANCE)
    assert len(bodies.bodies) > 250
    for value in (bodies.stiffness, bodies.damping, *(body.inertia for body in bodies.bodies)):
        assert np.isfinite(value).all()
    assert min(np.linalg.eigvalsh(body.inertia)[0] for body in bodies.bodies) > 0.0
    assert not any(body.foot for body in bodies.bodies)


def test_a_single_joint_gives_a_single_body() -> None:
    bodies = articulate(worm(1))
    assert [body.parent for body in bodies.bodies] == [-1]
    assert bodies.bodies[0].centre[2] == pytest.approx(0.5, abs=0.01)  # the joint is at the worm's end


def test_a_rig_without_a_pelvis_is_refused_in_one_line(tmp_path: Path) -> None:
    rig = open_rig(Post().save(tmp_path / "post.glb"))
    with pytest.raises(RigError, match=r"post\.glb: the pelvis is not known") as refused:
        articulate(rig)
    assert "\n" not in str(refused.value)


def test_a_rig_without_skin_or_with_a_flat_one_is_refused_by_its_file(samples: Path) -> None:
    rig = opened(samples / "biped.glb")
    with pytest.raises(RigError, match=r"biped\.glb: has no skinned triangles"):
        articulate(replace(rig, skins=()))
    plate = trimesh.creation.box((0.3, 1e-9, 1.0))
    with pytest.raises(RigError, match=r"worm\.glb: the skin is flat"):
        articulate(worm(3, mesh=plate))

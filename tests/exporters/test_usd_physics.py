"""Articulations in UsdPhysics: what newton and usd-core read back is what the bodies say, in whole and in each axis."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES
from physics_readback import Loaded, load_in_newton, played, read_bodies, read_hinges
from pxr import Sdf, Usd, UsdGeom, UsdPhysics, UsdValidation
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation
from steps import stepping
from turned_glb import turned_glb

from akd_sdk.bodies import Articulation, articulate
from akd_sdk.exporters import Clip, export_isaac
from akd_sdk.exporters.articulated import HINGES, Articulated, articulated
from akd_sdk.exporters.usd_physics import LINK
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

SINGLE = 3e-7
"""Relative: a few roundings to single precision, which UsdPhysics has."""
NEWTON = 2e-6
"""Relative: newton turns and adds in single precision, too."""
Z_UP = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""The samples face +Z with Y up; Isaac's characters face +X with Z up."""

pytestmark = pytest.mark.xdist_group("isaac")


@pytest.fixture(scope="module", params=["biped", "quadruped"])
def rig(request: pytest.FixtureRequest) -> Rig:
    return open_rig(SAMPLES / f"{request.param}.glb")


@pytest.fixture(scope="module")
def clip(rig: Rig) -> Clip:
    return Clip.from_motion(rig, stepping(rig))


@pytest.fixture(scope="module")
def bodies(rig: Rig) -> Articulation:
    return articulate(rig)


@pytest.fixture(scope="module")
def character(rig: Rig, clip: Clip) -> Articulated:
    return articulated(rig, [clip])


@pytest.fixture(scope="module")
def written(rig: Rig, clip: Clip, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_isaac(rig, clip, tmp_path_factory.mktemp("isaac") / "character.usda")


@pytest.fixture(scope="module")
def stage(written: Path) -> Usd.Stage:
    return Usd.Stage.Open(str(written))


@pytest.fixture(scope="module")
def loaded(written: Path) -> Loaded:
    return load_in_newton(written)


def test_newton_finds_one_articulation_with_every_body_and_three_hinges_a_joint(bodies: Articulation, loaded: Loaded) -> None:
    joints = len(bodies.bodies) - 1
    assert loaded.model.articulation_count == 1
    assert loaded.model.body_count == len(bodies.bodies) + 2 * joints
    assert loaded.model.joint_dof_count == 6 + 3 * joints
    assert set(loaded.bodies) >= {body.name for body in bodies.bodies}


def test_masses_centres_and_inertias_are_those_of_the_bodies(bodies: Articulation, loaded: Loaded) -> None:
    masses, inertias, centres = (loaded.array(name) for name in ("body_mass", "body_inertia", "body_com"))
    for body in bodies.bodies:
        i = loaded.bodies[body.name]
        wanted = Z_UP @ body.inertia @ Z_UP.T
        assert masses[i] == pytest.approx(body.mass, rel=SINGLE)
        assert np.linalg.norm(inertias[i] - wanted) <= NEWTON * np.linalg.norm(wanted)
        assert np.abs(centres[i] - Z_UP @ body.centre).max() <= SINGLE * bodies.height


def test_the_file_itself_holds_inertias_to_single_precision_with_principal_axes(bodies: Articulation, stage: Usd.Stage) -> None:
    found = read_bodies(stage)
    for body in bodies.bodies:
        wanted = Z_UP @ body.inertia @ Z_UP.T
        assert np.linalg.norm(found[body.name].inertia - wanted) <= SINGLE * np.linalg.norm(wanted)
        assert found[body.name].mass == pytest.approx(body.mass, rel=SINGLE)
    small = [found[name] for name in found if name.endswith("_link")]
    assert len(small) == 2 * (len(bodies.bodies) - 1)
    assert all(link.mass > 0.0 and np.linalg.eigvalsh(link.inertia).min() > 0.0 for link in small)
    assert sum(link.mass for link in small) <= 2.0 * LINK * bodies.mass


def test_bodies_stand_where_hinges_at_zero_put_them(stage: Usd.Stage, bodies: Articulation) -> None:
    authored = read_bodies(stage)
    root = authored[bodies.bodies[0].name]
    for name, (turn, place) in played(stage, {}, (root.turn, root.place)).items():
        assert np.abs(turn - authored[name].turn).max() <= 1e-6, name
        assert np.abs(place - authored[name].place).max() <= 1e-6 * bodies.height, name


def test_the_zero_pose_is_rest_where_no_clip_comes_near_a_pole(stage: Usd.Stage, bodies: Articulation) -> None:
    authored = read_bodies(stage)
    for body in bodies.bodies:
        assert np.allclose(authored[body.name].place, Z_UP @ body.origin, atol=1e-6)
        assert np.allclose(authored[body.name].turn, np.eye(3), atol=1e-6)


def test_hinges_turn_about_the_anatomical_axes(stage: Usd.Stage, bodies: Articulation) -> None:
    authored, hinges = read_bodies(stage), read_hinges(stage)
    for body in bodies.bodies[1:]:
        for k, name in enumerate(HINGES):
            hinge = hinges[f"{body.name}_{name}"]
            axis = authored[hinge.bodies[0]].turn @ hinge.turns[0] @ hinge.axis
            assert np.abs(axis - Z_UP @ body.axes[:, k]).max() < 1e-6, (body.name, name)


def test_every_hinge_has_limits_that_hold_the_anatomy_s_and_the_clip(
    stage: Usd.Stage, bodies: Articulation, character: Articulated, loaded: Loaded
) -> None:
    hinges = read_hinges(stage)
    low, high = loaded.array("joint_limit_lower"), loaded.array("joint_limit_upper")
    for i, body in enumerate(bodies.bodies[1:], 1):
        for k, name in enumerate(HINGES):
            joint = f"{body.name}_{name}"
            wanted = character.limits[i, k]
            assert wanted[0] <= body.limits[k, 0] + 1e-9
            assert wanted[1] >= body.limits[k, 1] - 1e-9
            assert np.radians(hinges[joint].limits) == pytest.approx(wanted, rel=SINGLE)
            assert [low[loaded.velocity(joint)], high[loaded.velocity(joint)]] == pytest.approx(wanted, rel=NEWTON)


def test_drives_are_written_per_degree_and_read_per_radian(stage: Usd.Stage, bodies: Articulation, loaded: Loaded) -> None:
    hinges = read_hinges(stage)
    read = [loaded.array(name) for name in ("joint_target_ke", "joint_target_kd", "joint_armature")]
    for i, body in enumerate(bodies.bodies[1:], 1):
        for k, name in enumerate(HINGES):
            joint = f"{body.name}_{name}"
            wanted = [bodies.stiffness[i, k], bodies.damping[i, k], bodies.armature[i, k]]
            assert np.array(hinges[joint].gains) * 180.0 / np.pi == pytest.approx(wanted[:2], rel=SINGLE)
            assert [values[loaded.velocity(joint)] for values in read] == pytest.approx(wanted, rel=NEWTON)


def test_colliders_touch_what_the_shapes_of_bodies_touch(stage: Usd.Stage, bodies: Articulation) -> None:
    rng = np.random.default_rng(5)
    cache = UsdGeom.XformCache()
    kinds = set()
    for body in bodies.bodies:
        prim = stage.GetPrimAtPath(f"{stage.GetDefaultPrim().GetPath()}/{body.name}/collider")
        assert prim.HasAPI(UsdPhysics.CollisionAPI)
        kinds.add(prim.GetTypeName())
        points = _surface(prim) @ np.array(cache.GetLocalToWorldTransform(prim))[:3, :3]
        points += np.array(cache.GetLocalToWorldTransform(prim))[3, :3]
        own = (points - Z_UP @ body.origin) @ Z_UP  # the zero pose is rest here
        for turn in Rotation.random(4, random_state=rng).as_matrix():
            lowest = float(body.shape.lowest(turn[None], np.zeros((1, 3)))[0])
            assert (own @ turn.T)[:, 1].min() == pytest.approx(lowest, abs=0.004 * bodies.height)
    assert kinds >= {"Cube", "Capsule"}


def _surface(prim: Usd.Prim) -> np.ndarray:
    """Points on a collider, in its own axes, from its own attributes."""
    if prim.GetTypeName() == "Cube":
        half = 0.5 * UsdGeom.Cube(prim).GetSizeAttr().Get()
        return half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    golden = np.arange(2000) * (3.0 - np.sqrt(5.0)) * np.pi
    height = np.linspace(-1.0, 1.0, 2000)
    across = np.sqrt(1.0 - height**2)
    ball = np.stack([across * np.cos(golden), height, across * np.sin(golden)], axis=1)
    if prim.GetTypeName() == "Sphere":
        return ball * UsdGeom.Sphere(prim).GetRadiusAttr().Get()
    capsule = UsdGeom.Capsule(prim)
    assert capsule.GetAxisAttr().Get() == "Y"
    points = ball * capsule.GetRadiusAttr().Get()
    points[:, 1] += 0.5 * capsule.GetHeightAttr().Get() * np.sign(height)
    return points


def test_the_stage_says_its_axes_units_and_root_once(stage: Usd.Stage, bodies: Articulation) -> None:
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdPhysics.GetStageKilogramsPerUnit(stage) == 1.0
    roots = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
    assert [prim.GetName() for prim in roots] == [bodies.bodies[0].name]
    assert stage.GetDefaultPrim().GetPath().IsRootPrimPath()


def test_names_of_degrees_of_freedom_are_unique_and_the_same_whatever_clip_is_written(rig: Rig, clip: Clip, character: Articulated) -> None:
    assert len(set(character.dofs)) == len(character.dofs) == 3 * (len(character.bodies) - 1)
    assert all(Sdf.Path.IsValidIdentifier(name) for name in (*character.dofs, *character.bodies))
    alone = articulated(rig, [])
    assert alone.dofs == character.dofs
    assert alone.fingerprint == character.fingerprint


def test_the_skin_travels_in_pieces_with_every_triangle_once(rig: Rig, stage: Usd.Stage) -> None:
    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    assert sum(len(mesh.GetFaceVertexCountsAttr().Get()) for mesh in meshes) == sum(len(skin.triangles) for skin in rig.skins)
    cache = UsdGeom.BBoxCache(0.0, [UsdGeom.Tokens.default_])
    box = cache.ComputeWorldBound(stage.GetDefaultPrim()).ComputeAlignedRange()
    assert box.GetSize()[2] == pytest.approx(rig.height, rel=0.05)
    assert all(not mesh.GetPrim().HasAPI(UsdPhysics.CollisionAPI) for mesh in meshes)


def test_the_pieces_shade_as_the_skin_does(rig: Rig, stage: Usd.Stage) -> None:
    own = np.concatenate([skin_normals_at_rest(rig, i) for i in range(len(rig.skins))])
    cache, found = UsdGeom.XformCache(), []
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.Mesh):
            world = np.array(cache.GetLocalToWorldTransform(prim))
            mesh = UsdGeom.Mesh(prim)
            points = np.array(mesh.GetPointsAttr().Get()) @ world[:3, :3] + world[3, :3]
            found.append(np.concatenate([points @ Z_UP, np.array(mesh.GetNormalsAttr().Get()) @ world[:3, :3] @ Z_UP], axis=1))
    theirs = np.concatenate(found)
    _, nearest = cKDTree(own[:, :3]).query(theirs[:, :3])
    along = (own[nearest, 3:] * theirs[:, 3:]).sum(axis=1)
    assert np.median(along) > 0.97
    assert (along > 0.0).mean() > 0.98


def skin_normals_at_rest(rig: Rig, i: int) -> np.ndarray:
    """(n, 6) points and normals of a skin in its rest pose, by the file's own normals and the strongest joint of each point."""
    skin = rig.skins[i]
    assert skin.normals is not None
    strongest = skin.joints[np.arange(len(skin.vertices)), skin.weights.argmax(axis=1)]
    move = rig.skeleton.rest_world[strongest] @ skin.inverse_binds[strongest]
    points = (move @ np.concatenate([skin.vertices, np.ones((len(skin.vertices), 1))], axis=1)[..., None])[:, :3, 0]
    normals = (move[:, :3, :3] @ skin.normals[..., None])[..., 0]
    return np.concatenate([points, normals / np.linalg.norm(normals, axis=1, keepdims=True)], axis=1)


def test_usd_s_own_validators_find_nothing(stage: Usd.Stage) -> None:
    registry = UsdValidation.ValidationRegistry()
    context = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
    found = [f"{error.GetName()}: {error.GetMessage()}" for error in context.Validate(stage)]
    assert found == []


@pytest.mark.parametrize("angle", [90.0, 200.0])
def test_a_character_that_faces_elsewhere_in_its_file_faces_x_all_the_same(angle: float, tmp_path: Path) -> None:
    places = []
    for path in (SAMPLES / "quadruped.glb", turned_glb(SAMPLES / "quadruped.glb", np.radians(angle), tmp_path / "turned.glb")):
        rig = open_rig(path)
        character = articulated(rig, [Clip.from_motion(rig, stepping(rig, seconds=1.0))])
        _, origins = character.zero_pose()
        places.append(origins - origins[0])
        assert character.axes @ rig.forward == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
    assert np.abs(places[0] - places[1]).max() < 1e-5


@pytest.mark.parametrize("height", [0.05, 20.0])
def test_small_and_large_characters_keep_their_masses_and_limits(height: float, tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb", height=height)
    path = export_isaac(rig, [], tmp_path / "sized.usda")
    found, bodies = read_bodies(Usd.Stage.Open(str(path))), articulate(rig)
    for body in bodies.bodies:
        wanted = Z_UP @ body.inertia @ Z_UP.T
        assert np.linalg.norm(found[body.name].inertia - wanted) <= SINGLE * np.linalg.norm(wanted)
        assert found[body.name].mass == pytest.approx(body.mass, rel=SINGLE)


def test_joints_whose_names_are_no_identifiers_or_meet_get_names_that_are_and_do_not(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    names = [name.replace("_", ".") for name in rig.skeleton.names]
    names[rig.skeleton.names.index("shin_l")] = "1 thigh-l"
    names[rig.skeleton.names.index("shin_r")] = "_1_thigh_l"
    names[rig.skeleton.names.index("foot_l")] = "Joints"
    odd = replace(rig, skeleton=replace(rig.skeleton, names=tuple(names)))
    stage = Usd.Stage.Open(str(export_isaac(odd, [], tmp_path / "odd.usda")))
    bodies, hinges = read_bodies(stage), read_hinges(stage)
    assert {"_1_thigh_l", "_1_thigh_l_2", "Joints_2", "thigh_l"} <= set(bodies)
    assert len(hinges) == 3 * (len(articulate(odd).bodies) - 1)
    assert all(Sdf.Path.IsValidIdentifier(name) for name in (*bodies, *hinges))

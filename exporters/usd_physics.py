"""UsdPhysics: an articulation as rigid bodies with colliders, and hinges with limits and drives, Z up, in metres and kilograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.bodies import Shape
from akd_sdk.exporters.articulated import JOINTS, SURFACE, Articulated
from akd_sdk.exporters.usd_hinges import add_hinges
from akd_sdk.formats.usd import identifier

if TYPE_CHECKING:
    from pxr import Gf, Usd, UsdGeom

Array = NDArray[np.float64]

LINK: Final = 1e-3
"""Mass and inertia of the small bodies between hinges, in those of the body that hangs on them: simulators take none without."""
FRICTION: Final = 0.8
"""Of soles on the ground, as motions are tracked."""
COLLIDER, VISUAL = "collider", "visual"


def add_articulation(stage: Usd.Stage, character: Articulated, name: str) -> dict[int, Usd.Prim]:
    """The articulation below a new prim, which becomes the default prim; the prims of its bodies.

    Bodies stand where hinges at zero put them. The first is the root of the articulation and free. Between two bodies lie three hinges and
    two small bodies: compound joints have no names for their axes that are sure, and simulators disagree on how their angles compose.
    Bodies do not meet each other, only the world.
    """
    from pxr import Kind, Usd, UsdGeom, UsdPhysics, Vt

    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    root = UsdGeom.Xform.Define(stage, f"/{identifier(name or 'Character')}")
    stage.SetDefaultPrim(root.GetPrim())
    Usd.ModelAPI(root.GetPrim()).SetKind(Kind.Tokens.component)
    root.GetPrim().SetCustomDataByKey("akd", {"articulation": character.fingerprint, "notes": Vt.StringArray(character.notes)})
    _add_surface(stage, root)
    path = str(root.GetPath())
    prims = {i: _add_body(stage, character, i, path) for i in range(len(character.bodies))}
    _set_root(prims[0])
    for i in range(1, len(prims)):
        _add_links(stage, character, i, path)
    UsdGeom.Scope.Define(stage, f"{path}/{JOINTS}")
    for i in range(1, len(prims)):
        add_hinges(stage, character, i, path)
    for i, prim in prims.items():
        UsdPhysics.FilteredPairsAPI.Apply(prim).CreateFilteredPairsRel().SetTargets([prims[k].GetPath() for k in prims if k > i])
    return prims


def _set_root(prim: Usd.Prim) -> None:
    """Make a body the root of the articulation, none of whose bodies meet: said in the words of PhysX and of Newton, too."""
    from pxr import Sdf, UsdPhysics

    UsdPhysics.ArticulationRootAPI.Apply(prim)
    for schema, attribute in (
        ("PhysxArticulationAPI", "physxArticulation:enabledSelfCollisions"),
        ("NewtonArticulationRootAPI", "newton:selfCollisionEnabled"),
    ):
        prim.AddAppliedSchema(schema)
        prim.CreateAttribute(attribute, Sdf.ValueTypeNames.Bool, False).Set(False)


def _add_body(stage: Usd.Stage, character: Articulated, i: int, root: str) -> Usd.Prim:
    body = character.articulation.bodies[i]
    turns, origins = character.zero_pose()
    prim = _rigid(stage, f"{root}/{character.bodies[i]}", turns[i], origins[i])
    axes = character.axes
    _set_mass(prim, body.mass, axes @ body.centre, axes @ body.inertia @ axes.T)
    _add_collider(stage, f"{prim.GetPath()}/{COLLIDER}", body.shape, axes)
    return prim


def _add_links(stage: Usd.Stage, character: Articulated, i: int, root: str) -> None:
    """The two small bodies between a body and its parent, in the axes of its hinges."""
    body = character.articulation.bodies[i]
    turns, origins = character.zero_pose()
    inertia = LINK * float(np.trace(body.inertia)) / 3.0 * np.eye(3)
    frame = turns[body.parent] @ character.frames[i] @ character.coordinates.neutral[i]
    for name in character.links[i]:
        _set_mass(_rigid(stage, f"{root}/{name}", frame, origins[i]), LINK * body.mass, np.zeros(3), inertia)


def _rigid(stage: Usd.Stage, path: str, turn: Array, origin: Array) -> Usd.Prim:
    from pxr import UsdGeom, UsdPhysics

    prim = UsdGeom.Xform.Define(stage, path)
    _place(prim, turn, origin)
    UsdPhysics.RigidBodyAPI.Apply(prim.GetPrim())
    return prim.GetPrim()


def _set_mass(prim: Usd.Prim, mass: float, centre: Array, inertia: Array) -> None:
    """Mass, centre (3,) and inertia (3, 3) about it, in the body's axes."""
    from pxr import Gf, UsdPhysics

    values, axes = np.linalg.eigh(inertia)
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    x, y, z, w = Rotation.from_matrix(axes).as_quat(canonical=True)
    api = UsdPhysics.MassAPI.Apply(prim)
    api.CreateMassAttr(float(mass))
    api.CreateCenterOfMassAttr(Gf.Vec3f(*map(float, centre)))
    api.CreateDiagonalInertiaAttr(Gf.Vec3f(*map(float, values)))
    api.CreatePrincipalAxesAttr(Gf.Quatf(float(w), float(x), float(y), float(z)))


def _add_collider(stage: Usd.Stage, path: str, shape: Shape, axes: Array) -> None:
    """A box, a capsule along its y, or a ball, which a capsule without length is; not drawn unless guides are."""
    from pxr import UsdGeom, UsdPhysics

    radius, length = float(shape.half[0]), float(shape.half[1])
    prim: UsdGeom.Gprim
    if shape.kind == "box":
        prim = UsdGeom.Cube.Define(stage, path)
        prim.CreateSizeAttr(2.0)
    elif length > 0.0:
        prim = UsdGeom.Capsule.Define(stage, path)
        prim.CreateAxisAttr(UsdGeom.Tokens.y)
        prim.CreateRadiusAttr(radius)
        prim.CreateHeightAttr(2.0 * length)
    else:
        prim = UsdGeom.Sphere.Define(stage, path)
        prim.CreateRadiusAttr(radius)
    prim.CreateExtentAttr(UsdGeom.Boundable.ComputeExtentFromPlugins(prim, 0.0))
    _place(prim, axes @ shape.axes, axes @ shape.centre)
    if shape.kind == "box":
        prim.AddScaleOp(UsdGeom.XformOp.PrecisionDouble).Set(_vector(shape.half))
    prim.CreatePurposeAttr(UsdGeom.Tokens.guide)
    UsdPhysics.CollisionAPI.Apply(prim.GetPrim())


def _add_surface(stage: Usd.Stage, root: UsdGeom.Xform) -> None:
    """The friction of all colliders."""
    from pxr import UsdPhysics, UsdShade

    material = UsdShade.Material.Define(stage, f"{root.GetPath()}/{SURFACE}")
    surface = UsdPhysics.MaterialAPI.Apply(material.GetPrim())
    surface.CreateStaticFrictionAttr(FRICTION)
    surface.CreateDynamicFrictionAttr(FRICTION)
    surface.CreateRestitutionAttr(0.0)
    UsdShade.MaterialBindingAPI.Apply(root.GetPrim()).Bind(material, materialPurpose="physics")


def _place(prim: UsdGeom.Xformable, turn: Array, origin: Array) -> None:
    from pxr import Gf, UsdGeom

    x, y, z, w = map(float, Rotation.from_matrix(turn).as_quat(canonical=True))
    prim.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble).Set(_vector(origin))
    prim.AddOrientOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Quatd(w, x, y, z))


def _vector(values: Array) -> Gf.Vec3d:
    from pxr import Gf

    return Gf.Vec3d(*map(float, values))

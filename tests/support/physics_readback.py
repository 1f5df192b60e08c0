"""Independent readers of an articulation: UsdPhysics of usd-core in double precision, and newton, the stand-in for Isaac."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pxr import Usd, UsdGeom, UsdPhysics
from scipy.spatial.transform import Rotation

from akd_sdk.physics import engine

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Loaded:
    """What newton makes of a file.

    Attributes:
        model: newton.Model on the CPU.
        bodies, joints: indices by the last part of the label.
        starts: (joints) first coordinate and first velocity by joint name.
    """

    model: Any
    bodies: dict[str, int]
    joints: dict[str, int]

    def array(self, name: str) -> Array:
        return np.array(getattr(self.model, name).numpy(), dtype=np.float64)

    def coordinate(self, joint: str) -> int:
        return int(self.array("joint_q_start")[self.joints[joint]])

    def velocity(self, joint: str) -> int:
        return int(self.array("joint_qd_start")[self.joints[joint]])


def load_in_newton(path: Path) -> Loaded:
    """The file as `ModelBuilder.add_usd` reads it, with drives that follow positions and velocities as PhysX's do."""
    newton = engine.newton()
    with engine.quietly():
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z)
        builder.add_usd(str(path), force_position_velocity_actuation=True)
        model = builder.finalize(device="cpu")
    bodies = {label.rsplit("/", 1)[-1]: i for i, label in enumerate(builder.body_label)}
    joints = {label.rsplit("/", 1)[-1]: i for i, label in enumerate(builder.joint_label)}
    return Loaded(model, bodies, joints)


def body_states(loaded: Loaded, coordinates: Array) -> Array:
    """(bodies, 7) positions and quaternions xyzw that newton's forward kinematics gives for coordinates (n,)."""
    import warp as wp

    newton = engine.newton()
    with engine.quietly():
        state = loaded.model.state()
        state.joint_q.assign(wp.array(coordinates.astype(np.float32), device="cpu"))
        newton.eval_fk(loaded.model, state.joint_q, state.joint_qd, state)
        return np.array(state.body_q.numpy(), dtype=np.float64)


@dataclass(frozen=True)
class UsdBody:
    """A rigid body of a file: place (3,) and turn (3, 3) in the world, mass, centre (3,), inertia (3, 3) in its axes."""

    place: Array
    turn: Array
    mass: float
    centre: Array
    inertia: Array


@dataclass(frozen=True)
class UsdHinge:
    """A revolute joint of a file: its bodies, axis (3,), frames in them (3, 3), (3,), limits, drive gains in its own units."""

    bodies: tuple[str, str]
    axis: Array
    turns: tuple[Array, Array]
    places: tuple[Array, Array]
    limits: tuple[float, float]
    gains: tuple[float, float]


def read_bodies(stage: Usd.Stage) -> dict[str, UsdBody]:
    found = {}
    cache = UsdGeom.XformCache()
    for prim in stage.Traverse():
        if not prim.HasAPI(UsdPhysics.RigidBodyAPI):
            continue
        world = np.array(cache.GetLocalToWorldTransform(prim)).T
        mass = UsdPhysics.MassAPI(prim)
        axes = _matrix(mass.GetPrincipalAxesAttr().Get())
        inertia = axes @ np.diag(np.array(mass.GetDiagonalInertiaAttr().Get(), dtype=np.float64)) @ axes.T
        centre = np.array(mass.GetCenterOfMassAttr().Get(), dtype=np.float64)
        found[prim.GetName()] = UsdBody(world[:3, 3], world[:3, :3], mass.GetMassAttr().Get(), centre, inertia)
    return found


def read_hinges(stage: Usd.Stage) -> dict[str, UsdHinge]:
    found = {}
    for prim in stage.Traverse():
        if not prim.IsA(UsdPhysics.RevoluteJoint):
            continue
        joint, drive = UsdPhysics.RevoluteJoint(prim), UsdPhysics.DriveAPI(prim, "angular")
        found[prim.GetName()] = UsdHinge(
            (joint.GetBody0Rel().GetTargets()[0].name, joint.GetBody1Rel().GetTargets()[0].name),
            np.eye(3)["XYZ".index(joint.GetAxisAttr().Get())],
            (_matrix(joint.GetLocalRot0Attr().Get()), _matrix(joint.GetLocalRot1Attr().Get())),
            (np.array(joint.GetLocalPos0Attr().Get(), float), np.array(joint.GetLocalPos1Attr().Get(), float)),
            (joint.GetLowerLimitAttr().Get(), joint.GetUpperLimitAttr().Get()),
            (drive.GetStiffnessAttr().Get(), drive.GetDampingAttr().Get()),
        )
    return found


def played(stage: Usd.Stage, angles: dict[str, float], root: tuple[Array, Array]) -> dict[str, tuple[Array, Array]]:
    """Turns (3, 3) and places (3,) of bodies with hinges at these angles, radians, and the root body here: kinematics of our own."""
    bodies, hinges = read_bodies(stage), read_hinges(stage)
    child_of = {hinge.bodies[1] for hinge in hinges.values()}
    (first,) = [name for name in bodies if name not in child_of]
    found = {first: root}
    left = dict(hinges)
    while left:
        name = next(key for key, hinge in left.items() if hinge.bodies[0] in found)
        hinge = left.pop(name)
        turn, place = found[hinge.bodies[0]]
        inner = hinge.turns[0] @ Rotation.from_rotvec(angles.get(name, 0.0) * hinge.axis).as_matrix() @ hinge.turns[1].T
        found[hinge.bodies[1]] = turn @ inner, place + turn @ (hinge.places[0] - inner @ hinge.places[1])
    return found


def _matrix(quat: Any) -> Array:
    return Rotation.from_quat([*map(float, quat.GetImaginary()), float(quat.GetReal())]).as_matrix()

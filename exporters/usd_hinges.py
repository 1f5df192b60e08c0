"""Hinges of an articulation in UsdPhysics: flexion, abduction and twist of a joint, each with its limits and its drive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.exporters.articulated import HINGES, JOINTS, Articulated

if TYPE_CHECKING:
    from pxr import Gf, Usd, UsdPhysics

Array = NDArray[np.float64]

AXES: Final = ("X", "Z", "Y")
"""Of a hinge frame, in the order of the hinges."""
PER_DEGREE: Final = np.pi / 180.0
"""UsdPhysics has angles in degrees, and stiffness and damping a degree."""
WHOLE_TURN: Final = 360.0
"""Limits beyond this are none: simulators take no hinge that turns further."""


def add_hinges(stage: Usd.Stage, character: Articulated, i: int, root: str) -> None:
    """The three hinges between a body and its parent, by way of its two small bodies.

    Frames: the first hinge's in the parent is the joint's frame turned to the zero pose, the last one's in the body is the joint's frame;
    the small bodies' own axes are the frames between.
    """
    body = character.articulation.bodies[i]
    parent = character.articulation.bodies[body.parent]
    frame = character.frames[i]
    chain = [character.bodies[body.parent], *character.links[i], character.bodies[i]]
    offset = character.axes @ (body.origin - parent.origin)
    ends = [(frame @ character.coordinates.neutral[i], offset), (np.eye(3), np.zeros(3)), (np.eye(3), np.zeros(3))]
    for k, hinge in enumerate(HINGES):
        joint = _hinge(stage, f"{root}/{JOINTS}/{character.bodies[i]}_{hinge}", (f"{root}/{chain[k]}", f"{root}/{chain[k + 1]}"))
        joint.CreateAxisAttr(AXES[k])
        _set_frames(joint, ends[k], (frame if k == 2 else np.eye(3), np.zeros(3)))
        _set_limits(joint, character.limits[i, k])
        gains = character.articulation
        _drive(joint, float(gains.stiffness[i, k]), float(gains.damping[i, k]), float(gains.armature[i, k]))


def _hinge(stage: Usd.Stage, path: str, bodies: tuple[str, str]) -> UsdPhysics.RevoluteJoint:
    from pxr import UsdPhysics

    joint = UsdPhysics.RevoluteJoint.Define(stage, path)
    joint.CreateBody0Rel().SetTargets([bodies[0]])
    joint.CreateBody1Rel().SetTargets([bodies[1]])
    return joint


def _set_frames(joint: UsdPhysics.RevoluteJoint, parent: tuple[Array, Array], child: tuple[Array, Array]) -> None:
    """Turn (3, 3) and place (3,) of the hinge in either body."""
    joint.CreateLocalRot0Attr(_quat(parent[0]))
    joint.CreateLocalPos0Attr(_vector(parent[1]))
    joint.CreateLocalRot1Attr(_quat(child[0]))
    joint.CreateLocalPos1Attr(_vector(child[1]))


def _set_limits(joint: UsdPhysics.RevoluteJoint, span: Array) -> None:
    """Both, always: what has none is no degree of freedom to some."""
    low, high = np.degrees(span)
    free = low < -WHOLE_TURN or high > WHOLE_TURN
    joint.CreateLowerLimitAttr(float("-inf") if free else float(low))
    joint.CreateUpperLimitAttr(float("inf") if free else float(high))


def _drive(joint: UsdPhysics.RevoluteJoint, stiffness: float, damping: float, armature: float) -> None:
    """A force drive (N m/rad, N m s/rad) towards zero, and the inertia (kg m²) added to the hinge, in the words of PhysX and of Newton."""
    from pxr import Sdf, UsdPhysics

    prim = joint.GetPrim()
    drive = UsdPhysics.DriveAPI.Apply(prim, UsdPhysics.Tokens.angular)
    drive.CreateTypeAttr(UsdPhysics.Tokens.force)
    drive.CreateStiffnessAttr(stiffness * PER_DEGREE)
    drive.CreateDampingAttr(damping * PER_DEGREE)
    drive.CreateTargetPositionAttr(0.0)
    drive.CreateTargetVelocityAttr(0.0)
    drive.CreateMaxForceAttr(float("inf"))
    for schema, attribute in (("PhysxJointAPI", "physxJoint:armature"), ("NewtonJointAPI", "newton:armature")):
        prim.AddAppliedSchema(schema)
        prim.CreateAttribute(attribute, Sdf.ValueTypeNames.Float, False).Set(armature)


def _quat(turn: Array) -> Gf.Quatf:
    from pxr import Gf

    x, y, z, w = map(float, Rotation.from_matrix(turn).as_quat(canonical=True))
    return Gf.Quatf(w, x, y, z)


def _vector(values: Array) -> Gf.Vec3f:
    from pxr import Gf

    return Gf.Vec3f(*map(float, values))

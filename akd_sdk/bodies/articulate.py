"""A rig becomes an articulation: bodies on the anatomical tree, with the masses of what is inside the skin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.articulation import Articulation, Body, Shape
from akd_sdk.bodies.drives import drives_of
from akd_sdk.bodies.inertia import DENSITY, Masses, masses_of
from akd_sdk.bodies.rest_skin import RestSkin, rest_skin
from akd_sdk.bodies.shapes import bone_capsule, foot_box
from akd_sdk.bodies.tree import BodyTree, anatomy_followed, body_tree
from akd_sdk.bodies.volume import Flesh, flesh_inside
from akd_sdk.errors import RigError
from akd_sdk.kinematics import anatomical_axes
from akd_sdk.rig import Rig

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

TOP_HEAVY = 0.25
"""Share of the mass from which on a head is named in the notes."""


def articulate(rig: Rig) -> Articulation:
    """The bodies, joints and drives of a rig at its physical scale.

    Masses, centres of mass and inertias are those of the volume inside the skin at rest, at the density of water.

    Raises RigError: the pelvis is not known, there is no skin, or it holds no volume.
    """
    skeleton = rig.skeleton
    if skeleton.pelvis < 0:
        raise RigError("the pelvis is not known, so there is no tree for bodies to hang on", rig.source.path)
    skin = rest_skin(rig)
    rest = skeleton.rest_world[:, :3, 3]
    try:
        flesh = flesh_inside(skin, rig.facing, rest[skeleton.pelvis])
    except RigError as fault:
        raise fault.at(rig.source.path) from None
    follows, _ = anatomy_followed(skeleton)
    volumes = np.bincount(follows[_strongest(flesh, follows)], minlength=skeleton.count) * flesh.volume
    limbs = {point.joint: point.limb for point in rig.contact_points}
    carriers = {int(follows[j]): limb for j, limb in limbs.items()}
    tree = body_tree(skeleton, volumes, frozenset(carriers))
    owners = _strongest(flesh, tree.owners)
    origins = rest[tree.joints]
    masses = masses_of(flesh.points, owners, flesh.volume, origins, rig.height)
    axes = anatomical_axes(skeleton)[tree.joints]
    feet = tuple(carriers.get(int(j), "") for j in tree.joints)
    shapes = _shapes(rig, skin, tree, masses, feet)
    ground = _ground(shapes, origins, feet, skin)
    drives = drives_of(tree, masses, origins, axes, feet, max(float(origins[0, 1]) - ground, 0.0))
    bodies = tuple(
        Body(
            name=skeleton.names[j],
            joint=int(j),
            parent=int(tree.parents[i]),
            origin=origins[i],
            mass=float(masses.masses[i]),
            centre=masses.centres[i] - origins[i],
            inertia=masses.inertias[i],
            shape=shapes[i],
            foot=feet[i],
            merged=tree.merged(i),
            axes=axes[i],
            limits=skeleton.limits[j],
        )
        for i, j in enumerate(tree.joints)
    )
    return Articulation(rig.name, bodies, drives.stiffness, drives.damping, drives.armature, rig.height, ground)


def _strongest(flesh: Flesh, groups: Ints) -> Ints:
    """(p,) for each point the group with most of its weight; groups (joints,)."""
    from scipy.sparse import csr_matrix

    count = len(groups)
    gather = csr_matrix((np.ones(count), (np.arange(count), groups)), shape=(count, int(groups.max()) + 1))
    return np.asarray((flesh.weights @ gather).argmax(axis=1)).ravel().astype(np.int64)


def _shapes(rig: Rig, skin: RestSkin, tree: BodyTree, masses: Masses, feet: tuple[str, ...]) -> list[Shape]:
    from scipy.sparse import csr_matrix

    skeleton = rig.skeleton
    count = skeleton.count
    gather = csr_matrix((np.ones(count), (np.arange(count), tree.owners)), shape=(count, tree.count))
    owners = np.asarray((skin.weights @ gather).argmax(axis=1)).ravel()
    bones = anatomical_axes(skeleton)[:, :, 2]
    joints = np.array([p.joint for p in rig.contact_points], dtype=np.int64)
    soles = skeleton.points_at_rest(joints, np.array([p.offset for p in rig.contact_points]).reshape(-1, 3))
    shapes = []
    for body, joint in enumerate(tree.joints):
        points, origin = skin.points[owners == body], skeleton.rest_world[joint, :3, 3]
        if feet[body]:
            own = tree.owners[joints] == body
            heading = _heading(rig, soles, feet[body])
            shapes.append(foot_box(np.concatenate([points, soles[own]]), heading, origin, rig.height))
        else:
            ball = float(np.cbrt(0.75 * masses.masses[body] / (np.pi * DENSITY)))
            shapes.append(bone_capsule(points, bones[joint], origin, ball, rig.height))
    return shapes


def _heading(rig: Rig, soles: Array, limb: str) -> Array:
    """(3,) horizontal unit vector from heel to toe, the character's where they coincide."""
    ends = {p.kind: soles[i] for i, p in enumerate(rig.contact_points) if p.limb == limb}
    along = (ends["toe"] - ends["heel"]) * np.array([1.0, 0.0, 1.0]) if len(ends) == 2 else np.zeros(3)
    length = float(np.linalg.norm(along))
    return np.asarray(along / length) if length > 1e-3 * rig.height else rig.forward


def _ground(shapes: list[Shape], origins: Array, feet: tuple[str, ...], skin: RestSkin) -> float:
    """Height of the soles at rest; of the lowest skin where there are none."""
    upright = np.eye(3)[None]
    soles = [float(shapes[i].lowest(upright, origins[i][None])[0]) for i in range(len(feet)) if feet[i]]
    return min(soles) if soles else float(skin.points[:, 1].min())

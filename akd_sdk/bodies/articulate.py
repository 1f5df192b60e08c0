"""A rig becomes an articulation: bodies on the anatomical tree, with the masses of what is inside the skin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.articulation import Articulation, Body
from akd_sdk.bodies.drives import drives_of
from akd_sdk.bodies.feet import feet_of, sole_height, stance_of
from akd_sdk.bodies.inertia import Masses, masses_of, shared
from akd_sdk.bodies.rest_skin import RestSkin, rest_skin
from akd_sdk.bodies.shapes import shapes_of
from akd_sdk.bodies.tree import BodyTree, anatomy_followed, body_tree
from akd_sdk.bodies.volume import flesh_inside
from akd_sdk.errors import RigError
from akd_sdk.kinematics import anatomical_axes
from akd_sdk.rig import Rig

Array = NDArray[np.float64]

TOP_HEAVY = 0.25
"""Share of the mass from which on a head is named in the notes."""


def articulate(rig: Rig) -> Articulation:
    """The bodies, joints and drives of a rig at its physical scale.

    Bodies hang on the anatomical tree, the pelvis's first. Masses, centres of mass and inertias are those of the volume inside the skin
    at rest at the density of water; every part of it is shared among the bodies as the skin around it is. Small branches and joints that
    are no anatomy are merged into the body that they follow.

    Raises RigError: the pelvis is not known, there is no skin, or it holds no volume.
    """
    skeleton = rig.skeleton
    if skeleton.pelvis < 0:
        raise RigError("the pelvis is not known, so there is no tree that bodies could hang on", rig.source.path)
    skin = rest_skin(rig)
    rest = skeleton.rest_world[:, :3, 3]
    try:
        flesh = flesh_inside(skin, rig.facing, rest[skeleton.pelvis])
    except RigError as fault:
        raise fault.at(rig.source.path) from None
    follows, _ = anatomy_followed(skeleton)
    volumes = np.asarray(shared(flesh, follows, skeleton.count).sum(axis=0)).ravel() * flesh.volume
    carriers = {int(follows[point.joint]): point.limb for point in rig.contact_points}
    tree = body_tree(skeleton, volumes, frozenset(carriers))
    masses = masses_of(flesh, tree.owners, rest[tree.joints], rig.height)
    return _assembled(rig, skin, tree, masses, tuple(carriers.get(int(j), "") for j in tree.joints))


def _assembled(rig: Rig, skin: RestSkin, tree: BodyTree, masses: Masses, limbs: tuple[str, ...]) -> Articulation:
    skeleton = rig.skeleton
    origins = skeleton.rest_world[tree.joints, :3, 3]
    axes = anatomical_axes(skeleton)[tree.joints]
    stance = stance_of(rig)
    feet = feet_of(rig, stance, tree, limbs)
    shapes = shapes_of(rig, skin, tree, (stance, feet), masses)
    ground = sole_height(shapes, origins, feet, float(skin.points[:, 1].min()))
    drives = drives_of(tree, masses, axes, origins, limbs, float(origins[0, 1]) - ground)
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
            foot=limbs[i],
            merged=tree.merged(i),
            axes=axes[i],
            limits=skeleton.limits[j],
        )
        for i, j in enumerate(tree.joints)
    )
    return Articulation(
        name=rig.name,
        bodies=bodies,
        stiffness=drives.stiffness,
        damping=drives.damping,
        armature=drives.armature,
        height=rig.height,
        ground_at_rest=ground,
        notes=_notes(rig, skin, tree, masses),
    )


def _notes(rig: Rig, skin: RestSkin, tree: BodyTree, masses: Masses) -> tuple[str, ...]:
    """What is odd about the bodies."""
    notes = []
    for chain in rig.skeleton.chains:
        head = int(tree.owners[chain.joints[-1]])
        share = float(masses.masses[list(tree.below(head))].sum()) / masses.total
        if chain.kind == "neck" and head > 0 and share > TOP_HEAVY:
            notes.append(f"top-heavy: the head ({rig.skeleton.names[tree.joints[head]]}) has {100 * share:.0f} % of the mass")
    if skin.open_edges > 0.0:
        notes.append(f"the skin is open ({100 * skin.open_edges:.2g} % of its edges): what is inside was told by how far it is enclosed")
    light = [rig.skeleton.names[j] for j in tree.joints[masses.lifted]]
    if light:
        more = f" and {len(light) - 4} more" if len(light) > 4 else ""
        least = 100 * float(masses.masses[masses.lifted][0]) / masses.total
        notes.append(f"lighter than {least:.2g} % of the mass and raised to it: {', '.join(light[:4])}{more}")
    return tuple(notes)

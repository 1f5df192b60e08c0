"""Anatomy: what a rig is, found from rest geometry, tree and skin weights alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.chains import find_chains
from akd_sdk.rig.evidence import Evidence, gather
from akd_sdk.rig.frames import bone_directions, local_frames, world_frames
from akd_sdk.rig.limits import joint_limits
from akd_sdk.rig.naming import Labels, label
from akd_sdk.rig.parts import Parts, find_parts
from akd_sdk.rig.rig import Skin
from akd_sdk.rig.skeleton import ContactPoint, Skeleton
from akd_sdk.rig.soles import find_soles, leg_length
from akd_sdk.rig.symmetry import find_mirror
from akd_sdk.rig.tips import add_tips

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

HUMAN_EXTENT_M = 1.7
"""Largest extent of the anatomical joints' rest positions at human size."""


@dataclass(frozen=True)
class Anatomy:
    """A skeleton with its anatomy. Lengths are in the unit of the skeleton that was looked at.

    Attributes:
        skeleton: with solve parents, frames, limits, groups, sides, chains, roles, pelvis and tips.
        body: "biped", "quadruped", "bird" or "unknown".
        forward: (3,) horizontal unit vector, where the character faces at rest.
        contact_points: heel and toe of each foot.
        leg_length: rest path from hip to sole, mean over hind legs; 0 where there are no legs.
        human_scale: what lengths are multiplied by to be metres at human size (1.7 m: the largest extent of the anatomical joints
            across, up or ahead).
        notes: what is unknown or doubtful, with the reason.
    """

    skeleton: Skeleton
    body: str
    forward: Array
    contact_points: tuple[ContactPoint, ...]
    leg_length: float
    human_scale: float
    notes: tuple[str, ...]


def complete(skeleton: Skeleton, skins: tuple[Skin, ...]) -> Anatomy:
    """Find the anatomy of a bare skeleton with its skins, in any unit, Y up.

    Names, the order of joints and the turn about Y have no influence. Where something cannot be told, its group is "unknown" and a
    note says why; nothing is raised.
    """
    evidence = gather(skeleton, skins)
    parts = find_parts(evidence, find_mirror(evidence))
    labels = label(evidence, parts)
    chains, tips = add_tips(evidence, parts, find_chains(evidence, parts, labels))
    rest = skeleton.rest_world[:, :3, 3]
    forward = _at_rest(evidence, parts)
    left = np.array([forward[2], 0.0, -forward[0]])
    solved = replace(
        skeleton,
        solve_parents=_solve_parents(evidence, parts, labels),
        groups=labels.groups,
        sides=labels.sides,
        chains=chains,
        roles=labels.roles,
        pelvis=parts.pelvis,
        tips=tips,
    )
    directions = bone_directions(rest, solved.solve_parents, solved.solve_order, chains, parts.pelvis)
    axes = world_frames(directions, labels.sides, left)
    known = parts.body != "unknown"
    return Anatomy(
        skeleton=replace(
            solved,
            frames=local_frames(axes, skeleton.rest_world),
            limits=joint_limits(skeleton.count, chains if known else (), axes, parts.body == "biped"),
        ),
        body=parts.body,
        forward=forward,
        contact_points=find_soles(evidence, parts, chains) if known else (),
        leg_length=leg_length(evidence, rest, chains),
        human_scale=_human_scale(rest @ np.stack([left, np.array([0.0, 1.0, 0.0]), forward], axis=1), labels),
        notes=(*parts.notes, *_left_over(skeleton, parts), *_rehung(skeleton, parts)),
    )


def _left_over(skeleton: Skeleton, parts: Parts) -> tuple[str, ...]:
    """Says which joints are unknown in a body that is known."""
    if not parts.rest or parts.body == "unknown":
        return ()
    return (f"no limb, head or tail, so they follow the trunk: {_listed(skeleton, parts.rest)}",)


def _rehung(skeleton: Skeleton, parts: Parts) -> tuple[str, ...]:
    """Says which joints of the body hang on a control or on the armature in the file."""
    tops = [
        j for j in np.flatnonzero(parts.tree.body & (parts.tree.parents >= 0)).tolist()
        if skeleton.parents[j] < 0 or not parts.tree.body[skeleton.parents[j]]
    ]  # fmt: skip
    return (f"on no joint of the body in the file, hung on it by their skin: {_listed(skeleton, tops)}",) if tops else ()


def _listed(skeleton: Skeleton, joints: list[int]) -> str:
    """Up to four names and how many more."""
    more = f" and {len(joints) - 4} more" if len(joints) > 4 else ""
    return ", ".join(skeleton.names[j] for j in joints[:4]) + more


def _at_rest(evidence: Evidence, parts: Parts) -> Array:
    """The facing carried from the pose looked at to the rest pose by the trunk, made horizontal."""
    joints = parts.trunk or [parts.tree.root]
    turned = evidence.turns[joints].mean(0) @ parts.facing.forward if evidence.posed else parts.facing.forward
    turned = np.array([turned[0], 0.0, turned[2]])
    length = float(np.linalg.norm(turned))
    return np.asarray(turned / length) if length > 1e-6 else parts.facing.forward


def _solve_parents(evidence: Evidence, parts: Parts, labels: Labels) -> Ints:
    """The body's tree; what is no body hangs on its parent in the file, ancestors of the body stay still.

    A control or an ancestor to which stray vertices are bound follows the joint of the body (for one of the middle: of the middle) that
    shares most skin with it: vertices that stayed behind would tear the skin.
    """
    still = [role == "ancestor" for role in labels.roles]
    parents = parts.tree.parents.copy()
    body = np.flatnonzero(parts.tree.body)
    for j in np.flatnonzero(~parts.tree.body):
        parent = int(evidence.parents[j])
        if evidence.mass[j] > 0.0:
            touch = evidence.touch[j, body] * ((parts.sides[body] == 0) | (parts.sides[j] == parts.sides[body]))
            parents[j] = body[int(touch.argmax())] if touch.max() > 0.0 else parts.tree.root
        else:
            parents[j] = -1 if still[j] or parent < 0 or still[parent] else parent
    return parents


def _human_scale(rest: Array, labels: Labels) -> float:
    """For rest positions (joints, 3) in the character frame."""
    anatomical = [j for j, role in enumerate(labels.roles) if role in ("anatomy", "unknown")] or list(range(len(rest)))
    extent = float(np.ptp(rest[anatomical], axis=0).max())
    return HUMAN_EXTENT_M / extent if extent > 1e-12 else 1.0

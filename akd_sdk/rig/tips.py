"""Virtual tips: where the skin of the last joint of a chain ends, since a leaf has no child to show it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.evidence import Evidence
from akd_sdk.rig.parts import Parts
from akd_sdk.rig.skeleton import Chain, Tip

Array = NDArray[np.float64]

TIP_KINDS = {"leg": "toe", "foreleg": "toe", "arm": "hand", "wing": "hand", "neck": "head", "tail": "tail", "finger": "other"}

BARE_FOOT = 0.15
"""Shares of the leg's height that a foot without skin is taken to reach ahead of the ankle."""


def add_tips(evidence: Evidence, parts: Parts, chains: tuple[Chain, ...]) -> tuple[tuple[Chain, ...], tuple[Tip, ...]]:
    """The chains with their tips' indices, and the tips; a last joint without skin has its tip on the far side of its last bone."""
    tips: list[Tip] = []
    found = []
    for chain in chains:
        kind = TIP_KINDS.get(chain.kind)
        if kind is None:
            found.append(chain)
            continue
        joint = chain.joints[-1]
        point = _point(evidence, parts, chain, kind)
        tips.append(Tip(kind, joint, evidence.offset(joint, point)))
        found.append(replace(chain, tip=len(tips) - 1))
    return tuple(found), tuple(tips)


def _point(evidence: Evidence, parts: Parts, chain: Chain, kind: str) -> Array:
    """The tip in the pose looked at, body heights."""
    joint = chain.joints[-1]
    here = evidence.positions[joint]
    points = evidence.points_of([joint])
    if len(points) < 3:
        points = evidence.points_of(parts.tree.below(joint))
    forward, left = parts.facing.forward, parts.facing.left
    if len(points) < 3:
        return _beyond(evidence, parts, chain, kind)
    along, across = points @ forward, points @ left
    if kind == "toe":
        return _compose(forward, left, float(along.max()), float(points[:, 1].min()), float(here @ left))
    if kind == "head":
        middle = float(here @ left)
        if parts.animal:
            foremost = points[along >= along.max() - 0.01]
            return _compose(forward, left, float(along.max()), float(foremost[:, 1].mean()), middle)
        return _compose(forward, left, float(here @ forward), float(points[:, 1].max()), middle)
    distance = np.linalg.norm(points - here, axis=1)
    far = points[distance >= 0.97 * distance.max()].mean(0)
    if kind == "tail":
        return np.asarray(far + (float(here @ left) - float(np.mean(across[distance >= 0.97 * distance.max()]))) * left)
    return np.asarray(far)


def _compose(forward: Array, left: Array, ahead: float, height: float, across: float) -> Array:
    return np.asarray(ahead * forward + across * left + np.array([0.0, height, 0.0]))


def _beyond(evidence: Evidence, parts: Parts, chain: Chain, kind: str) -> Array:
    """Half a bone on from a joint without skin; a foot that ends at the ankle points ahead."""
    joint = chain.joints[-1]
    here = evidence.positions[joint]
    parent = int(parts.tree.parents[joint])
    bone = here - evidence.positions[parent] if parent >= 0 else np.array([0.0, 0.1, 0.0])
    if kind == "toe" and abs(bone[1]) > np.hypot(bone[0], bone[2]):
        return np.asarray(here + BARE_FOOT * abs(float(evidence.positions[chain.joints[0], 1] - here[1])) * parts.facing.forward)
    return np.asarray(here + 0.5 * bone)

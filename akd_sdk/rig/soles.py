"""Soles: heel and toe of each foot, and the length of a leg."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.rig.evidence import Evidence
from akd_sdk.rig.parts import Parts
from akd_sdk.rig.skeleton import Chain, ContactPoint
from akd_sdk.rig.tips import BARE_FOOT

Array = NDArray[np.float64]

SOLE_THICKNESS = 0.06
"""Shares of the leg's height: vertices this near to a foot's lowest one are its sole."""

ANKLE_HEIGHT = 0.3
"""Shares of the leg's height: the first joint of a leg lower than this is where the way to the sole ends."""


def find_soles(evidence: Evidence, parts: Parts, chains: tuple[Chain, ...]) -> tuple[ContactPoint, ...]:
    """Heel and toe of each leg: the hindmost and the foremost of the lowest skin, in the axes of the joint that carries it."""
    found = []
    for chain in chains:
        if chain.kind not in ("leg", "foreleg") or chain.side == 0:
            continue
        limb = ("L" if chain.side == 1 else "R") + ("H" if chain.kind == "leg" else "F")
        for kind, joint, point in _heel_and_toe(evidence, parts, chain):
            found.append(ContactPoint(kind, limb, joint, evidence.offset(joint, point)))
    return tuple(found)


def _heel_and_toe(evidence: Evidence, parts: Parts, chain: Chain) -> list[tuple[str, int, Array]]:
    forward, left = parts.facing.forward, parts.facing.left
    of_leg = evidence.vertices_of(parts.tree.below(chain.joints[0]))
    points, owners = evidence.points[of_leg], evidence.owners[of_leg]
    if len(points) < 3:
        return _bare_foot(evidence, parts, chain)
    low = float(points[:, 1].min())
    tall = max(float(evidence.positions[chain.joints[0], 1]) - low, 1e-6)
    sole = points[:, 1] <= low + SOLE_THICKNESS * tall
    points, owners = points[sole], owners[sole]
    along = points @ forward
    length = max(float(np.ptp(along)), 1e-9)
    found = []
    for kind, near in (("heel", along <= along.min() + 0.15 * length), ("toe", along >= along.max() - 0.15 * length)):
        ahead = float(along.min() if kind == "heel" else along.max())
        lowest = float(points[near, 1].min())
        across = points[near] @ left
        point = ahead * forward + 0.5 * float(across.min() + across.max()) * left + np.array([0.0, lowest, 0.0])
        carriers, counts = np.unique(owners[near], return_counts=True)
        deepest = max(zip(counts, (len(parts.tree.path_up(int(c))) for c in carriers), carriers, strict=True))
        found.append((kind, int(deepest[2]), np.asarray(point)))
    return found


def _bare_foot(evidence: Evidence, parts: Parts, chain: Chain) -> list[tuple[str, int, Array]]:
    """Heel and toe of a leg without skin: on the ground under its last joint and half a bone ahead of it."""
    joint = chain.joints[-1]
    here = evidence.positions[joint].copy()
    low = float(evidence.positions[parts.tree.below(chain.joints[0]), 1].min())
    here[1] = low
    tall = float(evidence.positions[chain.joints[0], 1]) - low
    return [("heel", joint, here), ("toe", joint, np.asarray(here + BARE_FOOT * tall * parts.facing.forward))]


def leg_length(evidence: Evidence, rest: Array, chains: tuple[Chain, ...]) -> float:
    """Mean over the hind legs of the rest path from hip to sole, in the unit of `rest` (joints, 3); 0 without legs."""
    lengths = []
    for chain in chains:
        if chain.kind != "leg":
            continue
        heights = evidence.positions[list(chain.joints), 1]
        tall = max(float(heights[0]), 1e-9)
        low = np.flatnonzero(heights < ANKLE_HEIGHT * tall)
        last = int(low[0]) if len(low) else len(heights) - 1
        path = rest[list(chain.joints[: last + 1])]
        lengths.append(float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum()) + max(float(heights[last]), 0.0) * evidence.height)
    return float(np.mean(lengths)) if lengths else 0.0

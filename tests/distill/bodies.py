"""Rigs made from drawn bodies: every token a joint, legs as chains, soles as contact points; no file, no skin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from akd_sdk.rig import Chain, ContactPoint, Rig, Skeleton, Source, Transforms
from akd_sdk.training.bodies import draw_body
from akd_sdk.views.tokens import GROUPS, Tokens

METRES_PER_HIP = 0.8


def bone_frames(rest: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """(joints, 4) frames with y along the bone to the first child (a leaf: from its parent) and x nearest to the left, or to up."""
    frames = []
    for j in range(len(rest)):
        children = np.flatnonzero(parents == j)
        along = rest[children[0]] - rest[j] if len(children) else rest[j] - rest[max(parents[j], 0)]
        y = along / np.linalg.norm(along) if np.linalg.norm(along) > 1e-9 else np.array([0.0, 1.0, 0.0])
        across = np.array([0.0, 1.0, 0.0]) if abs(y[0]) > 0.85 else np.array([1.0, 0.0, 0.0])
        x = across - y * (across @ y)
        x /= np.linalg.norm(x)
        frames.append(Rotation.from_matrix(np.stack([x, y, np.cross(x, y)], axis=1)).as_quat())
    return np.array(frames)


def rig_of(tokens: Tokens) -> tuple[Rig, Tokens]:
    """A rig whose joints are the tokens, and the tokens with their joints."""
    count = tokens.count
    rest = tokens.rest * METRES_PER_HIP
    parents = tokens.parents
    local = np.where(parents[:, None] >= 0, rest - rest[np.maximum(parents, 0)], rest)
    legs = {limb: _leg(tokens, limb) for limb in tokens.feet}
    skeleton = Skeleton(
        names=tokens.names,
        source_names=tokens.names,
        nodes=np.arange(count),
        parents=parents,
        rest=Transforms(local, np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)), np.ones((count, 3))),
        solve_parents=parents.copy(),
        frames=bone_frames(rest, parents),
        limits=np.tile([-3.0, 3.0], (count, 3, 1)),
        groups=tuple(GROUPS[g] for g in tokens.groups),
        sides=tokens.sides,
        chains=tuple(Chain("leg" if limb.endswith("H") else "foreleg", 1 if limb[0] == "L" else 2, leg) for limb, leg in legs.items()),
        roles=("anatomy",) * count,
        pelvis=0,
    )
    points = tuple(ContactPoint("toe", limb, leg[-1], np.zeros(3)) for limb, leg in legs.items())
    lengths = [np.linalg.norm(np.diff(rest[list(leg)], axis=0), axis=1).sum() for limb, leg in legs.items() if limb.endswith("H")]
    source = Source(Path("drawn"), "made", 1.0, np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.ones(count))
    rig = Rig(
        name="drawn",
        skeleton=skeleton,
        skins=(),
        clips=(),
        source=source,
        body=tokens.body,
        height=float(np.ptp(rest[:, 1])),
        forward=np.array([0.0, 0.0, 1.0]),
        contact_points=points,
        leg_length=float(np.mean(lengths)),
        human_scale=1.7 / float(np.ptp(rest, axis=0).max()),
    )
    placed = Tokens(
        tokens.names, tokens.rest, parents, tokens.groups, tokens.sides, tokens.chain,
        np.arange(count), np.full(count, -1), tokens.feet, tokens.hips, tokens.body,
    )  # fmt: skip
    return rig, placed


def _leg(tokens: Tokens, limb: str) -> tuple[int, ...]:
    joint, chain = tokens.feet[limb], []
    while joint != tokens.parents[tokens.hips[limb]]:
        chain.append(joint)
        joint = int(tokens.parents[joint])
    return tuple(reversed(chain))


def drawn_rig(seed: int, kind: str) -> tuple[Rig, Tokens]:
    """A random body of that kind as a rig."""
    return rig_of(draw_body(np.random.default_rng(seed), kind).tokens())

"""Symmetry: the upright mirror plane of a body, proposed by its joints and confirmed by its skin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from akd_sdk.rig.evidence import Evidence
from akd_sdk.rig.mirror import Mirror, Subtrees, subtrees_of
from akd_sdk.rig.twins import find_twins

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SAMPLE = 900
"""Vertices that a candidate plane is tried on."""

PROMISING = 4
"""Of all directions and centres proposed, this many are refined."""

TRIM = 0.85
"""Share of the best matches that judge a plane: swords, capes and tilted ears are no argument against it."""


def find_mirror(evidence: Evidence) -> Mirror:
    """The mirror plane that votes of sibling joints propose and the skin confirms."""
    subtrees = subtrees_of(evidence)
    cloud = evidence.points if evidence.covered and len(evidence.points) >= 60 else evidence.positions
    coarse, sample = cloud[:: max(1, len(cloud) // 250)], cloud[:: max(1, len(cloud) // SAMPLE)]
    tree = cKDTree(cloud)
    tried = sorted(
        (_misfit(coarse, tree, angle, offset), angle, offset)
        for angle in _candidates(evidence, subtrees)
        for offset in _offsets(cloud @ _normal(angle), evidence.positions @ _normal(angle))
    )
    error, fine, offset = min(_refine(sample, tree, start) for start in tried[:PROMISING])
    mirror = Mirror(_normal(fine), offset, np.arange(evidence.count), error)
    for _ in range(2):
        twin = find_twins(evidence, subtrees, mirror)
        mirror = _settle(evidence, mirror, twin)
    return mirror


def _normal(angle: float) -> Array:
    return np.array([np.cos(angle), 0.0, np.sin(angle)])


def _candidates(evidence: Evidence, subtrees: Subtrees) -> list[float]:
    """Directions across the body, radians, that pairs of like siblings propose, strongest first."""
    votes: list[tuple[float, float]] = []
    for family in [*evidence.children, [int(j) for j in np.flatnonzero(evidence.parents < 0)]]:
        for i, a in enumerate(family):
            for b in family[i + 1 :]:
                if subtrees.sizes[a] != subtrees.sizes[b]:
                    continue
                across = subtrees.centres[a] - subtrees.centres[b]
                flat = float(np.hypot(across[0], across[2]))
                if flat < 0.02 or abs(across[1]) > flat:
                    continue
                heavier = max(subtrees.mass[a], subtrees.mass[b])
                alike = 1.0 if heavier <= 0.0 else float(min(subtrees.mass[a], subtrees.mass[b]) / heavier)
                votes.append((float(np.arctan2(across[2], across[0])) % np.pi, (0.05 + alike**2) * flat * float(subtrees.sizes[a])))
    angles = np.array([v[0] for v in votes] + list(np.linspace(0.0, np.pi, 12, endpoint=False) + _principal(evidence)))
    weights = np.array([v[1] for v in votes] + [1e-3] * 12)
    chosen: list[float] = []
    strength = np.array([float((weights * np.exp(-((_apart(angles, a) / 0.12) ** 2))).sum()) for a in angles])
    for k in np.argsort(-strength, kind="stable"):
        if all(_apart(np.array([angles[k]]), c)[0] > 0.12 for c in chosen):
            chosen.append(float(angles[k]))
    return chosen[:10]


def _principal(evidence: Evidence) -> float:
    """The horizontal direction of the longest spread, so that the fallback candidates turn with the file."""
    cloud = evidence.points if evidence.covered else evidence.positions
    flat = cloud[:, [0, 2]] - cloud[:, [0, 2]].mean(0)
    _, vectors = np.linalg.eigh(flat.T @ flat)
    return float(np.arctan2(vectors[1, -1], vectors[0, -1]))


def _apart(angles: Array, angle: float) -> Array:
    """Angle between undirected directions, 0 to pi/2."""
    return np.asarray(np.abs((angles - angle + np.pi / 2) % np.pi - np.pi / 2))


def _misfit(sample: Array, tree: cKDTree, angle: float, offset: float) -> float:
    normal = _normal(angle)
    mirrored = sample - 2.0 * (sample @ normal - offset)[:, None] * normal
    distances = np.sort(tree.query(mirrored)[0])
    return float(distances[: max(1, int(TRIM * len(distances)))].mean())


def _offsets(skin: Array, joints: Array) -> list[float]:
    """Where a plane may lie along its normal: at the mean and the middle of the skin, the median of the joints."""
    return [float(skin.mean()), float(skin.min() + skin.max()) / 2.0, float(np.median(joints))]


def _refine(sample: Array, tree: cKDTree, start: tuple[float, float, float]) -> tuple[float, float, float]:
    """Error, angle and offset of the best plane near a promising one, by steps that halve."""
    _, angle, offset = start
    best = (_misfit(sample, tree, angle, offset), angle, offset)
    centre = sample.mean(0)
    turn, shift = 0.08, 0.03
    for _ in range(6):
        for d_angle, d_offset in ((turn, 0.0), (-turn, 0.0), (0.0, shift), (0.0, -shift)):
            new_angle = best[1] + d_angle
            carried = best[2] + float(centre @ (_normal(new_angle) - _normal(best[1]))) + d_offset
            best = min(best, (_misfit(sample, tree, new_angle, carried), new_angle, carried))
        turn, shift = turn / 2, shift / 2
    return best


def _settle(evidence: Evidence, mirror: Mirror, twin: Ints) -> Mirror:
    """The plane that the paired joints themselves ask for: robust mean of the directions between twins."""
    first = np.array([j for j in range(evidence.count) if twin[j] > j], dtype=np.int64)
    if not len(first):
        return Mirror(mirror.normal, mirror.offset, twin, mirror.error)
    a, b = evidence.positions[first], evidence.positions[twin[first]]
    across = a - b
    across[:, 1] = 0.0
    across *= np.sign(across @ mirror.normal)[:, None]
    normal = mirror.normal
    for _ in range(10):
        stray = np.linalg.norm(across - (across @ normal)[:, None] * normal, axis=1)
        weights = 1.0 / (stray + 0.002)
        total = (weights[:, None] * across).sum(0)
        length = float(np.linalg.norm(total))
        if length < 1e-9:
            break
        normal = total / length
    if abs(float(normal @ mirror.normal)) < np.cos(0.12):
        normal = mirror.normal
    stray = np.linalg.norm(across - (across @ normal)[:, None] * normal, axis=1)
    middles = (a + b) @ normal / 2
    order = np.argsort(middles)
    heaps = np.cumsum((1.0 / (stray + 0.002))[order])
    offset = float(middles[order][np.searchsorted(heaps, heaps[-1] / 2)])
    return Mirror(normal, offset, twin, mirror.error)

"""A rig in disguise: joints renamed at random, reordered, the file turned about Y and rescaled; and where everything went."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from akd_sdk.rig import Skeleton, Skin, Transforms
from akd_sdk.rotations import quat_from_rotvec, quat_multiply, quat_rotate

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Disguise:
    """A disguised rig, bare; `new_of` (joints,) is the new index of each old joint, `turn` (3, 3) and `scale` map old to new places."""

    skeleton: Skeleton
    skins: tuple[Skin, ...]
    new_of: Ints
    turn: Array
    scale: float


def bare_copy(skeleton: Skeleton) -> Skeleton:
    """The skeleton without its anatomy."""
    return Skeleton.bare(skeleton.names, skeleton.source_names, skeleton.nodes, skeleton.parents, skeleton.rest)


def disguise(skeleton: Skeleton, skins: tuple[Skin, ...], rng: Generator, angle_rad: float, scale: float) -> Disguise:
    """Rename, reorder, turn and rescale a rig."""
    old_of = _shuffled_order(skeleton.parents, rng)
    new_of = np.argsort(old_of)
    parents = skeleton.parents[old_of]
    parents = np.where(parents >= 0, new_of[np.maximum(parents, 0)], -1)
    turn = quat_from_rotvec(np.array([0.0, angle_rad, 0.0]))
    roots = parents < 0
    translations = skeleton.rest.translations[old_of] * scale
    rotations = skeleton.rest.rotations[old_of].copy()
    translations[roots] = quat_rotate(turn, translations[roots])
    rotations[roots] = quat_multiply(np.broadcast_to(turn, rotations[roots].shape), rotations[roots])
    names = [f"{value:x}" for value in rng.permutation(10 * len(parents))[: len(parents)]]
    disguised = Skeleton.bare(
        names, names, skeleton.nodes[old_of], parents, Transforms(translations, rotations, skeleton.rest.scales[old_of])
    )
    enlarge = np.diag([scale, scale, scale, 1.0])
    moved = tuple(
        replace(skin, name="", joints=new_of[skin.joints], inverse_binds=enlarge @ skin.inverse_binds[old_of]) for skin in skins
    )
    s, c = np.sin(angle_rad), np.cos(angle_rad)
    return Disguise(disguised, moved, new_of, np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]), scale)


def _shuffled_order(parents: Ints, rng: Generator) -> Ints:
    """Old indices in a random order with parents first."""
    waiting = {j: int(parents[j]) for j in range(len(parents))}
    order: list[int] = []
    done: set[int] = {-1}
    while waiting:
        ready = [j for j, parent in waiting.items() if parent in done]
        j = ready[int(rng.integers(len(ready)))]
        order.append(j)
        done.add(j)
        del waiting[j]
    return np.array(order, dtype=np.int64)

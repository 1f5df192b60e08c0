"""Which joints become bodies, in which order, and what follows them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from akd_sdk.bodies.tree import SMALL, body_tree
from akd_sdk.rig import Skeleton, Transforms

# A trunk (0, 1) with a leg (2, 3, 4), an ear (5, 6) and a socket (7) on it, below a root that stays still (8).
PARENTS = (-1, 0, 0, 2, 3, 1, 5, 6)


def skeleton(roles: dict[int, str] | None = None) -> Skeleton:
    count = len(PARENTS)
    rest = Transforms(np.zeros((count, 3)), np.tile((0.0, 0.0, 0.0, 1.0), (count, 1)), np.ones((count, 3)))
    names = [f"j{i}" for i in range(count)]
    bare = Skeleton.bare(names, names, np.arange(count), np.array(PARENTS), rest)
    return replace(bare, pelvis=0, roles=tuple((roles or {}).get(i, "anatomy") for i in range(count)))


def volumes(**of: float) -> np.ndarray:
    return np.array([of.get(f"j{i}", 1.0) for i in range(len(PARENTS))])


def test_every_branch_lies_in_one_piece() -> None:
    tree = body_tree(skeleton(), volumes(), frozenset())
    assert tree.joints.tolist() == [0, 1, 5, 6, 7, 2, 3, 4]
    assert tree.parents.tolist() == [-1, 0, 1, 2, 3, 0, 5, 6]
    assert list(tree.below(1)) == [1, 2, 3, 4]


def test_small_branches_are_merged_whole_into_what_they_hang_on() -> None:
    small = 0.3 * SMALL
    tree = body_tree(skeleton(), volumes(j5=small, j6=small, j7=small), frozenset())
    assert tree.joints.tolist() == [0, 1, 2, 3, 4]
    assert tree.merged(1) == (5, 6, 7)


def test_a_small_joint_that_has_more_below_it_stays_a_body() -> None:
    tree = body_tree(skeleton(), volumes(j5=0.0, j6=0.0), frozenset())
    assert {5, 6, 7} <= set(tree.joints.tolist())


def test_a_small_foot_is_kept_with_all_on_the_way_to_it() -> None:
    tree = body_tree(skeleton(), volumes(j2=0.0, j3=0.0, j4=0.0), frozenset({4}))
    assert {2, 3, 4} <= set(tree.joints.tolist())
    assert not {2, 3, 4} & set(body_tree(skeleton(), volumes(j2=0.0, j3=0.0, j4=0.0), frozenset()).joints.tolist())


@pytest.mark.parametrize("role", ["socket", "control"])
def test_what_is_no_anatomy_follows_what_it_hangs_on_however_large(role: str) -> None:
    tree = body_tree(skeleton({6: role, 7: role}), volumes(j7=100.0), frozenset())
    assert tree.joints.tolist() == [0, 1, 5, 2, 3, 4]
    assert tree.merged(tree.joints.tolist().index(5)) == (6, 7)


def test_what_stays_still_follows_nothing_and_counts_to_the_pelvis() -> None:
    still = skeleton({1: "ancestor"})
    still = replace(still, solve_parents=np.array([-1, -1, 0, 2, 3, 0, 5, 6]))
    tree = body_tree(still, volumes(), frozenset())
    assert tree.owners[1] == 0
    assert 1 not in tree.merged(0)
    assert not tree.moved[1]

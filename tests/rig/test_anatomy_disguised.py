"""What a rig is found to be does not depend on names, order, facing in the file, or unit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from disguise import Disguise, bare_copy, disguise
from numpy.typing import NDArray
from opened import opened

from akd_sdk.rig import Anatomy, complete

Array = NDArray[np.float64]

FIVE = (
    "khronos/Fox.glb",
    "quaternius/animals_pack/Wolf.glb",
    "quaternius/animals_pack/Deer.glb",
    "khronos/CesiumMan.glb",
    "kaykit_adventurers/Knight.glb",
)
SAME_SHARE = 1e-5
"""Of the body's height: two ways of rounding, no more."""
TURNS = ((0, 0.7, 3.0), (1, 2.6, 0.01), (2, -1.9, 100.0))


def check_same(found: Anatomy, again: Anatomy, worn: Disguise) -> None:
    """`again`, found of the disguise, is `found` in new places."""
    new_of, old, new = worn.new_of, found.skeleton, again.skeleton
    assert again.body == found.body
    assert [new.groups[j] for j in new_of] == list(old.groups)
    assert [new.roles[j] for j in new_of] == list(old.roles)
    np.testing.assert_array_equal(new.sides[new_of], old.sides)
    hung = np.where(old.solve_parents >= 0, new_of[np.maximum(old.solve_parents, 0)], -1)
    np.testing.assert_array_equal(new.solve_parents[new_of], hung)
    assert new.pelvis == new_of[old.pelvis]
    expected = {(c.kind, c.side, tuple(int(new_of[j]) for j in c.joints)) for c in old.chains}
    assert {(c.kind, c.side, c.joints) for c in new.chains} == expected
    check_same_places(found, again, worn)


def check_same_places(found: Anatomy, again: Anatomy, worn: Disguise) -> None:
    """Facing, lengths, tips, soles and frames agree after the turn and the scale."""
    old, new = found.skeleton, again.skeleton
    tall = float(np.ptp(old.rest_world[:, 1, 3]))
    np.testing.assert_allclose(again.forward, worn.turn @ found.forward, atol=1e-5)
    assert again.leg_length == pytest.approx(found.leg_length * worn.scale, rel=1e-6)
    assert again.human_scale == pytest.approx(found.human_scale / worn.scale, rel=1e-5)
    at_rest, there = sole_places(found), sole_places(again)
    assert set(at_rest) == set(there)
    for key, place in at_rest.items():
        np.testing.assert_allclose(there[key], worn.scale * worn.turn @ place, atol=SAME_SHARE * tall * worn.scale)
    for chain in old.chains:
        if chain.tip < 0:
            continue
        tip = old.tips[chain.tip]
        twin = next(t for t in new.tips if t.joint == worn.new_of[tip.joint] and t.kind == tip.kind)
        a = old.points_at_rest(np.array([tip.joint]), tip.offset[None])[0]
        b = new.points_at_rest(np.array([twin.joint]), twin.offset[None])[0]
        np.testing.assert_allclose(b, worn.scale * worn.turn @ a, atol=SAME_SHARE * tall * worn.scale)
    np.testing.assert_allclose(np.abs(np.sum(new.frames[worn.new_of] * old.frames, axis=1)), 1.0, atol=1e-8)
    np.testing.assert_allclose(new.limits[worn.new_of], old.limits, atol=1e-4)


def sole_places(anatomy: Anatomy) -> dict[tuple[str, str], Array]:
    skeleton = anatomy.skeleton
    return {
        (p.limb, p.kind): skeleton.points_at_rest(np.array([p.joint]), p.offset[None])[0] for p in anatomy.contact_points
    }  # fmt: skip


@pytest.mark.parametrize("name", FIVE)
def test_shared_rig_is_found_the_same_in_disguise(shared: Path, name: str) -> None:
    rig = opened(shared / "data" / "rigs" / name)
    bare = bare_copy(rig.skeleton)
    found = complete(bare, rig.skins)
    for seed, angle, scale in TURNS:
        worn = disguise(bare, rig.skins, np.random.default_rng(seed), angle, scale)
        check_same(found, complete(worn.skeleton, worn.skins), worn)


@pytest.mark.parametrize("name", ["quadruped", "biped"])
def test_sample_is_found_the_same_in_disguise(samples: Path, name: str) -> None:
    rig = opened(samples / f"{name}.glb")
    bare = bare_copy(rig.skeleton)
    found = complete(bare, rig.skins)
    worn = disguise(bare, rig.skins, np.random.default_rng(5), 1.1, 0.3)
    check_same(found, complete(worn.skeleton, worn.skins), worn)

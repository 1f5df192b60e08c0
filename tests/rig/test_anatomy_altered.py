"""The sample characters, altered the way game files are: what they are found to be stays, or is said to be unknown with the reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from disguise import bare_copy
from numpy.typing import NDArray
from opened import opened

from akd_sdk.rig import Rig, Skeleton, Transforms, complete
from akd_sdk.rotations import decompose, quat_from_rotvec, quat_multiply

Array = NDArray[np.float64]


@pytest.fixture(scope="module", params=["quadruped", "biped"])
def rig(request: pytest.FixtureRequest, samples: Path) -> Rig:
    return opened(samples / f"{request.param}.glb")


def with_world(skeleton: Skeleton, parents: NDArray[np.int64], world: Array) -> Skeleton:
    """A bare skeleton with these parents (sorted) and world rest transforms."""
    local = np.array([world[j] if p < 0 else np.linalg.inv(world[p]) @ world[j] for j, p in enumerate(parents)])
    return Skeleton.bare(skeleton.names, skeleton.source_names, skeleton.nodes, parents, Transforms(*decompose(local)))


def turned_at_rest(skeleton: Skeleton, turns: dict[int, Array]) -> Skeleton:
    """The bare skeleton with joints turned by rotation vectors in the world, their children with them."""
    world = skeleton.rest_world.copy()
    for joint, vector in turns.items():
        turn = np.eye(4)
        turn[:3, :3] = _matrix(vector)
        about = np.eye(4)
        about[:3, 3] = world[joint, :3, 3]
        move = about @ turn @ np.linalg.inv(about)
        for j in _below(skeleton, joint):
            world[j] = move @ world[j]
    return with_world(skeleton, skeleton.parents, world)


def _matrix(vector: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_rotvec(vector).as_matrix())


def _below(skeleton: Skeleton, joint: int) -> list[int]:
    inside = [joint]
    for j in range(joint + 1, skeleton.count):
        if skeleton.parents[j] in inside:
            inside.append(j)
    return inside


def legs(skeleton: Skeleton) -> list[tuple[int, ...]]:
    return [c.joints for c in skeleton.chains if c.kind in ("leg", "foreleg")]


def test_feet_hung_on_the_root_are_found_by_their_skin(rig: Rig) -> None:
    feet = [chain[2] for chain in legs(rig.skeleton)]
    parents = rig.skeleton.parents.copy()
    parents[feet] = 0
    altered = with_world(rig.skeleton, parents, rig.skeleton.rest_world)
    found = complete(altered, rig.skins).skeleton
    np.testing.assert_array_equal(found.solve_parents, rig.skeleton.solve_parents)
    assert found.groups == rig.skeleton.groups
    assert legs(found) == legs(rig.skeleton)


def test_a_rest_pose_in_mid_stride_changes_no_group(rig: Rig) -> None:
    left = np.cross([0.0, 1.0, 0.0], rig.forward)
    turns = {chain[0]: left * (0.5 if k % 2 else -0.5) for k, chain in enumerate(legs(rig.skeleton))}
    turns[rig.skeleton.chains[0].joints[0]] = np.array([0.0, 0.3, 0.0])  # the trunk twists
    found = complete(turned_at_rest(bare_copy(rig.skeleton), turns), rig.skins)
    assert found.skeleton.groups == rig.skeleton.groups
    np.testing.assert_array_equal(found.skeleton.sides, rig.skeleton.sides)
    assert found.forward @ rig.forward > np.cos(0.4)


def test_skin_is_needed_neither_for_groups_nor_for_sides(rig: Rig) -> None:
    found = complete(bare_copy(rig.skeleton), ())
    differ = [n for n, a, b in zip(rig.skeleton.names, found.skeleton.groups, rig.skeleton.groups, strict=True) if a not in (b, "unknown")]
    assert differ == []
    assert found.body == rig.body


def test_poles_and_handles_are_controls_and_what_a_hand_holds_is_a_socket(rig: Rig) -> None:
    skeleton = rig.skeleton
    chain = next(c for c in skeleton.chains if c.kind in ("arm", "foreleg") and c.side == 1)
    hand, knee = chain.joints[-1], legs(skeleton)[0][1]
    aside = 0.3 * rig.height
    world = np.concatenate([skeleton.rest_world, skeleton.rest_world[[knee, hand]]])
    world[-2, :3, 3] += aside * rig.forward
    world[-1, :3, 3] += 0.2 * aside * np.array([0.0, 1.0, 0.0]) + 0.2 * aside * rig.forward
    names = [*skeleton.names, "x", "y"]
    parents = np.append(skeleton.parents, [0, hand])
    local = np.array([world[j] if p < 0 else np.linalg.inv(world[p]) @ world[j] for j, p in enumerate(parents)])
    altered = Skeleton.bare(names, names, np.arange(len(names)), parents, Transforms(*decompose(local)))
    padded = tuple(
        replace(skin, inverse_binds=np.concatenate([skin.inverse_binds, np.zeros((2, 4, 4))])) for skin in rig.skins
    )  # fmt: skip
    found = complete(altered, padded).skeleton
    assert found.groups == (*skeleton.groups, "none", "none")
    assert found.roles[-2:] == ("control", "socket")
    assert found.solve_parents[-2:].tolist() == [-1, hand]


def test_a_body_on_its_side_is_unknown_with_the_reason(rig: Rig) -> None:
    bare = bare_copy(rig.skeleton)
    roots = bare.parents < 0
    roll = quat_from_rotvec(np.array([0.0, 0.0, np.pi / 2]) + 0.0)
    rotations = bare.rest.rotations.copy()
    rotations[roots] = quat_multiply(np.broadcast_to(roll, rotations[roots].shape), rotations[roots])
    rolled = replace(bare, rest=replace(bare.rest, rotations=rotations))
    found = complete(rolled, rig.skins)
    assert found.body == "unknown"
    assert found.notes
    limbs = [g for g in found.skeleton.groups if "left" in g or "right" in g]
    assert not limbs


def test_a_body_with_three_pairs_of_legs_is_unknown_with_the_number() -> None:
    parents, places = [-1, 0], [[0.0, 0.5, -0.6], [0.0, 0.5, 0.6]]
    for ahead in (-0.5, 0.0, 0.5):
        for across in (-0.2, 0.2):
            first = len(places)
            parents += [0 if ahead < 0.2 else 1, first, first + 1]
            places += [[across, 0.45, ahead], [across, 0.25, ahead + 0.05], [across, 0.0, ahead]]
    world = np.tile(np.eye(4), (len(places), 1, 1))
    world[:, :3, 3] = places
    names = [f"j{k}" for k in range(len(places))]
    bare = Skeleton.bare(names, names, np.arange(len(places)), np.array(parents), Transforms(*decompose(world)))
    found = complete(with_world(bare, np.array(parents), world), ())
    assert found.body == "unknown"
    assert any("3 pairs of legs" in note for note in found.notes)


@pytest.mark.parametrize("seed", range(40))
def test_any_skeleton_gives_an_answer_and_a_tree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 25))
    parents = np.array([int(rng.integers(-1, j)) if j else -1 for j in range(count)])
    places = rng.normal(size=(count, 3)) * rng.choice([0.0, 1.0, 100.0], size=3)
    world = np.tile(np.eye(4), (count, 1, 1))
    world[:, :3, 3] = places
    names = [f"j{k}" for k in range(count)]
    bare = Skeleton.bare(names, names, np.arange(count), parents, Transforms(*decompose(world)))
    found = complete(with_world(bare, parents, world), ())
    assert len(found.skeleton.solve_order) == count
    assert np.isfinite(found.skeleton.frames).all()
    assert np.isfinite(found.skeleton.limits).all()
    assert abs(np.linalg.norm(found.forward) - 1.0) < 1e-9
    assert found.body != "unknown" or found.notes


def test_vertices_bound_to_the_root_by_mistake_move_with_the_body(rig: Rig) -> None:
    """Exporters leave a few vertices on a control; if it stayed still, the skin would tear."""
    trunk = [j for j, group in enumerate(rig.skeleton.groups) if group in ("trunk", "torso")]
    skins = []
    for skin in rig.skins:
        owners = skin.joints[np.arange(len(skin.joints)), skin.weights.argmax(1)]
        stray = np.flatnonzero(np.isin(owners, trunk))[:6]
        joints = skin.joints.copy()
        joints[stray] = 0
        binds = skin.inverse_binds.copy()
        binds[0] = np.linalg.inv(rig.skeleton.rest_world[0]) @ rig.skeleton.rest_world[trunk[0]] @ binds[trunk[0]]
        skins.append(replace(skin, joints=joints, inverse_binds=binds))
    found = complete(bare_copy(rig.skeleton), tuple(skins)).skeleton
    assert found.roles[0] == "ancestor"
    assert found.groups == rig.skeleton.groups
    assert found.solve_parents[0] in trunk
    np.testing.assert_array_equal(found.solve_parents[1:], rig.skeleton.solve_parents[1:])

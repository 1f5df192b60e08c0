"""BVH: the anatomical tree, positions only where bones change length, tips as end sites."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion
from export_readback import BvhFile

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.bvh_names import bvh_name
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig, Tip


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "quadruped.glb")


def rigid(rig: Rig) -> Motion:
    return smooth_motion(rig).with_(translations=None)


def test_the_root_is_the_pelvis_and_parents_are_anatomical(rig: Rig, tmp_path: Path) -> None:
    file = BvhFile(export(rig, Clip.from_motion(rig, rigid(rig)), tmp_path / "a.bvh"))
    own = {bvh_name(name): j for j, name in enumerate(rig.skeleton.names)}
    assert own[file.nodes[0].name] == rig.skeleton.pelvis
    for node in file.nodes[1:]:
        parent = int(rig.skeleton.solve_parents[own[node.name]])
        assert own[file.nodes[node.parent].name] == parent
    assert {rig.skeleton.roles[own[node.name]] for node in file.nodes} == {"anatomy"}


def test_bones_of_constant_length_have_rotations_alone(rig: Rig, tmp_path: Path) -> None:
    file = BvhFile(export(rig, Clip.from_motion(rig, rigid(rig)), tmp_path / "a.bvh"))
    assert [len(node.channels) for node in file.nodes] == [6] + [3] * (len(file.nodes) - 1)


def test_bones_that_change_length_have_positions_too(rig: Rig, tmp_path: Path) -> None:
    motion = smooth_motion(rig)
    assert motion.translations is not None
    moved = np.abs(motion.translations - rig.skeleton.rest.translations).max(axis=(0, 2)) > 1e-6
    file = BvhFile(export(rig, Clip.from_motion(rig, motion), tmp_path / "a.bvh"))
    own = {bvh_name(name): j for j, name in enumerate(rig.skeleton.names)}
    with_positions = {own[node.name] for node in file.nodes if len(node.channels) == 6}
    assert with_positions == {rig.skeleton.pelvis, *np.flatnonzero(moved & (np.array(rig.skeleton.roles) == "anatomy")).tolist()}


def test_leaves_end_at_their_tips(rig: Rig, tmp_path: Path) -> None:
    motion = rigid(rig)
    skeleton = rig.skeleton
    leaf = next(j for j in range(skeleton.count) if j not in set(skeleton.solve_parents.tolist()) and skeleton.roles[j] == "anatomy")
    tipped = replace(rig, skeleton=replace(skeleton, tips=(Tip("toe", leaf, np.array([0.01, -0.02, 0.05])),)))
    file = BvhFile(export(tipped, Clip.from_motion(tipped, motion), tmp_path / "a.bvh"))
    node = next(node for node in file.nodes if node.name == bvh_name(skeleton.names[leaf]))
    wanted = skeleton.points_at_rest(np.array([leaf]), np.array([[0.01, -0.02, 0.05]]))[0] - skeleton.rest_world[leaf, :3, 3]
    np.testing.assert_allclose(node.ends[0] / 100.0, wanted, atol=1e-8)
    parents = {other.parent for other in file.nodes}
    for i, other in enumerate(file.nodes):
        assert len(other.ends) == (0 if i in parents else 1)


def test_names_are_single_words_and_different(rig: Rig, tmp_path: Path) -> None:
    odd = tuple(f"bone {{{j}}}" if j % 2 else f"bone\t{j - 1} " for j in range(1, rig.skeleton.count + 1))
    named = replace(rig, skeleton=replace(rig.skeleton, names=odd))
    names, _, _ = BvhFile(export(named, Clip.from_motion(named, rigid(named)), tmp_path / "a.bvh")).positions()
    assert len(set(names)) == len(names)
    assert all(name.startswith("bone_") for name in names)


def test_angles_do_not_jump(rig: Rig, tmp_path: Path) -> None:
    motion = smooth_motion(rig, 3, frames=60, fps=60.0)
    file = BvhFile(export(rig, Clip.from_motion(rig, motion.with_(translations=None)), tmp_path / "a.bvh"))
    assert np.abs(np.diff(file.values[:, 3:], axis=0)).max() < 180.0  # quick near the pole, but never a whole turn


def test_several_roots_hang_on_the_first_with_their_places_kept(rig: Rig, tmp_path: Path) -> None:
    count = rig.skeleton.count
    loose = replace(rig.skeleton, solve_parents=np.full(count, -1), roles=("unknown",) * count, pelvis=-1)
    other = replace(rig, skeleton=loose)
    motion = rigid(rig)
    clip = Clip.from_motion(other, motion)
    names, found, _ = BvhFile(export(other, clip, tmp_path / "a.bvh")).positions()
    assert names == [bvh_name(name) for name in rig.skeleton.names]
    np.testing.assert_allclose(found / 100.0, clip.world(clip.times)[..., :3, 3], atol=2e-5)


def test_more_than_one_clip_is_refused(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, rigid(rig))
    with pytest.raises(ExportError, match="a BVH holds one clip, not 2; write a file for each"):
        export(rig, [clip, clip], tmp_path / "a.bvh")
    assert list(tmp_path.iterdir()) == []

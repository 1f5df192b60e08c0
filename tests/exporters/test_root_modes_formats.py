"""Root modes in formats other than glTF: the travelling root is in the file, and every joint where the motion has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion
from export_readback import BvhFile, UsdFile

from akd_sdk.exporters import ExportOptions, deliver
from akd_sdk.gait.ground import carried, ground_matrices
from akd_sdk.kinematics import motion_from_world, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "biped.glb")


def walk(rig: Rig) -> Motion:
    pose = smooth_motion(rig, 2, frames=16)
    world = world_from_motion(rig.skeleton, pose.with_(root=np.tile(pose.root[:1], (16, 1))))
    travel = np.stack([0.2 * pose.times, 1.1 * pose.times, 0.5 * pose.times], -1)
    goes = carried(rig.skeleton)
    world[:, goes] = ground_matrices(travel)[:, None] @ world[:, goes]
    return motion_from_world(rig.skeleton, world, pose.fps, name="walk", loop=False, like=pose).with_(travel=travel)


@pytest.mark.parametrize("add_root", [False, True])
def test_a_bvh_has_the_root_above_the_hips(add_root: bool, rig: Rig, tmp_path: Path) -> None:
    motion = walk(rig)
    made = deliver(rig, motion, tmp_path / "a.bvh", root_mode="root", options=ExportOptions(add_root=add_root))
    names, places, _ = BvhFile(made.path).positions()
    root = "root" if add_root else "biped"
    assert names[:2] == [root, "hips"]
    travel = motion.travel
    assert travel is not None
    np.testing.assert_allclose(places[:, 0] / 100.0, np.stack([travel[:, 0], 0 * travel[:, 0], travel[:, 1]], -1), atol=1e-5)
    wanted = world_from_motion(rig.skeleton, motion)[..., :3, 3]
    for i, name in enumerate(names[1:], start=1):
        np.testing.assert_allclose(places[:, i] / 100.0, wanted[:, rig.skeleton.names.index(name)], atol=2e-5)
    assert made.facts.clips[0].root_joint == root


@pytest.mark.parametrize("add_root", [False, True])
def test_a_usd_has_the_travel_on_the_root(add_root: bool, rig: Rig, tmp_path: Path) -> None:
    motion = walk(rig)
    made = deliver(rig, motion, tmp_path / "a.usdc", root_mode="root", options=ExportOptions(add_root=add_root))
    found = UsdFile(made.path).positions(motion.times)
    skeleton, travel = made.rig.skeleton, motion.travel
    assert travel is not None
    root = skeleton.names.index("root" if add_root else "biped")
    np.testing.assert_allclose(found[:, root, [0, 2]], travel[:, :2], atol=1e-5)
    wanted = world_from_motion(rig.skeleton, motion)[..., :3, 3]
    for j, name in enumerate(skeleton.names):
        if name not in ("root", "biped"):
            np.testing.assert_allclose(found[:, j], wanted[:, rig.skeleton.names.index(name)], atol=2e-5)


@pytest.mark.parametrize("suffix", [".bvh", ".usdc"])
def test_in_place_stays_in_place(suffix: str, rig: Rig, tmp_path: Path) -> None:
    made = deliver(rig, walk(rig), tmp_path / f"a{suffix}", root_mode="in_place")
    if suffix == ".bvh":
        names, places, _ = BvhFile(made.path).positions()
        hips = places[:, names.index("hips")] / 100.0
    else:
        hips = UsdFile(made.path).positions(walk(rig).times)[:, rig.skeleton.pelvis]
    assert np.ptp(hips[:, [0, 2]], axis=0).max() < 1e-4

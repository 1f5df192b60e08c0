"""What is told of a USD file: poses that were dropped with their error, joints that are called otherwise, root bones that were added."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion
from export_readback import UsdFile
from gltf_build import Post
from pxr import Usd, UsdGeom
from usd_sources import dressed

from akd_sdk.exporters import Clip, deliver, load_profile
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

FAST = ExportOptions(reduction="fast", tolerance_m=2e-3)


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "biped.glb")


@pytest.fixture(scope="module")
def motion(rig: Rig) -> Motion:
    slow = smooth_motion(rig, frames=61, fps=960.0).with_(fps=30.0, name="slow")
    return slow.with_(contacts=np.zeros((61, len(rig.contact_points)), dtype=np.bool_))


def shell(world: np.ndarray, scale: float) -> np.ndarray:
    """Three points 3 cm from each joint along its axes, at human size."""
    axes = world[..., :3, :3] / np.linalg.norm(world[..., :3, :3], axis=-2, keepdims=True)
    return np.asarray(scale * world[..., :3, 3][..., None, :] + 0.03 * axes.swapaxes(-1, -2))


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz"])
def test_the_error_told_is_that_of_three_points_around_every_joint_as_usd_plays(
    rig: Rig, motion: Motion, suffix: str, tmp_path: Path
) -> None:
    facts = deliver(rig, motion, tmp_path / f"a{suffix}", options=FAST).facts.clips[0]
    file = UsdFile(tmp_path / f"a{suffix}")
    times = np.linspace(0.0, motion.duration, 4 * (motion.frames - 1) + 1)
    rows = [file.queries[0].ComputeJointWorldTransforms(UsdGeom.XformCache(Usd.TimeCode(30.0 * t))) for t in times]
    truth = Clip.from_motion(rig, motion).world(times)
    away = np.linalg.norm(shell(np.array(rows).swapaxes(-1, -2), rig.human_scale) - shell(truth, rig.human_scale), axis=-1).max(axis=-1)
    assert facts.worst_mm == pytest.approx(1e3 * away.max(), abs=0.02)
    assert facts.p99_mm == pytest.approx(1e3 * np.percentile(away, 99.0), abs=0.02)
    assert facts.worst_joint == rig.skeleton.names[int(away.max(axis=0).argmax())]
    assert facts.worst_mm <= 2.0


def test_what_was_dropped_is_told_only_where_something_was(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    dense, fast = (deliver(rig, motion, tmp_path / f"{o.reduction}.usdc", options=o).facts.clips[0] for o in (ExportOptions(), FAST))
    assert (dense.worst_mm, dense.keys_before) == (None, None)
    assert fast.keys_before is not None
    assert (fast.keys_before, fast.keys < fast.keys_before / 3) == (61 * fast.channels, True)


def test_joints_that_are_called_otherwise_are_told(tmp_path: Path) -> None:
    post = Post()
    for joint, name in zip(post.joints, ["mixamorig:Hips", "spine", "head.top"], strict=True):
        post.json["nodes"][joint]["name"] = name
    rig = open_rig(post.save(tmp_path / "post.glb"))
    told = deliver(rig, smooth_motion(rig), tmp_path / "a.usdc").facts.renamed
    assert told == {"mixamorig:Hips": "mixamorig_Hips", "head.top": "head_top"}


def test_a_root_bone_that_was_added_is_in_the_file(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    made = deliver(rig, motion, tmp_path / "a.usda", root_mode="root", options=ExportOptions(add_root=True))
    file = UsdFile(tmp_path / "a.usda")
    names = list(file.queries[0].GetSkeleton().GetJointNamesAttr().Get())
    assert made.facts.clips[0].root_joint in names
    found = file.positions(motion.times)
    wanted = Clip.from_motion(rig, motion).world(motion.times)[..., :3, 3]
    own = [names.index(name) for name in rig.skeleton.names]
    moving = [j for j in range(rig.skeleton.count) if rig.skeleton.roles[j] == "anatomy"]
    np.testing.assert_allclose(found[:, own][:, moving], wanted[:, moving], atol=1e-4)


def test_what_usd_does_not_show_of_materials_is_told(tmp_path: Path) -> None:
    rig = dressed(tmp_path, {"name": "coat", "extensions": {"KHR_materials_sheen": {}}})
    assert "material 'coat' is written without KHR_materials_sheen" in deliver(rig, smooth_motion(rig), tmp_path / "a.usdc").facts.notes


@pytest.mark.parametrize("name", ["omniverse", "isaac", "blender"])
def test_profiles_of_usd_engines_write_crate_files(rig: Rig, motion: Motion, name: str, tmp_path: Path) -> None:
    profile = load_profile(name)
    if name != "blender":
        assert profile.suffixes[0] == ".usdc"
    path = deliver(rig, motion, tmp_path / "a.usdc", options=ExportOptions(profile=profile, reduction="fast")).path
    assert path.read_bytes().startswith(b"PXR-USDC")

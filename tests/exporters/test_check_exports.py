"""What the SDK exports passes its own checker, for every profile, format and way of writing; what others find in files, it leaves alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, write_case
from scipy.spatial.transform import Rotation

from akd_sdk.exporters import ExportOptions, check, deliver, known_profiles, load_profile
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

PROFILES = (None, *known_profiles())
SUFFIXES = (".glb", ".usda", ".usdc", ".usdz", ".bvh")


def stride(rig: Rig, *, fps: float = 30.0, seconds: float = 1.0, loop: bool = True) -> Motion:
    """Every third joint swings once or twice and comes back; the root goes ahead. Signs of rotations are at random."""
    frames = round(seconds * fps) + 1
    rng, skeleton = np.random.default_rng(5), rig.skeleton
    phase = 2.0 * np.pi * np.arange(frames) / (frames - 1)
    turns = np.zeros((frames, skeleton.count, 3))
    turns[:, ::3] = 0.4 * np.sin(phase)[:, None, None] * rng.uniform(-1.0, 1.0, (1, len(range(0, skeleton.count, 3)), 3))
    local = Rotation.from_rotvec(turns.reshape(-1, 3)) * Rotation.from_quat(np.tile(skeleton.rest.rotations, (frames, 1)))
    rotations = local.as_quat().reshape(frames, skeleton.count, 4) * rng.choice([-1.0, 1.0], (frames, skeleton.count, 1))
    start = skeleton.rest_world[max(skeleton.pelvis, 0), :3, 3]
    ahead = np.stack([0.02 * np.sin(phase), 0.02 * np.cos(phase), np.arange(frames) / fps], axis=-1)
    return Motion("stride", rotations, start + ahead - ahead[:1], fps, loop=loop)


def suffixes(profile: str | None) -> tuple[str, ...]:
    return SUFFIXES if profile is None else load_profile(profile).suffixes


WAYS = [(profile, suffix) for profile in PROFILES for suffix in suffixes(profile) if profile is None or suffix not in (".usd", ".usda")]
"""Texts of USD and its other suffix are written as its binary is: once is enough."""


@pytest.mark.parametrize(("profile", "suffix"), WAYS)
@pytest.mark.parametrize("sample", ["quadruped.glb", "biped.glb"])
def test_what_is_exported_raises_nothing(sample: str, profile: str | None, suffix: str, tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / sample)
    for reduction in ("none",) if suffix == ".bvh" or profile == "isaac" else ("none", "fast"):
        options = ExportOptions(profile=None if profile is None else load_profile(profile), reduction=reduction)  # type: ignore[arg-type]
        made = deliver(rig, stride(rig), tmp_path / f"{reduction}{suffix}", options=options)
        assert check(made.path, profile) == ()


@pytest.mark.parametrize("root_mode", ["root", "in_place"])
@pytest.mark.parametrize("suffix", [".glb", ".usdc", ".bvh"])
def test_so_does_every_root_mode(suffix: str, root_mode: str, tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "quadruped.glb")
    assert check(deliver(rig, stride(rig), tmp_path / f"a{suffix}", root_mode=root_mode).path) == ()


@pytest.mark.parametrize("suffix", [".glb", ".usdc", ".bvh"])
@pytest.mark.parametrize("case", ["armature100", "turned", "mirrored", "rolled", "matrices", "two_skins"])
def test_so_do_odd_characters(case: str, suffix: str, tmp_path: Path) -> None:
    rig = open_rig(write_case(case, tmp_path))
    assert check(deliver(rig, stride(rig), tmp_path / f"a{suffix}").path) == ()


def test_clips_alone_raise_nothing(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "quadruped.glb")
    for suffix in (".glb", ".usda"):
        made = deliver(rig, stride(rig), tmp_path / suffix[1:] / f"a{suffix}", options=ExportOptions(clip_only=True))
        assert check(made.path) == ()


def test_joints_forced_into_a_clip_are_noted(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "quadruped.glb")
    made = deliver(rig, stride(rig), tmp_path / "a.glb", options=ExportOptions(all_joints=True))
    assert [(finding.code, finding.severity) for finding in check(made.path)] == [("clip-ghost-keys", "note")]


@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_an_engine_that_bakes_is_told_the_rate_to_set(fps: float, tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "quadruped.glb")
    options = ExportOptions(profile=load_profile("godot"))
    made = deliver(rig, stride(rig, fps=fps), tmp_path / "a.glb", options=options)
    (finding,) = check(made.path, "godot")
    assert (finding.code, finding.severity, finding.remedy) == ("import-rate", "note", f"set FPS to {fps:g} in the import settings")
    assert made.facts.import_fps == fps

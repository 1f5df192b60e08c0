"""NVIDIA's asset validator finds nothing in what is written but what the source's mesh has, or what text files have."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from export_cases import SAMPLES, smooth_motion
from usd_sources import dressed, encoded, morphing

from akd_sdk.exporters import Clip, export, export_isaac
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.readers import open_rig

PROBE = """
import json, os, sys
told = os.dup(1)
os.dup2(2, 1)
import omni.asset_validator as validator
engine = validator.ValidationEngine()
found = {f: [[getattr(i.rule, "__name__", str(i.rule)), i.message] for i in engine.validate(f).issues()] for f in sys.argv[1:]}
os.write(told, json.dumps(found).encode())
"""

OF_THE_MESH = {
    "WeldChecker": "points that lie together are the source's",
    "IndexedPrimvarChecker": "values a vertex are as the source has them, not indexed",
    "ManifoldChecker": "edges of more or fewer than two faces are the source's",
}
OF_TEXT = {"UsdAsciiPerformanceChecker": "a .usda was asked for; .usdc is the default of the profiles"}


@pytest.fixture(scope="module")
def omniverse() -> Path:
    python = os.environ.get("OMNIVERSE_PYTHON")
    if python is None or not Path(python).exists():
        pytest.skip("the validator is not here: set OMNIVERSE_PYTHON to the Python of an environment with omniverse-asset-validator")
    return Path(python)


def issues(omniverse: Path, files: list[Path]) -> dict[str, list[list[str]]]:
    done = subprocess.run([str(omniverse), "-c", PROBE, *map(str, files)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_only_the_source_s_mesh_is_remarked_on(omniverse: Path, tmp_path: Path) -> None:
    quadruped = open_rig(SAMPLES / "quadruped.glb")
    (tmp_path / "m").mkdir()
    morphs = open_rig(morphing(tmp_path / "m"))
    material = {
        "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicRoughnessTexture": {"index": 1}},
        "normalTexture": {"index": 2},
        "alphaMode": "MASK",
    }
    painted = dressed(tmp_path, material, [encoded("PNG", 0), encoded("JPEG", 1), encoded("PNG", 2)])
    files = []
    for rig, motion in ((quadruped, smooth_motion(quadruped)), (morphs, morphs.clips[0]), (painted, smooth_motion(painted))):
        clip = Clip.from_motion(rig, motion)
        for suffix in (".usda", ".usdc", ".usdz"):
            files.append(export(rig, clip, tmp_path / "out" / f"{len(files)}{suffix}"))
        files.append(export(rig, clip, tmp_path / f"alone{len(files)}" / "a.usdc", options=ExportOptions(clip_only=True)))
        files.append(files[-1].with_name(f"{rig.name}_character.usdc"))
    found = issues(omniverse, files)
    assert len(found) == len(files)
    for file, listed in found.items():
        reasons = OF_THE_MESH | (OF_TEXT if file.endswith(".usda") else {})
        assert [issue for issue in listed if issue[0] not in reasons] == [], file


def test_articulations_are_remarked_on_for_nothing_but_their_pieces_of_mesh(omniverse: Path, tmp_path: Path) -> None:
    files = []
    for name in ("biped", "quadruped"):
        rig = open_rig(SAMPLES / f"{name}.glb")
        clip = Clip.from_motion(rig, smooth_motion(rig))
        files += [export_isaac(rig, clip, tmp_path / f"{name}{suffix}", force=True) for suffix in (".usda", ".usdc")]
    for file, listed in issues(omniverse, files).items():
        reasons = OF_THE_MESH | (OF_TEXT if file.endswith(".usda") else {})
        assert [issue for issue in listed if issue[0] not in reasons] == [], file


def test_the_validator_sees_faults_at_all(omniverse: Path, tmp_path: Path) -> None:
    quadruped = open_rig(SAMPLES / "quadruped.glb")
    path = export(quadruped, Clip.from_motion(quadruped, smooth_motion(quadruped)), tmp_path / "a.usda")
    path.write_text(path.read_text().replace('upAxis = "Y"', ""))
    (found,) = issues(omniverse, [path]).values()
    assert "StageMetadataChecker" in {rule for rule, _ in found}

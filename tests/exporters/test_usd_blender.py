"""Blender's USD importer shows what is written: armature, motion, shapes, materials, also of a clip over its character."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion
from usd_sources import FPS, FRAMES, morphing, waves

from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.formats.usd import identifiers
from akd_sdk.readers import open_rig

PROBE = """
import json, os, sys
import bpy
told = os.dup(1)
os.dup2(2, 1)  # Blender logs to standard output
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.usd_import(filepath=sys.argv[1], set_frame_range=True)
scene = bpy.context.scene
out = {"range": [scene.frame_start, scene.frame_end], "heads": [], "shapes": [], "materials": []}
armature = next(o for o in bpy.data.objects if o.type == "ARMATURE")
meshes = [o for o in bpy.data.objects if o.type == "MESH"]
out["materials"] = [[m.name for m in o.data.materials] for o in meshes]
out["skinned"] = all(any(part.type == "ARMATURE" for part in o.modifiers) for o in meshes)
for half in range(2 * scene.frame_end + 1):
    scene.frame_set(half // 2, subframe=0.5 * (half % 2))
    seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    heads = {bone.name: list(seen.matrix_world @ bone.head) for bone in seen.pose.bones}
    out["heads"].append({name: [x, z, -y] for name, (x, y, z) in heads.items()})
    keys = [o.data.shape_keys for o in meshes if o.data.shape_keys]
    out["shapes"].append([{block.name: block.value for block in key.key_blocks[1:]} for key in keys])
os.write(told, json.dumps(out).encode())
"""


@pytest.fixture(scope="module")
def blender() -> Path:
    python = os.environ.get("BPY_PYTHON")
    if python is None or not Path(python).exists():
        pytest.skip("Blender is not here: set BPY_PYTHON to the Python of an environment with bpy 5.0.1")
    return Path(python)


def shown(blender: Path, file: Path) -> Any:
    done = subprocess.run([str(blender), "-c", PROBE, str(file)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("options", [ExportOptions(), ExportOptions(clip_only=True), ExportOptions(reduction="fast", tolerance_m=1e-3)])
def test_blender_plays_the_joints_where_they_were(blender: Path, options: ExportOptions, tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "quadruped.glb")
    motion = smooth_motion(rig, frames=25, fps=960.0).with_(fps=24.0)
    clip = Clip.from_motion(rig, motion)
    seen = shown(blender, export(rig, clip, tmp_path / "a.usdc", options=options))
    assert (seen["range"], seen["skinned"]) == ([0, 24], True)
    names = identifiers(rig.skeleton.names)
    found = np.array([[heads[name] for name in names] for heads in seen["heads"]])
    wanted = clip.world(np.arange(len(found)) / 48.0)[..., :3, 3]
    away = np.linalg.norm(found - wanted, axis=-1).max() * rig.human_scale * 1e3
    assert away < (0.1 if options.reduction == "none" else 1.1)


def test_blender_moves_shapes_by_their_weights(blender: Path, tmp_path: Path) -> None:
    rig = open_rig(morphing(tmp_path))
    seen = shown(blender, export(rig, Clip.from_motion(rig, rig.clips[0]), tmp_path / "a.usdc"))
    assert rig.clips[0].fps == FPS
    names = ["smile_wide", "blink", "empty"]
    found = np.array([[shapes[0][name] for name in names] for shapes in seen["shapes"][::2]])
    assert len(found) == FRAMES
    np.testing.assert_allclose(found, np.clip(waves(), 0.0, 1.0), atol=1e-5)

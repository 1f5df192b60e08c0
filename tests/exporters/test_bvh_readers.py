"""Blender's and three.js' BVH importers show the joints where the clip has them, and the file at rest where the character rests."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_probes import engine_modules, three_bvh_positions
from export_cases import SAMPLES, smooth_motion
from numpy.typing import NDArray

from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.bvh import make_bvh
from akd_sdk.exporters.bvh_dialects import DIALECTS
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

Array = NDArray[np.float64]
BOUND_MM = 0.1

PROBE = """
import json, os, sys
import bpy
told = os.dup(1)
os.dup2(2, 1)  # Blender logs to standard output
out = []
for file in sys.argv[1:]:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="io_anim_bvh")
    bpy.ops.import_anim.bvh(filepath=file, update_scene_fps=True)  # all else as it is by default
    scene = bpy.context.scene
    armature = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    to_y_up = lambda p: [p.x, p.z, -p.y]
    rest = {bone.name: to_y_up(armature.matrix_world @ bone.head_local) for bone in armature.data.bones}
    frames = []
    first, last = armature.animation_data.action.frame_range
    for frame in range(int(first), int(last) + 1):
        scene.frame_set(frame)
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        frames.append({bone.name: to_y_up(seen.matrix_world @ bone.head) for bone in seen.pose.bones})
    out.append({"fps": scene.render.fps / scene.render.fps_base, "rest": rest, "frames": frames})
os.write(told, json.dumps(out).encode())
"""


def in_blender(*files: Path) -> list[Any]:
    python = os.environ.get("BPY_PYTHON")
    if python is None or not Path(python).exists():
        pytest.skip("Blender is not here: set BPY_PYTHON to the Python of an environment with bpy 5.0.1")
    done = subprocess.run([python, "-c", PROBE, *map(str, files)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def rigs() -> dict[str, Rig]:
    return {name: open_rig(SAMPLES / f"{name}.glb") for name in ("biped", "quadruped")}


def clip_of(rig: Rig, *, stretched: bool = False) -> Clip:
    motion = smooth_motion(rig, 2, frames=25, fps=24.0)
    return Clip.from_motion(rig, motion if stretched else motion.with_(translations=None))


def truth(rig: Rig, clip: Clip, options: ExportOptions, names: list[str], times: Array) -> Array:
    """Places of the joints that the file calls so, metres; both samples face +Z."""
    joints = {name: j for j, name in make_bvh(rig, clip, options).names.items()}
    return clip.world(times)[..., :3, 3][:, [joints[name] for name in names]]


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_blender_shows_every_dialect_where_the_clip_is(rigs: dict[str, Rig], dialect: str, tmp_path: Path) -> None:
    options, own = ExportOptions(dialect=dialect), DIALECTS[dialect]
    cases = [(rig, clip_of(rig, stretched=True)) for rig in rigs.values()]
    files = [export(rig, clip, tmp_path / f"{i}.bvh", options=options) for i, (rig, clip) in enumerate(cases)]
    for (rig, clip), seen in zip(cases, in_blender(*files), strict=True):
        assert seen["fps"] == pytest.approx(24.0, rel=1e-6)
        assert len(seen["frames"]) == clip.frames + int(own.first_frame)
        names = list(seen["frames"][0])
        found = np.array([[frame[name] for name in names] for frame in seen["frames"]])[int(own.first_frame) :]
        away = np.linalg.norm(found * own.metres_per_unit - truth(rig, clip, options, names, clip.times), axis=-1)
        assert away.max() * rig.human_scale * 1e3 < BOUND_MM


def test_blender_rests_where_the_character_rests_and_needs_no_scale(rigs: dict[str, Rig], tmp_path: Path) -> None:
    rig = rigs["biped"]
    clip, options = clip_of(rig), ExportOptions(dialect="blender")
    (seen,) = in_blender(export(rig, clip, tmp_path / "a.bvh", options=options))
    names = list(seen["rest"])
    rest = np.array([seen["rest"][name] for name in names])
    joints = [rig.skeleton.names.index(name) for name in names]
    wanted = rig.skeleton.rest_world[joints, :3, 3] - rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3]
    assert np.abs(rest - wanted).max() * rig.human_scale * 1e3 < BOUND_MM  # metres, upright, the root at the origin


@pytest.mark.parametrize("dialect", list(DIALECTS))
def test_three_js_plays_every_dialect_between_frames_too(rigs: dict[str, Rig], dialect: str, tmp_path: Path) -> None:
    modules = engine_modules()
    rig, options, own = rigs["quadruped"], ExportOptions(dialect=dialect), DIALECTS[dialect]
    clip = clip_of(rig)
    path = export(rig, clip, tmp_path / "a.bvh", options=options)
    times = np.linspace(0.0, clip.duration, 4 * (clip.frames - 1) + 1)
    names, found = three_bvh_positions(modules, path, times + int(own.first_frame) / clip.fps)
    away = np.linalg.norm(found * own.metres_per_unit - truth(rig, clip, options, names, times), axis=-1) * rig.human_scale * 1e3
    assert away[::4].max() < BOUND_MM
    # what the exporter says of readers that slerp, to which the float32 of three.js' tracks comes
    assert away.max() < 1e3 * make_bvh(rig, clip, options).error.worst_m + BOUND_MM

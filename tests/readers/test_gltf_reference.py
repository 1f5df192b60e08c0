"""Clips of artists' files against the reference sampler of the shared engines: the same places at and between keys."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from motion_blend import world_at

from akd_sdk.formats.gltf import load, read_animations
from akd_sdk.readers import open_rig

FILES = [
    "khronos/Fox.glb",
    "khronos/CesiumMan.glb",
    "khronos/SimpleSkin.gltf",
    "khronos/RiggedSimple_blender.glb",
    "khronos/RiggedSimple_embedded.gltf",
    "kaykit_adventurers/Knight.glb",
    "kaykit_joints_only/Med_MovementAdvanced.glb",
    "kenney_mini_characters/character-male-b.glb",
    "quaternius/animals_pack/Wolf.glb",
    "quaternius/animals_pack/Deer.glb",
    "quaternius/animals_vol2/Cat.glb",
    "quaternius/dinosaurs_pack/Trex.glb",
    "quaternius/human_2017/Animated_Human.glb",
    "quaternius/monsters_2018/Dragon.glb",
    "robot_expressive/RobotExpressive.glb",
    "gdquest/mannequiny.glb",
    "godot/enemy.glb",
    "odd/03_skinned_cylinder.gltf",
]
SAME = 1e-6  # of the character's height; the files keep float32, both sides compute in float64


@pytest.fixture(scope="module")
def reference(shared: Path) -> ModuleType:
    path = shared / "engines" / "gltf_eval.py"
    spec = importlib.util.spec_from_file_location("reference_gltf_eval", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", FILES)
def test_clips_put_joints_where_the_reference_does(shared: Path, reference: ModuleType, file: str) -> None:
    path = shared / "data" / "rigs" / file
    rig = open_rig(path)
    gltf = reference.Gltf(str(path))
    nodes = [int(n) for n in rig.skeleton.nodes]
    rest = reference.evaluate(gltf, None, [0.0], nodes=nodes)[0, :, :3, 3]
    assert np.abs(rig.skeleton.rest_world[:, :3, 3] / rig.source.scale - rest).max() * rig.source.scale < SAME * rig.height
    assert rig.clips
    for motion in rig.clips[:: max(len(rig.clips) - 1, 1)]:
        keys = gltf.key_times(motion.provenance["animation"])
        assert motion.duration == pytest.approx(float(keys[-1]), abs=1e-4)
        frames = np.unique(np.linspace(0, motion.frames - 1, 4).round()) / motion.fps
        on_grid = motion.provenance["rate"] == "the file's"
        times = np.concatenate([frames, (frames[:-1] + 0.37 / motion.fps) if on_grid else []])
        # A frame lies up to a tenth of a millisecond beside the float32 key that it stands for: ask the reference for the key.
        nearest = keys[np.abs(times[:, None] - keys).argmin(axis=1)]
        asked = np.where(np.abs(nearest - times) < 1e-4, nearest, times)
        expected = reference.evaluate(gltf, motion.provenance["animation"], asked, nodes=nodes)[..., :3, 3] * rig.source.scale
        found = np.array([world_at(rig.skeleton, motion, t)[:, :3, 3] for t in times])
        worst = np.abs(found - expected).max(axis=(1, 2)) / rig.height
        assert worst.max() < SAME, f"{motion.name} differs by {worst.max():.2e} of the height"


@pytest.mark.parametrize(
    "file", ["khronos/InterpolationTest.gltf", "khronos/Fox.glb", "odd/03_all_animations.gltf", "odd/07_nla-anim.gltf"]
)
def test_channels_have_the_values_of_the_reference_at_any_time(shared: Path, reference: ModuleType, file: str) -> None:
    path = shared / "data" / "rigs" / file
    gltf = reference.Gltf(str(path))
    generator = np.random.default_rng(5)
    for animation in read_animations(load(path)):
        raw = gltf.json["animations"][animation.index]
        samplers = {(c["target"].get("node"), c["target"]["path"]): raw["samplers"][c["sampler"]] for c in raw["channels"]}
        for channel in animation.channels:
            if channel.path == "weights":
                continue
            sampler = samplers[channel.node, channel.path]
            keys, values = gltf.accessor(sampler["input"]), gltf.accessor(sampler["output"])
            mode, spin = sampler.get("interpolation", "LINEAR"), channel.path == "rotation"
            times = np.concatenate([keys, generator.uniform(-0.5, keys[-1] + 0.5, 20)])
            expected = [reference.sample(keys, values, mode, t, spin) for t in times]
            assert np.abs(channel.at(times) - expected).max() < 1e-7 * max(1.0, np.abs(values).max())

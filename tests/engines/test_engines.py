"""Real engines play exported files as they were computed, and the Khronos validator has nothing new to say of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from engine_probes import Play, engine_modules, three_positions, validator_errors
from export_cases import CASES, SAMPLES, smooth_motion, write_case
from export_readback import from_file_space, true_positions

from akd_sdk.exporters import Clip, export
from akd_sdk.readers import open_rig

BOUND_MM = 0.1


@pytest.fixture(scope="module")
def modules() -> Path:
    return engine_modules()


def test_three_js_and_the_validator_on_samples_and_their_variants(modules: Path, tmp_path: Path) -> None:
    sources = [SAMPLES / "quadruped.glb", SAMPLES / "biped.glb", *(write_case(name, tmp_path) for name in CASES)]
    plays, truths, rigs = [], [], []
    for number, source in enumerate(sources):
        rig = open_rig(source)
        motion = smooth_motion(rig, number, scaled=True)
        path = export(rig, Clip.from_motion(rig, motion), tmp_path / "out" / source.name)
        times = np.linspace(0.0, motion.duration, 8 * (motion.frames - 1) + 1)
        plays.append(Play(path, "swing", rig.skeleton.nodes, times))
        truths.append(true_positions(rig, motion, times))
        rigs.append(rig)
    for play, truth, rig, (duration, positions) in zip(plays, truths, rigs, three_positions(modules, plays), strict=True):
        assert duration == pytest.approx(play.times[-1], abs=1e-6)
        worst = np.linalg.norm(from_file_space(rig, positions) - truth, axis=-1).max() * rig.human_scale * 1e3
        assert worst < BOUND_MM, play.file.name
    before = validator_errors(modules, sources)
    after = validator_errors(modules, [play.file for play in plays])
    assert after == before


@pytest.mark.parametrize(
    "name",
    ["khronos/Fox", "khronos/CesiumMan", "quaternius/animals_pack/Wolf", "quaternius/animals_pack/Deer", "kaykit_adventurers/Knight"],
)
def test_three_js_and_the_validator_on_artists_clips_written_again(modules: Path, shared: Path, tmp_path: Path, name: str) -> None:
    source = shared / "data" / "rigs" / f"{name}.glb"
    rig = open_rig(source)
    motions = rig.clips[:4]
    path = export(rig, [Clip.from_motion(rig, motion.with_(name=f"again {i}")) for i, motion in enumerate(motions)], tmp_path / "a.glb")
    grids = [np.linspace(0.0, motion.duration, 8 * (motion.frames - 1) + 1) for motion in motions]
    plays = [Play(path, f"again {i}", rig.skeleton.nodes, times) for i, times in enumerate(grids)]
    for play, motion, (_, positions) in zip(plays, motions, three_positions(modules, plays), strict=True):
        truth = true_positions(rig, motion, play.times)
        worst = np.linalg.norm(from_file_space(rig, positions) - truth, axis=-1).max() * rig.human_scale * 1e3
        assert worst < BOUND_MM, motion.name
    before, after = validator_errors(modules, [source, path])
    assert after == before

"""Deliveries: the profile's choices are in the file, and what is told of it is what an independent reader finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, Draft, split_glb
from export_readback import GlbFile

from akd_sdk.errors import ExportError
from akd_sdk.exporters import ExportOptions, deliver, export, load_profile
from akd_sdk.exporters.clip import Clip
from akd_sdk.exporters.grid import on_import_grid
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.rotations import quat_multiply


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "biped.glb")


def walk(rig: Rig, fps: float = 30.0, frames: int = 31, *, loop: bool = True) -> Motion:
    """A straight walk that swings slowly, its pelvis bobbing."""
    t = np.arange(frames) / fps
    duration = t[-1]
    rotations = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    for j in range(2, 12):
        half = 0.2 * np.sin(2 * np.pi * t / duration + j)
        turn = np.stack([np.sin(half), 0 * t, 0 * t, np.cos(half)], -1)
        rotations[:, j] = quat_multiply(rotations[:, j], turn)
    rest = rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3]
    travel = np.stack([0 * t, 1.2 * t, 0 * t], -1)
    root = rest + np.stack([0 * t, 0.02 * np.cos(4 * np.pi * t / duration), 1.2 * t], -1)
    return Motion("walk", rotations, root, fps, loop=loop, travel=travel)


def test_godot_gets_its_loop_mark_a_root_and_the_rate_to_set(rig: Rig, tmp_path: Path) -> None:
    options = ExportOptions(profile=load_profile("godot"))
    made = deliver(rig, walk(rig, 24.0, 25), tmp_path / "a.glb", options=options)
    facts = made.facts
    assert (facts.profile, facts.import_fps) == ("godot", 24.0)
    assert "keys lie on the frames of an import at 24 frames a second, and of no other rate" in facts.notes
    assert facts.renamed == {"walk": "walk-loop"}
    (clip,) = facts.clips
    assert (clip.name, clip.root_mode, clip.root_joint) == ("walk-loop", "root", "biped")
    assert clip.bob_mm == pytest.approx(40.0, rel=0.05)
    assert clip.root_error_mm is not None
    assert clip.root_error_mm < 1e-6
    tracks = GlbFile(made.path).tracks("walk-loop")
    for times, _ in tracks.values():
        np.testing.assert_allclose(times * 24.0, np.round(times * 24.0), atol=1e-5)
    assert clip.channels == len(tracks)
    assert clip.keys == sum(len(times) for times, _ in tracks.values())
    assert facts.bytes == made.path.stat().st_size


def test_reduced_keys_keep_to_the_tolerance_and_the_facts_say_so(rig: Rig, tmp_path: Path) -> None:
    dense = deliver(rig, walk(rig), tmp_path / "dense.glb").facts.clips[0]
    made = deliver(rig, walk(rig), tmp_path / "a.glb", options=ExportOptions(reduction="fast", tolerance_m=2e-3))
    (clip,) = made.facts.clips
    assert dense.keys_before is None
    assert clip.keys_before == dense.keys
    assert clip.keys < dense.keys
    assert clip.bytes is not None
    assert dense.bytes is not None
    assert clip.bytes < dense.bytes
    assert clip.worst_mm is not None
    assert clip.p99_mm is not None
    assert 0.0 < clip.p99_mm <= clip.worst_mm <= 2.0
    assert clip.worst_joint in rig.skeleton.names
    assert clip.worst_time_s is not None
    assert 0.0 <= clip.worst_time_s <= clip.seconds
    tracks = GlbFile(made.path).tracks("walk")
    assert clip.keys == sum(len(times) for times, _ in tracks.values())


def test_the_root_mode_given_outdoes_the_profiles(rig: Rig, tmp_path: Path) -> None:
    options = ExportOptions(profile=load_profile("godot"))
    made = deliver(rig, walk(rig), tmp_path / "a.glb", root_mode="in_place", options=options)
    assert made.facts.clips[0].root_mode == "in_place"
    assert made.facts.clips[0].root_joint is None


def test_a_root_bone_is_added_on_demand_and_told(rig: Rig, tmp_path: Path) -> None:
    options = ExportOptions(profile=load_profile("unreal"), add_root=True)
    made = deliver(rig, walk(rig), tmp_path / "a.glb", options=options)
    assert "root bone 'root' added" in made.facts.notes
    assert made.facts.clips[0].root_joint == "root"
    content = split_glb(made.path.read_bytes())[0]
    assert content["nodes"][content["skins"][0]["joints"][-1]]["name"] == "root"
    back = open_rig(made.path)
    second = deliver(back, back.clips[0], tmp_path / "c.glb", options=options)
    assert "root bone 'root' is there already" in second.facts.notes


def test_without_a_joint_for_it_the_profiles_mode_gives_way_but_not_the_users(tmp_path: Path) -> None:
    draft = Draft("biped.glb")
    nodes, top = draft.json["nodes"], draft.json["scenes"][0]["nodes"]
    armature = next(i for i in top if "mesh" not in nodes[i])
    draft.json["scenes"][0]["nodes"] = [*[i for i in top if i != armature], *nodes[armature].pop("children")]
    (tmp_path / "headless.glb").write_bytes(draft.bytes())
    rig = open_rig(tmp_path / "headless.glb")
    options = ExportOptions(profile=load_profile("godot"))
    made = deliver(rig, walk(rig), tmp_path / "a.glb", options=options)
    assert made.facts.clips[0].root_mode == "hips"
    assert any("--add-root adds one" in note for note in made.facts.notes)
    with pytest.raises(ExportError, match="no joint above the pelvis"):
        deliver(rig, walk(rig), tmp_path / "b.glb", root_mode="root", options=options)
    assert deliver(rig, walk(rig), tmp_path / "c.glb", options=replace(options, add_root=True)).facts.clips[0].root_joint == "root"


@pytest.mark.parametrize(
    ("rates", "shared"), [((24.0,), 24), ((30.0, 60.0), 60), ((24.0, 30.0), 120), ((30000 / 1001,), 30), ((24000 / 1001, 24.0), 24)]
)
def test_the_import_rate_is_the_lowest_that_suits_all(rig: Rig, rates: tuple[float, ...], shared: int) -> None:
    clips = [Clip.from_motion(rig, walk(rig, fps)) for fps in rates]
    made, rate = on_import_grid(clips)
    assert rate == shared
    for old, new in zip(clips, made, strict=True):
        frames = new.times * rate
        np.testing.assert_allclose(frames, np.round(frames), atol=1e-9)
        assert new.frames == old.frames
        for a, b in zip(old.tracks, new.tracks, strict=True):
            np.testing.assert_allclose(b.values, a.values, atol=1e-9)


def test_rates_that_share_none_are_refused(rig: Rig, tmp_path: Path) -> None:
    motions = [walk(rig, 25.0), walk(rig, 30.0).with_(name="b")]
    with pytest.raises(ExportError, match="clips at 25 and 30 frames a second share no import rate up to 120; write a file for each rate"):
        deliver(rig, motions, tmp_path / "a.glb", options=ExportOptions(profile=load_profile("godot")))
    assert list(tmp_path.iterdir()) == []


def test_an_engine_gets_only_formats_that_it_takes(rig: Rig, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"Godot 4\.6 takes no \.bvh; for it there are \.glb"):
        deliver(rig, walk(rig), tmp_path / "a.bvh", options=ExportOptions(profile=load_profile("godot")))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("extension", ["KHR_mesh_quantization"])
def test_a_source_that_the_engine_cannot_open_is_refused_but_its_clip_is_written(extension: str, tmp_path: Path) -> None:
    draft = Draft("biped.glb")
    draft.json["extensionsUsed"] = draft.json["extensionsRequired"] = [extension]
    (tmp_path / "source.glb").write_bytes(draft.bytes())
    rig = open_rig(tmp_path / "source.glb")
    options = ExportOptions(profile=load_profile("godot"))
    with pytest.raises(ExportError, match=f"Godot 4.6 does not read {extension}, which source.glb requires; --clip-only"):
        deliver(rig, walk(rig), tmp_path / "a.glb", options=options)
    made = deliver(rig, walk(rig), tmp_path / "b.glb", options=replace(options, clip_only=True))
    assert "extensionsRequired" not in split_glb(made.path.read_bytes())[0]
    assert deliver(rig, walk(rig), tmp_path / "c.glb", options=ExportOptions(profile=load_profile("web"))).path.exists()


def test_doubts_about_skin_and_roots_are_noted(tmp_path: Path) -> None:
    rig = open_rig(SAMPLES / "biped.glb")
    unity = load_profile("unity").model_copy(update={"influences": 1, "bones": 3})
    notes = deliver(rig, walk(rig), tmp_path / "a.glb", options=ExportOptions(profile=unity)).facts.notes
    assert any("joints a vertex" in note for note in notes)
    assert any("22 bones" in note for note in notes)


def test_what_is_held_is_noted_for_an_engine_that_bakes(rig: Rig, tmp_path: Path) -> None:
    motion = walk(rig)
    held = motion.with_(held=frozenset({(3, "rotation")}))
    notes = deliver(rig, held, tmp_path / "a.glb", options=ExportOptions(profile=load_profile("godot"))).facts.notes
    assert any("held from key to key" in note for note in notes)


def test_the_inputs_are_as_they_were(rig: Rig, tmp_path: Path) -> None:
    motion = walk(rig)
    before = motion.rotations.copy(), motion.root.copy()
    deliver(rig, motion, tmp_path / "a.glb", options=ExportOptions(profile=load_profile("godot"), reduction="fast", add_root=True))
    np.testing.assert_array_equal(motion.rotations, before[0])
    np.testing.assert_array_equal(motion.root, before[1])
    first = export(rig, Clip.from_motion(rig, motion), tmp_path / "b.glb").read_bytes()
    assert export(rig, Clip.from_motion(rig, motion), tmp_path / "c.glb").read_bytes() == first

"""GLB: the source's own content stays value for value, the clips are added."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_cases import CASES, SAMPLES, Draft, join_glb, smooth_motion, split_glb, write_case
from export_readback import GlbFile, from_file_space, true_positions

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, Track, export, export_gltf
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "quadruped.glb")


def still(rig: Rig, frames: int = 4, **changes: Any) -> Motion:
    pelvis = max(rig.skeleton.pelvis, 0)
    root = np.tile(rig.skeleton.rest_world[pelvis, :3, 3], (frames, 1))
    return Motion("still", np.tile(rig.skeleton.rest.rotations, (frames, 1, 1)), root, 30.0).with_(**changes)


@pytest.mark.parametrize("name", [name for name in CASES if name != "matrices"])
def test_everything_else_stays_value_for_value(name: str, tmp_path: Path) -> None:
    source = write_case(name, tmp_path)
    rig = open_rig(source)
    path = export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / "out.glb")
    (old, old_bin), (new, new_bin) = split_glb(source.read_bytes()), split_glb(path.read_bytes())
    assert new_bin.startswith(old_bin)
    assert new["buffers"][0].pop("byteLength") <= len(new_bin)
    old["buffers"][0].pop("byteLength")
    for key in ("accessors", "bufferViews"):
        assert new[key][: len(old[key])] == old[key]
        del new[key], old[key]
    assert [animation["name"] for animation in new.pop("animations")] == ["swing"]
    assert json.dumps(new) == json.dumps(old)  # order of keys and kind of numbers too


def test_clips_of_the_source_stay_and_new_names_are_new(rig: Rig, tmp_path: Path) -> None:
    motion = smooth_motion(rig)
    clips = [Clip.from_motion(rig, motion), Clip.from_motion(rig, motion.with_(name="walk"))]
    first = export(rig, clips, tmp_path / "a.glb")
    again = open_rig(first)
    second = export(again, [Clip.from_motion(again, again.clips[0]), clips[0]], tmp_path / "b.glb")
    old, new = split_glb(first.read_bytes())[0], split_glb(second.read_bytes())[0]
    assert new["animations"][:2] == old["animations"]
    assert [animation["name"] for animation in new["animations"]] == ["swing", "walk", "swing_2", "swing_3"]


def test_a_clip_read_back_is_the_clip_written(rig: Rig, tmp_path: Path) -> None:
    motion = smooth_motion(rig, scaled=True)
    back = open_rig(export(rig, Clip.from_motion(rig, motion), tmp_path / "a.glb")).clips[0]
    assert (back.name, back.fps, back.frames) == (motion.name, motion.fps, motion.frames)
    times = np.linspace(0.0, motion.duration, 40)
    np.testing.assert_allclose(true_positions(rig, back, times), true_positions(rig, motion, times), atol=1e-6)


def test_the_same_clip_gives_the_same_bytes(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, smooth_motion(rig))
    a, b = export(rig, clip, tmp_path / "a.glb"), export(rig, clip, tmp_path / "b.glb")
    assert a.read_bytes() == b.read_bytes()
    untouched = open_rig(SAMPLES / "quadruped.glb").source.document.json
    assert rig.source.document.json == untouched


def test_keys_run_from_zero_to_the_duration_and_joints_at_rest_have_no_channel(rig: Rig, tmp_path: Path) -> None:
    motion = still(rig)
    turned = motion.rotations.copy()
    turned[:, 7] = [0.0, 0.6, 0.0, 0.8]
    file = GlbFile(export(rig, Clip.from_motion(rig, motion.with_(rotations=turned)), tmp_path / "a.glb"))
    tracks = file.tracks("still")
    assert list(tracks) == [(int(rig.skeleton.nodes[7]), "rotation")]
    (times, values), animation = tracks[int(rig.skeleton.nodes[7]), "rotation"], file.animation("still")
    np.testing.assert_array_equal(times, (np.arange(4) / 30.0).astype(np.float32))
    np.testing.assert_allclose(values, np.tile([0.0, 0.6, 0.0, 0.8], (4, 1)), atol=1e-7)
    accessor = file.gltf.accessors[animation.samplers[0].input]
    assert (accessor.min, accessor.max) == ([0.0], [0.1])  # the shortest that float32 reads as its own


@pytest.mark.parametrize("frames", [1, 2, 5])
def test_a_clip_in_which_nothing_moves_still_lasts(rig: Rig, frames: int, tmp_path: Path) -> None:
    file = GlbFile(export(rig, Clip.from_motion(rig, still(rig, frames)), tmp_path / "a.glb"))
    ((times, _),) = file.tracks("still").values()
    assert times[0] == 0.0
    assert times[-1] == pytest.approx((frames - 1) / 30.0, abs=1e-6)


def test_what_the_clip_says_of_itself_is_in_extras(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, smooth_motion(rig).with_(loop=True, travel=np.zeros((13, 3)), provenance={"prompt": "Trab, ü"}))
    content = split_glb(export(rig, clip, tmp_path / "a.glb").read_bytes())[0]
    assert content["animations"][0]["extras"] == clip.facts()


def test_nodes_with_matrices_get_the_transforms_that_animation_needs(tmp_path: Path) -> None:
    source = write_case("matrices", tmp_path)
    rig = open_rig(source)
    motion = smooth_motion(rig)
    clip = Clip.from_motion(rig, motion)
    file = GlbFile(export(rig, clip, tmp_path / "out.glb"))
    moved = {int(rig.skeleton.nodes[track.joint]) for track in clip.tracks}
    before = split_glb(source.read_bytes())[0]["nodes"]
    assert moved
    for index, node in enumerate(file.gltf.nodes):
        if index not in moved:
            assert node.matrix == before[index].get("matrix")
    times = np.linspace(0.0, motion.duration, 30)
    found = from_file_space(rig, file.positions("swing", times, rig.skeleton.nodes))
    np.testing.assert_allclose(found, true_positions(rig, motion, times), atol=1e-5)


def external(folder: Path) -> Path:
    """The sample as a .gltf with two buffers and a picture in files of their own."""
    draft = Draft("quadruped.glb")
    content, blob = draft.json, bytes(draft.blob)
    picture = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
    (folder / "a picture.png").write_bytes(picture)
    last = content["bufferViews"][-1]
    tail = blob[last["byteOffset"] : last["byteOffset"] + last["byteLength"]]
    (folder / "more.bin").write_bytes(tail)
    last |= {"buffer": 1, "byteOffset": 0}
    content["buffers"] = [{"byteLength": len(blob), "uri": "main.bin", "name": "kept"}, {"byteLength": len(tail), "uri": "more.bin"}]
    (folder / "main.bin").write_bytes(blob)
    content["images"] = [{"uri": "a%20picture.png", "name": "coat"}, {"uri": "missing.png"}, {"uri": "data:image/png;base64,AAAA"}]
    (folder / "a.gltf").write_text(json.dumps(content))
    return folder / "a.gltf"


def test_a_gltf_with_files_beside_it_becomes_one_self_contained_glb(rig: Rig, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = external(tmp_path)
    other = open_rig(source)
    motion = smooth_motion(other)
    path = export(other, Clip.from_motion(other, motion), tmp_path / "alone" / "a.glb")
    content, blob = split_glb(path.read_bytes())
    assert "uri" not in content["buffers"][0]
    assert content["buffers"][0]["name"] == "kept"
    assert content["buffers"][1]["uri"].startswith("data:")
    view = content["bufferViews"][content["images"][0]["bufferView"]]
    data = blob[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
    assert data == (tmp_path / "a picture.png").read_bytes()
    assert content["images"] == [
        {"name": "coat", "bufferView": content["images"][0]["bufferView"], "mimeType": "image/png"},
        {"uri": "missing.png"},
        {"uri": "data:image/png;base64,AAAA"},
    ]
    assert "missing.png" in caplog.text
    back = open_rig(path)
    for old, new in zip(rig.skins, back.skins, strict=True):
        np.testing.assert_array_equal(old.vertices, new.vertices)
    times = np.linspace(0.0, motion.duration, 20)
    found = from_file_space(other, GlbFile(path).positions("swing", times, other.skeleton.nodes))
    np.testing.assert_allclose(found, true_positions(other, motion, times), atol=1e-5)


def test_morph_weights_are_written_at_the_mesh_node(rig: Rig, tmp_path: Path) -> None:
    draft = Draft("quadruped.glb")
    for primitive in draft.json["meshes"][0]["primitives"]:
        primitive["targets"] = [{"POSITION": primitive["attributes"]["POSITION"]}] * 2
    source = tmp_path / "morphs.glb"
    source.write_bytes(draft.bytes())
    morphing = open_rig(source)
    node = next(i for i, item in enumerate(draft.json["nodes"]) if "mesh" in item)
    weights = np.linspace(0.0, 1.0, 8).reshape(4, 2)
    path = export(morphing, Clip.from_motion(morphing, still(morphing, morphs={node: weights})), tmp_path / "a.glb")
    ((key, (times, values)),) = GlbFile(path).tracks("still").items()
    assert key == (node, "weights")
    assert len(times) == 4
    np.testing.assert_allclose(values.reshape(4, 2), weights, atol=1e-7)
    np.testing.assert_allclose(open_rig(path).clips[0].morphs[node], weights, atol=1e-7)


def test_further_chunks_and_lone_surrogates_of_the_source_stay(tmp_path: Path) -> None:
    draft = Draft("quadruped.glb")
    draft.json["extras"] = {"half": "\ud83d", "whole": "骨"}
    data = bytearray(join_glb(draft.json, bytes(draft.blob)))
    chunk = (4).to_bytes(4, "little") + b"XTRA" + b"1234"
    data[8:12] = (len(data) + len(chunk)).to_bytes(4, "little")
    source = tmp_path / "a.glb"
    source.write_bytes(data + chunk)
    rig = open_rig(source)
    new = export(rig, Clip.from_motion(rig, still(rig)), tmp_path / "b.glb").read_bytes()
    assert new.endswith(chunk)
    assert int.from_bytes(new[8:12], "little") == len(new)
    assert split_glb(new)[0]["extras"] == draft.json["extras"]


def test_clips_that_a_glb_cannot_hold_are_refused_and_leave_nothing(rig: Rig, tmp_path: Path) -> None:
    huge = still(rig)
    close = Track(0, "translation", np.array([0.0, 1.0, 1.0 + 1e-9]), np.zeros((3, 3)))
    with pytest.raises(ExportError, match="fall together in float32"):
        export(rig, Clip("close", rig.skeleton, 1e9, 1.0 + 1e-9, False, "hips", (close,)), tmp_path / "a.glb")
    with pytest.raises(ExportError, match="too large for float32"):
        export(rig, Clip.from_motion(rig, huge.with_(root=huge.root + 1e39)), tmp_path / "a.glb")
    biped = open_rig(SAMPLES / "biped.glb")
    with pytest.raises(ExportError, match="another character"):
        export(rig, Clip.from_motion(biped, still(biped)), tmp_path / "a.glb")
    assert list(tmp_path.iterdir()) == []


def test_a_rig_that_comes_from_no_gltf_is_refused(rig: Rig, tmp_path: Path) -> None:
    from dataclasses import replace

    other = replace(rig, source=replace(rig.source, document=None))
    with pytest.raises(ExportError, match=r"only for a character read from glTF; write \.usda or \.bvh"):
        export_gltf(other, [Clip.from_motion(other, still(other))], tmp_path / "a.glb")

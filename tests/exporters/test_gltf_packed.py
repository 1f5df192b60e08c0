"""Compressed keys in a GLB: an independent decoder finds the clip in them, within the tolerance; the source's own meshes stay plain."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, split_glb
from export_readback import from_file_space, true_positions

from akd_sdk.errors import ExportError
from akd_sdk.exporters import ExportOptions, deliver, export, load_profile
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.rotations import quat_multiply

meshoptimizer = pytest.importorskip("meshoptimizer")

OPTIONS = ExportOptions(reduction="fast", compression="meshopt", tolerance_m=1e-3)


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "biped.glb")


def walk(rig: Rig, frames: int = 91) -> Motion:
    t = np.arange(frames) / 30.0
    rotations = np.tile(rig.skeleton.rest.rotations, (frames, 1, 1))
    for j in range(2, 20):
        half = 0.3 * np.sin(2 * np.pi * t + j)
        rotations[:, j] = quat_multiply(rotations[:, j], np.stack([np.sin(half), 0 * t, 0 * t, np.cos(half)], -1))
    rest = rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3]
    root = rest + np.stack([0.02 * np.sin(2 * np.pi * t), 0.03 * np.cos(4 * np.pi * t), 1.2 * t], -1)
    return Motion("walk", rotations, root, 30.0)


class Packed:
    """A GLB whose compressed views are decoded by the package itself, its accessors by rules of the specification."""

    def __init__(self, path: Path) -> None:
        self.json, self.blob = split_glb(path.read_bytes())

    def view(self, index: int) -> bytes:
        view = self.json["bufferViews"][index]
        told = view.get("extensions", {}).get("EXT_meshopt_compression")
        if told is None:
            assert view["buffer"] == 0
            return self.blob[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        buffer = self.json["buffers"][view["buffer"]]
        assert buffer["extensions"]["EXT_meshopt_compression"]["fallback"] is True
        assert "uri" not in buffer
        assert view["byteOffset"] % 4 == 0
        assert view["byteOffset"] + view["byteLength"] <= buffer["byteLength"]
        assert view["byteLength"] == told["count"] * told["byteStride"]
        data = self.blob[told["byteOffset"] : told["byteOffset"] + told["byteLength"]]
        rows = meshoptimizer.decode_vertex_buffer(told["count"], told["byteStride"], np.frombuffer(data, np.uint8)).view(np.uint8)
        flat = np.ascontiguousarray(rows).reshape(-1)
        filters = {"QUATERNION": meshoptimizer.decode_filter_quat, "EXPONENTIAL": meshoptimizer.decode_filter_exp}
        if told.get("filter", "NONE") != "NONE":
            flat = filters[told["filter"]](flat, told["count"], told["byteStride"])
        return flat.tobytes()

    def accessor(self, index: int) -> np.ndarray:
        item = self.json["accessors"][index]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[item["type"]]
        kind = {5126: "<f4", 5122: "<i2"}[item["componentType"]]
        values = np.frombuffer(self.view(item["bufferView"]), kind, item["count"] * width, item.get("byteOffset", 0)).astype(float)
        values = values.reshape(-1, width)
        if kind == "<i2":
            assert item["normalized"] is True
            values = np.maximum(values / 32767.0, -1.0)
        return values

    def motion(self, name: str) -> dict[tuple[int, str], tuple[np.ndarray, np.ndarray]]:
        animation = next(item for item in self.json["animations"] if item["name"] == name)
        found = {}
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            times = self.accessor(sampler["input"])[:, 0]
            item = self.json["accessors"][sampler["input"]]
            assert (item["min"], item["max"]) == ([times[0]], [times[-1]])
            found[channel["target"]["node"], channel["target"]["path"]] = times, self.accessor(sampler["output"])
        return found


def test_the_keys_in_the_file_play_the_clip_within_the_tolerance(rig: Rig, tmp_path: Path) -> None:
    motion = walk(rig)
    made = deliver(rig, motion, tmp_path / "a.glb", options=OPTIONS)
    plain = deliver(rig, motion, tmp_path / "b.glb", options=ExportOptions(reduction="fast", tolerance_m=1e-3))
    assert made.path.stat().st_size < plain.path.stat().st_size
    (clip,) = made.facts.clips
    assert clip.worst_mm is not None
    assert clip.worst_mm <= 1.0
    packed = Packed(made.path)
    assert packed.json["extensionsRequired"] == ["EXT_meshopt_compression"]
    tracks = packed.motion("walk")
    assert len(tracks) == clip.channels
    assert max(times[-1] for times, _ in tracks.values()) == pytest.approx(motion.duration)
    times = np.linspace(0.0, motion.duration, 4 * motion.frames - 3)
    shown = play(rig, tracks, times)
    error = np.linalg.norm(shown - true_positions(rig, motion, times), axis=-1).max() * rig.human_scale
    assert error < 1.05e-3


def play(rig: Rig, tracks: dict, times: np.ndarray) -> np.ndarray:
    from export_readback import GlbFile

    class Reader(GlbFile):
        def tracks(self, name: str) -> dict:
            return {
                key: (grid, values / np.linalg.norm(values, axis=-1, keepdims=True) if key[1] == "rotation" else values)
                for key, (grid, values) in tracks.items()
            }

    return from_file_space(rig, Reader(SAMPLES / "biped.glb").positions("walk", times, rig.skeleton.nodes))


def test_the_reader_opens_it_again(rig: Rig, tmp_path: Path) -> None:
    motion = walk(rig)
    back = open_rig(deliver(rig, motion, tmp_path / "a.glb", options=OPTIONS).path)
    times = motion.times
    error = np.linalg.norm(true_positions(back, back.clips[0], times) - true_positions(rig, motion, times), axis=-1)
    assert error.max() * rig.human_scale < 1.2e-3


def test_the_source_stays_plain_and_value_for_value(rig: Rig, tmp_path: Path) -> None:
    made = deliver(rig, [walk(rig), walk(rig).with_(name="again")], tmp_path / "a.glb", options=OPTIONS)
    (old, old_bin), (new, new_bin) = split_glb((SAMPLES / "biped.glb").read_bytes()), split_glb(made.path.read_bytes())
    assert new_bin.startswith(old_bin)
    for key in ("nodes", "meshes", "skins", "materials", "scenes"):
        assert json.dumps(new.get(key)) == json.dumps(old.get(key))
    for key in ("accessors", "bufferViews"):
        assert new[key][: len(old[key])] == old[key]
    assert len(new["buffers"]) == 2
    assert [item["name"] for item in new["animations"]] == ["walk", "again"]


@pytest.mark.parametrize("options", [OPTIONS, ExportOptions(reduction="fast", compression="meshopt", clip_only=True, all_joints=True)])
def test_a_clip_that_hardly_moves_still_lasts(options: ExportOptions, rig: Rig, tmp_path: Path) -> None:
    still = walk(rig, 31)
    rotations = np.tile(rig.skeleton.rest.rotations, (31, 1, 1))
    rotations[:, 4] = quat_multiply(rotations[:, 4], np.array([0.6, 0.0, 0.0, 0.8]))
    root = np.tile(rig.skeleton.rest_world[rig.skeleton.pelvis, :3, 3], (31, 1))
    made = deliver(rig, still.with_(rotations=rotations, root=root, name="still"), tmp_path / "a.glb", options=options)
    tracks = Packed(made.path).motion("still")
    assert max(times[-1] for times, _ in tracks.values()) == pytest.approx(1.0)


def test_engines_that_do_not_read_it_get_no_compressed_keys(rig: Rig, tmp_path: Path) -> None:
    for name in ("godot", "unreal", "blender"):
        with pytest.raises(ExportError, match="does not read EXT_meshopt_compression"):
            deliver(
                rig, walk(rig, 5), tmp_path / "a.glb", options=ExportOptions(load_profile(name), reduction="fast", compression="meshopt")
            )
    with pytest.raises(ExportError, match="signs of compressed rotations are not continuous"):
        deliver(
            rig, walk(rig, 5), tmp_path / "a.glb", options=ExportOptions(load_profile("unity"), reduction="fast", compression="meshopt")
        )
    with pytest.raises(ExportError, match="--compression: only reduced keys are compressed"):
        ExportOptions(compression="meshopt")
    with pytest.raises(ExportError, match="--compression: unknown compression 'zip'; known: none, meshopt"):
        ExportOptions(compression="zip")  # type: ignore[arg-type]
    with pytest.raises(ExportError, match=r"--compression cannot be done for \.bvh"):
        deliver(rig, walk(rig, 5), tmp_path / "a.bvh", options=OPTIONS)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ExportError, match="no clip"):
        export(rig, [], tmp_path / "a.glb", options=OPTIONS)

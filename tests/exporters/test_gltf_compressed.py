"""Quantised, meshopt- and Draco-compressed sources stay as they are: bytes, views, extensions; the clip is added beside them."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_cases import Draft, join_glb, smooth_motion, split_glb
from export_readback import GlbFile, from_file_space, true_positions

from akd_sdk.errors import BackendError, ReadError
from akd_sdk.exporters import Clip, ExportOptions, deliver, export
from akd_sdk.readers import open_rig

UNIT = 1.0 / 4096.0
RICH = {
    "materials": [{"name": "coat", "extensions": {"KHR_materials_sheen": {"sheenColorFactor": [0.1, 0.2, 0.3]}}, "extras": {"id": 7}}],
    "cameras": [{"type": "perspective", "perspective": {"yfov": 0.7, "znear": 0.01}}],
    "extras": {"kept": [1, 2.5, None]},
}
"""What lies in files beside meshes, and has to stay."""


def values(draft: Draft, accessor: int) -> np.ndarray:
    item = draft.json["accessors"][accessor]
    width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[item["type"]]
    kind = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}[item["componentType"]]
    start = draft.json["bufferViews"][item["bufferView"]].get("byteOffset", 0) + item.get("byteOffset", 0)
    return np.frombuffer(bytes(draft.blob), kind, item["count"] * width, start).reshape(-1, width)


def add_view(draft: Draft, data: bytes, **more: Any) -> int:
    draft.blob += b"\0" * (-len(draft.blob) % 4)
    draft.json["bufferViews"].append({"buffer": 0, "byteOffset": len(draft.blob), "byteLength": len(data), **more})
    draft.blob += data
    return len(draft.json["bufferViews"]) - 1


def quantised(draft: Draft) -> None:
    """Positions as 16-bit integers in a unit of their own, which the inverse binds undo: what gltfpack makes of skinned meshes."""
    for primitive in draft.json["meshes"][0]["primitives"]:
        accessor = draft.json["accessors"][primitive["attributes"]["POSITION"]]
        whole = np.round(values(draft, primitive["attributes"]["POSITION"]) / UNIT).astype("<i2")
        padded = np.zeros((len(whole), 4), "<i2")
        padded[:, :3] = whole
        accessor.pop("byteOffset", None)
        view = add_view(draft, padded.tobytes(), byteStride=8)
        accessor |= {"bufferView": view, "componentType": 5122, "min": whole.min(0).tolist(), "max": whole.max(0).tolist()}
    draft.json["skins"][0]["inverseBindMatrices"] = draft.add_binds(draft.binds @ np.diag([UNIT, UNIT, UNIT, 1.0]))
    draft.json["extensionsUsed"] = draft.json["extensionsRequired"] = ["KHR_mesh_quantization"]


def meshopt(draft: Draft) -> None:
    """Views compressed beside their plain values, as exporters with a fallback write them."""
    view = draft.json["accessors"][draft.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]["bufferView"]
    item = draft.json["bufferViews"][view]
    packed = add_view(draft, bytes([0xA0, *range(200)]))
    where = draft.json["bufferViews"][packed]
    item["extensions"] = {
        "EXT_meshopt_compression": {
            "buffer": 0,
            "byteOffset": where["byteOffset"],
            "byteLength": where["byteLength"],
            "byteStride": 12,
            "count": item["byteLength"] // 12,
            "mode": "ATTRIBUTES",
            "filter": "NONE",
        }
    }
    draft.json["extensionsUsed"] = ["EXT_meshopt_compression"]


def draco(draft: Draft) -> None:
    """A primitive with Draco's bytes beside its plain accessors."""
    packed = add_view(draft, b"DRACO" + bytes(range(120)))
    for primitive in draft.json["meshes"][0]["primitives"]:
        attributes = {name: i for i, name in enumerate(primitive["attributes"])}
        primitive["extensions"] = {"KHR_draco_mesh_compression": {"bufferView": packed, "attributes": attributes}}
    draft.json["extensionsUsed"] = ["KHR_draco_mesh_compression"]


SOURCES: dict[str, Callable[[Draft], None]] = {"quantised": quantised, "meshopt": meshopt, "draco": draco}


def write(name: str, folder: Path) -> Path:
    draft = Draft("biped.glb")
    SOURCES[name](draft)
    materials = draft.json.get("materials", [])
    draft.json |= copy.deepcopy({key: value for key, value in RICH.items() if key != "materials"})
    draft.json["materials"] = [*materials, *copy.deepcopy(RICH["materials"])]
    draft.json["nodes"][0]["extensions"] = {"VENDOR_tag": {"kept": True}}
    path = folder / f"{name}.glb"
    path.write_bytes(draft.bytes())
    return path


@pytest.mark.parametrize("reduction", ["none", "fast"])
@pytest.mark.parametrize("name", SOURCES)
def test_a_compressed_source_stays_value_for_value(name: str, reduction: str, tmp_path: Path) -> None:
    source = write(name, tmp_path)
    rig = open_rig(source)
    made = deliver(rig, smooth_motion(rig), tmp_path / "out.glb", options=ExportOptions(reduction=reduction))  # type: ignore[arg-type]
    (old, old_bin), (new, new_bin) = split_glb(source.read_bytes()), split_glb(made.path.read_bytes())
    assert new_bin.startswith(old_bin)
    assert new["buffers"][0].pop("byteLength") > old["buffers"][0].pop("byteLength")
    for key in ("accessors", "bufferViews"):
        assert new[key][: len(old[key])] == old[key]
        del new[key], old[key]
    assert len(new.pop("animations")) == 1
    assert json.dumps(new) == json.dumps(old)


@pytest.mark.parametrize("name", SOURCES)
def test_its_clip_plays_and_its_skin_follows(name: str, tmp_path: Path) -> None:
    rig = open_rig(write(name, tmp_path))
    motion = smooth_motion(rig)
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "out.glb")
    times = np.linspace(0.0, motion.duration, 20)
    found = from_file_space(rig, GlbFile(path).positions("swing", times, rig.skeleton.nodes))
    np.testing.assert_allclose(found, true_positions(rig, motion, times), atol=1e-5)
    plain = open_rig(Path(__file__).parents[2] / "samples" / "biped.glb")
    back = open_rig(path)
    for a, b in zip(back.skins, plain.skins, strict=True):
        shapes = a.at_rest(back.skeleton.rest_world), b.at_rest(plain.skeleton.rest_world)
        np.testing.assert_allclose(shapes[0] * plain.height / back.height, shapes[1], atol=2e-3)


@pytest.mark.parametrize("name", SOURCES)
def test_an_added_root_leaves_compressed_parts_alone(name: str, tmp_path: Path) -> None:
    source = write(name, tmp_path)
    rig = open_rig(source)
    options = ExportOptions(add_root=True)
    made = deliver(rig, smooth_motion(rig), tmp_path / "out.glb", root_mode="root", options=options)
    (old, old_bin), (new, new_bin) = split_glb(source.read_bytes()), split_glb(made.path.read_bytes())
    assert new_bin.startswith(old_bin)
    for key in ("meshes", "materials", "cameras", "extensionsUsed", "extras"):
        assert new[key] == old[key]
    assert new["bufferViews"][: len(old["bufferViews"])] == old["bufferViews"]


@pytest.mark.parametrize("name", SOURCES)
def test_its_clip_alone_needs_no_extension(name: str, tmp_path: Path) -> None:
    rig = open_rig(write(name, tmp_path))
    made = deliver(rig, smooth_motion(rig), tmp_path / "out.glb", options=ExportOptions(clip_only=True))
    content = split_glb(made.path.read_bytes())[0]
    assert not {"extensionsUsed", "extensionsRequired", "materials", "cameras"} & content.keys()
    assert "extensions" not in json.dumps(content["nodes"])


def compressed_alone(folder: Path) -> Path:
    """The sample with positions and inverse binds in views that only meshoptimizer fills, as its own packer writes files."""
    meshoptimizer = pytest.importorskip("meshoptimizer")
    draft = Draft("biped.glb")
    content = draft.json
    content["buffers"].append({"byteLength": 0, "extensions": {"EXT_meshopt_compression": {"fallback": True}}})
    position = content["meshes"][0]["primitives"][0]["attributes"]["POSITION"]
    binds = content["skins"][0]["inverseBindMatrices"]
    for accessor, rows in ((position, values(draft, position)), (binds, draft.binds.transpose(0, 2, 1).reshape(-1, 16).astype("<f4"))):
        plain = np.ascontiguousarray(rows, dtype="<f4")
        count, stride = plain.shape[0], plain.shape[1] * 4
        view = add_view(draft, bytes(meshoptimizer.encode_vertex_buffer(plain, count, stride)))
        where = content["bufferViews"][view]
        told = {"buffer": 0, "byteOffset": where["byteOffset"], "byteLength": where["byteLength"]}
        told |= {"byteStride": stride, "count": count, "mode": "ATTRIBUTES"}
        start = content["buffers"][1]["byteLength"]
        content["bufferViews"][view] = {
            "buffer": 1,
            "byteOffset": start,
            "byteLength": plain.nbytes,
            "extensions": {"EXT_meshopt_compression": told},
        }
        content["buffers"][1]["byteLength"] = start + plain.nbytes
        content["accessors"][accessor].pop("byteOffset", None)
        content["accessors"][accessor]["bufferView"] = view
    content["extensionsUsed"] = content["extensionsRequired"] = ["EXT_meshopt_compression"]
    path = folder / "packed.glb"
    path.write_bytes(draft.bytes())
    return path


def test_a_source_that_only_meshopt_opens_is_read_and_stays_as_it_is(tmp_path: Path) -> None:
    source = compressed_alone(tmp_path)
    rig, plain = open_rig(source), open_rig(Path(__file__).parents[2] / "samples" / "biped.glb")
    for a, b in zip(rig.skins, plain.skins, strict=True):
        np.testing.assert_array_equal(a.vertices, b.vertices)
        np.testing.assert_array_equal(a.inverse_binds, b.inverse_binds)
    motion = smooth_motion(rig)
    for packed in (False, True):
        options = ExportOptions(reduction="fast", compression="meshopt" if packed else "none")
        made = deliver(rig, motion, tmp_path / f"out{packed}.glb", options=options)
        (old, old_bin), (new, new_bin) = split_glb(source.read_bytes()), split_glb(made.path.read_bytes())
        assert new_bin.startswith(old_bin)
        assert new["buffers"][1] == old["buffers"][1]
        for key in ("accessors", "bufferViews"):
            assert new[key][: len(old[key])] == old[key]
        for key in ("meshes", "nodes", "skins", "extensionsRequired", "extensionsUsed"):
            assert new[key] == old[key]
        back = open_rig(made.path)
        assert [clip.name for clip in back.clips] == ["swing"]
    alone = deliver(rig, motion, tmp_path / "alone.glb", options=ExportOptions(clip_only=True))
    assert "extensionsRequired" not in split_glb(alone.path.read_bytes())[0]


def test_damaged_compression_is_refused_in_one_line(tmp_path: Path) -> None:
    source = compressed_alone(tmp_path)
    content, blob = split_glb(source.read_bytes())
    told = content["bufferViews"][content["accessors"][content["skins"][0]["inverseBindMatrices"]]["bufferView"]]["extensions"]
    start = told["EXT_meshopt_compression"]["byteOffset"]
    broken = bytearray(blob)
    broken[start : start + 8] = b"\xff" * 8
    source.write_bytes(join_glb(content, bytes(broken)))
    with pytest.raises(ReadError, match="cannot be decompressed"):
        open_rig(source)
    told["EXT_meshopt_compression"]["byteOffset"] = len(blob)
    source.write_bytes(join_glb(content, blob))
    with pytest.raises(ReadError, match="ends beyond its buffer"):
        open_rig(source)


def test_without_the_extra_a_compressed_source_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = compressed_alone(tmp_path)
    monkeypatch.setitem(sys.modules, "meshoptimizer", None)
    with pytest.raises(BackendError, match=r"not installed; pip install 'akd-sdk\[compress\]', or decompress the file first"):
        open_rig(source)

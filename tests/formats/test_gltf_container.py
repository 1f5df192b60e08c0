"""Containers: what is read, and every refusal with its reason."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

import pygltflib
import pytest
from gltf_build import Gltf, Post, pack_glb

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf import load


def test_glb_has_the_json_and_bytes_that_pygltflib_reads(tmp_path: Path) -> None:
    path = Post().save(tmp_path / "post.glb")
    document, other = load(path), pygltflib.GLTF2().load(str(path))
    assert document.binary
    assert document.buffers[0] == other.binary_blob()
    assert len(document.json["accessors"]) == len(other.accessors)
    assert [n.get("name") for n in document.json["nodes"]] == [n.name for n in other.nodes]


@pytest.mark.parametrize("uri", [None, "data.bin", "with%20space.bin", "sub/data.bin", "unencoded space.bin"])
def test_gltf_finds_its_buffer(tmp_path: Path, uri: str | None) -> None:
    post = Post()
    (tmp_path / "sub").mkdir()
    if uri:
        (tmp_path / uri.replace("%20", " ")).write_bytes(post.data)
    (tmp_path / "post.gltf").write_text(post.gltf(uri))
    assert load(tmp_path / "post.gltf").buffers[0] == bytes(post.data)


def test_unknown_json_and_chunks_are_kept(tmp_path: Path) -> None:
    post = Post()
    post.json["extras"] = {"mine": [1, 2.5, None]}
    post.json["extensions"] = {"X_unknown": {"a": True}}
    data = post.glb() + struct.pack("<II", 4, 0x58585858) + b"more"
    data = data[:8] + struct.pack("<I", len(data)) + data[12:]
    (tmp_path / "post.glb").write_bytes(data)
    document = load(tmp_path / "post.glb")
    assert document.json["extras"] == {"mine": [1, 2.5, None]}
    assert document.json["extensions"] == {"X_unknown": {"a": True}}
    assert document.chunks == ((0x58585858, b"more"),)


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    data, path = Post().glb(), tmp_path / "short.glb"
    for length in [*range(1, 64), *range(64, len(data), 97), len(data) - 1]:
        path.write_bytes(data[:length])
        with pytest.raises(ReadError) as refused:
            load(path)
        assert str(refused.value).startswith(str(path))


CASES = {
    "empty": (b"", "empty"),
    "json in a glb": (b'{"asset": {"version": "2.0"}}', "rename it to .gltf"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(50), "a PNG picture"),
    "zip": (b"PK\x03\x04" + bytes(50), "a zip archive"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
    "fbx": (b"Kaydara FBX Binary  \0", "an FBX file"),
    "noise": (bytes(range(200)), "does not begin with glTF"),
    "version 1": (struct.pack("<4sII", b"glTF", 1, 20) + bytes(8), "version 1"),
    "not json": (pack_glb(b"{nonsense", None), "JSON cannot be read"),
    "not utf-8": (pack_glb(b'{"asset": {"version": "\xff"}}', None), "JSON cannot be read"),
    "NaN in json": (pack_glb(b'{"asset": {"version": "2.0"}, "x": NaN}', None), "NaN"),
    "array": (pack_glb(b"[]", None), "not an object"),
    "deep": (pack_glb(b'{"a":' * 100_000, None), "nested too deeply"),
    "no asset": (pack_glb(b"{}", None), "no asset"),
    "gltf 1": (pack_glb(b'{"asset": {"version": "1.0"}}', None), "glTF '1.0'"),
    "later": (pack_glb(b'{"asset": {"version": "2.1", "minVersion": "2.1"}}', None), "glTF '2.1'"),
    "number as version": (pack_glb(b'{"asset": {"version": 2}}', None), "not a string"),
    "no bin": (pack_glb(b'{"asset": {"version": "2.0"}, "buffers": [{"byteLength": 4}]}', None), "buffer 0 has no data"),
    "short bin": (pack_glb(b'{"asset": {"version": "2.0"}, "buffers": [{"byteLength": 40}]}', b"1234"), "truncated: 4 bytes of 40"),
    "buffers": (pack_glb(b'{"asset": {"version": "2.0"}, "buffers": 3}', None), "not an array"),
    "draco": (
        pack_glb(b'{"asset": {"version": "2.0"}, "extensionsRequired": ["KHR_draco_mesh_compression"]}', None),
        "KHR_draco_mesh_compression",
    ),
    "meshopt": (
        pack_glb(b'{"asset": {"version": "2.0"}, "extensionsRequired": ["EXT_meshopt_compression"], "buffers": [{"byteLength": 4}]}', None),
        "buffer 0 has no data",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_no_glb_is_refused_with_its_reason(tmp_path: Path, case: str) -> None:
    data, reason = CASES[case]
    path = tmp_path / "file.glb"
    path.write_bytes(data)
    with pytest.raises(ReadError) as refused:
        load(path)
    assert reason in str(refused.value)
    assert str(refused.value).startswith(f"{path}: ")
    assert "\n" not in str(refused.value)


URIS = {
    "missing": ("nowhere.bin", "no such file"),
    "remote": ("https://example.com/a.bin", "only files beside"),
    "absolute": ("/etc/hostname", "only files beside"),
    "folder": ("folder", "is a folder"),
    "file scheme": ("file:///etc/hostname", "only files beside"),
    "not base64": ("data:application/octet-stream;base64,@@@@", "cannot be decoded"),
    "plain data": ("data:text/plain,abc", "not base64"),
    "null": ("a%00b.bin", "cannot be read"),
    "broken": ("http://[", "URI"),
}


@pytest.mark.parametrize("case", URIS)
def test_buffers_elsewhere_are_refused(tmp_path: Path, case: str) -> None:
    uri, reason = URIS[case]
    (tmp_path / "folder").mkdir()
    path = tmp_path / "post.gltf"
    path.write_text(Post().gltf(uri))
    with pytest.raises(ReadError) as refused:
        load(path)
    assert reason in str(refused.value)
    assert str(refused.value).startswith(f"{path}: buffer 0")


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no such file"):
        load(tmp_path / "nowhere.glb")
    (tmp_path / "folder.glb").mkdir()
    with pytest.raises(ReadError, match="is a folder"):
        load(tmp_path / "folder.glb")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.glb")
    with pytest.raises(ReadError, match="no regular file"):
        load(tmp_path / "pipe.glb")


def test_a_glb_called_gltf_is_refused_and_a_byte_order_mark_is_not(tmp_path: Path) -> None:
    path = tmp_path / "post.gltf"
    path.write_bytes(Post().glb())
    with pytest.raises(ReadError, match=r"rename it to \.glb"):
        load(path)
    path.write_bytes(b"\xef\xbb\xbf" + Post().gltf().encode())
    assert load(path).json["asset"] == {"version": "2.0"}


def test_extensions_of_looks_may_be_required(tmp_path: Path) -> None:
    file = Gltf()
    file.json["extensionsRequired"] = ["KHR_texture_transform", "KHR_mesh_quantization", "KHR_materials_unlit", "VRM"]
    assert load(file.save(tmp_path / "a.glb")).json["extensionsRequired"][0] == "KHR_texture_transform"
    file.json["extensionsRequired"] = json.loads("[1]")
    with pytest.raises(ReadError, match="extensionsRequired"):
        load(file.save(tmp_path / "a.glb"))

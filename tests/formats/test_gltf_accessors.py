"""Accessors: values against `struct`, and nothing read outside a buffer."""

from __future__ import annotations

import struct
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pygltflib
import pytest
from gltf_build import COMPONENTS, Gltf, Post

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf import Document, floats, integers, load

LETTERS = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "u4": "I", "f4": "f"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


def document(file: Gltf, folder: Path) -> Document:
    return load(file.save(folder / "file.glb"))


@pytest.mark.parametrize("dtype", COMPONENTS)
@pytest.mark.parametrize("kind", WIDTHS)
def test_every_component_type_and_width_is_what_struct_says(tmp_path: Path, dtype: str, kind: str) -> None:
    width, count, stride = WIDTHS[kind], 5, 20
    row = struct.Struct("<" + LETTERS[dtype] * width)
    generator = np.random.default_rng(3)
    raw = generator.integers(0, 100, (count, width)) if dtype == "f4" else generator.integers(*_range(dtype), (count, width))
    block = bytearray(stride * count)
    for i in range(count):
        row.pack_into(block, i * stride + 4, *(r / 7 if dtype == "f4" else int(r) for r in raw[i]))
    file = Gltf()
    view = file.view(bytes(block), byteStride=stride)
    index = file.add("accessors", {"bufferView": view, "byteOffset": 4, "componentType": COMPONENTS[dtype], "count": count, "type": kind})
    found = floats(document(file, tmp_path), index, (kind,), "the test")
    expected = np.array([row.unpack_from(block, i * stride + 4) for i in range(count)], dtype=np.float64)
    assert found.dtype == np.float64
    assert np.array_equal(found, expected[:, 0] if kind == "SCALAR" else expected)


def _range(dtype: str) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


@pytest.mark.parametrize(
    ("dtype", "raw", "expected"),
    [
        ("i1", [-128, -127, 0, 127], [-1.0, -1.0, 0.0, 1.0]),
        ("u1", [0, 51, 255], [0.0, 0.2, 1.0]),
        ("i2", [-32768, -32767, 16384, 32767], [-1.0, -1.0, 16384 / 32767, 1.0]),
        ("u2", [0, 13107, 65535], [0.0, 0.2, 1.0]),
    ],
)
def test_normalised_integers_follow_the_formula_of_the_format(tmp_path: Path, dtype: str, raw: list[int], expected: list[float]) -> None:
    file = Gltf()
    index = file.accessor(raw, dtype, normalized=True)
    assert np.allclose(floats(document(file, tmp_path), index, ("SCALAR",), "the test"), expected, atol=1e-15)


def test_matrices_act_on_columns(tmp_path: Path) -> None:
    file = Gltf()
    matrix = np.arange(16.0).reshape(4, 4)
    index = file.accessor(matrix.T.reshape(1, 16), kind="MAT4")
    assert np.array_equal(floats(document(file, tmp_path), index, ("MAT4",), "the test")[0], matrix)


def test_columns_of_small_matrices_begin_at_multiples_of_four(tmp_path: Path) -> None:
    file = Gltf()
    columns = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    data = b"".join(bytes(c) + b"\xee" for c in columns)
    view = file.view(data)
    index = file.add("accessors", {"bufferView": view, "componentType": 5121, "count": 1, "type": "MAT3"})
    assert np.array_equal(floats(document(file, tmp_path), index, ("MAT3",), "the test")[0], np.array(columns).T)


@pytest.mark.parametrize("based", [True, False])
def test_sparse_values_replace_the_base(tmp_path: Path, based: bool) -> None:
    file = Gltf()
    base = np.arange(30.0).reshape(10, 3) if based else np.zeros((10, 3))
    file.view(bytes(64))
    index = file.accessor(base) if based else file.add("accessors", {"componentType": 5126, "count": 10, "type": "VEC3"})
    changed = np.array([[1.5, 2.5, 3.5], [-1.0, -2.0, -3.0]], dtype="<f4")
    file.json["accessors"][index]["sparse"] = {
        "count": 2,
        "indices": {"bufferView": file.view(np.array([3, 7], dtype="<u2").tobytes()), "componentType": 5123},
        "values": {"bufferView": file.view(changed.tobytes())},
    }
    expected = base.copy()
    expected[[3, 7]] = changed
    assert np.array_equal(floats(document(file, tmp_path), index, ("VEC3",), "the test"), expected)


def test_the_samples_hold_what_pygltflib_and_struct_read(samples: Path) -> None:
    for path in sorted(samples.glob("*.glb")):
        mine, other = load(path), pygltflib.GLTF2().load(str(path))
        blob = other.binary_blob()
        for i, accessor in enumerate(other.accessors):
            view = other.bufferViews[accessor.bufferView]
            letter = LETTERS[next(k for k, v in COMPONENTS.items() if v == accessor.componentType)]
            width = {**WIDTHS, "MAT4": 16}[accessor.type]
            row = struct.Struct("<" + letter * width)
            start = (view.byteOffset or 0) + (accessor.byteOffset or 0)
            step = view.byteStride or row.size
            expected = np.array([row.unpack_from(blob, start + k * step) for k in range(accessor.count)], dtype=float)
            if accessor.normalized:
                expected = np.maximum(expected / np.iinfo(np.dtype(letter)).max, -1.0)
            if accessor.type == "MAT4":
                expected = expected.reshape(-1, 4, 4).transpose(0, 2, 1)
            found = floats(mine, i, (accessor.type,), "the test")
            assert np.allclose(found.reshape(expected.shape), expected, rtol=0, atol=1e-15)


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "beyond the view": ({"count": 25}, "ends at byte"),
    "offset": ({"byteOffset": 4}, "ends at byte"),
    "negative offset": ({"byteOffset": -4}, "out of range"),
    "no such view": ({"bufferView": 99}, "there are only"),
    "view as text": ({"bufferView": "0"}, "not a whole number"),
    "component": ({"componentType": 5124}, "component type 5124"),
    "no component": ({"componentType": None}, "componentType"),
    "type": ({"type": "VEC5"}, "has type"),
    "no count": ({"count": None}, "count"),
    "count 0": ({"count": 0}, "out of range"),
    "negative count": ({"count": -3}, "out of range"),
    "half count": ({"count": 2.5}, "not a whole number"),
    "true count": ({"count": True}, "not a whole number"),
    "huge count": ({"count": 2**40}, "more than the buffers have bytes"),
    "endless count": ({"count": 10**30}, "out of range"),
    "huge count, no view": ({"count": 2**31, "bufferView": None}, "more than the buffers have bytes"),
    "another type": ({"type": "VEC4", "count": 18}, "of type VEC4, expected VEC3"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_accessors_that_do_not_fit_are_refused_without_allocating(tmp_path: Path, case: str) -> None:
    changes, reason = FAULTS[case]
    post = Post()
    accessor = post.json["accessors"][post.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]
    accessor.update(changes)
    for key in [k for k, v in changes.items() if v is None]:
        del accessor[key]
    opened = document(post, tmp_path)
    index = post.json["accessors"].index(accessor)
    tracemalloc.start()
    with pytest.raises(ReadError, match=reason):
        floats(opened, index, ("VEC3",), "the test")
    assert tracemalloc.get_traced_memory()[1] < 1_000_000
    tracemalloc.stop()


VIEWS: dict[str, tuple[dict[str, Any], str]] = {
    "beyond the buffer": ({"byteLength": 10**6}, "but buffer 0 has"),
    "start": ({"byteOffset": 10**6}, "but buffer 0 has"),
    "no such buffer": ({"buffer": 4}, "there are only"),
    "stride too small": ({"byteStride": 4}, "stride 4"),
    "stride too large": ({"byteStride": 4096}, "at most 252"),
}


@pytest.mark.parametrize("case", VIEWS)
def test_views_that_do_not_fit_are_refused(tmp_path: Path, case: str) -> None:
    changes, reason = VIEWS[case]
    file = Gltf()
    index = file.accessor(np.zeros((4, 3)))
    file.json["bufferViews"][0].update(changes)
    with pytest.raises(ReadError, match=reason):
        floats(document(file, tmp_path), index, ("VEC3",), "the test")


@pytest.mark.parametrize(
    ("sparse", "reason"),
    [
        ({"count": 11}, "11 values for 10"),
        ({"indices": {"bufferView": 1, "componentType": 5126}}, "not unsigned"),
        ({"indices": {"bufferView": 1, "componentType": 5125}}, "ends at byte"),
        ({"values": {"bufferView": 77}}, "there are only"),
    ],
)
def test_sparse_values_that_do_not_fit_are_refused(tmp_path: Path, sparse: dict[str, Any], reason: str) -> None:
    file = Gltf()
    index = file.accessor(np.zeros((10, 3)))
    good = {
        "count": 1,
        "indices": {"bufferView": file.view(b"\x09"), "componentType": 5121},
        "values": {"bufferView": file.view(bytes(12))},
    }
    file.json["accessors"][index]["sparse"] = {**good, **sparse}
    with pytest.raises(ReadError, match=reason):
        floats(document(file, tmp_path), index, ("VEC3",), "the test")


def test_a_sparse_index_beyond_the_base_is_refused(tmp_path: Path) -> None:
    file = Gltf()
    index = file.accessor(np.zeros((10, 3)))
    file.json["accessors"][index]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": file.view(b"\x0a\0\0\0"), "componentType": 5121},
        "values": {"bufferView": file.view(bytes(12))},
    }
    with pytest.raises(ReadError, match="has index 10"):
        floats(document(file, tmp_path), index, ("VEC3",), "the test")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
def test_values_that_are_no_places_are_refused_unless_asked_for(tmp_path: Path, value: float) -> None:
    file = Gltf()
    index = file.accessor([1.0, value, 2.0])
    opened = document(file, tmp_path)
    with pytest.raises(ReadError, match=r"the test holds values (that are not finite|beyond)"):
        floats(opened, index, ("SCALAR",), "the test")
    assert floats(opened, index, ("SCALAR",), "the test", finite=False)[2] == 2.0


def test_a_signalling_nan_is_refused_without_a_warning(tmp_path: Path) -> None:
    file = Gltf()
    index = file.accessor(np.array([0x3F800000, 0x7F800001], "<u4").view("<f4"))
    with pytest.raises(ReadError, match="the test holds values that are not finite"):
        floats(document(file, tmp_path), index, ("SCALAR",), "the test")


def test_integers_are_integers(tmp_path: Path) -> None:
    file = Gltf()
    whole, real = file.accessor([1, 2, 4_000_000_000], "u4"), file.accessor([1.0])
    opened = document(file, tmp_path)
    found = integers(opened, whole, ("SCALAR",), "the test")
    assert found.dtype == np.int64
    assert found[2] == 4_000_000_000
    with pytest.raises(ReadError, match="floats, expected integers"):
        integers(opened, real, ("SCALAR",), "the test")

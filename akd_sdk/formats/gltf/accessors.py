"""Accessors of glTF: typed arrays out of buffers: strides, normalised integers, sparse values, everything within bounds."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import LARGEST, Json, child, integer, optional_reference, reference
from akd_sdk.formats.gltf.meshopt import compressed, decoded, is_fallback

COMPONENTS: Final[dict[int, str]] = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
"""numpy type of each component type."""

WIDTHS: Final = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
"""Components of an element."""

UNBACKED: Final = 65536
"""Elements of an accessor that the size of the file does not bound."""

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def floats(document: Document, index: int, kinds: tuple[str, ...], where: str, *, finite: bool = True) -> Array:
    """The values of an accessor as float64, normalised integers as -1..1 or 0..1.

    Args:
        index: of the accessor.
        kinds: allowed types, such as ("VEC3",).
        where: what the accessor is for, in messages.
        finite: refuse values that are not finite or huge; otherwise they come as they are.

    Returns:
        (count,) for SCALAR, (count, width) for vectors, (count, n, n) for matrices, which act on columns.

    Raises:
        ReadError: another type, values outside the buffer, or values that are no usable numbers.
    """
    raw, accessor = _values(document, index, where)
    kind = accessor["type"]
    if kind not in kinds:
        raise ReadError(f"{where} has accessor {index} of type {kind}, expected {' or '.join(kinds)}")
    with np.errstate(invalid="ignore"):  # a signalling NaN warns where it is converted
        values = raw.astype(np.float64)
    if raw.dtype.kind == "f":
        if finite and not np.abs(values).max() <= LARGEST:
            fault = "values that are not finite" if not np.isfinite(values).all() else f"values beyond {LARGEST:g}"
            raise ReadError(f"{where} holds {fault} (accessor {index})")
    elif accessor.get("normalized") is True:
        values = np.maximum(values / np.iinfo(raw.dtype).max, -1.0)
    if kind.startswith("MAT"):
        side = int(kind[3])
        return np.ascontiguousarray(values.reshape(-1, side, side).transpose(0, 2, 1))
    return values[:, 0] if kind == "SCALAR" else values


def integers(document: Document, index: int, kinds: tuple[str, ...], where: str) -> Ints:
    """The values of an accessor of integers, (count,) or (count, width); ReadError where it holds floats."""
    raw, accessor = _values(document, index, where)
    if accessor["type"] not in kinds:
        raise ReadError(f"{where} has accessor {index} of type {accessor['type']}, expected {' or '.join(kinds)}")
    if raw.dtype.kind == "f":
        raise ReadError(f"{where} has accessor {index} of floats, expected integers")
    values = raw.astype(np.int64)
    return values[:, 0] if accessor["type"] == "SCALAR" else values


def view_bytes(document: Document, index: int) -> memoryview:
    """The bytes of a buffer view."""
    return _view(document, index)[0]


def _values(document: Document, index: int, where: str) -> tuple[NDArray[Any], Json]:
    """Raw values (count, width) and the accessor's JSON."""
    accessors = document.items("accessors")
    index = reference(index, len(accessors), f"accessor of {where}")
    accessor, here = accessors[index], f"accessor {index}"
    dtype = _dtype(accessor, here)
    kind = accessor.get("type")
    if not isinstance(kind, str) or kind not in WIDTHS:
        raise ReadError(f"{here} has type {str(kind)[:40]!r}")
    count = integer(accessor, "count", here, low=1)
    if count > max(document.size, UNBACKED):  # no element is smaller than a byte; where no data backs them they are zeros
        raise ReadError(f"{here} has {count} elements, more than the buffers have bytes")
    view = optional_reference(accessor, "bufferView", len(document.items("bufferViews")), here)
    if view is None:
        values = np.zeros((count, WIDTHS[kind]), dtype)
    else:
        values = _strided(document, view, integer(accessor, "byteOffset", here, 0), (dtype, kind, count), here)
    if "sparse" in accessor:
        values = _with_sparse(document, child(accessor, "sparse", here), values, kind, here)
    return values, accessor


def _dtype(holder: Json, where: str) -> np.dtype[Any]:
    component = integer(holder, "componentType", where)
    if component not in COMPONENTS:
        raise ReadError(f"{where} has component type {component}")
    return np.dtype(COMPONENTS[component])


def _view(document: Document, index: int) -> tuple[memoryview, int]:
    """Bytes of a buffer view and its stride (0: none), checked against its buffer; decompressed where they lie nowhere plain."""
    views = document.items("bufferViews")
    view, where = views[reference(index, len(views), "bufferView")], f"buffer view {index}"
    buffer = reference(view.get("buffer"), len(document.buffers), f"buffer of {where}")
    told = compressed(view)
    if told is not None and is_fallback(document.items("buffers")[buffer]):
        if index not in document.decompressed:
            document.decompressed[index] = decoded(document.buffers, told, where)[0]
        return memoryview(document.decompressed[index]), integer(told, "byteStride", where)
    start = integer(view, "byteOffset", where, 0)
    length = integer(view, "byteLength", where, low=1)
    if start + length > len(document.buffers[buffer]):
        raise ReadError(f"{where} ends at byte {start + length}, but buffer {buffer} has {len(document.buffers[buffer])}")
    stride = integer(view, "byteStride", where, 0)
    if stride > 252:
        raise ReadError(f"{where} has a stride of {stride} bytes, at most 252 are allowed")
    return memoryview(document.buffers[buffer])[start : start + length], stride


def _offsets(dtype: np.dtype[Any], kind: str) -> tuple[list[int], int]:
    """Byte offsets of an element's components and its size; columns of matrices begin at multiples of four."""
    size = dtype.itemsize
    if not kind.startswith("MAT"):
        return [i * size for i in range(WIDTHS[kind])], WIDTHS[kind] * size
    side = int(kind[3])
    column = -(-side * size // 4) * 4
    return [c * column + r * size for c in range(side) for r in range(side)], (side - 1) * column + side * size


def _strided(document: Document, view: int, offset: int, shape: tuple[np.dtype[Any], str, int], where: str) -> NDArray[Any]:
    dtype, kind, count = shape
    held, stride = _view(document, view)
    offsets, element = _offsets(dtype, kind)
    packed = -(-element // 4) * 4 if kind.startswith("MAT") else element
    step = stride or packed
    if step < element:
        raise ReadError(f"{where} has elements of {element} bytes in a view of stride {step}")
    end = offset + step * (count - 1) + element
    if end > len(held):
        raise ReadError(f"{where} ends at byte {end}, but buffer view {view} has {len(held)}")
    data = np.frombuffer(held, np.uint8)
    rows = np.lib.stride_tricks.as_strided(data[offset:], (count, element), (step, 1), writeable=False)
    size = dtype.itemsize
    if element == len(offsets) * size:
        return np.ascontiguousarray(rows).view(dtype)
    return np.concatenate([np.ascontiguousarray(rows[:, at : at + size]).view(dtype) for at in offsets], axis=1)


def _with_sparse(document: Document, sparse: Json, values: NDArray[Any], kind: str, where: str) -> NDArray[Any]:
    where = f"sparse of {where}"
    count = integer(sparse, "count", where, low=1)
    if count > len(values):
        raise ReadError(f"{where} has {count} values for {len(values)} elements")
    views = len(document.items("bufferViews"))
    parts: list[NDArray[Any]] = []
    for key in ("indices", "values"):
        part = child(sparse, key, where)
        dtype = _dtype(part, where) if key == "indices" else values.dtype
        if key == "indices" and dtype.kind != "u":
            raise ReadError(f"{where} has indices that are not unsigned integers")
        view = reference(part.get("bufferView"), views, f"bufferView of {where}")
        shape = (dtype, "SCALAR" if key == "indices" else kind, count)
        parts.append(_strided(document, view, integer(part, "byteOffset", where, 0), shape, where))
    where_to = parts[0][:, 0].astype(np.int64)
    if where_to.max() >= len(values):
        raise ReadError(f"{where} has index {where_to.max()}, but there are only {len(values)} elements")
    replaced = values.copy()
    replaced[where_to] = parts[1]
    return replaced

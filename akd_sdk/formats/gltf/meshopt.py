"""EXT_meshopt_compression: buffer views whose bytes the meshoptimizer package (extra `compress`) brings back."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import BackendError, ReadError
from akd_sdk.formats.gltf.fields import Json, integer, reference, text

EXTENSIONS: Final = ("EXT_meshopt_compression", "KHR_meshopt_compression")
FILTERS: Final = {"OCTAHEDRAL": "decode_filter_oct", "QUATERNION": "decode_filter_quat", "EXPONENTIAL": "decode_filter_exp"}
LARGEST: Final = 1 << 31
"""Bytes of one view; a count beyond is damage."""


def is_fallback(buffer: Json) -> bool:
    """Whether a buffer stands for what compressed views hold, and has no data of its own."""
    found = buffer.get("extensions")
    return isinstance(found, dict) and any(isinstance(found.get(name), dict) and found[name].get("fallback") is True for name in EXTENSIONS)


def compressed(view: Json) -> Json | None:
    """What a buffer view says of its compression; None where it has none."""
    found = view.get("extensions")
    told = next((found[name] for name in EXTENSIONS if name in found), None) if isinstance(found, dict) else None
    return told if isinstance(told, dict) else None


def decoded(buffers: tuple[bytes, ...], told: Json, where: str) -> tuple[bytes, int]:
    """The bytes of a compressed view, and its stride.

    Raises ReadError: damaged. BackendError: the package is not installed.
    """
    data = buffers[reference(told.get("buffer"), len(buffers), f"buffer of {where}")]
    start, length = integer(told, "byteOffset", where, 0), integer(told, "byteLength", where, low=1)
    count, stride = integer(told, "count", where, low=1), integer(told, "byteStride", where, low=1)
    if start + length > len(data) or count * stride > LARGEST:
        raise ReadError(f"{where} is compressed, and ends beyond its buffer")
    mode, kind = text(told, "mode", where) or "", text(told, "filter", where) or "NONE"
    package = _package()
    packed = np.frombuffer(data, np.uint8, length, start)
    try:
        rows = _rows(package, packed, (count, stride), mode)
    except (RuntimeError, ValueError) as fault:
        raise ReadError(f"{where} cannot be decompressed ({fault})") from fault
    if kind not in FILTERS and kind != "NONE":
        raise ReadError(f"{where} has the filter {kind[:40]!r}, which is not read")
    if kind in FILTERS:
        rows = getattr(package, FILTERS[kind])(np.ascontiguousarray(rows), count, stride)
    return np.ascontiguousarray(rows).tobytes(), stride


def _rows(package: Any, packed: NDArray[np.uint8], shape: tuple[int, int], mode: str) -> NDArray[Any]:
    count, stride = shape
    if mode == "ATTRIBUTES":
        return np.asarray(package.decode_vertex_buffer(count, stride, packed)).view(np.uint8).reshape(count, stride)
    if mode not in ("TRIANGLES", "INDICES") or stride not in (2, 4):
        raise ValueError(f"mode {mode[:40]!r} with a stride of {stride}")
    decode = package.decode_index_buffer if mode == "TRIANGLES" else package.decode_index_sequence
    return np.asarray(decode(count, stride, packed)).view(np.uint8)[: count * stride]  # indices of two bytes fill the first half


def _package() -> Any:  # Any: it has no types
    try:
        import meshoptimizer
    except ImportError as error:
        fault = "the file is compressed by meshoptimizer, which is not installed"
        raise BackendError(fault, hint="pip install 'akd-sdk[compress]', or decompress the file first") from error
    return meshoptimizer

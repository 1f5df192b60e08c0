"""The vertex codec of the meshoptimizer package (extra `compress`), of which the Python functions do not set the version."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import BackendError

LEVEL = 3
EXTENSION = "EXT_meshopt_compression"
VERSIONS = {EXTENSION: 0, "KHR_meshopt_compression": 1}


@cache
def library() -> Any:  # Any: the C library
    """The C library of the package. Raises BackendError: it is not installed, or has not got the functions that are needed."""
    try:
        from meshoptimizer._loader import lib
    except ImportError as error:
        raise BackendError(
            "compressed animation needs meshoptimizer, which is not installed", hint="pip install 'akd-sdk[compress]'"
        ) from error
    try:
        lib.meshopt_encodeVertexBufferBound.restype = ctypes.c_size_t
        lib.meshopt_encodeVertexBufferLevel.restype = ctypes.c_size_t
        lib.meshopt_encodeVertexBufferLevel.argtypes = None
    except AttributeError as error:
        raise BackendError(f"this version of meshoptimizer does not do: {error}", hint="pip install 'akd-sdk[compress]' anew") from error
    return lib


def encode(rows: NDArray[Any], version: int = 0) -> bytes:
    """The codec's bytes of rows (n, width), whose size in bytes is a multiple of four. Raises BackendError: as `library`."""
    lib = library()
    data = np.ascontiguousarray(rows)
    count = len(data)
    stride = data.nbytes // max(count, 1)
    lib.meshopt_encodeVertexVersion(ctypes.c_int(version))
    bound = lib.meshopt_encodeVertexBufferBound(ctypes.c_size_t(count), ctypes.c_size_t(stride))
    out = np.zeros(bound, dtype=np.uint8)
    used = lib.meshopt_encodeVertexBufferLevel(
        out.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(bound), data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(count),
        ctypes.c_size_t(stride), ctypes.c_int(LEVEL), ctypes.c_int(version),
    )  # fmt: skip
    if not used:
        raise BackendError("meshoptimizer could not encode a buffer")
    return out[:used].tobytes()


def decode(data: bytes, count: int, stride: int) -> bytes:
    """The rows' bytes of the codec's bytes. Raises BackendError: they are damaged, or as `library`."""
    lib = library()
    source = np.frombuffer(data, dtype=np.uint8)
    out = np.zeros(count * stride, dtype=np.uint8)
    fault = lib.meshopt_decodeVertexBuffer(
        out.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(count), ctypes.c_size_t(stride),
        source.ctypes.data_as(ctypes.POINTER(ctypes.c_ubyte)), ctypes.c_size_t(len(source)),
    )  # fmt: skip
    if fault:
        raise BackendError("a compressed buffer is damaged")
    return out.tobytes()

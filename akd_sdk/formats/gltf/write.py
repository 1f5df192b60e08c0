"""Writing glTF: data appended to a document whose own JSON and bytes stay as they are, packed into one self-contained GLB."""

from __future__ import annotations

import base64
import copy
import json
import logging
import struct
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError, ReadError
from akd_sdk.formats.gltf.container import BIN_CHUNK, JSON_CHUNK, MAGIC, Document, resource
from akd_sdk.formats.gltf.fields import Json

FLOAT: Final = 5126
KINDS: Final = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
LARGEST_GLB: Final = 2**32 - 1

_IMAGES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\xabKTX 20\xbb", "image/ktx2"),
    (b"RIFF", "image/webp"),
)

_log = logging.getLogger(__name__)


class Appender:
    """A copy of a document to which arrays are appended; what it held before keeps its value, index and place in the first buffer.

    Attributes:
        json: the copy's JSON, to be changed at will; `buffers[0]` is made right by `glb`.
    """

    def __init__(self, document: Document) -> None:
        self.json: Json = copy.deepcopy(document.json)
        self._document = document
        buffers = self.json.setdefault("buffers", [])
        if not buffers:
            buffers.append({"byteLength": 0})
        first = document.buffers[0][: buffers[0]["byteLength"]] if document.buffers else b""
        self._data = bytearray(first)
        self._embed_buffers()
        self._embed_images()

    def view(self, data: bytes) -> int:
        """A new buffer view of these bytes, at a multiple of four; its index."""
        self._data += b"\0" * (-len(self._data) % 4)
        views: list[Json] = self.json.setdefault("bufferViews", [])
        views.append({"buffer": 0, "byteOffset": len(self._data), "byteLength": len(data)})
        self._data += data
        return len(views) - 1

    def floats(self, arrays: list[NDArray[np.float64]], *, bounds: tuple[int, ...] = ()) -> list[int]:
        """New float32 accessors of arrays (count,), (count, 3) or (count, 4) in one buffer view; their indices.

        bounds: positions in the list of the arrays that get `min` and `max`. Raises ExportError: a value that float32 does not hold.
        """
        with np.errstate(over="ignore"):
            single = [np.ascontiguousarray(array, dtype="<f4") for array in arrays]
        if not all(np.isfinite(array).all() for array in single):
            raise ExportError("values are too large for float32", self._document.path)
        view = self.view(b"".join(array.tobytes() for array in single))
        accessors: list[Json] = self.json.setdefault("accessors", [])
        start, first = 0, len(accessors)
        for i, array in enumerate(single):
            rows = array.reshape(len(array), -1)
            accessor: Json = {"bufferView": view, "componentType": FLOAT, "count": len(rows), "type": KINDS[rows.shape[1]]}
            if start:
                accessor["byteOffset"] = start
            if i in bounds:
                accessor |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
            accessors.append(accessor)
            start += array.nbytes
        return list(range(first, len(accessors)))

    def glb(self) -> bytes:
        """The file."""
        first = self.json["buffers"][0]
        first.pop("uri", None)
        first["byteLength"] = len(self._data)
        text = _encoded(self.json)
        chunks = [(JSON_CHUNK, text + b" " * (-len(text) % 4)), (BIN_CHUNK, bytes(self._data) + b"\0" * (-len(self._data) % 4))]
        chunks += self._document.chunks
        length = 12 + sum(8 + len(data) for _, data in chunks)
        if length > LARGEST_GLB:
            raise ExportError("is larger than the 4 GiB that a GLB can hold", self._document.path)
        parts = [struct.pack("<4sII", MAGIC, 2, length)]
        for kind, data in chunks:
            parts += [struct.pack("<II", len(data), kind), data]
        return b"".join(parts)

    def _embed_buffers(self) -> None:
        """Buffers after the first that lie in files of their own go into the JSON, so that no buffer view has to change."""
        for buffer, data in zip(self.json["buffers"][1:], self._document.buffers[1:], strict=True):
            if "uri" in buffer and not buffer["uri"].startswith("data:"):
                text = base64.b64encode(data[: buffer["byteLength"]]).decode()
                buffer["uri"] = f"data:application/octet-stream;base64,{text}"

    def _embed_images(self) -> None:
        """Images that lie in files of their own go into the buffer; one that cannot be found keeps its address."""
        for index, image in enumerate(self.json.get("images", [])):
            uri = image.get("uri")
            if not isinstance(uri, str) or uri.startswith("data:"):
                continue
            try:
                data = resource(self._document.path, uri, f"image {index}")
            except ReadError as fault:
                _log.warning("%s: %s; the image stays outside the file", self._document.path, fault)
                continue
            kind = next((kind for start, kind in _IMAGES if data.startswith(start)), None)
            if kind is None:
                _log.warning("%s: image %d is of no known kind; it stays outside the file", self._document.path, index)
                continue
            del image["uri"]
            image |= {"bufferView": self.view(data), "mimeType": kind}


def with_matrices(document: Document, content: Json, matrices: list[NDArray[np.float64]]) -> tuple[Document, list[int]]:
    """The document with `content` for its JSON, and new float32 accessors of matrices (n, 4, 4) at the end of its first buffer, by index.

    `content` is a copy of the document's JSON, and is changed. Raises ExportError: a value that float32 does not hold.
    """
    buffers = content.setdefault("buffers", [{"byteLength": 0}])
    data = bytearray(document.buffers[0][: buffers[0]["byteLength"]] if document.buffers else b"")
    indices = []
    for array in matrices:
        with np.errstate(over="ignore"):
            single = np.ascontiguousarray(array.transpose(0, 2, 1), dtype="<f4")
        if not np.isfinite(single).all():
            raise ExportError("values are too large for float32", document.path)
        data += b"\0" * (-len(data) % 4)
        views: list[Json] = content.setdefault("bufferViews", [])
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": single.nbytes})
        data += single.tobytes()
        accessors: list[Json] = content.setdefault("accessors", [])
        accessors.append({"bufferView": len(views) - 1, "componentType": FLOAT, "count": len(array), "type": "MAT4"})
        indices.append(len(accessors) - 1)
    buffers[0]["byteLength"] = len(data)
    return Document(document.path, content, (bytes(data), *document.buffers[1:]), document.binary, document.chunks), indices


def _encoded(content: Json) -> bytes:
    try:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can escape but UTF-8 cannot hold
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode()


def taken_names(document_json: Json, key: str) -> set[str]:
    """The names that the items of `document_json[key]` have."""
    items: list[Any] = document_json.get(key, [])
    return {item["name"] for item in items if isinstance(item, dict) and isinstance(item.get("name"), str)}

"""The container of glTF: a GLB or a .gltf with its buffers becomes a `Document` of raw JSON and bytes."""

from __future__ import annotations

import base64
import binascii
import json
import stat
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.extensions import check_required
from akd_sdk.formats.gltf.fields import Json, integer, objects, text
from akd_sdk.formats.gltf.meshopt import is_fallback

MAGIC: Final = b"glTF"
JSON_CHUNK: Final = 0x4E4F534A
BIN_CHUNK: Final = 0x004E4942
MOST_SAVED: Final = 64
"""How much more than itself a compressed file can hold."""

_SIGNATURES: Final = (
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PXR-USDC", "a USD crate"),
    (b"#usda", "a USD text file"),
    (b"Kaydara FBX", "an FBX file"),
    (b"HIERARCHY", "a BVH file"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself"),
    (b"BLENDER", "a Blender file"),
)


@dataclass(frozen=True)
class Document:
    """A glTF file as it lies on disk, nothing interpreted.

    Attributes:
        path: the file.
        json: its JSON, every key kept; not to be changed in place.
        buffers: bytes of each buffer, at least as many as its `byteLength` says.
        binary: whether it is a GLB.
        chunks: further chunks of a GLB after JSON and BIN, (kind, bytes).
        decompressed: bytes of compressed buffer views by index, as far as somebody asked for them.
    """

    path: Path
    json: Json
    buffers: tuple[bytes, ...]
    binary: bool
    chunks: tuple[tuple[int, bytes], ...] = ()
    decompressed: dict[int, bytes] = field(init=False, repr=False, compare=False, default_factory=dict)
    _checked: dict[str, list[Json]] = field(init=False, repr=False, compare=False, default_factory=dict)

    def items(self, key: str) -> list[Json]:
        """A top-level array of objects, empty where there is none; ReadError where it is something else. Checked once."""
        if key not in self._checked:
            self._checked[key] = objects(self.json, key)
        return self._checked[key]

    @property
    def size(self) -> int:
        """Bytes of all buffers; of those that only compressed views fill what compression can at most have saved."""
        held = sum(len(buffer) for buffer in self.buffers)
        saved = sum(integer(item, "byteLength", "a buffer", 0) for item in self.items("buffers") if is_fallback(item))
        return held + min(saved, MOST_SAVED * held)


def load(path: str | Path, *, any_extension: bool = False) -> Document:
    """The document of a .glb, .gltf or .vrm.

    any_extension: extensions that are not read do not matter, nor do buffers that only they fill (those are empty here).

    Raises:
        ReadError: the file is missing, no regular file, empty, truncated, not what its name says, no glTF 2, or a buffer
            is missing or too short.
    """
    path = Path(path)
    try:
        return _load(path, any_extension)
    except ReadError as fault:
        raise fault.at(path) from fault


def read_bytes(path: Path) -> bytes:
    """All bytes of a regular file that is not empty; ReadError otherwise."""
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise ReadError("is a folder, not a file", path)
        if not stat.S_ISREG(kind):
            raise ReadError("is no regular file", path)
        data = path.read_bytes()
    except FileNotFoundError as fault:
        raise ReadError("no such file", path) from fault
    except (OSError, ValueError) as fault:  # ValueError: a path with a null character
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        raise ReadError(f"cannot be read ({reason})", path) from fault
    if not data:
        raise ReadError("the file is empty", path)
    return data


def _load(path: Path, any_extension: bool) -> Document:
    raw = read_bytes(path)
    binary = path.suffix.lower() != ".gltf"
    _check_signature(raw, binary, path.suffix)
    if binary:
        text_chunk, bin_chunk, chunks = _split(raw)
    else:
        text_chunk, bin_chunk, chunks = raw, None, ()
    content = _parse(text_chunk)
    _check_version(content)
    if not any_extension:
        check_required(content)
    data: list[bytes] = []
    for i, buffer in enumerate(objects(content, "buffers")):
        unfilled = is_fallback(buffer) or (any_extension and (i > 0 or bin_chunk is None))
        unfilled = unfilled and "uri" not in buffer
        data.append(b"" if unfilled else _buffer(path, i, buffer, bin_chunk))
    return Document(path, content, tuple(data), binary, chunks)


def _check_signature(data: bytes, binary: bool, suffix: str) -> None:
    if binary and data[:4] == MAGIC:
        return
    for start, what in _SIGNATURES:
        if data.startswith(start):
            raise ReadError(f"is not what its name says: it is {what}")
    if not binary and data[:4] == MAGIC:
        raise ReadError("is not what its name says: it is a GLB", hint="rename it to .glb")
    if binary:
        if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{":
            raise ReadError("is not what its name says: it holds JSON, not a GLB", hint="rename it to .gltf")
        raise ReadError(f"is not a {suffix[1:].upper() or 'GLB'} file: it does not begin with glTF")


def _split(data: bytes) -> tuple[bytes, bytes | None, tuple[tuple[int, bytes], ...]]:
    """JSON, BIN and further chunks of a GLB."""
    if len(data) < 12:
        raise ReadError("truncated: a GLB header has 12 bytes", hint="get the file again")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise ReadError(f"is a GLB of version {version}", hint="only version 2 is read")
    if length > len(data):
        raise ReadError(f"truncated: {len(data)} bytes of {length} are there", hint="get the file again")
    chunks: list[tuple[int, bytes]] = []
    at = 12
    while at < length:
        if at + 8 > length:
            raise ReadError("truncated in the header of a chunk")
        size, kind = struct.unpack_from("<II", data, at)
        if at + 8 + size > length:
            raise ReadError(f"truncated: a chunk of {size} bytes does not fit into the file")
        chunks.append((kind, data[at + 8 : at + 8 + size]))
        at += 8 + size
    if not chunks or chunks[0][0] != JSON_CHUNK:
        raise ReadError("the GLB does not begin with a JSON chunk")
    if len(chunks) > 1 and chunks[1][0] == BIN_CHUNK:
        return chunks[0][1], chunks[1][1], tuple(chunks[2:])
    return chunks[0][1], None, tuple(chunks[1:])


def _no_constant(name: str) -> Any:
    raise ReadError(f"its JSON holds {name}, which is no number of JSON")


def _parse(data: bytes) -> Json:
    try:
        content = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant)
    except RecursionError as fault:
        raise ReadError("its JSON is nested too deeply") from fault
    except ValueError as fault:
        raise ReadError(f"its JSON cannot be read ({fault})") from fault
    if not isinstance(content, dict):
        raise ReadError("its JSON is not an object")
    return content


def _check_version(content: Json) -> None:
    asset = content.get("asset")
    if not isinstance(asset, dict):
        raise ReadError("is not glTF: its JSON has no asset")
    for key in ("minVersion", "version"):
        version = text(asset, key, "asset")
        if key == "version" and version is None:
            raise ReadError("its asset has no version")
        major, _, minor = (version or "2.0").partition(".")
        if major != "2" or (key == "minVersion" and minor != "0"):
            raise ReadError(f"needs glTF {version!r}", hint="only glTF 2.0 is read")


def _buffer(path: Path, index: int, buffer: Json, bin_chunk: bytes | None) -> bytes:
    where = f"buffer {index}"
    length = integer(buffer, "byteLength", where, low=1)
    uri = text(buffer, "uri", where)
    if uri is None:
        if index or bin_chunk is None:
            raise ReadError(f"{where} has no data")
        data = bin_chunk
    else:
        data = resource(path, uri, where)
    if len(data) < length:
        raise ReadError(f"{where} is truncated: {len(data)} bytes of {length} are there")
    return data


def resource(path: Path, uri: str, where: str) -> bytes:
    """The bytes that a URI of the file at `path` stands for: a data URI, or a file beside it."""
    if uri.startswith("data:"):
        head, comma, body = uri.partition(",")
        if not comma or not head.endswith(";base64"):
            raise ReadError(f"{where} has a data URI that is not base64")
        try:
            return base64.b64decode(body, validate=True)
        except binascii.Error as fault:
            raise ReadError(f"{where} has a data URI that cannot be decoded ({fault})") from fault
    try:
        parts = urlsplit(uri)
    except ValueError as fault:
        raise ReadError(f"{where} has a broken URI ({fault})") from fault
    name = unquote(uri)
    if parts.scheme or parts.netloc or name.startswith(("/", "\\")):
        raise ReadError(f"{where} lies at {uri[:80]!r}", hint="only files beside the glTF are read")
    try:
        return read_bytes(path.parent / name)
    except ReadError as fault:
        raise ReadError(f"{where}: {name[:200]!r} {fault.fault}") from fault

"""Keys of a clip as glTF holds them: accessors without superfluous JSON, one block of bytes a kind, equal keys kept once."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.formats.gltf.fields import Json

Array = NDArray[np.float64]
FLOAT, SHORT = 5126, 5122
KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}
LARGEST_SHORT = 32767.0


@dataclass
class KeyData:
    """One animation's keys and JSON, accessors numbered from 0 and their `bufferView` being 0 for float32, 1 for int16.

    Attributes:
        blocks: bytes of each kind, each accessor at a multiple of four.
        accessors: JSON of the accessors.
        samplers: JSON.
        channels: JSON.
    """

    blocks: tuple[bytearray, bytearray] = field(default_factory=lambda: (bytearray(), bytearray()))
    accessors: list[Json] = field(default_factory=list)
    samplers: list[Json] = field(default_factory=list)
    channels: list[Json] = field(default_factory=list)
    _known: dict[Hashable, int] = field(default_factory=dict)

    def add(self, target: Json, times: Array, values: Array, *, held: bool = False, short: bool = False) -> None:
        """A channel: keys at times (keys,) in seconds, values (keys, width) or flat for weights, in the file's unit.

        held: STEP, else LINEAR. short: quaternions as normalised 16-bit integers.
        Raises ExportError: values too large for float32, times that fall together in it.
        """
        grid = _single(times)
        if (np.diff(grid) <= 0.0).any():
            raise ExportError("keys fall together in float32", hint="ask for fewer frames a second")
        data = _shorts(values) if short else _single(values)
        sampler: Json = {"input": self._accessor(grid, time=True), "output": self._accessor(data)}
        if held:
            sampler["interpolation"] = "STEP"
        known: Hashable = ("sampler", sampler["input"], sampler["output"], held)
        if known not in self._known:
            self._known[known] = len(self.samplers)
            self.samplers.append(sampler)
        self.channels.append({"sampler": self._known[known], "target": target})

    def _accessor(self, rows: NDArray[np.float32] | NDArray[np.int16], time: bool = False) -> int:
        """The index of an accessor that holds these values, an old one if it does."""
        content = rows.tobytes()
        kind = int(rows.dtype == np.int16)
        width = 1 if rows.ndim == 1 else rows.shape[1]
        known: Hashable = ("accessor", kind, width, time, content)
        if known not in self._known:
            self._known[known] = len(self.accessors)
            block = self.blocks[kind]
            accessor: Json = {"bufferView": kind, "componentType": SHORT if kind else FLOAT, "count": len(rows), "type": KINDS[width]}
            if block:
                accessor["byteOffset"] = len(block)
            if kind:
                accessor["normalized"] = True
            if time:
                accessor |= {"min": [_shortest(rows.min())], "max": [_shortest(rows.max())]}
            block += content + b"\0" * (-len(content) % 4)
            self.accessors.append(accessor)
        return self._known[known]

    def views(self, offset: int = 0) -> list[Json]:
        """JSON of the buffer views if the blocks lie one after another from `offset` in buffer 0."""
        out: list[Json] = []
        for block in self.blocks:
            if block:
                out.append({"buffer": 0, "byteOffset": offset, "byteLength": len(block)})
                offset += len(block)
        return out

    def bytes(self, name: str) -> tuple[int, int]:
        """Bytes of the accessors, and of the JSON of animation, accessors and buffer views, as in a file that holds nothing else."""
        animation = {"name": name, "channels": self.channels, "samplers": self.samplers}
        text = len(_text([animation])) + sum(len(_text(item)) + 1 for item in [*self.accessors, *self.views()])
        return sum(len(block) for block in self.blocks), text


def _text(item: object) -> bytes:
    return json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace")


def _single(values: Array) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(values, dtype="<f4")
    if not np.isfinite(single).all():
        raise ExportError("values are too large for float32")
    return single


def _shorts(quaternions_xyzw: Array) -> NDArray[np.int16]:
    whole = np.floor(quaternions_xyzw * LARGEST_SHORT + 0.5)
    return np.ascontiguousarray(np.clip(whole, -LARGEST_SHORT, LARGEST_SHORT), dtype="<i2")


def _shortest(value: np.float32 | np.int16) -> float | int:
    """The shortest number that float32 reads as this value."""
    short = float(np.format_float_positional(np.float32(value), unique=True, trim="-"))
    return int(short) if short.is_integer() else short

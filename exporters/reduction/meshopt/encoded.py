"""Encoded: a plan's keys as compressed buffer views, and what decoders give back of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.reduction.meshopt.codec import encode
from akd_sdk.exporters.reduction.meshopt.filters import decode_quaternions, decode_steps, encode_quaternions, encode_steps
from akd_sdk.exporters.reduction.truth import Keys
from akd_sdk.exporters.reduction.work import Work

Array = NDArray[np.float64]
Filter = Literal["NONE", "QUATERNION", "EXPONENTIAL"]
LARGEST = 32767.0


@dataclass(frozen=True)
class Stored:
    """How one line is stored: `bits` of the QUATERNION filter (0: int16, -1: float32), or the `exponent` of steps (None: float32)."""

    bits: int = -1
    exponent: int | None = None


@dataclass(frozen=True)
class View:
    """A buffer view: `count` rows of `stride` bytes, compressed to `data` after `filter`; `stride` bytes a row again when decoded."""

    data: bytes
    count: int
    stride: int
    filter: Filter

    def extension(self, buffer: int, offset: int) -> dict[str, Any]:
        """The object of EXT_meshopt_compression for this view, its data at `offset` of `buffer`."""
        out: dict[str, Any] = {"buffer": buffer, "byteOffset": offset, "byteLength": len(self.data), "byteStride": self.stride}
        out |= {"mode": "ATTRIBUTES", "count": self.count}
        return out if self.filter == "NONE" else out | {"filter": self.filter}


@dataclass(frozen=True)
class Place:
    """Where an accessor lies: the index of its view, its first row there, its rows."""

    view: int
    first: int
    count: int


@dataclass(frozen=True)
class Channel:
    """One track's accessors: times (float32 SCALAR) and values (rotations int16 normalised or float32 VEC4, vectors float32 VEC3)."""

    line: int
    times: Place
    values: Place
    held: bool
    short: bool


@dataclass(frozen=True)
class Encoded:
    """Compressed keys of a clip: what a writer puts into a file, and what players get from it."""

    views: tuple[View, ...]
    channels: tuple[Channel, ...]
    keys: tuple[Keys | None, ...]

    @property
    def bytes(self) -> int:
        """Bytes of the compressed buffer views."""
        return sum(len(view.data) for view in self.views)


class _Pile:
    """Rows that go into one buffer view."""

    def __init__(self, kind: Filter, width: int) -> None:
        self.kind, self.width = kind, width
        self.rows: list[NDArray[Any]] = []
        self.known: dict[bytes, tuple[int, int]] = {}
        self.count = 0

    def add(self, rows: NDArray[Any]) -> tuple[int, int]:
        """First row and number of rows."""
        known = self.known.get(rows.tobytes())
        if known is None:
            known = self.known[rows.tobytes()] = (self.count, len(rows))
            self.rows.append(rows)
            self.count += len(rows)
        return known


def encoded(
    work: Work, keys: list[Keys | None], stored: dict[int, Stored], version: int, encoder: Callable[[NDArray[Any], int], bytes] = encode
) -> Encoded:
    """Keys (values as the state has them, translations at human size) in compressed views, one a kind."""
    piles: dict[tuple[Filter, int], _Pile] = {}
    placed: list[tuple[int, tuple[Filter, int], tuple[int, int], tuple[int, int], bool, bool]] = []
    back: list[Keys | None] = [None] * len(keys)
    times = piles.setdefault(("NONE", 4), _Pile("NONE", 4))
    for i, key in enumerate(keys):
        if key is None:
            continue
        kind, rows, read = _rows(work, i, key, stored[i])
        pile = piles.setdefault(kind, _Pile(*kind))
        grid = np.ascontiguousarray(work.times[key.frames], dtype="<f4")
        placed.append((i, kind, times.add(grid), pile.add(rows), key.held, kind[1] == 8))
        back[i] = Keys(key.frames, read, key.held)
    used = {kind: pile for kind, pile in piles.items() if pile.count}
    index = {kind: n for n, kind in enumerate(used)}
    views = tuple(View(encoder(np.concatenate(pile.rows), version), pile.count, pile.width, pile.kind) for pile in used.values())
    channels = tuple(
        Channel(i, Place(index["NONE", 4], *grid), Place(index[kind], *place), held, short) for i, kind, grid, place, held, short in placed
    )
    return Encoded(views, channels, tuple(back))


def _rows(work: Work, i: int, key: Keys, stored: Stored) -> tuple[tuple[Filter, int], NDArray[Any], Array]:
    """The kind of view that a line's values go to, its rows there, and what is read back (translations at human size)."""
    line = work.lines[i]
    if line.turns and stored.bits > 0:
        rows = encode_quaternions(key.values, stored.bits)
        return ("QUATERNION", 8), rows, decode_quaternions(rows) / LARGEST
    if line.turns and stored.bits == 0:
        short = np.ascontiguousarray(np.clip(np.floor(key.values * LARGEST + 0.5), -LARGEST, LARGEST), dtype="<i2")
        return ("NONE", 8), short, short / LARGEST
    unit = work.unit if line.path == "translation" else 1.0
    if stored.exponent is not None:
        steps = encode_steps(key.values / unit, stored.exponent)
        return ("EXPONENTIAL", 12), steps, decode_steps(steps).astype(np.float64) * unit
    single = np.ascontiguousarray(key.values / unit, dtype="<f4")
    return ("NONE", 16 if line.turns else 12), single, single.astype(np.float64) * unit

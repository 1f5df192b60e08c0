"""The text of a BVH file as it lies there: any white space and case, its frames as they are, faults included."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.container import read_bytes

DEEPEST = 10_000
"""Joints below one another: more is damage."""


@dataclass(frozen=True)
class BvhText:
    """A BVH file.

    Attributes:
        names: of the joints, in the order of the file.
        channels: names of the channels of each joint.
        frames: how many frames the file says there are.
        frame_time: seconds; NaN where it is no number.
        rows: numbers of each frame, one line each; NaN for what is no number.
    """

    names: tuple[str, ...]
    channels: tuple[tuple[str, ...], ...]
    frames: int
    frame_time: float
    rows: tuple[tuple[float, ...], ...]


def read_bvh_text(path: Path) -> BvhText:
    """The file at `path`; ReadError where it is no BVH: its hierarchy or the head of its motion cannot be read."""
    data = read_bytes(path)
    try:
        content = data.decode("utf-8-sig", "surrogateescape")
        if not content.lstrip().upper().startswith("HIERARCHY"):
            raise ReadError("is no BVH file: it does not begin with HIERARCHY")
        head, lines = _parted(content)
        hierarchy = _hierarchy(iter(head.split()))
        return _motion(hierarchy, lines)
    except ReadError as fault:
        raise fault.at(path) from fault


@dataclass
class _Hierarchy:
    names: list[str] = field(default_factory=list)
    channels: list[tuple[str, ...]] = field(default_factory=list)


def _parted(content: str) -> tuple[str, list[str]]:
    """What is before the line MOTION, and the lines after it."""
    lines = content.splitlines()
    at = next((i for i, line in enumerate(lines) if line.strip().upper() == "MOTION"), None)
    if at is None:
        raise ReadError("has no MOTION")
    return "\n".join(lines[:at]).replace("{", " { ").replace("}", " } "), [line for line in lines[at + 1 :] if line.strip()]


def _hierarchy(words: Iterator[str]) -> _Hierarchy:
    found, open_ = _Hierarchy(), []
    for word in words:
        kind = word.upper()
        if kind in ("ROOT", "JOINT"):
            found.names.append(_name(words))
            found.channels.append(())
            open_.append(len(found.names) - 1)
        elif kind == "END":
            _name(words)
            open_.append(-1)
        elif kind == "CHANNELS" and open_:
            count = _whole(next(words, ""), "channels")
            found.channels[open_[-1]] = tuple(next(words, "") for _ in range(min(count, len(_AXES))))
        elif kind == "OFFSET":
            for _ in range(3):
                _number(next(words, ""), "an offset")
        elif kind == "}":
            if not open_:
                raise ReadError("closes more joints than it opens")
            open_.pop()
        elif kind != "HIERARCHY":
            raise ReadError(f"its hierarchy holds {word[:40]!r}")
        if len(open_) > DEEPEST:
            raise ReadError("its joints are nested too deeply")
    if open_ or not found.names:
        raise ReadError("its hierarchy is not closed" if open_ else "it has no joints")
    return found


_AXES = tuple(f"{axis}{kind}" for kind in ("position", "rotation", "scale") for axis in "XYZ")


def _name(words: Iterator[str]) -> str:
    """Words up to the brace that opens a joint."""
    parts: list[str] = []
    for word in words:
        if word == "{":
            return " ".join(parts)
        parts.append(word)
    raise ReadError("its hierarchy ends within a joint")


def _motion(hierarchy: _Hierarchy, lines: list[str]) -> BvhText:
    heads = {}
    for line in lines[:2]:
        key, colon, value = line.partition(":")
        if not colon:
            raise ReadError("its motion has no Frames and Frame Time")
        heads[" ".join(key.lower().split())] = value.strip()
    if set(heads) != {"frames", "frame time"}:
        raise ReadError("its motion has no Frames and Frame Time")
    rows = tuple(tuple(_or_nan(word) for word in line.split()) for line in lines[2:])
    time = _or_nan(heads["frame time"])
    return BvhText(tuple(hierarchy.names), tuple(hierarchy.channels), _whole(heads["frames"], "the number of frames"), time, rows)


def _or_nan(word: str) -> float:
    """A number; NaN where it is none (`-1.#IND` and the like, as C runtimes write it)."""
    try:
        return float(word)
    except ValueError:
        return float("nan")


def _number(word: str, what: str) -> float:
    try:
        return float(word)
    except ValueError as error:
        raise ReadError(f"{what} holds {word[:40]!r}, which is no number") from error


def _whole(word: str, what: str) -> int:
    value = _number(word, what)
    if not 0 <= value < 1e15 or value != int(value):
        raise ReadError(f"{what} is {word[:40]!r}, no whole number")
    return int(value)

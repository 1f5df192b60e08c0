"""Animations of glTF: channels as samplers that evaluate LINEAR, STEP and CUBICSPLINE keys at any times, in float64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.accessors import floats
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import Json, child, label, name_of, objects, optional_reference, reference, text
from akd_sdk.rotations import slerp

Array = NDArray[np.float64]

PATHS: Final = {"translation": ("VEC3",), "rotation": ("VEC4",), "scale": ("VEC3",), "weights": ("SCALAR",)}
"""What a channel may move, and the type of its keys."""


@dataclass(frozen=True)
class Channel:
    """One moved property of a node.

    Attributes:
        node: its index.
        path: "translation", "rotation", "scale" or "weights".
        times: (keys,) seconds, increasing.
        values: (keys, width); rotations xyzw, unit except between CUBICSPLINE keys, where the spline is made unit.
        tangents: CUBICSPLINE: in and out tangents a key, (keys, 2, width); None otherwise.
        step: values hold until the next key.
    """

    node: int
    path: str
    times: Array
    values: Array
    tangents: Array | None
    step: bool

    def at(self, times: Array, snap: float = 0.0) -> Array:
        """Values at `times` (n,) seconds -> (n, width); before the first and after the last key they are held.

        A time within `snap` seconds of a key is taken for the key's: keys in float32 lie a rounding beside the frames they mean.
        """
        t = np.clip(times, self.times[0], self.times[-1])
        if snap > 0.0:
            near = self.times[_nearest(self.times, t)]
            t = np.where(np.abs(near - t) <= snap, near, t)
        if len(self.times) == 1:
            return np.repeat(self.values, len(t), axis=0)
        left = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2)
        span = self.times[left + 1] - self.times[left]
        u = (t - self.times[left]) / span
        if self.step:
            held: Array = self.values[np.where(u >= 1.0, left + 1, left)]
            return held
        if self.tangents is not None:
            return self._cubic(left, u, span)
        if self.path == "rotation":
            return slerp(self.values[left], self.values[left + 1], u)
        a, b = self.values[left], self.values[left + 1]
        return a * (1.0 - u[:, None]) + b * u[:, None]

    def _cubic(self, left: NDArray[np.int64], u: Array, span: Array) -> Array:
        assert self.tangents is not None
        u, span = u[:, None], span[:, None]
        p0, p1 = self.values[left], self.values[left + 1]
        m0, m1 = self.tangents[left, 1] * span, self.tangents[left + 1, 0] * span
        u2, u3 = u * u, u * u * u
        mixed: Array = (2 * u3 - 3 * u2 + 1) * p0 + (u3 - 2 * u2 + u) * m0 + (3 * u2 - 2 * u3) * p1 + (u3 - u2) * m1
        if self.path != "rotation":
            return mixed
        length = np.linalg.norm(mixed, axis=-1, keepdims=True)
        # Through zero there is no direction; the nearer key's stands in.
        near = np.where(u < 0.5, p0, p1)
        turned: Array = np.where(length > 1e-9, mixed / np.maximum(length, 1e-9), near / np.linalg.norm(near, axis=-1, keepdims=True))
        return turned


@dataclass(frozen=True)
class Animation:
    """One animation.

    Attributes:
        index: in the file.
        name: None where it has none.
        channels: what it moves.
        ignored: channels without a node or of a kind that glTF itself does not know.
        extras: whatever the file says beside; empty where that is no object.
    """

    index: int
    name: str | None
    channels: tuple[Channel, ...]
    ignored: int
    extras: Json

    @property
    def duration(self) -> float:
        """Seconds until the last key."""
        return max((float(channel.times[-1]) for channel in self.channels), default=0.0)


def read_animations(document: Document) -> tuple[Animation, ...]:
    """All animations of a file; ReadError names animation and channel where keys are unusable."""
    cache: dict[int, Array] = {}
    return tuple(_animation(document, i, item, cache) for i, item in enumerate(document.items("animations")))


def _animation(document: Document, index: int, item: Json, cache: dict[int, Array]) -> Animation:
    where = label("animation", index, item.get("name"))
    samplers = objects(item, "samplers", where)
    channels: list[Channel] = []
    ignored = 0
    for c, channel in enumerate(objects(item, "channels", where)):
        here = f"channel {c} of {where}"
        found = _channel(document, channel, samplers, here, cache)
        if found is None:
            ignored += 1
        else:
            channels.append(found)
    extras = item.get("extras")
    text(item, "name", where)  # refused where it is no text
    return Animation(index, name_of(item), tuple(channels), ignored, extras if isinstance(extras, dict) else {})


def _channel(document: Document, channel: Json, samplers: list[Json], where: str, cache: dict[int, Array]) -> Channel | None:
    sampler = samplers[reference(channel.get("sampler"), len(samplers), f"sampler of {where}")]
    target = child(channel, "target", where)
    node = optional_reference(target, "node", len(document.items("nodes")), where)
    path = text(target, "path", where)
    if node is None or path not in PATHS:
        return None
    where = f"{path} of {label('node', node, document.json['nodes'][node].get('name'))}, {where}"
    mode = text(sampler, "interpolation", where) or "LINEAR"
    if mode not in ("LINEAR", "STEP", "CUBICSPLINE"):
        raise ReadError(f"{where}: interpolation is {mode[:40]!r}", hint="LINEAR, STEP and CUBICSPLINE are read")
    times = _times(document, sampler, where, cache)
    keys = floats(document, _index(document, sampler, "output", where), PATHS[path], where)
    if path == "weights":
        keys = keys[:, None]
    values, tangents = _arranged(keys, len(times), mode == "CUBICSPLINE", path, where)
    if path == "rotation":
        length = np.linalg.norm(values, axis=-1, keepdims=True)
        if (length < 1e-6).any():
            raise ReadError(f"{where}: a rotation has length zero")
        if tangents is None or len(times) == 1:
            values = values / length
    return Channel(node, path, times, values, tangents, mode == "STEP")


def _index(document: Document, sampler: Json, key: str, where: str) -> int:
    return reference(sampler.get(key), len(document.items("accessors")), f"{key} of the sampler of {where}")


def _times(document: Document, sampler: Json, where: str, cache: dict[int, Array]) -> Array:
    index = _index(document, sampler, "input", where)
    if index not in cache:
        times = floats(document, index, ("SCALAR",), f"times of {where}")
        if times[0] < 0.0:
            raise ReadError(f"{where}: key times begin at {times[0]:g} s, before 0")
        if (np.diff(times) <= 0.0).any():
            at = int(np.argmax(np.diff(times) <= 0.0))
            raise ReadError(f"{where}: key times do not increase ({times[at + 1]:g} s follows {times[at]:g} s)")
        cache[index] = times
    return cache[index]


def _arranged(keys: Array, count: int, cubic: bool, path: str, where: str) -> tuple[Array, Array | None]:
    """Keys as values (count, width) and tangents (count, 2, width) or None."""
    rows = count * (3 if cubic else 1)
    if path == "weights" and len(keys) % rows == 0:
        keys = keys.reshape(rows, -1)
    if len(keys) != rows:
        raise ReadError(f"{where}: {len(keys)} values for {count} key times")
    if not cubic:
        return keys, None
    triples = keys.reshape(count, 3, -1)
    return np.ascontiguousarray(triples[:, 1]), np.ascontiguousarray(triples[:, [0, 2]])


def _nearest(keys: Array, times: Array) -> NDArray[np.int64]:
    right = np.clip(np.searchsorted(keys, times), 1, max(len(keys) - 1, 1))
    right = np.minimum(right, len(keys) - 1)
    left = np.maximum(right - 1, 0)
    return np.where(times - keys[left] <= keys[right] - times, left, right).astype(np.int64)

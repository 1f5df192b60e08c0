"""Checked access to the JSON of a glTF file: every value has the type that the format gives it, or a `ReadError` says where not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError

Json = dict[str, Any]
"""A JSON object of the file: its values are anything until one of the functions here has looked at them."""

LARGEST: Final = 1e15
"""Numbers beyond this are taken for damage: they overflow in products long before they mean a place."""


def objects(parent: Mapping[str, Any], key: str, where: str = "the file") -> list[Json]:
    """The array of objects `parent[key]`, empty where there is none."""
    found = parent.get(key, [])
    if not isinstance(found, list):
        raise ReadError(f"{key} of {where} is not an array")
    for i, item in enumerate(found):
        if not isinstance(item, dict):
            raise ReadError(f"{key}[{i}] of {where} is not an object")
    return found


def child(parent: Mapping[str, Any], key: str, where: str) -> Json:
    """The object `parent[key]`, empty where there is none."""
    found = parent.get(key, {})
    if not isinstance(found, dict):
        raise ReadError(f"{key} of {where} is not an object")
    return found


def whole(value: Any, what: str, low: int = 0) -> int:
    """A whole number of at least `low`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ReadError(f"{what} is {_shown(value)}, not a whole number")
    if not low <= value < 2**62:
        raise ReadError(f"{what} is {value}, out of range")
    return value


def integer(parent: Mapping[str, Any], key: str, where: str, default: int | None = None, low: int = 0) -> int:
    """The whole number `parent[key]`; it must be there unless it has a default."""
    value = parent.get(key, default)
    if value is None:
        raise ReadError(f"{where} has no {key}")
    return whole(value, f"{key} of {where}", low)


def reference(value: Any, count: int, what: str) -> int:
    """An index into an array of `count` items."""
    index = whole(value, what)
    if index >= count:
        raise ReadError(f"{what} is {index}, but there are only {count}")
    return index


def optional_reference(parent: Mapping[str, Any], key: str, count: int, where: str) -> int | None:
    """The index `parent[key]`, None where there is none."""
    return None if key not in parent else reference(parent[key], count, f"{key} of {where}")


def references(parent: Mapping[str, Any], key: str, count: int, where: str) -> list[int]:
    """The array of indices `parent[key]`, empty where there is none."""
    found = parent.get(key, [])
    if not isinstance(found, list):
        raise ReadError(f"{key} of {where} is not an array")
    return [reference(value, count, f"{key}[{i}] of {where}") for i, value in enumerate(found)]


def numbers(parent: Mapping[str, Any], key: str, default: tuple[float, ...], where: str) -> NDArray[np.float64]:
    """The numbers `parent[key]`, as many as the default has; finite."""
    found = parent.get(key)
    if found is None:
        return np.array(default, dtype=np.float64)
    if not isinstance(found, list) or len(found) != len(default):
        raise ReadError(f"{key} of {where} is not an array of {len(default)} numbers")
    for value in found:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ReadError(f"{key} of {where} holds {_shown(value)}, not a number")
        if not abs(value) <= LARGEST:
            raise ReadError(f"{key} of {where} holds {_shown(value)}, which is no usable number")
    return np.array(found, dtype=np.float64)


def text(parent: Mapping[str, Any], key: str, where: str) -> str | None:
    """The string `parent[key]`, None where there is none."""
    found = parent.get(key)
    if found is not None and not isinstance(found, str):
        raise ReadError(f"{key} of {where} is not a string")
    return found


def name_of(item: Mapping[str, Any]) -> str | None:
    """An item's name, None where it has none; halves of characters, which no file can hold as text, as question marks."""
    found = item.get("name")
    return found.encode("utf-8", "replace").decode() or None if isinstance(found, str) else None


def label(kind: str, index: int, name: Any) -> str:
    """How messages call an item: its kind, its name, or its index where it has none."""
    return f"{kind} {_shown(name)}" if isinstance(name, str) and name else f"{kind} {index}"


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."

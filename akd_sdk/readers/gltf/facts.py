"""What an animation's `extras` say of rate, loop and contacts: this SDK's own exports, and tools that agree with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from akd_sdk.formats.gltf.fields import Json
from akd_sdk.readers.gltf.rate import FASTEST


def told_fps(extras: Json) -> float | None:
    """Frames a second, None where there are none or no usable number."""
    value = extras.get("fps")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1.0 <= value <= FASTEST:
        return None
    return float(value)


def told_loop(extras: Json) -> bool | None:
    """Whether the clip loops, None where nothing is said."""
    value = extras.get("loop")
    return value if isinstance(value, bool) else None


def told_contacts(extras: Json, frames: int, points: Sequence[str]) -> NDArray[np.bool_] | None:
    """(frames, points) planted or not, from first and last frames of stretches by point; None where they do not fit."""
    stretches = extras.get("contacts")
    if extras.get("frames") != frames or not points or not isinstance(stretches, dict) or set(stretches) != set(points):
        return None
    planted = np.zeros((frames, len(points)), dtype=np.bool_)
    for column, point in enumerate(points):
        if not isinstance(stretches[point], list):
            return None
        for stretch in stretches[point]:
            if not (isinstance(stretch, list) and len(stretch) == 2 and all(type(n) is int for n in stretch)):
                return None
            first, last = stretch
            if not 0 <= first <= last < frames:
                return None
            planted[first : last + 1, column] = True
    return planted

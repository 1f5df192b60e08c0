"""A BVH file: its frame time, numbers a frame, names, and angles that jump."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.check.codes import found
from akd_sdk.exporters.check.findings import Finding, some
from akd_sdk.exporters.check.keys import LARGEST
from akd_sdk.formats.bvh_text import BvhText

JUMP_DEGREES: Final = 180.0


def bvh_findings(source: BvhText) -> Iterable[Finding]:
    """What is wrong with a BVH file."""
    if not 0.0 < source.frame_time < float("inf"):
        yield found("bvh-frame-time", "the file", f"Frame Time is {source.frame_time:g}")
    twice = sorted(repr(name) for name, times in Counter(source.names).items() if times > 1)
    if twice:
        yield found("bvh-same-name", "the file", f"more than one joint is called {some(twice)}")
    if len(source.rows) != source.frames:
        yield found("bvh-frames", "the file", f"Frames is {source.frames}, {len(source.rows)} lines follow")
    columns = [f"{channel} of {name}" for name, channels in zip(source.names, source.channels, strict=True) for channel in channels]
    wrong = [i for i, row in enumerate(source.rows) if len(row) != len(columns)]
    if wrong:
        yield found("bvh-channels", f"frame {wrong[0]}", f"{len(source.rows[wrong[0]])} numbers for {len(columns)} channels")
    whole = [(i, row) for i, row in enumerate(source.rows) if len(row) == len(columns)]
    if whole and columns:
        yield from _values(np.array([row for _, row in whole]), [i for i, _ in whole], columns)


def _values(values: NDArray[np.float64], frames: list[int], columns: list[str]) -> Iterable[Finding]:
    """Of numbers (frames, columns)."""
    lost = ~np.isfinite(values)
    if lost.any():
        frame, column = (int(i[0]) for i in np.nonzero(lost))
        yield found("bvh-not-finite", f"frame {frames[frame]}", f"{columns[column]} is {values[frame, column]:g}; {int(lost.sum())} in all")
        return
    if np.abs(values).max() > LARGEST:
        frame, column = divmod(int(np.abs(values).argmax()), len(columns))
        yield found("bvh-huge", f"frame {frames[frame]}", f"{columns[column]} is {values[frame, column]:.3g}")
    angles = np.array([name.partition(" of ")[0].lower().endswith("rotation") for name in columns])
    jumps = np.abs(np.diff(values, axis=0)) * angles > JUMP_DEGREES
    if jumps.any():
        frame, column = (int(i[0]) for i in np.nonzero(jumps))
        by = abs(values[frame + 1, column] - values[frame, column])
        yield found("bvh-jump", f"frame {frames[frame + 1]}", f"{columns[column]} by {by:.1f} degrees; {int(jumps.sum())} in all")

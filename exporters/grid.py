"""The grid of an engine that bakes: which rate to set at import, and clips whose keys lie on its frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import Clip, Track, interpolate

Array = NDArray[np.float64]

HIGHEST_FPS: Final = 120
"""The highest rate that Godot's import dock takes."""
WHOLE: Final = 1e-6


def on_import_grid(clips: Sequence[Clip]) -> tuple[list[Clip], int]:
    """The clips with all keys on the frames of one whole rate, and that rate: the lowest on which each clip's own frames lie.

    A clip of a rate that is no whole number is brought to the nearest one, its length to the nearest whole number of frames: 29.97 frames
    a second are played at 30, frame by frame.
    Raises ExportError: no rate up to 120 suits all.
    """
    made = [clip if abs(clip.fps - round(clip.fps)) < WHOLE else _at_rate(clip, max(round(clip.fps), 1)) for clip in clips]
    rates = sorted({round(clip.fps) for clip in made})
    shared = math.lcm(*rates)
    if shared > HIGHEST_FPS:
        told = " and ".join(f"{rate}" for rate in rates)
        raise ExportError(f"clips at {told} frames a second share no import rate up to {HIGHEST_FPS}", None, "write a file for each rate")
    return made, shared


def _at_rate(clip: Clip, fps: int) -> Clip:
    """The clip at another rate, over whole frames."""
    frames = max(round(clip.duration * fps), min(clip.frames - 1, 1)) + 1
    times = np.arange(frames) / fps
    at = np.linspace(0.0, clip.duration, frames)  # of the clip
    nearest = np.clip(np.round(at * clip.fps).astype(int), 0, clip.frames - 1)
    tracks = [Track(track.joint, track.path, times, interpolate(track, at), track.interpolation, track.stored) for track in clip.tracks]
    return replace(
        clip,
        fps=float(fps),
        duration=float(times[-1]),
        tracks=tuple(tracks),
        travel=None if clip.travel is None else _lines(clip.times, clip.travel, at),
        morphs={node: _lines(clip.times, weights, at) for node, weights in clip.morphs.items()},
        contacts=None if clip.contacts is None else clip.contacts[nearest],
    )


def _lines(times: Array, values: Array, at: Array) -> Array:
    """Values (frames, columns) between frames, by straight lines."""
    return np.stack([np.interp(at, times, column) for column in values.T], axis=-1)

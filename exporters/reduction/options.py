"""What a reduction is asked for, and what it tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import Clip

Effort = Literal["fast", "best"]
Player = Literal["slerp", "nlerp"]
EFFORTS: tuple[Effort, ...] = ("fast", "best")
PLAYERS: tuple[Player, ...] = ("slerp", "nlerp")


@dataclass(frozen=True)
class ReductionOptions:
    """How far a reduced clip may stray.

    Attributes:
        tolerance_m: the largest displacement of any of three points around any joint, metres at human size.
        feet_tolerance_m: the same for contact points while they are planted; None: no bound of their own.
        effort: "fast", or "best": a longer search for fewer bytes.
        players: how the files' players turn between keys; each is held to the dense clip under the same player.
        int16: rotations may be stored as normalised 16-bit integers.
        grid_fps: keys lie on the frames of this rate, the clip's own where None; only the clip's own and whole fractions of it fit.
    """

    tolerance_m: float = 1e-3
    feet_tolerance_m: float | None = 2e-4
    effort: Effort = "fast"
    players: tuple[Player, ...] = ("slerp",)
    int16: bool = True
    grid_fps: float | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.tolerance_m) and self.tolerance_m > 0.0):
            raise ExportError(f"is {self.tolerance_m}", "tolerance", "give metres at human size, more than 0")
        if self.feet_tolerance_m is not None and not (np.isfinite(self.feet_tolerance_m) and self.feet_tolerance_m > 0.0):
            raise ExportError(f"is {self.feet_tolerance_m}", "feet tolerance", "give metres at human size, more than 0")
        if self.effort not in EFFORTS:
            raise ExportError(f"unknown effort {self.effort!r}", "effort", f"known: {', '.join(EFFORTS)}")
        if not self.players or not set(self.players) <= set(PLAYERS):
            raise ExportError(f"unknown players {self.players!r}", "players", f"known: {', '.join(PLAYERS)}")
        if self.grid_fps is not None and not (np.isfinite(self.grid_fps) and self.grid_fps > 0.0):
            raise ExportError(f"is {self.grid_fps}", "grid fps", "give frames a second, more than 0")


@dataclass(frozen=True)
class ReductionReport:
    """What a reduction did, measured on the values that a file gives back.

    Attributes:
        keys_before: keys of the dense clip.
        keys: keys kept.
        bytes: of the animation in a file: its accessors, and their JSON with that of channels, samplers and buffer views.
        json_bytes: the JSON's share of these.
        dense_bytes: the same of the dense clip in float32.
        worst_m: largest displacement, metres at human size.
        p99_m: 99th percentile over joints and times.
        joint: where the largest is.
        time_s: when the largest is.
        feet_worst_m: largest displacement of a planted contact point; None: no contacts are known, or none is planted.
        form: "reduced", or the dense form that was smaller or the only one within the tolerance: "dense int16", "dense float32".
    """

    keys_before: int
    keys: int
    bytes: int
    json_bytes: int
    dense_bytes: int
    worst_m: float
    p99_m: float
    joint: str
    time_s: float
    feet_worst_m: float | None
    form: str


@dataclass(frozen=True)
class Reduced:
    """A clip with fewer keys, and the report on it."""

    clip: Clip
    report: ReductionReport

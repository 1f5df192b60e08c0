"""Progress: how far a long piece of work has come, told to whoever asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """One report of a long piece of work.

    Attributes:
        stage: what is being done now, a few words ("distilling", "locking feet").
        fraction: share of the whole work that is done, 0 to 1.
        detail: what there is to say beside it (a loss, a file), may be empty.
    """

    stage: str
    fraction: float
    detail: str = ""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.fraction) and 0.0 <= self.fraction <= 1.0):
            raise ValueError(f"fraction is {self.fraction}, expected 0 to 1")


ProgressCallback = Callable[[Progress], None]
"""What long work takes as `progress`; it may raise (KeyboardInterrupt among others) to stop the work."""


def ignore(_: Progress) -> None:
    """The callback of those who do not want to know."""


def between(progress: ProgressCallback, start: float, end: float, stage: str | None = None) -> ProgressCallback:
    """A callback for a part of the work: its 0..1 becomes `start`..`end` of the whole, under the name `stage` if one is given."""

    def scaled(report: Progress) -> None:
        progress(Progress(stage or report.stage, start + (end - start) * report.fraction, report.detail))

    return scaled

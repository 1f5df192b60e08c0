"""Options of a tracking."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from akd_sdk.errors import AkdError

EFFORTS = ("default", "best")
HIGHEST_FRICTION = 10.0
DEVICES = re.compile(r"cpu|cuda(:\d{1,3})?")


@dataclass(frozen=True)
class TrackOptions:
    """How a motion is tracked.

    Attributes:
        effort: "default" searches the least help on the root that keeps the motion up; "best" searches for targets too, from no help on.
        friction: coefficient between feet and ground.
        help: whether the root may be helped at all.
        budget_s: CPU seconds that "best" may take; None: six for a second simulated, which a loop is for at least four.
        seed: of the targets that "best" tries.
        device: "cpu" steps with MuJoCo's C library; "cuda" (or "cuda:1", by number) with worlds of MuJoCo Warp.
    """

    effort: str = "default"
    friction: float = 0.8
    help: bool = True
    budget_s: float | None = None
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.effort not in EFFORTS:
            raise AkdError(f"unknown effort {self.effort!r}", "--effort", f"give {' or '.join(EFFORTS)}")
        if not (math.isfinite(self.friction) and 0.0 <= self.friction <= HIGHEST_FRICTION):
            raise AkdError(f"a friction of {self.friction:g} cannot be", "--friction", f"give a number from 0 to {HIGHEST_FRICTION:g}")
        if self.budget_s is not None and not (math.isfinite(self.budget_s) and self.budget_s > 0.0):
            raise AkdError(f"a budget of {self.budget_s:g} seconds cannot be", "--budget", "give a positive number of seconds")
        if not 0 <= self.seed < 2**63:
            raise AkdError(f"{self.seed} is no seed", "--seed", "give a whole number from 0 to 9223372036854775807")
        if DEVICES.fullmatch(self.device) is None:
            raise AkdError(f"there is no device {self.device!r}", "--device", "give cpu, cuda or cuda:0")

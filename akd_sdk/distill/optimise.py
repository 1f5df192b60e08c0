"""The loop: look at the curves, noise what is seen, ask the prior, move the curves to what it believes.

Many optimiser steps a level make it MAS-like (Kapon et al., arXiv 2310.14729), one step a time makes it score distillation (AKD,
arXiv 2504.01204), annealed or with random times; noise is independent a view. Going down in noise once breaks the symmetry of phases
that averaging over random times keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from akd_sdk.distill import schedule
from akd_sdk.distill.body import CurveBody, Pose
from akd_sdk.distill.options import DistillOptions
from akd_sdk.progress import Progress, ProgressCallback

MANY_BETAS, ONE_BETAS = (0.8, 0.95), (0.9, 0.99)
"""Of Adam, with many steps a level and with one: the shorter memory forgets the level before."""

SMALL_GRADIENT = 1e-8
"""Of Adam: gradients of means over pictures are small."""


@dataclass(frozen=True)
class Window:
    """The frames that a prior looks at: how many, how many a second, and whether from a random time of a loop on.

    Looking from a random time at every step leaves no seam. It is right for what goes on and on; what begins and ends (a jump) is seen
    from its start.
    """

    frames: int
    fps: float
    rolled: bool


@dataclass(frozen=True)
class Look:
    """What a step looks at.

    Attributes:
        coefficients: of the body as they are.
        times_s: (frames,) seconds.
        samples: (frames, functions) basis samples at these times.
        t: the prior's time in 0..1.
        generator: of all that is drawn.
    """

    coefficients: Tensor
    times_s: NDArray[np.float64]
    samples: Tensor
    t: float
    generator: torch.Generator


class View(Protocol):
    """How a prior looks at a body."""

    def begin(self, look: Look) -> None:
        """Look at the body; `loss` is then asked about poses at the same samples, as often as there are inner steps."""

    def loss(self, pose: Pose) -> Tensor:
        """A scalar whose gradient is the distillation's."""


State = dict[str, Any]
"""Tensors and plain values by name: what `torch.save` writes and `torch.load` reads safely."""


class CurveOptimiser:
    """Coefficients of a body's curves on their way to what a prior believes; stands between two steps at all times."""

    def __init__(self, body: CurveBody, window: Window, options: DistillOptions, observes: str, generator: torch.Generator) -> None:
        self.body, self.options = body, options
        self._window, self._generator = window, generator
        self._times = schedule.times_of(options, observes)
        self.coefficients = body.still().requires_grad_()
        betas = MANY_BETAS if options.inner > 1 else ONE_BETAS
        self._adam = torch.optim.Adam([self.coefficients], lr=options.rate, betas=betas, eps=SMALL_GRADIENT)
        self._unlock = options.pixels.unlock if observes == "pixels" else 0.0
        self.done = 0

    @property
    def steps(self) -> int:
        return self.options.steps or 1

    def run(self, view_of: Callable[[float], View], progress: ProgressCallback, keep: Callable[[State], None]) -> Tensor:
        """Take the steps that are left; returns the coefficients, without gradient.

        `view_of` gives the view for a share of the work that is done, `keep` is told the state after each step.
        """
        while self.done < self.steps:
            loss = self._step(view_of(self.done / self.steps))
            self.done += 1
            keep(self.state())
            progress(Progress("distilling", self.done / self.steps, f"step {self.done} of {self.steps}, loss {loss:.3g}"))
        return self.coefficients.detach().clone()

    def _step(self, view: View) -> float:
        times = self._frame_times()
        samples = self.body.sample(times)
        view.begin(Look(self.coefficients, times, samples, self._times(self.done, self._generator), self._generator))
        for group in self._adam.param_groups:
            group["lr"] = self.options.rate * schedule.rate_share(self.done, self.steps, self.options.rate_decay)
        locked = self._locked()
        total = torch.zeros(())
        for _ in range(self.options.inner):
            total = view.loss(self.body.pose(self.coefficients, samples))
            self._adam.zero_grad()
            total.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
            if locked is not None and self.coefficients.grad is not None:
                self.coefficients.grad[locked] = 0.0
            self._adam.step()
        return float(total.detach())

    def _locked(self) -> Tensor | None:
        """(functions,) which functions of time do not move yet; None where all do."""
        if self._unlock == 0.0:
            return None
        locked = torch.zeros(len(self.coefficients), dtype=torch.bool)
        hertz = self.body.basis.hertz
        locked[: len(hertz)] = torch.from_numpy(~schedule.free(hertz, self.done / self.steps, self._unlock))
        return locked

    def _frame_times(self) -> NDArray[np.float64]:
        """Seconds of the frames that the prior looks at."""
        start = float(torch.rand(1, generator=self._generator)) * self.body.basis.seconds if self._window.rolled else 0.0
        return start + np.arange(self._window.frames) / self._window.fps

    def state(self) -> State:
        """All that the next steps depend on, copied."""
        kept = self._adam.state_dict()["state"].get(0, {})
        return {
            "done": self.done,
            "coefficients": self.coefficients.detach().clone(),
            "moments": {name: value.clone() for name, value in kept.items()},
            "generator": self._generator.get_state(),
        }

    def restore(self, state: State) -> None:
        """Go on from a state of the same body and options."""
        with torch.no_grad():
            self.coefficients.copy_(state["coefficients"])
        whole = self._adam.state_dict()
        whole["state"] = {0: {name: value.clone() for name, value in state["moments"].items()}}
        self._adam.load_state_dict(whole)
        self._generator.set_state(state["generator"])
        self.done = int(state["done"])

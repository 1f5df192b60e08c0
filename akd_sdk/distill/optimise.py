"""The loop: render the curves as tracks, noise them, ask the prior, move the curves to what it believes.

Many optimiser steps a level make it MAS-like (Kapon et al., arXiv 2310.14729), one step a level makes it score distillation with an
annealed time; noise is independent a view. Going down in noise once breaks the symmetry of phases that averaging over random times keeps.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from akd_sdk.distill import schedule
from akd_sdk.distill.body import CurveBody
from akd_sdk.distill.losses import Target, belief_loss, fold, regularisers
from akd_sdk.distill.options import DistillOptions
from akd_sdk.priors import Prior, Prompt
from akd_sdk.progress import Progress, ProgressCallback
from akd_sdk.views.camera import Cameras
from akd_sdk.views.observation import encode_tracks
from akd_sdk.views.tokens import Tokens


class CurveOptimiser:
    """Coefficients of a body's curves on their way to what a prior believes.

    `rolled`: the prior looks at a loop from a random time on at every level, so that no seam is left. Right for what goes on and on;
    what begins and ends (a jump) is seen from its start.
    """

    def __init__(
        self, body: CurveBody, tokens: Tokens, options: DistillOptions, generator: torch.Generator, *, rolled: bool = True
    ) -> None:
        self.body, self.options, self.tokens = body, options, tokens
        self._rolled = rolled and body.basis.loop
        self.coefficients = body.still().requires_grad_()
        self._adam = torch.optim.Adam([self.coefficients], lr=options.rate, betas=(0.8, 0.95))
        self._generator = generator
        self._rest = torch.from_numpy(tokens.rest).float()
        self._parents = torch.from_numpy(tokens.parents)
        limits = torch.from_numpy(body.rig.skeleton.limits).float()
        self._limits = (limits[..., 0], limits[..., 1])

    def run(self, prior: Prior, prompt: Prompt, progress: ProgressCallback, stage: str) -> Tensor:
        """Take all levels; returns the coefficients, without gradient."""
        times = schedule.times(self.options.levels)
        for level, t in enumerate(times):
            samples = self._window(prior)
            target = self._believed(prior, prompt, t, samples)
            share = schedule.rate_share(level, len(times), self.options.rate_decay)
            for group in self._adam.param_groups:
                group["lr"] = self.options.rate * share
            loss = self._approach(target, samples)
            progress(Progress(stage, (level + 1) / len(times), f"loss {loss:.3f}"))
        return self.coefficients.detach().clone()

    def _window(self, prior: Prior) -> Tensor:
        """Basis samples of the frames that the prior looks at."""
        start = float(torch.rand(1, generator=self._generator)) * self.body.basis.seconds if self._rolled else 0.0
        return self.body.sample(start + np.arange(prior.frames) / prior.fps)

    @torch.no_grad()
    def _believed(self, prior: Prior, prompt: Prompt, t: float, samples: Tensor) -> Target:
        low, high = (math.radians(e) for e in self.options.elevation_deg)
        cameras = Cameras.ring(self.options.views, (low, high), self._generator)
        rows = cameras.rows
        pose = self.body.pose(self.coefficients, samples)
        clean = prior.encode(encode_tracks(pose.tokens[None], self._rest, self._parents, rows))
        alpha, sigma = prior.alpha_sigma(t)
        noise = torch.randn(clean.shape, generator=self._generator)
        belief = prior.estimate(alpha * clean + sigma * noise, t, prompt, self.tokens, cameras)
        return fold(belief, rows)

    def _approach(self, target: Target, samples: Tensor) -> float:
        total = torch.zeros(())
        for _ in range(self.options.inner):
            pose = self.body.pose(self.coefficients, samples)
            belief = belief_loss(pose, self._rest, self._parents, target)
            total = belief + regularisers(pose, self._limits, self.tokens.count, self.options)
            self._adam.zero_grad()
            total.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
            self._adam.step()
        return float(total.detach())

"""A prior that looks at tracks: every step's views are folded into one 3-D target."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from akd_sdk.distill.body import CurveBody, Pose
from akd_sdk.distill.losses import Target, belief_loss, fold, regularisers
from akd_sdk.distill.optimise import Look
from akd_sdk.distill.options import DistillOptions
from akd_sdk.priors import Prior, Prompt
from akd_sdk.views.camera import Cameras
from akd_sdk.views.observation import encode_tracks
from akd_sdk.views.tokens import Tokens


class TrackView:
    """What a prior believes of a body seen as moving points, and how far the body is from it."""

    def __init__(self, body: CurveBody, tokens: Tokens, asked: tuple[Prior, Prompt], options: DistillOptions) -> None:
        self._body, self._tokens, self._options = body, tokens, options
        self._prior, self._prompt = asked
        self._rest = torch.from_numpy(tokens.rest).float()
        self._parents = torch.from_numpy(tokens.parents)
        limits = torch.from_numpy(body.rig.skeleton.limits).float()
        self._limits = (limits[..., 0], limits[..., 1])
        self._target: Target | None = None

    @torch.no_grad()
    def begin(self, look: Look) -> None:
        """Ask the prior what the body's views would be."""
        low, high = (math.radians(e) for e in self._options.elevation_deg)
        cameras = Cameras.ring(self._options.views or 1, (low, high), look.generator)
        rows = cameras.rows
        pose = self._body.pose(look.coefficients, look.samples)
        clean = self._prior.encode(encode_tracks(pose.tokens[None], self._rest, self._parents, rows))
        alpha, sigma = self._prior.alpha_sigma(look.t)
        noise = torch.randn(clean.shape, generator=look.generator)
        belief = self._prior.estimate(alpha * clean + sigma * noise, look.t, self._prompt, self._tokens, cameras)
        self._target = fold(belief, rows)

    def loss(self, pose: Pose) -> Tensor:
        """Distance of a pose at the same samples to what was believed, and what curves are held to beside it."""
        if self._target is None:
            raise ValueError("nothing is believed yet")
        belief = belief_loss(pose, self._rest, self._parents, self._target)
        return belief + regularisers(pose, self._limits, self._tokens.count, self._options)

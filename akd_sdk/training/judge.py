"""Judging a prior without any rig: held-out bodies are sampled from it as points that keep their bones, and their feet analysed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from akd_sdk.gait.coherence import TEACHER_SWING, analyse, coherences
from akd_sdk.priors.mini.prior import FPS, MiniPrior
from akd_sdk.priors.mini.vocabulary import ACTIONS, CYCLIC
from akd_sdk.priors.prompt import Prompt
from akd_sdk.training.bodies import draw_body
from akd_sdk.training.turns import Array
from akd_sdk.views.camera import Cameras
from akd_sdk.views.observation import POSITION_SCALE, encode_tracks
from akd_sdk.views.tokens import Tokens


@dataclass(frozen=True)
class Sampling:
    """How points are sampled: noise levels, views a level, noise over signal of the second and the last level."""

    levels: int = 25
    views: int = 4
    noisiest: float = 30.0
    cleanest: float = 0.05

    def times(self) -> list[float]:
        """Times from pure noise to almost none, noise over signal falling geometrically."""
        ratios = np.geomspace(self.noisiest, self.cleanest, self.levels - 1)
        return [1.0, *(2 / math.pi * np.arctan(ratios)).tolist()]


@dataclass(frozen=True)
class Judgement:
    """One sampled motion: what was asked, coherence with it and the highest with another gait, swing over the teacher's, duty."""

    kind: str
    gait: str
    seed: int
    own: float
    foreign: float
    swing: float
    duty: float
    frequency: float


def sample_positions(prior: MiniPrior, tokens: Tokens, prompt: Prompt, seed: int, sampling: Sampling | None = None) -> Array:
    """(frames, tokens, 3) points in hip heights that the prior takes for the prompt.

    Views are denoised together, and folded to 3-D and to the body's bones each level.
    """
    sampling = sampling or Sampling()
    generator = torch.Generator().manual_seed(seed)
    rest = torch.as_tensor(tokens.rest, dtype=torch.float32)
    parents = torch.as_tensor(tokens.parents)
    points = rest.expand(prior.frames, -1, -1)
    for t in sampling.times():
        cameras = Cameras.ring(sampling.views, (math.radians(-5), math.radians(30)), generator)
        alpha, sigma = prior.alpha_sigma(t)
        clean = encode_tracks(points[None], rest, parents, cameras.rows)
        shift = int(torch.randint(0, prior.frames, (1,), generator=generator))
        noisy = (alpha * clean + sigma * torch.randn(clean.shape, generator=generator)).roll(shift, 2)
        answer = prior.estimate(noisy, t, prompt, tokens, cameras).roll(-shift, 2)
        moved = _folded(answer[..., 0, :], cameras.rows[:, :2]).transpose(0, 1) * POSITION_SCALE
        points = _with_bones(rest + moved, rest, tokens)
    return points.double().numpy()


def _with_bones(points: Tensor, rest: Tensor, tokens: Tokens) -> Tensor:
    """The (frames, tokens, 3) points with every bone at its rest length, from the root outwards."""
    placed = [points[:, 0]]
    for joint in range(1, tokens.count):
        above = int(tokens.parents[joint])
        length = torch.linalg.vector_norm(rest[joint] - rest[above])
        placed.append(placed[above] + length * torch.nn.functional.normalize(points[:, joint] - placed[above], dim=-1))
    return torch.stack(placed, 1)


def _folded(tracks: Tensor, projection: Tensor) -> Tensor:
    """(tokens, frames, 3) the points whose projections are nearest to (views, tokens, frames, 2) tracks."""
    views = projection.shape[0]
    seen = torch.einsum("vci,vcj->ij", projection, projection) / views
    pulled = torch.einsum("vjtc,vci->jti", tracks, projection) / views
    points: Tensor = torch.linalg.solve(seen + 1e-6 * torch.eye(3), pulled[..., None])
    return points.squeeze(-1)


def judge(prior: MiniPrior, bodies: int = 4, seed: int = 999) -> Iterator[Judgement]:
    """Every gait on so many random bodies of each kind, none of them in the training set."""
    for kind, actions in ACTIONS.items():
        for gait in (action for action in actions if action in CYCLIC):
            rng = np.random.default_rng([seed, ACTIONS[kind].index(gait)])
            for number in range(bodies):
                tokens = draw_body(rng, kind).tokens()
                positions = sample_positions(prior, tokens, Prompt("", kind, gait), number)
                cycle = analyse(positions, tokens.feet, FPS)
                found = coherences(cycle)
                foreign = max(value for name, value in found.items() if name != gait)
                swing = cycle.swing / TEACHER_SWING[kind, gait]
                yield Judgement(kind, gait, number, found[gait], foreign, swing, cycle.duty, cycle.frequency)

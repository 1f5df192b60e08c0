"""The training set: many clips of the teacher as padded arrays, and seeded batches of them as the network takes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Final

import numpy as np
import torch
from torch import Tensor

from akd_sdk.priors.mini.model import FRAMES, Condition, TokenFeatures, alpha_sigma, static_features
from akd_sdk.priors.mini.vocabulary import index
from akd_sdk.training.bodies import draw_body
from akd_sdk.training.clip import ClipWish, TeacherClip, draw_clip, draw_kind
from akd_sdk.views.camera import Cameras
from akd_sdk.views.observation import encode_tracks
from akd_sdk.views.tokens import GROUPS, MAX_TOKENS

SHARD: Final = 500
"""Clips made from one seed; the set does not depend on how many processes make the shards."""

_CLIPS_PER_BODY: Final = 3
_ELEVATION: Final = (math.radians(-5.0), math.radians(35.0))
_NO_WORDS, _NO_BODY_WORD = 0.12, 0.30
"""Below the first share of the samples no word is said, below the second the body is not."""

_PURE_NOISE: Final = 0.08
"""Share of samples at t = 1 exactly."""

_HIGH_SHIFT: Final = 5.0
"""Half of a batch has noise over signal spread as tan(pi u / 2), half this many times as much."""


@dataclass(frozen=True)
class ClipSet:
    """Clips, padded to MAX_TOKENS: rest (n, tokens, 3), positions (n, frames, tokens, 3) half precision, parents, groups,
    sides, chain (n, tokens), counts (n,), words (n, 3)."""

    rest: Tensor
    positions: Tensor
    parents: Tensor
    groups: Tensor
    sides: Tensor
    chain: Tensor
    counts: Tensor
    words: Tensor

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    @classmethod
    def joined(cls, parts: list[ClipSet]) -> ClipSet:
        return cls(*(torch.cat([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))


def _blank(count: int) -> ClipSet:
    many = (count, MAX_TOKENS)
    return ClipSet(
        rest=torch.zeros(*many, 3),
        positions=torch.zeros(count, FRAMES, MAX_TOKENS, 3, dtype=torch.float16),
        parents=torch.full(many, -1, dtype=torch.int16),
        groups=torch.full(many, GROUPS.index("other"), dtype=torch.int8),
        sides=torch.zeros(many, dtype=torch.int8),
        chain=torch.zeros(many),
        counts=torch.zeros(count, dtype=torch.int64),
        words=torch.zeros(count, 3, dtype=torch.int64),
    )


def _fill(clips: ClipSet, row: int, clip: TeacherClip) -> None:
    tokens, n = clip.tokens, clip.tokens.count
    clips.rest[row, :n] = torch.as_tensor(tokens.rest, dtype=torch.float32)
    clips.positions[row, :, :n] = torch.as_tensor(clip.positions).to(torch.float16)
    clips.parents[row, :n] = torch.as_tensor(tokens.parents).to(torch.int16)
    clips.groups[row, :n] = torch.as_tensor(tokens.groups).to(torch.int8)
    clips.sides[row, :n] = torch.as_tensor(tokens.sides).to(torch.int8)
    clips.chain[row, :n] = torch.as_tensor(tokens.chain, dtype=torch.float32)
    clips.counts[row] = n
    clips.words[row] = torch.tensor([index(tokens.body), index(clip.action), index(clip.style or "")])


def make_shard(seed: int, number: int, count: int = SHARD) -> ClipSet:
    """`count` clips of the shard `number`, always the same for a seed."""
    rng = np.random.default_rng([seed, number])
    clips, row = _blank(count), 0
    while row < count:
        body = draw_body(rng, draw_kind(rng))
        for _ in range(_CLIPS_PER_BODY):
            clip = draw_clip(rng, body, ClipWish(any_style=True))
            if clip is not None and row < count:
                _fill(clips, row, clip)
                row += 1
    return clips


def _shard_arrays(seed: int, number: int, count: int) -> dict[str, np.ndarray]:
    shard = make_shard(seed, number, count)
    return {name: getattr(shard, name).numpy() for name in ClipSet.__dataclass_fields__}


def make_clips(count: int, seed: int, processes: int = 1, progress: Callable[[float], None] | None = None) -> ClipSet:
    """`count` clips, made by so many processes, shard by shard; `progress` is told the share done."""
    sizes = [min(SHARD, count - start) for start in range(0, count, SHARD)]
    parts: list[ClipSet] = []

    def take(shard: ClipSet) -> None:
        parts.append(shard)
        if progress is not None:
            progress(len(parts) / len(sizes))

    if processes <= 1:
        for number, size in enumerate(sizes):
            take(make_shard(seed, number, size))
    else:
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            for arrays in pool.map(_shard_arrays, [seed] * len(sizes), range(len(sizes)), sizes):
                take(ClipSet(**{name: torch.from_numpy(array) for name, array in arrays.items()}))
    return ClipSet.joined(parts)


@dataclass(frozen=True)
class Batch:
    """What one step trains on: noisy tracks at times t, the clean ones, weights of the samples, and what the network is told."""

    noisy: Tensor
    clean: Tensor
    t: Tensor
    features: TokenFeatures
    condition: Condition


def batch_times(count: int, generator: torch.Generator) -> Tensor:
    """(count,) times, stratified, half of them at the high noise where phases are decided, some of pure noise."""

    def rand() -> Tensor:
        return torch.rand(count, generator=generator)

    u = ((torch.randperm(count, generator=generator) + rand()) / count).clamp(0, 0.9999)
    shifted = (2 / math.pi) * torch.atan(_HIGH_SHIFT * torch.tan(u * math.pi / 2))
    t = torch.where(rand() < 0.5, shifted, u)
    return torch.where(rand() < _PURE_NOISE, torch.ones(count), t)


def _mirrored(clips: ClipSet, rows: Tensor, tokens: int, flip: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rest, positions and sides of the rows, left and right exchanged where `flip`."""
    sign = torch.stack([torch.where(flip, -1.0, 1.0), torch.ones(len(rows)), torch.ones(len(rows))], -1)
    rest = clips.rest[rows, :tokens] * sign[:, None]
    positions = clips.positions[rows, :, :tokens].float() * sign[:, None, None]
    sides = clips.sides[rows, :tokens].long()
    return rest, positions, torch.where(flip[:, None], torch.tensor([0, 2, 1])[sides], sides)


def make_batch(clips: ClipSet, rows: Tensor, generator: torch.Generator) -> Batch:
    """Clips seen by random cameras, mirrored at random, some words left out, noise added."""
    count, tokens = len(rows), int(clips.counts[rows].max())

    def rand() -> Tensor:
        return torch.rand(count, generator=generator)

    rest, positions, sides = _mirrored(clips, rows, tokens, rand() < 0.5)
    parents = clips.parents[rows, :tokens].long()
    cameras = Cameras(rand() * (2 * math.pi), rand() * (_ELEVATION[1] - _ELEVATION[0]) + _ELEVATION[0])
    clean = encode_tracks(positions, rest, parents, cameras.rows)
    words, said = clips.words[rows].clone(), rand()
    words[said < _NO_WORDS] = 0
    words[said < _NO_BODY_WORD, 0] = 0
    t = batch_times(count, generator)
    alpha, sigma = (w[:, None, None, None, None] for w in alpha_sigma(t))
    noise = torch.randn(clean.shape, generator=generator)
    features = TokenFeatures(
        static=static_features(rest, parents),
        groups=clips.groups[rows, :tokens].long(),
        sides=sides,
        chain=clips.chain[rows, :tokens],
        mask=torch.arange(tokens)[None] < clips.counts[rows][:, None],
    )
    return Batch(alpha * clean + sigma * noise, clean, t, features, Condition(words, cameras.rows, cameras.params))


def batch_rows(clips: ClipSet, size: int, often_drawn: Mapping[str, int], generator: torch.Generator) -> Iterator[Tensor]:
    """Endless rows of batches: bodies of similar token counts together, some gaits of quadrupeds so many times as often."""
    often = torch.ones(len(clips), dtype=torch.int64)
    for gait, times in often_drawn.items():
        often[(clips.words[:, 0] == index("quadruped")) & (clips.words[:, 1] == index(gait))] = times
    order = torch.repeat_interleave(torch.arange(len(clips)), often)
    order = order[torch.argsort(clips.counts[order], stable=True)]
    total = len(order)
    window = min(total, max(total // 3, size))
    while True:
        middle = int(torch.randint(0, total, (1,), generator=generator))
        low = min(max(middle - window // 2, 0), total - window)
        yield order[low + torch.randint(0, window, (size,), generator=generator)]

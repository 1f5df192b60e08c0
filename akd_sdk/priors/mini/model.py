"""The network of the embedded prior: a diffusion transformer over the 2-D tracks of a body's tokens.

Inside, every 2-D vector is lifted to the character frame with the transposed camera rows and the 3-D answer is
projected again, so that the network never multiplies a track by a number that depends on the view.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from akd_sdk.priors.mini.vocabulary import CANONICAL
from akd_sdk.views.observation import own_parents
from akd_sdk.views.tokens import GROUPS, SIDES, Tokens

FRAMES: Final = 32
"""Frames of the prior's window."""

FPS: Final = 16.0
"""Frames a second of the prior's window."""

SIGMA_DATA: Final = 0.4
"""Root mean square of the tracks that the preconditioning expects."""

_KINDS: Final = 2
_OCTAVES: Final = 4
_LABEL_WIDTH: Final = 16
_TIME_WIDTH: Final = 16


@dataclass(frozen=True)
class ModelConfig:
    """Shape of the network."""

    width: int = 128
    depth: int = 4
    heads: int = 4
    frames: int = FRAMES
    words: int = len(CANONICAL)


@dataclass(frozen=True)
class TokenFeatures:
    """What the network is told about each token beside its track, batched.

    Attributes:
        static: (batch, tokens, 6) rest position and rest bone vector, hip heights.
        groups, sides: (batch, tokens) indices.
        chain: (batch, tokens) position along the chain, 0 to 1.
        mask: (batch, tokens) True where there is a token.
    """

    static: Tensor
    groups: Tensor
    sides: Tensor
    chain: Tensor
    mask: Tensor

    @classmethod
    def of(cls, tokens: Tokens, batch: int) -> TokenFeatures:
        """The features of one body, repeated `batch` times without copying."""
        rest = torch.as_tensor(tokens.rest, dtype=torch.float32)
        parents = torch.as_tensor(tokens.parents)
        many = (batch, tokens.count)
        return cls(
            static=static_features(rest, parents).expand(*many, 6),
            groups=torch.as_tensor(tokens.groups).long().expand(many),
            sides=torch.as_tensor(tokens.sides).long().expand(many),
            chain=torch.as_tensor(tokens.chain, dtype=torch.float32).expand(many),
            mask=torch.ones(many, dtype=torch.bool),
        )


@dataclass(frozen=True)
class Condition:
    """What the motion is to be and how it is seen.

    Attributes:
        words: (batch, words) canonical word indices, 0 for none.
        rows: (batch, 3, 3) camera rows.
        params: (batch, 4) camera parameters.
    """

    words: Tensor
    rows: Tensor
    params: Tensor


def static_features(rest: Tensor, parents: Tensor) -> Tensor:
    """(..., tokens, 6) rest position and rest bone vector."""
    index = own_parents(parents)[..., None].expand(*rest.shape[:-1], 3)
    return torch.cat([rest, rest - rest.gather(-2, index)], -1)


def alpha_sigma(t: Tensor) -> tuple[Tensor, Tensor]:
    """Signal and noise weights at time t in 0..1; at t = 1 exactly no signal is left."""
    alpha = torch.where(t >= 1.0, torch.zeros_like(t), torch.cos(t * (math.pi / 2)))
    return alpha, torch.sin(t * (math.pi / 2))


class Block(nn.Module):
    """Attention over the tokens of a body and a feed-forward layer, both modulated."""

    def __init__(self, width: int, heads: int, depth: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_attention = nn.LayerNorm(width, elementwise_affine=False)
        self.norm_feed = nn.LayerNorm(width, elementwise_affine=False)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.attended = nn.Linear(width, width)
        self.feed_in = nn.Linear(width, 4 * width)
        self.feed_out = nn.Linear(4 * width, width)
        self.offset = nn.Parameter(torch.zeros(6, width))
        for layer in (self.attended, self.feed_out):
            nn.init.normal_(layer.weight, std=0.02 / math.sqrt(depth))

    def forward(self, hidden: Tensor, modulation: Tensor, mask: Tensor) -> Tensor:
        batch, tokens, width = hidden.shape
        m = modulation + self.offset
        a = self.norm_attention(hidden) * (1 + m[:, 0:1]) + m[:, 1:2]
        q, k, v = self.query_key_value(a).reshape(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        a = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        hidden = hidden + self.attended(a.transpose(1, 2).reshape(batch, tokens, width)) * (1 + m[:, 2:3])
        a = self.norm_feed(hidden) * (1 + m[:, 3:4]) + m[:, 4:5]
        fed: Tensor = self.feed_out(functional.gelu(self.feed_in(a)))
        return hidden + fed * (1 + m[:, 5:6])


class MiniModel(nn.Module):
    """Noisy tracks, time, words and camera in, clean tracks out (x0 prediction, EDM-like preconditioning)."""

    frequencies: Tensor
    octaves: Tensor

    def __init__(self, config: ModelConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or ModelConfig()
        width = config.width
        lifted = config.frames * _KINDS * 3
        self.track_in = nn.Linear(lifted, width)
        self.group = nn.Embedding(len(GROUPS), _LABEL_WIDTH)
        self.side = nn.Embedding(len(SIDES), _LABEL_WIDTH)
        self.static_in = nn.Linear(6 + 2 * _OCTAVES + 2 * _LABEL_WIDTH, width)
        self.static_out = nn.Linear(width, 3 * width)
        self.word = nn.Embedding(config.words, width)
        self.condition_in = nn.Linear(2 * _TIME_WIDTH + 4, width)
        self.condition_out = nn.Linear(width, width)
        self.modulation = nn.Linear(width, 6 * width)
        self.blocks = nn.ModuleList(Block(width, config.heads, config.depth) for _ in range(config.depth))
        self.norm_out = nn.LayerNorm(width)
        self.track_out = nn.Linear(width, lifted)
        nn.init.normal_(self.word.weight, std=0.3)
        for layer in (self.modulation, self.track_out):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)
        self.register_buffer("frequencies", torch.exp(torch.linspace(0, math.log(60.0), _TIME_WIDTH)), persistent=False)
        self.register_buffer("octaves", 2.0 ** torch.arange(_OCTAVES) * math.pi, persistent=False)

    def forward(self, latents: Tensor, t: Tensor, features: TokenFeatures, condition: Condition) -> Tensor:
        """Clean tracks believed in.

        Args:
            latents: (batch, tokens, frames, 2 kinds, 2) noisy tracks.
            t: (batch,) time in 0..1.

        Returns:
            tracks of the shape of `latents`.
        """
        alpha, sigma = (w[:, None, None, None, None] for w in alpha_sigma(t))
        variance = alpha**2 * SIGMA_DATA**2 + sigma**2
        answer = self._answer(latents / variance.sqrt(), t, features, condition)
        return (alpha * SIGMA_DATA**2 / variance) * latents + (sigma * SIGMA_DATA / variance.sqrt()) * answer

    def _answer(self, scaled: Tensor, t: Tensor, features: TokenFeatures, condition: Condition) -> Tensor:
        batch, tokens = scaled.shape[:2]
        projection = condition.rows[:, :2]
        lifted = torch.einsum("bjtkc,bci->bjtki", scaled, projection).reshape(batch, tokens, -1)
        scale, shift, scale_out = self.static_out(self._static(features)).chunk(3, -1)
        told = self._told(t, condition)
        modulation = self.modulation(functional.silu(told)).reshape(batch, 6, -1)
        hidden = self.track_in(lifted) * (1 + scale) + shift + told[:, None]
        mask = features.mask[:, None, None, :]
        for block in self.blocks:
            hidden = block(hidden, modulation, mask)
        out = self.track_out(self.norm_out(hidden) * (1 + scale_out))
        out = out.reshape(batch, tokens, self.config.frames, _KINDS, 3)
        return torch.einsum("bjtki,bci->bjtkc", out, projection)

    def _static(self, features: TokenFeatures) -> Tensor:
        waves = features.chain[..., None] * self.octaves
        labels = [self.group(features.groups), self.side(features.sides)]
        return functional.silu(self.static_in(torch.cat([features.static, waves.sin(), waves.cos(), *labels], -1)))

    def _told(self, t: Tensor, condition: Condition) -> Tensor:
        waves = t[:, None] * self.frequencies
        seen = self.condition_in(torch.cat([waves.sin(), waves.cos(), condition.params], -1))
        spoken = self.word(condition.words) * (condition.words > 0)[..., None]
        told: Tensor = self.condition_out(functional.silu(seen)) + spoken.sum(1)
        return told

"""Wan (2.1, and 2.2 with one transformer): flow matching, an encoder of four frames at a time, times a token where the model wants them."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from akd_sdk.priors.video.base import LatentVideoPrior
from akd_sdk.priors.video.checkpoint import Checkpoint
from akd_sdk.priors.video.families import FAMILIES
from akd_sdk.priors.video.layout import Layout
from akd_sdk.priors.video.recompute import chunked
from akd_sdk.priors.video.schedule import Flow, Schedule
from akd_sdk.priors.video.text import Embedding


class WanPrior(LatentVideoPrior):
    """Wan as published in the layout of diffusers.

    diffusers offers no checkpointing for its encoder, whose cache of features is changed in place: here each chunk of frames is given
    a cache of its own, so that it can be recomputed.
    """

    family = FAMILIES["wan"]

    @staticmethod
    def layout_of(checkpoint: Checkpoint) -> Layout:
        multiple = _space(checkpoint) * int(checkpoint.configs["transformer"]["patch_size"][1])
        if _is_second(checkpoint):
            return Layout("Wan 2.2", 49, (704, 1280), 24.0, 4, 5, multiple)
        return Layout("Wan 2.1", 49, (480, 832), 16.0, 4, 5, multiple)

    @staticmethod
    def schedule_of(checkpoint: Checkpoint, layout: Layout) -> Schedule:
        return Flow.of(checkpoint.configs["scheduler"], layout.tokens)

    @staticmethod
    def encoder_of(checkpoint: Checkpoint) -> str:
        return "wan-2.2" if _is_second(checkpoint) else "wan-2.1"

    @staticmethod
    def channels_of(checkpoint: Checkpoint) -> tuple[int, int, int]:
        config = checkpoint.configs["transformer"]
        return int(checkpoint.configs["vae"]["z_dim"]), int(config["in_channels"]), int(config["text_dim"])

    def _moments(self, video: Tensor) -> Tensor:
        from diffusers.models.autoencoders.autoencoder_kl_wan import patchify

        patch = self._vae.config.patch_size
        frames = video if patch is None else patchify(video, patch)
        chunks = [frames[:, :, :1], *frames[:, :, 1:].split(4, dim=2)]
        moments: Tensor = self._vae.quant_conv(chunked(self._chunk, chunks, self.plan.checkpointing))
        return moments

    def _chunk(self, frames: Tensor, cache: Any) -> tuple[Tensor, Any]:
        features = [None] * self._vae._cached_conv_counts["encoder"] if cache is None else list(cache)
        moments = self._vae.encoder(frames, feat_cache=features, feat_idx=[0])
        return moments, features

    def _normalised(self, means: Tensor) -> Tensor:
        config = self._vae.config
        mean, std = (means.new_tensor(value).view(1, -1, 1, 1, 1) for value in (config.latents_mean, config.latents_std))
        return (means - mean) / std

    def _answer(self, noisy: Tensor, timestep: float, text: Embedding) -> Tensor:
        times = torch.full((len(noisy),), timestep, dtype=self._latent_dtype, device=noisy.device)
        if self._checkpoint.index.get("expand_timesteps", False):
            patched = (side // patch for side, patch in zip(noisy.shape[2:], self._transformer.config.patch_size))
            times = times[:, None].repeat(1, math.prod(patched))
        (answer,) = self._transformer(hidden_states=noisy, timestep=times, encoder_hidden_states=text.hidden, return_dict=False)
        result: Tensor = answer
        return result


def _space(checkpoint: Checkpoint) -> int:
    return int(checkpoint.configs["vae"].get("scale_factor_spatial") or 8)


def _is_second(checkpoint: Checkpoint) -> bool:
    """Whether it has the encoder of 2.2, which halves pictures once more before it begins."""
    return checkpoint.configs["vae"].get("patch_size") is not None

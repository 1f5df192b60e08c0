"""LTX-Video: flow matching on one token a latent pixel, with the mask of the text and the frame rate as conditions."""

from __future__ import annotations

import torch
from torch import Tensor

from akd_sdk.errors import PriorError
from akd_sdk.priors.video.base import LatentVideoPrior
from akd_sdk.priors.video.checkpoint import Checkpoint
from akd_sdk.priors.video.families import FAMILIES
from akd_sdk.priors.video.layout import Layout
from akd_sdk.priors.video.schedule import Flow, Schedule
from akd_sdk.priors.video.text import Embedding


class LtxPrior(LatentVideoPrior):
    """LTX-Video as published in the layout of diffusers."""

    family = FAMILIES["ltx"]

    @staticmethod
    def layout_of(checkpoint: Checkpoint) -> Layout:
        time, space = _strides(checkpoint)
        return Layout("LTX-Video", 6 * time + 1, (480 // space * space, 704 // space * space), 25.0, time, time + 1, space)

    @staticmethod
    def schedule_of(checkpoint: Checkpoint, layout: Layout) -> Schedule:
        return Flow.of(checkpoint.configs["scheduler"], layout.tokens)

    @staticmethod
    def encoder_of(checkpoint: Checkpoint) -> str:
        return "ltx"

    @staticmethod
    def channels_of(checkpoint: Checkpoint) -> tuple[int, int, int]:
        config = checkpoint.configs["transformer"]
        if (config.get("patch_size", 1), config.get("patch_size_t", 1)) != (1, 1):
            fault = "the transformer joins latent pixels to tokens, which no published LTX-Video does"
            raise PriorError(fault, checkpoint.folder / "transformer" / "config.json")
        return int(checkpoint.configs["vae"]["latent_channels"]), int(config["in_channels"]), int(config["caption_channels"])

    def _moments(self, video: Tensor) -> Tensor:
        moments: Tensor = self._vae.encoder(video)
        return moments

    def _normalised(self, means: Tensor) -> Tensor:
        mean, std = (value.to(means).view(1, -1, 1, 1, 1) for value in (self._vae.latents_mean, self._vae.latents_std))
        latents: Tensor = (means - mean) * float(self._vae.config.scaling_factor) / std
        return latents

    def _answer(self, noisy: Tensor, timestep: float, text: Embedding) -> Tensor:
        frames, height, width = noisy.shape[2:]
        time, space = _strides(self._checkpoint)
        (answer,) = self._transformer(
            hidden_states=noisy.flatten(2).transpose(1, 2),
            encoder_hidden_states=text.hidden,
            timestep=torch.full((len(noisy),), timestep, dtype=self._latent_dtype, device=noisy.device),
            encoder_attention_mask=text.mask.bool(),
            num_frames=frames,
            height=height,
            width=width,
            rope_interpolation_scale=(time / self.fps, space, space),
            return_dict=False,
        )
        result: Tensor = answer.transpose(1, 2).unflatten(2, (frames, height, width))
        return result


def _strides(checkpoint: Checkpoint) -> tuple[int, int]:
    """Frames and pixels a side that one latent stands for."""
    config = checkpoint.configs["vae"]
    halvings = 1 << sum(map(bool, config["spatio_temporal_scaling"]))
    time = config.get("temporal_compression_ratio") or config["patch_size_t"] * halvings
    space = config.get("spatial_compression_ratio") or config["patch_size"] * halvings
    return int(time), int(space)

"""CogVideoX (2B, 5B, 1.5): v-prediction, an encoder in chunks of frames, rotary positions where the model has them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from akd_sdk.priors.video.base import LatentVideoPrior
from akd_sdk.priors.video.checkpoint import Checkpoint
from akd_sdk.priors.video.families import FAMILIES
from akd_sdk.priors.video.layout import Layout
from akd_sdk.priors.video.recompute import chunked
from akd_sdk.priors.video.schedule import Schedule, VPrediction
from akd_sdk.priors.video.text import Embedding


class CogVideoXPrior(LatentVideoPrior):
    """CogVideoX as published in the layout of diffusers.

    Version 1.5 joins two latent frames to a token and was trained with their number padded to even ones; here its videos have a
    length that needs no padding (8 k + 5 frames).
    """

    family = FAMILIES["cogvideox"]

    @staticmethod
    def layout_of(checkpoint: Checkpoint) -> Layout:
        config = checkpoint.configs["transformer"]
        patch, joined = int(config["patch_size"]), config.get("patch_size_t")
        stride = _stride(checkpoint)
        if joined is None:
            return Layout("CogVideoX", 49, (480, 720), 8.0, 4, 5, stride * patch)
        rows, columns = (int(config[key]) // patch * patch for key in ("sample_height", "sample_width"))
        reach = (stride * rows, stride * columns)
        return Layout("CogVideoX 1.5", 85, (768, 1360), 16.0, 4 * joined, 4 * joined - 3, stride * patch, reach)

    @staticmethod
    def schedule_of(checkpoint: Checkpoint, layout: Layout) -> Schedule:
        return VPrediction.of(checkpoint.configs["scheduler"], checkpoint.folder / "scheduler" / "scheduler_config.json")

    @staticmethod
    def encoder_of(checkpoint: Checkpoint) -> str:
        return "cogvideox"

    @staticmethod
    def channels_of(checkpoint: Checkpoint) -> tuple[int, int, int]:
        config = checkpoint.configs["transformer"]
        return int(checkpoint.configs["vae"]["latent_channels"]), int(config["in_channels"]), int(config["text_embed_dim"])

    def _moments(self, video: Tensor) -> Tensor:
        # chunks of eight frames, the first with what is left over, as the encoder was trained
        over = video.shape[2] % 8
        ends = [8 * i + over for i in range(1, video.shape[2] // 8 + 1)] or [over]
        chunks = [video[:, :, start:end] for start, end in zip([0, *ends], ends)]
        return chunked(self._chunk, chunks, self.plan.checkpointing)

    def _chunk(self, frames: Tensor, cache: Any) -> tuple[Tensor, Any]:
        moments, left = self._vae.encoder(frames, conv_cache=cache)
        if self._vae.quant_conv is not None:
            moments = self._vae.quant_conv(moments)
        return moments, left

    def _normalised(self, means: Tensor) -> Tensor:
        return means * float(self._vae.config.scaling_factor)

    def _answer(self, noisy: Tensor, timestep: float, text: Embedding) -> Tensor:
        frames_first = noisy.transpose(1, 2)
        (answer,) = self._transformer(
            hidden_states=frames_first,
            encoder_hidden_states=text.hidden,
            timestep=torch.full((len(noisy),), int(timestep), dtype=torch.long, device=noisy.device),
            image_rotary_emb=self._positions(frames_first),
            return_dict=False,
        )
        result: Tensor = answer.transpose(1, 2)
        return result

    def _positions(self, latents: Tensor) -> tuple[Tensor, Tensor] | None:
        """Cosines and sines of the rotary positions of (batch, latent frames, channels, height, width); None where there are none."""
        from diffusers.models.embeddings import get_3d_rotary_pos_embed
        from diffusers.pipelines.cogvideo.pipeline_cogvideox import get_resize_crop_region_for_grid

        config = self._transformer.config
        if not config.use_rotary_positional_embeddings:
            return None
        patch, joined = config.patch_size, config.patch_size_t
        grid = (latents.shape[3] // patch, latents.shape[4] // patch)
        trained = (config.sample_height // patch, config.sample_width // patch)
        if joined is None:
            where: dict[str, Any] = {"crops_coords": get_resize_crop_region_for_grid(grid, trained[1], trained[0])}
        else:
            where = {"crops_coords": None, "grid_type": "slice", "max_size": trained}
        positions: tuple[Tensor, Tensor] = get_3d_rotary_pos_embed(
            embed_dim=config.attention_head_dim,
            grid_size=grid,
            temporal_size=latents.shape[1] // (joined or 1),
            device=latents.device,
            **where,
        )
        return positions


def _stride(checkpoint: Checkpoint) -> int:
    return 1 << (len(checkpoint.configs["vae"]["block_out_channels"]) - 1)

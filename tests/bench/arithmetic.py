"""`python -m tests.bench.arithmetic`: floating-point operations of one step with each video model, counted at its real size.

Models are built on torch's `meta` device, where tensors have shapes and no numbers, and run once; torch's own counter adds up their
matrix products, attentions and convolutions. No weights, no GPU. From the count follow hours, given what a card sustains.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import diffusers
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

PETA = 1e15
GUIDED = 2
"""Transformer calls a view: with and without the sentence, in one batch."""

WAN_22_VAE: dict[str, Any] = {
    "base_dim": 160,
    "decoder_base_dim": 256,
    "z_dim": 48,
    "is_residual": True,
    "in_channels": 12,
    "out_channels": 12,
    "patch_size": 2,
    "scale_factor_spatial": 16,
    "dim_mult": [1, 2, 4, 4],
    "temperal_downsample": [False, True, True],
    "latents_mean": [0.0] * 48,
    "latents_std": [1.0] * 48,
}
COG_2B: dict[str, Any] = {"num_attention_heads": 30, "num_layers": 30}
COG_5B: dict[str, Any] = {"num_attention_heads": 48, "num_layers": 42, "use_rotary_positional_embeddings": True}
COG_15: dict[str, Any] = COG_5B | {"patch_size_t": 2, "sample_height": 300, "sample_width": 300, "sample_frames": 81}
WAN_21: dict[str, Any] = {"num_attention_heads": 12, "num_layers": 30, "ffn_dim": 8960}
WAN_22: dict[str, Any] = {"num_attention_heads": 24, "num_layers": 30, "ffn_dim": 14336, "in_channels": 48, "out_channels": 48}


@dataclass(frozen=True)
class Model:
    """A video model: its classes, their configurations, what one latent cell covers (frames, pixels), and its latent channels."""

    name: str
    family: str
    transformer: dict[str, Any]
    stride: tuple[int, int]
    channels: int
    clips: tuple[tuple[int, int, int], ...]
    vae: dict[str, Any] = field(default_factory=dict)


MODELS = (
    Model("CogVideoX-2B", "CogVideoX", COG_2B, (4, 8), 16, ((49, 480, 720),)),
    Model("CogVideoX-5B", "CogVideoX", COG_5B, (4, 8), 16, ((49, 480, 720), (17, 256, 384))),
    Model("CogVideoX 1.5-5B", "CogVideoX", COG_15, (4, 8), 16, ((81, 768, 1360), (49, 480, 720))),
    Model("LTX-Video 2B", "LTXVideo", {}, (8, 32), 128, ((49, 480, 736), (17, 256, 384))),
    Model("Wan 2.1 1.3B", "Wan", WAN_21, (4, 8), 16, ((49, 480, 832), (17, 256, 384))),
    Model("Wan 2.2 TI2V-5B", "Wan", WAN_22, (4, 16), 48, ((49, 480, 832), (17, 256, 384)), WAN_22_VAE),
)


def counted(work: Callable[[], object]) -> float:
    """PFLOP of what `work` does."""
    counter = FlopCounterMode(display=False)
    with counter:
        work()
    return counter.get_total_flops() / PETA


def hollow(kind: Callable[..., nn.Module], config: dict[str, Any]) -> nn.Module:
    with torch.device("meta"):
        return kind(**config).to(torch.bfloat16).eval().requires_grad_(False)


def blank(*shape: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    return torch.empty(*shape, device="meta", dtype=dtype)


def call(model: Model, clip: tuple[int, int, int]) -> dict[str, Any]:
    """Arguments of one guided call of the transformer, in the layout of its family."""
    frames, rows, columns = (clip[0] - 1) // model.stride[0] + 1, clip[1] // model.stride[1], clip[2] // model.stride[1]
    if model.family == "LTXVideo":
        text = {"encoder_hidden_states": blank(GUIDED, 128, 4096), "encoder_attention_mask": blank(GUIDED, 128)}
        grid = {"num_frames": frames, "height": rows, "width": columns, "rope_interpolation_scale": (8 / 25, 32, 32)}
        return {"hidden_states": blank(GUIDED, frames * rows * columns, model.channels), "timestep": blank(GUIDED), **text, **grid}
    steps = blank(GUIDED, dtype=torch.long)
    if model.family == "Wan":
        latents = blank(GUIDED, model.channels, frames, rows, columns)
        return {"hidden_states": latents, "timestep": steps, "encoder_hidden_states": blank(GUIDED, 512, 4096)}
    deep = model.transformer.get("patch_size_t") or 1
    frames += frames % deep
    angles = blank(frames // deep * (rows // 2) * (columns // 2), 64)
    rotary = (angles, angles) if model.transformer.get("use_rotary_positional_embeddings") else None
    latents = blank(GUIDED, frames, model.channels, rows, columns)
    return {"hidden_states": latents, "timestep": steps, "encoder_hidden_states": blank(GUIDED, 226, 4096), "image_rotary_emb": rotary}


def encoding(vae: nn.Module, clip: tuple[int, int, int]) -> tuple[float, float]:
    """PFLOP of encoding a clip and of the way back to its pixels."""
    video = blank(1, 3, *clip)

    def there() -> Tensor:
        latents: Tensor = vae.encode(video * 2.0 - 1.0).latent_dist.mode()
        return latents

    def there_and_back() -> None:
        latents = there()
        torch.autograd.grad(latents, video, torch.empty_like(latents))

    with torch.no_grad():
        forward = counted(there)
    video.requires_grad_()
    return forward, counted(there_and_back) - forward


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.arithmetic", description=__doc__)
    parser.add_argument("--tflops", type=float, default=180.0, help="what the card sustains in bf16, TFLOP/s")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--views", type=int, default=2, help="views a step")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    print("PFLOP a view; a step encodes once, calls the transformer with guidance and goes back through the encoder;")
    print("with two passes and checkpointing it encodes three times. Hours:")
    print(f"{options.steps} steps of {options.views} views at {options.tflops:g} TFLOP/s")
    heads = ("model", "clip", "10^9", "transformer", "encoder", "back", "step", "hours", "least memory", "hours")
    print("{:<18}{:<13}{:>6}{:>13}{:>9}{:>7}{:>8}{:>7}{:>14}{:>7}".format(*heads))
    for model in MODELS:
        transformer = hollow(getattr(diffusers, f"{model.family}Transformer3DModel"), model.transformer)
        vae = hollow(getattr(diffusers, f"AutoencoderKL{model.family}"), model.vae)
        billions = sum(part.numel() for part in transformer.parameters()) / 1e9
        for clip in model.clips:
            arguments = call(model, clip)
            with torch.no_grad():
                guess = counted(lambda transformer=transformer, arguments=arguments: transformer(**arguments, return_dict=False))
            forward, back = encoding(vae, clip)
            steps = (guess + forward + back, guess + 3 * forward + back)
            hours = [options.steps * options.views * step * PETA / (options.tflops * 1e12) / 3600 for step in steps]
            size = "x".join(map(str, clip))
            print(
                f"{model.name:<18}{size:<13}{billions:>6.2f}{guess:>13.3f}{forward:>9.3f}{back:>7.3f}"
                f"{steps[0]:>8.3f}{hours[0]:>7.2f}{steps[1]:>14.3f}{hours[1]:>7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

"""`python -m tests.bench.arithmetic`: floating-point operations of one step with each video model, counted at its real size.

Models are built on torch's `meta` device, where tensors have shapes and no numbers, and run once; torch's own counter adds up their
matrix products, attentions and convolutions. No weights, no GPU. From the count follow hours, given what a card sustains.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from tests.bench.video_memory import TRANSFORMERS, built, encoding

PETA = 1e15
GUIDED = 2
"""Videos in a call of the transformer: with and without the sentence."""

_COG_5B = TRANSFORMERS["cogvideox-5b"]
_COG_15 = {"patch_size_t": 2, "sample_height": 300, "sample_width": 300, "sample_frames": 81}
MODELS = TRANSFORMERS | {"cogvideox-1.5-5b": (_COG_5B[0], {**_COG_5B[1], **_COG_15})}
"""Transformers by name, with the one whose tokens cover two latent frames."""


@dataclass(frozen=True)
class Row:
    """A model, its encoder, frames, height and width of the video, and what one latent cell covers: frames, pixels."""

    model: str
    encoder: str
    clip: tuple[int, int, int]
    stride: tuple[int, int]

    @property
    def cells(self) -> tuple[int, int, int]:
        """Latent frames, rows and columns."""
        frames, height, width = self.clip
        return (frames - 1) // self.stride[0] + 1, height // self.stride[1], width // self.stride[1]


SMALL = (17, 256, 384)
ROWS = (
    Row("cogvideox-2b", "cogvideox", (49, 480, 720), (4, 8)),
    Row("cogvideox-5b", "cogvideox", (49, 480, 720), (4, 8)),
    Row("cogvideox-5b", "cogvideox", SMALL, (4, 8)),
    Row("cogvideox-1.5-5b", "cogvideox", (85, 768, 1360), (4, 8)),
    Row("ltx-2b", "ltx", (49, 480, 704), (8, 32)),
    Row("ltx-2b", "ltx", SMALL, (8, 32)),
    Row("wan-2.1-1.3b", "wan-2.1", (49, 480, 832), (4, 8)),
    Row("wan-2.2-5b", "wan-2.2", (49, 704, 1280), (4, 16)),
    Row("wan-2.2-5b", "wan-2.2", (49, 480, 832), (4, 16)),
)


def counted(work: Callable[[], object]) -> float:
    """PFLOP of what `work` does."""
    counter = FlopCounterMode(display=False)
    with counter:
        work()
    return counter.get_total_flops() / PETA


def blank(*shape: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    return torch.empty(*shape, device="meta", dtype=dtype)


def call(row: Row, transformer: nn.Module) -> dict[str, Any]:
    """Arguments of one guided call of the transformer, in the layout of its family."""
    config: Any = transformer.config
    frames, rows, columns = row.cells
    channels, steps = config.in_channels, blank(GUIDED, dtype=torch.long)
    if row.model.startswith("ltx"):
        text = {"encoder_hidden_states": blank(GUIDED, 128, 4096), "encoder_attention_mask": blank(GUIDED, 128)}
        grid = {"num_frames": frames, "height": rows, "width": columns, "rope_interpolation_scale": (8 / 25, 32, 32)}
        return {"hidden_states": blank(GUIDED, frames * rows * columns, channels), "timestep": blank(GUIDED), **text, **grid}
    if row.model.startswith("wan"):
        latents = blank(GUIDED, channels, frames, rows, columns)
        return {"hidden_states": latents, "timestep": steps, "encoder_hidden_states": blank(GUIDED, 512, 4096)}
    deep = config.patch_size_t or 1
    angles = blank(frames // deep * (rows // 2) * (columns // 2), config.attention_head_dim)
    latents = blank(GUIDED, frames, channels, rows, columns)
    text = {"encoder_hidden_states": blank(GUIDED, 226, 4096)}
    return {"hidden_states": latents, "timestep": steps, "image_rotary_emb": (angles, angles), **text}


def encoder_counts(row: Row) -> tuple[float, float, float]:
    """PFLOP of encoding a video, of encoding it and going back to its pixels, and of the same where blocks are recomputed."""
    whole, forgetful = encoding(row.encoder, checkpointing=False), encoding(row.encoder, checkpointing=True)
    video = blank(1, 3, *row.clip)

    def there_and_back(encode: Callable[[Tensor], Tensor]) -> float:
        pixels = video.clone().requires_grad_()

        def work() -> None:
            moments = encode(pixels * 1.0)
            torch.autograd.grad(moments, pixels, torch.empty_like(moments))

        return counted(work)

    with torch.no_grad():
        once = counted(lambda: whole(video))
    return once, there_and_back(whole), there_and_back(forgetful)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.arithmetic", description=__doc__)
    parser.add_argument("--tflops", type=float, default=180.0, help="what the card sustains in bf16, TFLOP/s")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--views", type=int, default=2, help="views a step")
    options = parser.parse_args()
    print("PFLOP a view. quickest: one pass, everything kept; leanest: two passes, blocks of the encoder recomputed.")
    print(f"hours: {options.steps} steps of {options.views} views at {options.tflops:g} TFLOP/s")
    heads = ("model", "video", "10^9", "transformer", "encoder", "and back", "recomputed", "quickest", "hours", "leanest", "hours")
    print("{:<18}{:<13}{:>6}{:>13}{:>9}{:>10}{:>12}{:>10}{:>7}{:>9}{:>7}".format(*heads))
    for row in ROWS:
        transformer = built(row.model, MODELS)
        arguments = call(row, transformer)
        with torch.no_grad():
            guess = counted(lambda transformer=transformer, arguments=arguments: transformer(**arguments, return_dict=False))
        once, back, recomputed = encoder_counts(row)
        steps = (guess + back, guess + once + recomputed)
        hours = [options.steps * options.views * step * PETA / (options.tflops * 1e12) / 3600 for step in steps]
        billions = sum(part.numel() for part in transformer.parameters()) / 1e9
        print(
            f"{row.model:<18}{'x'.join(map(str, row.clip)):<13}{billions:>6.2f}{guess:>13.3f}{once:>9.3f}{back:>10.3f}{recomputed:>12.3f}"
            f"{steps[0]:>10.3f}{hours[0]:>7.2f}{steps[1]:>9.3f}{hours[1]:>7.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""Memory of video models at their real size, counted without weights or a device: `python -m tests.bench.video_memory`.

Every tensor that an encoder or transformer makes is counted on torch's `meta` device while it lives, so the figures are the peaks that
an allocator without waste would see, kernels' own work space left out.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from akd_sdk.priors.video.cogvideox import CogVideoXPrior
from akd_sdk.priors.video.ltx import LtxPrior
from akd_sdk.priors.video.wan import WanPrior

GIB = 2.0**30

ENCODERS: dict[str, tuple[str, dict[str, Any]]] = {
    "cogvideox": ("AutoencoderKLCogVideoX", {}),
    "ltx": ("AutoencoderKLLTXVideo", {}),
    "wan-2.1": ("AutoencoderKLWan", {}),
    "wan-2.2": (
        "AutoencoderKLWan",
        {
            "base_dim": 160, "decoder_base_dim": 256, "z_dim": 48, "is_residual": True, "in_channels": 12, "out_channels": 12,
            "patch_size": 2, "scale_factor_spatial": 16, "latents_mean": [0.0] * 48, "latents_std": [1.0] * 48,
        },
    ),
}  # fmt: skip
"""Classes of diffusers and what the published models' configurations change of their defaults."""

_ROTARY = {"use_rotary_positional_embeddings": True}  # the 2B model has none, but its fixed ones take long to make

TRANSFORMERS: dict[str, tuple[str, dict[str, Any]]] = {
    "cogvideox-2b": ("CogVideoXTransformer3DModel", {"num_attention_heads": 30, "num_layers": 30, **_ROTARY}),
    "cogvideox-5b": ("CogVideoXTransformer3DModel", {"num_attention_heads": 48, "num_layers": 42, **_ROTARY}),
    "ltx-2b": ("LTXVideoTransformer3DModel", {}),
    "wan-2.1-1.3b": ("WanTransformer3DModel", {"num_attention_heads": 12, "num_layers": 30, "ffn_dim": 8960}),
    "wan-2.2-5b": (
        "WanTransformer3DModel",
        {"num_attention_heads": 24, "num_layers": 30, "ffn_dim": 14336, "in_channels": 48, "out_channels": 48},
    ),
}


class LivingBytes(TorchDispatchMode):
    """Bytes of all tensors that live, and their largest sum so far."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        self.peak = 0
        self._seen: set[int] = set()
        self._foreign: set[int] = set()  # made outside: weights, whose views are no memory

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for value in tree_flatten((args, kwargs))[0]:
            if isinstance(value, Tensor) and value.untyped_storage()._cdata not in self._seen:
                self._foreign.add(value.untyped_storage()._cdata)
        out = func(*args, **(kwargs or {}))
        for value in tree_flatten(out)[0]:
            if isinstance(value, Tensor):
                self._count(value.untyped_storage())
        return out

    def _count(self, storage: torch.UntypedStorage) -> None:
        key = storage._cdata
        if key in self._seen or key in self._foreign:
            return
        size = storage.nbytes()
        self._seen.add(key)
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._forget, key, size)

    def _forget(self, key: int, size: int) -> None:
        self._seen.discard(key)
        self.now -= size


@contextmanager
def living() -> Iterator[LivingBytes]:
    """The count of what is made inside the block."""
    with LivingBytes() as count:
        yield count


def built(name: str, table: dict[str, tuple[str, dict[str, Any]]]) -> Any:
    """A model of the published size in bf16 without memory behind it."""
    import diffusers

    diffusers.utils.logging.set_verbosity_error()
    kind, changes = table[name]
    with torch.device("meta"):
        model = getattr(diffusers, kind)(**changes)
    return model.to(torch.bfloat16).eval().requires_grad_(False)


def encoding(name: str, *, checkpointing: bool) -> Callable[[Tensor], Tensor]:
    """The SDK's own encoding by that encoder, (1, 3, frames, height, width) to moments, without weights."""
    kind = {"cogvideox": CogVideoXPrior, "ltx": LtxPrior}.get(name, WanPrior)
    prior: Any = object.__new__(kind)  # no checkpoint is read: the call needs the encoder and the plan alone
    prior._vae = built(name, ENCODERS)
    prior.plan = SimpleNamespace(checkpointing=checkpointing)
    prior._remember_blocks()
    return prior._moments


def gradient_peak(encode: Callable[[Tensor], Tensor], shape: tuple[int, ...], *, spill: bool = False) -> tuple[float, float]:
    """Peak of one encoding with its backward, and what is held between the two, GiB; the video itself left out."""
    video = torch.empty(shape, dtype=torch.bfloat16, device="meta", requires_grad=True)
    away = torch.autograd.graph.saved_tensors_hooks(lambda kept: (kept.shape, kept.dtype), _back) if spill else nullcontext()
    with living() as count:
        with away:
            moments = encode(video)
        held = count.now
        moments.sum().backward()
    return count.peak / GIB, held / GIB


def _back(kept: tuple[torch.Size, torch.dtype]) -> Tensor:
    shape, dtype = kept
    return torch.empty(shape, dtype=dtype, device="meta")


def forward_peak(call: Callable[[], object]) -> float:
    """Peak of a call without gradient, GiB."""
    with living() as count, torch.no_grad():
        call()
    return count.peak / GIB


def encoder_lines(name: str, lengths: tuple[int, int] = (25, 49), size: tuple[int, int] = (480, 832)) -> dict[str, tuple[float, float]]:
    """Figures of one encoder as `memory.Encoder` holds them: GiB a megapixel, a frame and once, through two lengths of video."""
    whole, forgetful = encoding(name, checkpointing=False), encoding(name, checkpointing=True)
    rows: dict[str, list[float]] = {}
    for frames in lengths:
        shape = (1, 3, frames, *size)
        peak, held = gradient_peak(forgetful, shape)
        found = {
            "still": forward_peak(partial(whole, torch.empty(shape, dtype=torch.bfloat16, device="meta"))),
            "whole": gradient_peak(whole, shape)[0],
            "recomputed": peak,
            "held": held,
            "spilled": gradient_peak(forgetful, shape, spill=True)[0],
        }
        for key, value in found.items():
            rows.setdefault(key, []).append(value * 1e6 / (size[0] * size[1]))
    first, last = lengths
    slopes = {key: (b - a) / (last - first) for key, (a, b) in rows.items()}
    return {key: (slopes[key], a - slopes[key] * first) for key, (a, _) in rows.items()}


def main() -> None:
    """Print the table from which `akd_sdk/priors/video/memory.py` has its figures."""
    for name in ENCODERS:
        weights = sum(p.numel() for part in ("encoder", "quant_conv") for p in _parameters(built(name, ENCODERS), part)) * 2 / GIB
        lines = "  ".join(f"{key}=({a:.3f}, {b:.2f})" for key, (a, b) in encoder_lines(name).items())
        print(f"{name:10s} weights={weights:.2f}  {lines}", flush=True)
    for name in TRANSFORMERS:
        gib, factor = transformer_figures(name)
        print(f"{name:14s} weights {gib:.2f} GiB, call {factor:.1f} numbers a token and channel", flush=True)


def _parameters(model: Any, part: str) -> Iterator[Tensor]:
    found = getattr(model, part, None)
    return iter(()) if found is None else found.parameters()


def transformer_figures(name: str) -> tuple[float, float]:
    """Weights, GiB, and the peak of one call without them in numbers a token and channel, with attention as one fused kernel."""
    model = built(name, TRANSFORMERS)
    weights = sum(p.numel() for p in model.parameters()) * 2 / GIB
    width = model.config.num_attention_heads * model.config.attention_head_dim
    given, tokens = _given(name, model)
    with patch.object(F, "scaled_dot_product_attention", lambda query, *_, **__: torch.empty_like(query)):
        peak = forward_peak(lambda: model(**given, return_dict=False))
    return weights, peak * GIB / 2 / (tokens * width)


def _given(name: str, model: Any) -> tuple[dict[str, Any], int]:
    """Arguments of a call of about the published size, and the tokens of its video."""
    meta = partial(torch.empty, dtype=torch.bfloat16, device="meta")
    time = torch.empty(1, device="meta")
    if name.startswith("cogvideox"):
        head = torch.empty(13 * 30 * 45, model.config.attention_head_dim, device="meta")
        given = {"hidden_states": meta(1, 13, 16, 60, 90), "encoder_hidden_states": meta(1, 226, 4096), "image_rotary_emb": (head, head)}
        return {**given, "timestep": time}, 13 * 30 * 45
    if name.startswith("ltx"):
        given = {"hidden_states": meta(1, 7 * 15 * 23, 128), "encoder_hidden_states": meta(1, 128, 4096)}
        size = {"num_frames": 7, "height": 15, "width": 23, "rope_interpolation_scale": (8 / 25, 32, 32)}
        return {**given, **size, "timestep": time, "encoder_attention_mask": torch.empty(1, 128, device="meta")}, 7 * 15 * 23
    channels = model.config.in_channels
    high, wide = (60, 104) if channels == 16 else (44, 80)
    given = {"hidden_states": meta(1, channels, 13, high, wide), "encoder_hidden_states": meta(1, 512, 4096), "timestep": time}
    return given, 13 * high * wide // 4


if __name__ == "__main__":
    main()

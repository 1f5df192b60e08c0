"""Checkpoints of the real classes at a tiny size, with random weights, made without a network: as published ones lie on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

TEXT_WIDTH = 32
SENTENCES = (
    "a fox trots over the floor", "the knight walks slowly", "a wolf gallops", "a bird hops and looks around", "filmed by a steady camera",
    "a computer animated character on a checkerboard floor, even light, smooth and natural motion",
)  # fmt: skip

SIZES = {
    "cogvideox": (9, (32, 48)),
    "cogvideox-1.5": (13, (48, 80)),
    "cogvideox-2b": (9, (32, 48)),
    "ltx": (17, (64, 128)),
    "ltx-0.9.5": (17, (64, 128)),
    "wan": (9, (32, 48)),
    "wan-2.2": (9, (64, 96)),
}
"""Frames and size (height, width) of tiny videos, such that no two axes of their latents are equally long."""

_COG = {
    "num_attention_heads": 2,
    "attention_head_dim": 16,
    "in_channels": 5,
    "out_channels": 5,
    "time_embed_dim": 8,
    "text_embed_dim": TEXT_WIDTH,
    "num_layers": 2,
    "sample_width": 12,
    "sample_height": 8,
    "sample_frames": 9,
}
_COG_VAE = {"block_out_channels": (8, 8, 8, 8), "layers_per_block": 1, "latent_channels": 5, "norm_num_groups": 2, "scaling_factor": 0.7}
_LTX = {
    "in_channels": 8,
    "out_channels": 8,
    "num_attention_heads": 2,
    "attention_head_dim": 8,
    "cross_attention_dim": 16,
    "num_layers": 2,
    "caption_channels": TEXT_WIDTH,
}
_LTX_VAE = {
    "latent_channels": 8,
    "block_out_channels": (8, 8, 8, 8),
    "decoder_block_out_channels": (8, 8, 8, 8),
    "layers_per_block": (1,) * 5,
    "decoder_layers_per_block": (1,) * 5,
}
_LTX_095_VAE = {
    "latent_channels": 8,
    "block_out_channels": (8, 8, 16, 16, 16),
    "down_block_types": ("LTXVideo095DownBlock3D",) * 4,
    "decoder_block_out_channels": (8, 8, 16),
    "layers_per_block": (1,) * 5,
    "decoder_layers_per_block": (1,) * 4,
    "spatio_temporal_scaling": (True,) * 4,
    "decoder_spatio_temporal_scaling": (True,) * 3,
    "decoder_inject_noise": (False,) * 4,
    "downsample_type": ("spatial", "temporal", "spatiotemporal", "spatiotemporal"),
    "upsample_residual": (True,) * 3,
    "upsample_factor": (2, 2, 2),
    "timestep_conditioning": True,
    "spatial_compression_ratio": 32,
    "temporal_compression_ratio": 8,
}
_WAN = {
    "num_attention_heads": 2,
    "attention_head_dim": 12,
    "in_channels": 5,
    "out_channels": 5,
    "text_dim": TEXT_WIDTH,
    "freq_dim": 16,
    "ffn_dim": 16,
    "num_layers": 2,
    "rope_max_seq_len": 32,
}
_WAN_VAE = {
    "base_dim": 8,
    "dim_mult": [1, 1, 1, 1],
    "z_dim": 5,
    "num_res_blocks": 1,
    "latents_mean": [0.1, -0.2, 0.3, 0.0, 0.5],
    "latents_std": [1.5, 2.0, 0.7, 1.1, 0.9],
}
_WAN_22_VAE = dict(_WAN_VAE, is_residual=True, in_channels=12, out_channels=12, patch_size=2, scale_factor_spatial=16)

_V = {
    "prediction_type": "v_prediction",
    "rescale_betas_zero_snr": True,
    "timestep_spacing": "trailing",
    "clip_sample": False,
    "set_alpha_to_one": True,
    "snr_shift_scale": 3.0,
}

MODELS: dict[str, dict[str, Any]] = {
    "cogvideox": {
        "pipeline": "CogVideoXPipeline", "transformer": ("CogVideoXTransformer3DModel", dict(_COG, use_rotary_positional_embeddings=True)),
        "vae": ("AutoencoderKLCogVideoX", _COG_VAE), "scheduler": ("CogVideoXDDIMScheduler", _V), "text_encoder": "T5EncoderModel",
    },
    "cogvideox-1.5": {
        "pipeline": "CogVideoXPipeline",
        "transformer": ("CogVideoXTransformer3DModel", dict(_COG, use_rotary_positional_embeddings=True, patch_size_t=2, patch_bias=False)),
        "vae": ("AutoencoderKLCogVideoX", _COG_VAE), "scheduler": ("CogVideoXDPMScheduler", _V), "text_encoder": "T5EncoderModel",
    },
    "cogvideox-2b": {
        "pipeline": "CogVideoXPipeline", "transformer": ("CogVideoXTransformer3DModel", dict(_COG, use_rotary_positional_embeddings=False)),
        "vae": ("AutoencoderKLCogVideoX", _COG_VAE), "scheduler": ("CogVideoXDDIMScheduler", _V), "text_encoder": "T5EncoderModel",
    },
    "ltx": {
        "pipeline": "LTXPipeline", "transformer": ("LTXVideoTransformer3DModel", _LTX), "vae": ("AutoencoderKLLTXVideo", _LTX_VAE),
        "scheduler": ("FlowMatchEulerDiscreteScheduler", {"use_dynamic_shifting": True, "base_shift": 0.95, "max_shift": 2.05}),
        "text_encoder": "T5EncoderModel",
    },
    "ltx-0.9.5": {
        "pipeline": "LTXPipeline", "transformer": ("LTXVideoTransformer3DModel", _LTX), "vae": ("AutoencoderKLLTXVideo", _LTX_095_VAE),
        "scheduler": ("FlowMatchEulerDiscreteScheduler", {"use_dynamic_shifting": True, "base_shift": 0.95, "max_shift": 2.05}),
        "text_encoder": "T5EncoderModel",
    },
    "wan": {
        "pipeline": "WanPipeline", "transformer": ("WanTransformer3DModel", _WAN), "vae": ("AutoencoderKLWan", _WAN_VAE),
        "scheduler": ("UniPCMultistepScheduler", {"prediction_type": "flow_prediction", "use_flow_sigmas": True, "flow_shift": 3.0}),
        "text_encoder": "UMT5EncoderModel",
    },
    "wan-2.2": {
        "pipeline": "WanPipeline", "transformer": ("WanTransformer3DModel", _WAN), "vae": ("AutoencoderKLWan", _WAN_22_VAE),
        "scheduler": ("UniPCMultistepScheduler", {"prediction_type": "flow_prediction", "use_flow_sigmas": True, "flow_shift": 5.0}),
        "text_encoder": "UMT5EncoderModel", "index": {"expand_timesteps": True, "transformer_2": [None, None]},
    },
}  # fmt: skip
"""Parts of each tiny checkpoint: class and what its configuration changes of the defaults."""


def tiny_checkpoint(model: str, folder: Path, seed: int = 0) -> Path:
    """A whole checkpoint of that model in `folder`, under 1 MB; the same seed gives the same weights."""
    import diffusers

    parts = MODELS[model]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        for part in ("transformer", "vae"):
            kind, config = parts[part]
            built = getattr(diffusers, kind)(**config)
            if kind == "AutoencoderKLLTXVideo":  # published ones carry their own
                built.latents_mean.uniform_(-0.5, 0.5)
                built.latents_std.uniform_(0.5, 2.0)
            built.save_pretrained(folder / part)
        _save_text(folder, parts["text_encoder"])
    kind, config = parts["scheduler"]
    getattr(diffusers, kind)(**config).save_pretrained(folder / "scheduler")
    classes = {part: ["diffusers", parts[part][0]] for part in ("transformer", "vae", "scheduler")}
    text = {"text_encoder": ["transformers", parts["text_encoder"]], "tokenizer": ["transformers", "T5Tokenizer"]}
    index = {"_class_name": parts["pipeline"], **classes, **text, **parts.get("index", {})}
    (folder / "model_index.json").write_text(json.dumps(index), "utf-8")
    return folder


def _save_text(folder: Path, kind: str) -> None:
    import transformers

    words = _save_tokenizer(folder / "tokenizer")
    config = getattr(transformers, kind.replace("EncoderModel", "Config"))(
        vocab_size=words, d_model=TEXT_WIDTH, d_kv=8, d_ff=32, num_layers=2, num_heads=4, feed_forward_proj="gated-gelu"
    )
    getattr(transformers, kind)(config).save_pretrained(folder / "text_encoder")


def _save_tokenizer(folder: Path) -> int:
    """A sentencepiece model in the layout of T5's; returns the number of words."""
    import io

    import sentencepiece

    folder.mkdir(parents=True)
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_writer=model, vocab_size=60, hard_vocab_limit=False, minloglevel=2,
        pad_id=0, eos_id=1, unk_id=2, bos_id=-1,
    )  # fmt: skip
    (folder / "spiece.model").write_bytes(model.getvalue())
    config = {
        "tokenizer_class": "T5Tokenizer",
        "extra_ids": 0,
        "model_max_length": 226,
        "pad_token": "<pad>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    return int(sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()).vocab_size())

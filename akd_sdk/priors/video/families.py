"""Which families of video models are known, what their published checkpoints are, and which parts such a checkpoint has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from akd_sdk.errors import PriorError


@dataclass(frozen=True)
class Published:
    """A checkpoint that can be had, as its makers publish it.

    Attributes:
        repository: owner and name.
        download_gb: size of the parts that are read, GB, by arithmetic at two bytes a number; some are published in four.
        transformer_gib: its transformer in bf16, GiB (parameters counted).
        encoder: which encoder it has, a key of `memory.ENCODERS`.
        width: channels of its transformer.
        patch: pixels and frames that one token of its transformer covers: frames, height, width.
    """

    repository: str
    download_gb: float
    transformer_gib: float
    encoder: str
    width: int
    patch: tuple[int, int, int]


@dataclass(frozen=True)
class Family:
    """What the checkpoints of one family have in common.

    Attributes:
        name: of the prior.
        title: as its makers write it.
        pipelines: names that `model_index.json` may carry.
        transformer, vae: class names in diffusers.
        text_encoders: class names in transformers that may encode its text.
        text_tokens: length that text is padded to.
        text_masked: whether padding is hidden from the text encoder and zeroed after it.
        published: what can be had, by short name, the first one being the default.
    """

    name: str
    title: str
    pipelines: tuple[str, ...]
    transformer: str
    vae: str
    text_encoders: tuple[str, ...]
    text_tokens: int
    text_masked: bool
    published: dict[str, Published]

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """Folders of weights in a checkpoint, and the classes that may lie in them."""
        return {"transformer": (self.transformer,), "vae": (self.vae,), "text_encoder": self.text_encoders}


FAMILIES: Final = {
    "cogvideox": Family(
        name="cogvideox",
        title="CogVideoX",
        pipelines=("CogVideoXPipeline",),
        transformer="CogVideoXTransformer3DModel",
        vae="AutoencoderKLCogVideoX",
        text_encoders=("T5EncoderModel",),
        text_tokens=226,
        text_masked=False,
        published={
            "cogvideox-5b": Published("zai-org/CogVideoX-5b", 21.1, 10.38, "cogvideox", 3072, (4, 16, 16)),
            "cogvideox-2b": Published("zai-org/CogVideoX-2b", 13.3, 3.15, "cogvideox", 1920, (4, 16, 16)),
            "cogvideox-1.5-5b": Published("zai-org/CogVideoX1.5-5B", 21.1, 10.38, "cogvideox", 3072, (8, 16, 16)),
        },
    ),
    "ltx": Family(
        name="ltx",
        title="LTX-Video",
        pipelines=("LTXPipeline", "LTXConditionPipeline"),
        transformer="LTXVideoTransformer3DModel",
        vae="AutoencoderKLLTXVideo",
        text_encoders=("T5EncoderModel",),
        text_tokens=128,
        text_masked=False,
        published={"ltx-2b": Published("Lightricks/LTX-Video", 14.2, 3.58, "ltx", 2048, (8, 32, 32))},
    ),
    "wan": Family(
        name="wan",
        title="Wan",
        pipelines=("WanPipeline",),
        transformer="WanTransformer3DModel",
        vae="AutoencoderKLWan",
        text_encoders=("UMT5EncoderModel", "T5EncoderModel"),
        text_tokens=512,
        text_masked=True,
        published={
            "wan-2.1-1.3b": Published("Wan-AI/Wan2.1-T2V-1.3B-Diffusers", 14.7, 2.64, "wan-2.1", 1536, (4, 16, 16)),
            "wan-2.2-5b": Published("Wan-AI/Wan2.2-TI2V-5B-Diffusers", 24.2, 9.31, "wan-2.2", 3072, (4, 32, 32)),
        },
    ),
}
"""Families by the name of their prior."""


def family_of(name: str) -> Family:
    """The family of that name; PriorError where there is none."""
    family = FAMILIES.get(name)
    if family is None:
        raise PriorError(f"no video prior is called {name!r}", hint=f"known are {', '.join(FAMILIES)}")
    return family


def published(name: str) -> tuple[str, Published]:
    """A published checkpoint by its short name, or the default one of a family: short name and facts; PriorError where unknown."""
    for family in FAMILIES.values():
        if name in family.published:
            return name, family.published[name]
    return next(iter(family_of(name).published.items()))

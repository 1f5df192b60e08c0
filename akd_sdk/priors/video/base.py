"""What all video priors share: videos to latents with a gradient, and the guided clean latents that a model believes in."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Final

import torch
from torch import Tensor

from akd_sdk.errors import AkdError, PriorError
from akd_sdk.priors.mark import mark_of
from akd_sdk.priors.prompt import Prompt
from akd_sdk.priors.video.checkpoint import Checkpoint
from akd_sdk.priors.video.families import Family
from akd_sdk.priors.video.layout import Layout
from akd_sdk.priors.video.memory import ENCODERS, Load, out_of_memory_told, plan_for, work_gib
from akd_sdk.priors.video.recompute import Residence, guarded, recomputed, spilled
from akd_sdk.priors.video.schedule import Schedule
from akd_sdk.priors.video.text import UNASKED, Embedding, described, encode_texts, understood
from akd_sdk.views.shot import Shot

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class VideoOptions:
    """How a video prior is used.

    Attributes:
        device: "cuda", "cuda:1", or "cpu".
        memory_gb: what a step may take of the device, GiB; None takes what is free.
        frames, size: of the videos, size being height and width in pixels; None takes what the model was trained on.
        guidance: weight of the sentence against the unconditioned model.
        dtype: precision of the model's calls; None is bfloat16 on CUDA and float32 on the CPU.
        allow_download: fetch a checkpoint that is not here.
    """

    device: str = "cuda"
    memory_gb: float | None = None
    frames: int | None = None
    size: tuple[int, int] | None = None
    guidance: float = 15.0
    dtype: torch.dtype | None = None
    allow_download: bool = False


class LatentVideoPrior(ABC):
    """A video model that denoises latents, told apart from its kin by layout, normalisation and conditioning alone.

    A subclass says what its checkpoint allows (`layout_of`, `schedule_of`, `encoder_of`), how its encoder is called (`_moments`,
    `_normalised`) and how its transformer is (`_answer`). Latents are (views, channels, latent frames, height, width), float32
    (float64 where the model computes in it), whatever layout the transformer wants.

    Attributes:
        plan: how memory is used; its `lines` are said before the start.
        mark: which weights it has.
    """

    family: ClassVar[Family]
    observes = "pixels"

    def __init__(self, checkpoint: Checkpoint, options: VideoOptions, memory_gb: float) -> None:
        """Read the models into CPU memory and plan their use.

        Args:
            checkpoint: of this family.
            memory_gb: budget of a step, GiB.

        Raises:
            AkdError: length or size are none that the model takes.
            PriorError: weights do not fit.
            BackendError: the budget is too small.
        """
        self._where = torch.device(options.device)
        self._dtype = options.dtype or (torch.bfloat16 if self._where.type == "cuda" else torch.float32)
        self._latent_dtype = torch.promote_types(self._dtype, torch.float32)
        self._guidance = options.guidance
        self._checkpoint = checkpoint
        try:
            self._check(checkpoint)
            self._layout = self.layout_of(checkpoint).chosen(options.frames, options.size)
            self._schedule = self.schedule_of(checkpoint, self._layout)
            load = self._load()
        except (KeyError, IndexError, TypeError, ValueError, ArithmeticError) as fault:
            reason = f"{type(fault).__name__}: {fault}"
            raise PriorError(
                f"configurations of its parts cannot be used ({reason})", checkpoint.folder, "fetch the whole checkpoint"
            ) from fault
        self.plan = plan_for(load, memory_gb)
        for line in self.plan.lines:
            _LOG.info(line)
        with out_of_memory_told(self.plan, "reading the model"):
            self._transformer = checkpoint.load("transformer", self._dtype)
            self._vae = checkpoint.load("vae", self._dtype)
            self._vae.decoder = None  # never called: half of its memory
            self.mark = mark_of(self._transformer, self._vae)
            self._remember_blocks()
            self._vae.to(self._where)
        self._residence = Residence(self._transformer, self._where)
        self._texts: dict[str, Embedding] = {}

    # what a family is

    @staticmethod
    @abstractmethod
    def layout_of(checkpoint: Checkpoint) -> Layout:
        """Lengths and sizes that the checkpoint takes."""

    @staticmethod
    @abstractmethod
    def schedule_of(checkpoint: Checkpoint, layout: Layout) -> Schedule:
        """Its noise."""

    @staticmethod
    @abstractmethod
    def encoder_of(checkpoint: Checkpoint) -> str:
        """Which figures of memory its encoder has."""

    @staticmethod
    @abstractmethod
    def channels_of(checkpoint: Checkpoint) -> tuple[int, int, int]:
        """Latent channels of the encoder, of the transformer, and the transformer's width of text."""

    @abstractmethod
    def _moments(self, video: Tensor) -> Tensor:
        """Means, then log variances, of the latents of (1, 3, frames, height, width) in -1..1, before normalisation."""

    @abstractmethod
    def _normalised(self, means: Tensor) -> Tensor:
        """Latents as the transformer was trained on them."""

    @abstractmethod
    def _answer(self, noisy: Tensor, timestep: float, text: Embedding) -> Tensor:
        """The transformer's raw answer for (batch, channels, latent frames, height, width) and texts of that batch, same shape."""

    def _remember_blocks(self) -> None:
        """Let the encoder's blocks be recomputed, where the plan says so and diffusers offers it."""
        if self.plan.checkpointing and self._vae._supports_gradient_checkpointing:
            # blocks hand caches on in dictionaries, which the checkpointing of diffusers would keep
            self._vae.enable_gradient_checkpointing(lambda block, *given: recomputed(lambda values: block(*values), given))

    # what is offered

    @property
    def name(self) -> str:
        return self.family.name

    @property
    def frames(self) -> int:
        return self._layout.frames

    @property
    def fps(self) -> float:
        return self._layout.fps

    @property
    def size(self) -> tuple[int, int]:
        return self._layout.size

    @property
    def device(self) -> str:
        return str(self._where)

    @property
    def two_pass(self) -> bool:
        return self.plan.two_pass

    @property
    def notes(self) -> tuple[str, ...]:
        return self.plan.lines

    def parse(self, sentence: str, body: str) -> Prompt:
        """The sentence as it is given to the model; it is encoded here, before anything else needs the memory.

        Raises:
            PromptError: there is no sentence.
            PriorError: tokenizer or text encoder cannot be used.
            BackendError: out of memory.
        """
        prompt = understood(sentence, body, self._guidance)
        self._encode_texts(described(sentence, ground=True), described(sentence, ground=False))
        return prompt

    def alpha_sigma(self, t: float) -> tuple[float, float]:
        """Signal and noise weights at time t in 0..1."""
        return self._schedule.alpha_sigma(t)

    def encode(self, pixels: Tensor) -> Tensor:
        """Latents of videos, whose gradient can be taken once; views go one after the other, so that memory is that of one.

        Args:
            pixels: (views, frames, height, width, 3) in 0..1, on the prior's device.

        Returns:
            (views, channels, latent frames, latent height, latent width).

        Raises:
            AkdError: videos are not of the prior's length and size.
            BackendError: out of memory, also when the gradient is taken.
        """
        if pixels.ndim != 5 or tuple(pixels.shape[1:]) != (self.frames, *self.size, 3):
            fault = f"videos of shape {tuple(pixels.shape[1:])} are none of {self.frames} frames of {self.size[1]} x {self.size[0]}"
            raise AkdError(fault, "pixels")
        graph = torch.is_grad_enabled() and pixels.requires_grad
        if graph and self.plan.offload:
            self._residence.leave()
        told = partial(out_of_memory_told, self.plan, "encoding videos")
        with told():
            if not graph:
                return torch.stack([self._encoded(view) for view in pixels])
            again = len(pixels) > 1  # the graphs of several views never lie in memory together
            return torch.stack([guarded(self._encoded, view, again=again, told=told) for view in pixels])

    def _encoded(self, view: Tensor) -> Tensor:
        video = (2.0 * view - 1.0).permute(3, 0, 1, 2)[None].to(self._dtype)
        if self.plan.spill and torch.is_grad_enabled():
            with spilled(self._where):
                moments = self._moments(video)
        else:
            moments = self._moments(video)
        means = moments.chunk(2, dim=1)[0]
        return self._normalised(means.to(self._latent_dtype))[0]

    @torch.no_grad()
    def estimate(self, latents: Tensor, t: float, prompt: Prompt, shot: Shot) -> Tensor:
        """Clean latents believed in at time t, pushed by the prompt's guidance c on the model's raw answer: o_u + c (o_c - o_u).

        Args:
            latents: as `encode` gives them, noisy by `alpha_sigma(t)`.

        Raises:
            PriorError: the model answers with numbers that are not finite.
            BackendError: out of memory.
        """
        text = described(prompt.sentence, ground=shot.tile_m is not None)
        self._encode_texts(text)
        asked, free = self._texts[text], self._texts[UNASKED]
        timestep = self._schedule.timestep(t)
        believed = []
        with out_of_memory_told(self.plan, "asking the model"):
            self._residence.enter()
            for noisy in torch.split(latents.to(self._latent_dtype), 1):
                answer = self._guided(noisy, timestep, (asked, free), prompt.guidance)
                believed.append(self._schedule.clean(noisy, answer, t))
        clean = torch.cat(believed)
        if not bool(torch.isfinite(clean).all()):
            raise PriorError(f"the model answers with numbers that are not finite at t = {t:g}", self._checkpoint.folder)
        return clean

    def _guided(self, noisy: Tensor, timestep: float, texts: tuple[Embedding, Embedding], guidance: float) -> Tensor:
        asked, free = texts
        given = noisy.to(self._dtype)
        if guidance == 1.0:
            return self._answer(given, timestep, asked).to(self._latent_dtype)
        if self.plan.batched:
            both = Embedding(torch.cat([free.hidden, asked.hidden]), torch.cat([free.mask, asked.mask]))
            unguided, guided = self._answer(given.repeat(2, 1, 1, 1, 1), timestep, both).to(self._latent_dtype).chunk(2)
        else:
            unguided, guided = (self._answer(given, timestep, text).to(self._latent_dtype) for text in (free, asked))
        return unguided + guidance * (guided - unguided)

    def _encode_texts(self, *texts: str) -> None:
        """Have the embeddings of texts and of nothing asked; where some are new, the transformer leaves the device for it."""
        missing = [text for text in (*texts, UNASKED) if text not in self._texts]
        if not missing:
            return
        if self.plan.text_on_device:
            self._residence.leave()
        rows = encode_texts(self._checkpoint, missing, self._where, self._dtype, self.plan)
        self._texts.update(zip(missing, rows, strict=True))

    # what is judged

    def _check(self, checkpoint: Checkpoint) -> None:
        """Parts of a checkpoint fit each other, or PriorError."""
        encoder, transformer, text = self.channels_of(checkpoint)
        path = checkpoint.folder / "transformer" / "config.json"
        if transformer != encoder:
            fault = f"the transformer takes {transformer} channels, the encoder makes {encoder}"
            raise PriorError(fault, path, "give a checkpoint that makes videos of text alone, with all parts from one model")
        width = checkpoint.configs["text_encoder"].get("d_model")
        if width != text:
            fault = f"the transformer reads text of width {text}, the text encoder writes {width}"
            raise PriorError(fault, path, "take all parts from one model")

    def _load(self) -> Load:
        gib = {part: number * 2 / 2**30 for part, number in self._checkpoint.parameters.items()}
        config = self._checkpoint.configs["transformer"]
        width = int(config["num_attention_heads"]) * int(config["attention_head_dim"])
        precision = torch.finfo(self._dtype).bits / 16
        return Load(
            title=self._layout.title,
            encoder=ENCODERS[self.encoder_of(self._checkpoint)],
            transformer_gib=precision * gib["transformer"],
            text_gib=precision * gib["text_encoder"],
            work_gib=precision * work_gib(self.name, self._layout.tokens, width),
            frames=self._layout.frames,
            size=self._layout.size,
            precision=precision,
        )

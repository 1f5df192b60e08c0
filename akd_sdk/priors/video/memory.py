"""What a step takes of a device's memory, and which way of taking it fits a budget."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import torch

from akd_sdk.errors import BackendError
from akd_sdk.priors.video.families import family_of, published

SPARE_GIB: Final = 1.5
"""Left free for the device's own context, kernels' work space, the pictures and their gradients: estimated."""

TEXT_GIB: Final = {"cogvideox": 8.9, "ltx": 8.9, "wan": 10.6}
"""Text encoders in bf16 by family (parameters counted): they are on the device before the first step, alone, or on the CPU."""

Line = tuple[float, float]
"""GiB a megapixel of one frame: for each frame, and once."""


@dataclass(frozen=True)
class Encoder:
    """Peaks of an encoder in bf16, by how its gradient is taken: counted on the meta device (`python -m tests.bench.video_memory`).

    Attributes:
        weights: its weights, GiB.
        still: without gradient.
        whole: everything kept for the backward pass.
        recomputed: what blocks compute is forgotten and computed again, at the peak of the backward pass.
        held: of that, what lies there between the passes.
        spilled: the same with all that is kept in CPU memory.
        long_chunk: peak of the gradient of a first chunk of 13 frames, which videos of 8 k + 5 begin with where chunks are of 8; GiB
            a megapixel, 0 where chunks are all alike.
    """

    weights: float
    still: Line
    whole: Line
    recomputed: Line
    held: Line
    spilled: Line
    long_chunk: float = 0.0


ENCODERS: Final = {
    "cogvideox": Encoder(0.17, (0.0, 17.74), (6.626, 11.20), (0.607, 30.36), (0.607, -5.46), (0.007, 43.36), 48.1),
    "ltx": Encoder(0.34, (0.104, 0.0), (0.810, 0.82), (0.304, 0.04), (0.026, 0.03), (0.298, 0.03)),
    "wan-2.1": Encoder(0.10, (0.0, 8.01), (5.740, 8.35), (0.654, 28.36), (0.654, -1.94), (0.006, 35.42)),
    "wan-2.2": Encoder(0.28, (0.006, 3.94), (2.374, 3.36), (0.280, 11.68), (0.280, -0.81), (0.006, 14.63)),
}
"""By name of the encoder: one serves all CogVideoX, Wan has two."""

WORK: Final = {"cogvideox": 13.1, "ltx": 16.1, "wan": 15.9}
"""Peak of a transformer's call beside its weights, in numbers a token and channel, by family: counted likewise, attention fused."""


@dataclass(frozen=True)
class Load:
    """What a step has to hold.

    Attributes:
        title: the model's name, for messages.
        encoder: figures of its encoder.
        transformer_gib: its weights.
        text_gib: weights of the text encoder.
        work_gib: peak of the transformer's call for one video beside its weights.
        frames, size: of the videos.
        precision: bytes a number over the two of bf16.
    """

    title: str
    encoder: Encoder
    transformer_gib: float
    text_gib: float
    work_gib: float
    frames: int
    size: tuple[int, int]
    precision: float = 1.0

    def gib(self, line: Line) -> float:
        """A line of the encoder's figures for these videos."""
        return self.precision * (self.size[0] * self.size[1] / 1e6) * max(line[0] * self.frames + line[1], 0.0)

    def recomputed_gib(self, line: Line) -> float:
        """The same for a line of a gradient by chunks, of which the first may be the largest."""
        first = self.gib((0.0, self.encoder.long_chunk)) if self.frames % 8 == 5 else 0.0
        return max(self.gib(line), first)


@dataclass(frozen=True)
class MemoryPlan:
    """One way of taking a step.

    Attributes:
        two_pass: videos are encoded a second time for the gradient.
        checkpointing: the encoder forgets what its blocks computed and computes it again for the gradient.
        offload: the transformer leaves the device while the gradient is computed.
        spill: what is kept for the gradient lies in CPU memory.
        batched: the guided and the unguided answer are computed together.
        text_on_device: the sentence is encoded on the device, before anything else lies there.
        estimate_gib: peak on the device, estimated from counted parts.
        leaner_gib: peak of the next way that takes less; None where this takes least.
        lines: what is said of it before the start.
    """

    two_pass: bool
    checkpointing: bool
    offload: bool
    spill: bool
    batched: bool
    text_on_device: bool
    estimate_gib: float
    leaner_gib: float | None
    lines: tuple[str, ...]


@dataclass(frozen=True)
class _Way:
    """A way of taking a step, before it is weighed: names as in `MemoryPlan`."""

    says: str
    checkpointing: bool = False
    offload: bool = False
    spill: bool = False

    def gib(self, load: Load, videos: int) -> float:
        """Its peak with so many videos in the transformer's batch."""
        encoder, work = load.encoder, videos * load.work_gib
        if self.spill:
            gradient, held = load.recomputed_gib(encoder.spilled), 0.0
        elif self.checkpointing:
            gradient, held = load.recomputed_gib(encoder.recomputed), load.gib(encoder.held)
        else:
            gradient = held = load.gib(encoder.whole)
        if self.offload:
            step = max(gradient, load.gib(encoder.still), load.transformer_gib + work)
        else:
            step = load.transformer_gib + max(gradient, held + work)
        return load.precision * encoder.weights + step + SPARE_GIB


_WAYS: Final = (
    _Way("one pass, everything kept"),
    _Way("one pass, blocks of the encoder recomputed", checkpointing=True),
    _Way("two passes, the transformer off the device in the second, blocks of the encoder recomputed", True, True),
    _Way("two passes, the transformer off the device in the second, blocks recomputed from CPU memory", True, True, True),
)
"""From the quickest to the leanest."""


def plan(family: str, size: tuple[int, int], frames: int, memory_gb: float) -> MemoryPlan:
    """The quickest way that fits a device, for a published model.

    Args:
        family: a family ("cogvideox": its first model) or a model ("cogvideox-2b").
        size: height and width, pixels.
        memory_gb: what the device offers, GiB.

    Raises:
        BackendError: nothing fits; names the least that would.
        PriorError: the model is unknown.
    """
    return plan_for(load_of(family, size, frames), memory_gb)


def load_of(family: str, size: tuple[int, int], frames: int) -> Load:
    """What a step of a published model has to hold, arguments as for `plan`; PriorError where the model is unknown."""
    name, row = published(family)
    kind = family_of(name.split("-")[0])
    step, tall, wide = row.patch
    tokens = -(-frames // step) * (size[0] // tall) * (size[1] // wide)
    return Load(
        title=name,
        encoder=ENCODERS[row.encoder],
        transformer_gib=row.transformer_gib,
        text_gib=TEXT_GIB[kind.name],
        work_gib=work_gib(kind.name, tokens, row.width),
        frames=frames,
        size=size,
    )


def work_gib(family: str, tokens: int, width: int) -> float:
    """Peak of a transformer's call for one video beside its weights, bf16."""
    return WORK[family] * tokens * width * 2 / 2**30


def plan_for(load: Load, memory_gb: float) -> MemoryPlan:
    """The quickest way that fits `memory_gb` GiB; BackendError where none does, naming the least that would."""
    weighed = [(way, videos, way.gib(load, videos)) for way in _WAYS for videos in (2, 1)]
    chosen = next((row for row in weighed if row[2] <= memory_gb), None)
    height, width = load.size
    videos_of = f"{load.frames} frames of {width} x {height}"
    if chosen is None:
        least = min(gib for _, _, gib in weighed)
        fault = f"{load.title} needs {_up(least)} GiB for {videos_of}, more than {memory_gb:.4g}"
        raise BackendError(fault, "memory", f"give --memory {_up(least)} on a device that has it, smaller pictures or fewer frames")
    way, videos, gib = chosen
    leaner = [other for _, _, other in weighed if other < gib]
    text_on_device = load.text_gib + load.precision * load.encoder.weights + SPARE_GIB <= memory_gb
    parts = f"transformer {load.transformer_gib:.1f}, its work {videos * load.work_gib:.1f}, encoder {load.encoder.weights:.1f}"
    lines = (
        f"{load.title}, {videos_of}: {way.says}; guided and unguided answers {'together' if videos == 2 else 'one after the other'}",
        f"memory: {gib:.1f} of {memory_gb:.4g} GiB ({parts}, the rest for the gradient; estimated from counted parts, not measured)",
        f"text: {load.text_gib:.1f} GiB, {'on the device' if text_on_device else 'on the CPU'}, once, then freed",
    )
    return MemoryPlan(
        two_pass=way.offload,
        checkpointing=way.checkpointing,
        offload=way.offload,
        spill=way.spill,
        batched=videos == 2,
        text_on_device=text_on_device,
        estimate_gib=gib,
        leaner_gib=max(leaner) if leaner else None,
        lines=lines,
    )


def _up(gib: float) -> str:
    """A budget that holds it, tenths rounded up."""
    return f"{int(10 * gib + 0.999) / 10:.1f}"


def is_out_of_memory(fault: BaseException) -> bool:
    """Whether a library ran out of memory: torch says so in three ways."""
    if isinstance(fault, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(fault, RuntimeError) and any(words in str(fault).lower() for words in ("out of memory", "can't allocate memory"))


@contextmanager
def out_of_memory_told(plan: MemoryPlan, what: str) -> Iterator[None]:
    """Turns running out of memory inside the block into a BackendError that names a budget that would fit."""
    try:
        yield
    except (RuntimeError, MemoryError) as fault:
        if not is_out_of_memory(fault):
            raise
        fewer = "smaller pictures, fewer frames or fewer views"
        if plan.leaner_gib is None:
            hint = f"give {fewer}, or free the device: {_up(plan.estimate_gib)} GiB were estimated"
        else:
            hint = f"give --memory {_up(plan.leaner_gib)}, which takes a leaner way, or {fewer}"
        raise BackendError(f"out of memory while {what}", "memory", hint) from fault

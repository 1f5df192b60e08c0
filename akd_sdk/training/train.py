"""Training of the embedded prior from nothing: the teacher's clips, then the network, then the weight file."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

import akd_sdk
from akd_sdk.errors import PriorError
from akd_sdk.priors.mini.model import SIGMA_DATA, MiniModel, ModelConfig, alpha_sigma
from akd_sdk.priors.mini.prior import save_model
from akd_sdk.training.dataset import Batch, ClipSet, batch_rows, make_batch, make_clips

_LOG = logging.getLogger(__name__)

DEFAULT_SEED: Final = 7
DEFAULT_STEPS: Final = 14_000

_CHECKPOINT_EVERY: Final = 500
_REPORT_EVERY: Final = 20
_WARM_UP: Final = 100
_DECAY_FROM: Final = 0.5
_LARGEST_GRADIENT: Final = 1.0
_LARGEST_AVERAGE: Final = 0.999
_LEAST_OUT: Final = 0.02
"""Keeps the weight of the cleanest samples at 50 at most."""


@dataclass(frozen=True)
class TrainOptions:
    """What decides the weights; `threads` and `processes` only how fast (and the last bits of the sums).

    Attributes:
        seed: of everything random.
        steps: of the optimiser.
        batch: clips a step.
        clips: size of the teacher's set.
        rate: peak learning rate; linear warm-up, constant, linear decay over the second half.
        walks: how many times as often a quadruped's walk is drawn: the lag of its fore feet is learnt late.
        gallops: how many times as often a gallop is drawn in the second half: the lag within its pairs is learnt last.
        threads: of torch.
        processes: that make clips.
    """

    seed: int = DEFAULT_SEED
    steps: int = DEFAULT_STEPS
    batch: int = 48
    clips: int = 48_000
    rate: float = 0.0015
    walks: int = 3
    gallops: int = 4
    config: ModelConfig = field(default_factory=ModelConfig)
    threads: int = 2
    processes: int = 2


@dataclass(frozen=True)
class TrainProgress:
    """How far a training is: stage ("clips", then "steps"), share of the stage, step, smoothed loss, seconds left of the stage."""

    stage: str
    fraction: float
    step: int
    loss: float
    left_s: float


@dataclass(frozen=True)
class TrainResult:
    """The weight file, the steps, the minutes that they took over all sittings (the clips apart), and the last smoothed loss."""

    path: Path
    steps: int
    minutes: float
    loss: float


Progress = Callable[[TrainProgress], None]


def checkpoint_path(options: TrainOptions) -> Path:
    """Where an interrupted training with these options leaves its checkpoint: in the user's cache folder."""
    facts = {name: value for name, value in asdict(options).items() if name not in ("threads", "processes")}
    mark = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "akd-sdk" / f"mini-{mark}.pt"


def train_mini(
    output: Path, options: TrainOptions | None = None, progress: Progress | None = None, checkpoint: Path | None = None
) -> TrainResult:
    """Train the prior `mini` and write its weights to `output`.

    An interrupted training leaves a checkpoint (`checkpoint`, by default in the cache folder) from which the same call
    goes on; it is removed once the weights are written.

    Raises:
        PriorError: `output` cannot be written, the options make no training, or the loss is no longer finite.
    """
    options = options or TrainOptions()
    if min(options.steps, options.batch, options.clips) < 1:
        raise PriorError("a training needs at least one step, one clip and one clip a batch")
    output = Path(output)
    if os.path.isdir(output) or not os.access(output.parent, os.W_OK):
        raise PriorError("weights cannot be written here", output, "name a file in a folder that exists")
    trainer = _Trainer(options, checkpoint or checkpoint_path(options), progress)
    with _threads(options.threads):
        trainer.run()
    save_model(trainer.average, options.config, output, trainer.facts())
    trainer.checkpoint.unlink(missing_ok=True)
    return TrainResult(output, trainer.step, trainer.seconds / 60, trainer.loss)


@contextmanager
def _threads(count: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def weighted_loss(answer: Tensor, batch: Batch) -> Tensor:
    """Mean squared error of the clean tracks, each sample weighted by how much the network itself adds at its noise."""
    alpha, sigma = alpha_sigma(batch.t)
    added = sigma**2 / (alpha**2 * SIGMA_DATA**2 + sigma**2)
    weight = 1 / (added + _LEAST_OUT)
    mask = batch.features.mask
    error = (answer - batch.clean).square().mean(dim=(2, 3, 4))
    return (error * mask * weight[:, None]).sum() / mask.sum()


class _Trainer:
    """The state of one training: network, its moving average, optimiser, generator and step."""

    def __init__(self, options: TrainOptions, checkpoint: Path, progress: Progress | None) -> None:
        self.options, self.checkpoint, self.progress = options, checkpoint, progress
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(options.seed)
            self.model = MiniModel(options.config)
        self.average = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=options.rate, betas=(0.9, 0.99), weight_decay=0.01)
        self.generator = torch.Generator().manual_seed(options.seed)
        self.step, self.loss, self.seconds = 0, float("nan"), 0.0

    def run(self) -> None:
        """Take up the checkpoint, make the clips, do the steps; an interruption saves first."""
        if self.checkpoint.is_file():
            self._load()
        clips = make_clips(self.options.clips, self.options.seed, self.options.processes, self._clips_made)
        early, late = (batch_rows(clips, self.options.batch, often, self.generator) for often in self._often())
        started = time.monotonic() - self.seconds
        try:
            while self.step < self.options.steps:
                self._step(clips, next(early if self.step < self.options.steps * _DECAY_FROM else late))
                self.seconds = time.monotonic() - started
                if self.step % _CHECKPOINT_EVERY == 0:
                    self._save()
                if self.step % _REPORT_EVERY == 0 or self.step == self.options.steps:
                    self._report()
        except KeyboardInterrupt:
            self._save()
            _LOG.warning("interrupted at step %d of %d; the same command goes on from %s", self.step, self.options.steps, self.checkpoint)
            raise

    def facts(self) -> dict[str, str]:
        """What the weight file says of its making."""
        made = {name: value for name, value in asdict(self.options).items() if name != "config"}
        return {
            "version": akd_sdk.__version__,
            "training": json.dumps(made, sort_keys=True),
            "steps": str(self.step),
            "minutes": f"{self.seconds / 60:.1f}",
            "loss": f"{self.loss:.4f}",
            "torch": torch.__version__,
            "machine": platform.machine(),
        }

    def _step(self, clips: ClipSet, rows: Tensor) -> None:
        batch = make_batch(clips, rows, self.generator)
        for group in self.optimiser.param_groups:
            group["lr"] = self.options.rate * self._pace()
        loss = weighted_loss(self.model(batch.noisy, batch.t, batch.features, batch.condition), batch)
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own stub
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), _LARGEST_GRADIENT)
        self.optimiser.step()
        value = loss.item()
        if not value < float("inf"):
            raise PriorError(f"the loss is {value} at step {self.step}", hint="use a smaller learning rate")
        keep = min(_LARGEST_AVERAGE, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for name, weights in self.model.state_dict().items():
                self.average[name].lerp_(weights, 1 - keep)
        self.loss = value if self.step == 0 else self.loss + (value - self.loss) * max(0.01, 1 / (self.step + 1))
        self.step += 1

    def _often(self) -> tuple[dict[str, int], dict[str, int]]:
        """How many times as often gaits of quadrupeds are drawn, in the first and in the second half."""
        return {"walk": self.options.walks}, {"walk": self.options.walks, "gallop": self.options.gallops}

    def _pace(self) -> float:
        """Share of the peak learning rate at this step."""
        done = self.step / self.options.steps
        return min(1.0, (self.step + 1) / _WARM_UP) * min(1.0, (1 - done) / (1 - _DECAY_FROM)) + 1e-4

    def _clips_made(self, share: float) -> None:
        if self.progress is not None:
            self.progress(TrainProgress("clips", share, self.step, self.loss, float("nan")))

    def _state(self) -> TrainProgress:
        left = self.seconds / self.step * (self.options.steps - self.step) if self.step else float("nan")
        return TrainProgress("steps", self.step / self.options.steps, self.step, self.loss, left)

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(self._state())

    def _save(self) -> None:
        self.checkpoint.parent.mkdir(parents=True, exist_ok=True)
        state: dict[str, Any] = {  # torch's states are dictionaries of anything
            "model": self.model.state_dict(),
            "average": self.average,
            "optimiser": self.optimiser.state_dict(),
            "generator": self.generator.get_state(),
            "progress": torch.tensor([self.step, self.loss, self.seconds], dtype=torch.float64),
        }
        beside = self.checkpoint.with_suffix(".part")
        torch.save(state, beside)
        beside.replace(self.checkpoint)

    def _load(self) -> None:
        state = torch.load(self.checkpoint, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.average = state["average"]
        self.optimiser.load_state_dict(state["optimiser"])
        self.generator.set_state(state["generator"])
        step, self.loss, self.seconds = state["progress"].tolist()
        self.step = int(step)

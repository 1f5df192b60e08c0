"""Checkpoints of a distillation: what an interrupted one goes on from, in the user's cache folder."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from pickle import UnpicklingError
from typing import Final

import numpy as np
import torch

from akd_sdk.distill.optimise import CurveOptimiser, State
from akd_sdk.distill.options import DistillOptions
from akd_sdk.errors import AkdError, PriorError
from akd_sdk.priors import Prior, Prompt, VideoPrior
from akd_sdk.rig import Rig

FORMAT: Final = "akd-distill-1"
EVERY_S: Final = 60.0
"""Seconds between two checkpoints of one run; an interruption writes one in any case."""

_LOG = logging.getLogger(__name__)


def checkpoint_path(rig: Rig, prior: Prior | VideoPrior, prompt: Prompt, options: DistillOptions, seed: int) -> Path:
    """Where a distillation of this character, sentence, options and seed by this prior leaves its checkpoint; weights count where the
    prior tells them apart (`mark`)."""
    skeleton = rig.skeleton
    sees = {"frames": prior.frames, "fps": prior.fps, "size": getattr(prior, "size", None), "weights": getattr(prior, "mark", None)}
    asked = {"prior": prior.name, "prompt": repr(prompt), "options": asdict(options), "seed": seed}
    facts = {**sees, **asked, "joints": skeleton.names, "torch": torch.__version__}
    mark = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
    for values in (skeleton.rest_world, skeleton.solve_parents, *(skin.vertices for skin in rig.skins)):
        mark.update(np.ascontiguousarray(values).tobytes())
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "akd-sdk" / f"distill-{mark.hexdigest()[:16]}.pt"


class Checkpoint:
    """The file of one distillation, and the state that is to be in it.

    `stage` names the part of the distillation, `found` what earlier parts found; both are kept with the state.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._state: State | None = None
        self._written = time.monotonic()

    def keeper(self, stage: str, found: float) -> Callable[[State], None]:
        """A callable that is told the state after each step of a stage."""

        def keep(state: State) -> None:
            self._state = {"format": FORMAT, "stage": stage, "found": found, **state}
            if time.monotonic() - self._written > EVERY_S:
                self.write()

        return keep

    @contextmanager
    def kept(self, *, finished: bool) -> Iterator[None]:
        """Work that leaves its last state in the file where it is interrupted or refused; where it ends well, with `finished`, the state
        that it ended in, else no file."""
        try:
            yield
        except (KeyboardInterrupt, AkdError):
            if self.write() and self._state is not None:
                _LOG.warning("interrupted at step %d; resume (--resume) goes on from %s", self._state["done"], self._path)
            raise
        if finished:
            self.write()
        elif self._path is not None:
            self._path.unlink(missing_ok=True)

    def write(self) -> bool:
        """Write the last state, whole or not at all; whether that was possible (a full or read-only cache stops no work)."""
        if self._path is None or self._state is None:
            return False
        self._written = time.monotonic()
        beside = self._path.with_suffix(f".{os.getpid()}.part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            torch.save(self._state, beside)
            beside.replace(self._path)
        except (OSError, RuntimeError) as fault:  # torch.save raises either
            _LOG.warning("no checkpoint could be written: %s", fault)
            return False
        return True

    def read(self) -> State:
        """The state in the file.

        Raises:
            PriorError: there is none, or it cannot be read.
        """
        if self._path is None or not self._path.is_file():
            raise PriorError("no interrupted run of this character, sentence, options and seed is there", "--resume", "leave --resume out")
        try:
            state = torch.load(self._path, weights_only=True)
        except (OSError, RuntimeError, EOFError, UnpicklingError, ValueError) as fault:
            raise PriorError(f"the checkpoint cannot be read ({fault})", self._path, "leave --resume out") from fault
        if not isinstance(state, dict) or state.get("format") != FORMAT:
            raise PriorError("the checkpoint is of another version", self._path, "leave --resume out")
        return state

    def restore(self, optimiser: CurveOptimiser, state: State) -> None:
        """Let an optimiser go on from a state that was read; PriorError where that is of another distillation."""
        try:
            optimiser.restore(state)
        except (RuntimeError, KeyError, TypeError, AttributeError, ValueError) as fault:
            raise PriorError("the checkpoint is of another distillation", self._path or "--resume", "leave --resume out") from fault

"""Score distillation of a character's joint curves from a prior (AKD, arXiv 2504.01204)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from akd_sdk.distill.body import CurveBody
from akd_sdk.distill.checkpoint import Checkpoint, checkpoint_path
from akd_sdk.distill.optimise import CurveOptimiser, State, View, Window
from akd_sdk.distill.options import DistillOptions
from akd_sdk.distill.tracks import TrackView
from akd_sdk.gait.coherence import analyse, gaits_of
from akd_sdk.motion import CurveBasis, JointCurves
from akd_sdk.priors import Prior, Prompt, VideoPrior
from akd_sdk.progress import ProgressCallback, between, ignore
from akd_sdk.rig import Rig
from akd_sdk.views.tokens import Tokens

Array = NDArray[np.float64]

SCOUT_LEVELS, SCOUT_INNER = 12, 8
"""The pass that only finds the stride frequency that the prior would choose."""


@dataclass(frozen=True)
class Distilled:
    """What a distillation made.

    Attributes:
        curves: joint curves; in place where the prior looks at tracks, going over the ground where it looks at pixels.
        stride_hz: strides a second, None where the action is no gait.
        strides: whole strides in the clip; 0 where the action is no gait or the clip no loop.
        options: all that was chosen, by the caller or by default.
        notes: what the user should know, one line each.
        checkpoint: where the finished run is kept, where that was asked for.
    """

    curves: JointCurves
    stride_hz: float | None
    strides: int
    options: DistillOptions
    notes: tuple[str, ...] = ()
    checkpoint: Path | None = None


@dataclass(frozen=True)
class _Job:
    rig: Rig
    tokens: Tokens
    prior: Prior | VideoPrior
    prompt: Prompt
    options: DistillOptions
    generator: torch.Generator
    checkpoint: Checkpoint
    resumed: State | None

    @property
    def window_s(self) -> float:
        return self.prior.frames / self.prior.fps

    @property
    def is_gait(self) -> bool:
        return self.prompt.action in gaits_of(tuple(self.tokens.feet))

    @property
    def sees_ground(self) -> bool:
        return self.prior.observes == "pixels"

    def state_of(self, stage: str) -> State | None:
        """What the interrupted run had come to, if that was in this stage."""
        return self.resumed if self.resumed is not None and self.resumed["stage"] == stage else None

    def fit(
        self, basis: CurveBasis, options: DistillOptions, progress: ProgressCallback, stage: str, found: float = 0.0
    ) -> tuple[CurveBody, torch.Tensor]:
        """Curves in a basis, optimised; `found` is what earlier stages found and a resumed run needs to know."""
        body = CurveBody(self.rig, self.tokens, basis, seen=self.sees_ground)
        window = Window(self.prior.frames, self.prior.fps, rolled=basis.loop and (self.is_gait or self.sees_ground))
        optimiser = CurveOptimiser(body, window, options, self.prior.observes, self.generator)
        state = self.state_of(stage)
        if state is not None:
            self.checkpoint.restore(optimiser, state)
        with self._memory():
            return body, optimiser.run(self._views(body, options), progress, self.checkpoint.keeper(stage, found))

    def _memory(self) -> AbstractContextManager[None]:
        if not isinstance(self.prior, VideoPrior):
            return nullcontext()
        from akd_sdk.distill.pixels import fitting_memory

        return fitting_memory(self.prior)

    def _views(self, body: CurveBody, options: DistillOptions) -> Callable[[float], View]:
        prior = self.prior
        if isinstance(prior, Prior) and prior.observes == "tracks":
            view = TrackView(body, self.tokens, (prior, self.prompt), options)
            return lambda _: view
        assert isinstance(prior, VideoPrior)
        from akd_sdk.distill.pixels import staged_views

        return staged_views(body, (prior, self.prompt), options)

    def stride_hz(self, body: CurveBody, coefficients: torch.Tensor) -> float:
        """Strides a second of the feet, over the prior's own frames."""
        times = np.arange(self.prior.frames) / self.prior.fps
        positions = body.pose(coefficients, body.sample(times, np.zeros_like(times))).tokens.numpy().astype(np.float64)
        return analyse(positions, self.tokens.feet, self.prior.fps).frequency


def distill(
    rig: Rig,
    tokens: Tokens,
    prior: Prior | VideoPrior,
    prompt: Prompt,
    options: DistillOptions | None = None,
    *,
    seed: int = 0,
    progress: ProgressCallback = ignore,
    checkpoint: Path | None = None,
    resume: bool = False,
    keep: bool = False,
) -> Distilled:
    """Joint curves of a rig doing what the prompt says.

    The same seed and versions give the same curves. An interrupted run (KeyboardInterrupt, also from `progress`) leaves a checkpoint,
    `checkpoint` or a file in the user's cache folder; with `resume` the same call goes on from it and ends in the same curves as if it
    had not been interrupted. With `keep` the finished run leaves one too, from which `resume` has the result at once: for those who have
    more to do with it, and remove it then.

    Raises:
        PromptError: a length that cannot be made. PriorError: nothing to resume, or a prior that believes in no numbers.
        AkdError: an option that cannot be. RigError: nothing to film, for a prior that looks at pixels.
        BackendError: not enough memory.
    """
    options = (options or DistillOptions()).settled(prior.observes, prior.frames / prior.fps)
    path = checkpoint or checkpoint_path(rig, prior, prompt, options, seed)
    kept = Checkpoint(path)
    generator = torch.Generator().manual_seed(seed)
    job = _Job(rig, tokens, prior, prompt, options, generator, kept, kept.read() if resume else None)
    with _one_thread(), kept.kept(finished=keep):
        made = _loop(job, progress) if options.loop else _once(job, progress)
    return replace(made, checkpoint=path) if keep else made


@contextmanager
def _one_thread() -> Iterator[None]:
    """Tensors here are so small that torch's threads cost more than they bring; one thread also gives the same curves on any machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _loop(job: _Job, progress: ProgressCallback) -> Distilled:
    options = job.options
    repeats = max(1, round(options.seconds / job.window_s))
    wanted = options.seconds / repeats
    main = progress
    if job.is_gait and not job.sees_ground:
        scout = SCOUT_LEVELS * SCOUT_INNER
        share = scout / (scout + (options.steps or 0) * options.inner)
        wanted = _whole_strides(job, wanted, between(progress, 0.0, share))
        main = between(progress, share, 1.0)
    frames = max(2, round(wanted * options.fps))
    length = frames / options.fps
    body, coefficients = job.fit(CurveBasis(length, options.bandwidth_hz, loop=True), options, main, "main", wanted)
    count = np.arange(frames * repeats + 1)
    curves = body.joint_curves(coefficients, count % frames / options.fps, options.fps, count / options.fps)
    if not job.is_gait:
        return Distilled(curves, None, 0, options)
    strides = max(1, round(job.stride_hz(body, coefficients) * length))
    total = frames * repeats / options.fps
    notes: tuple[str, ...] = ()
    if abs(total - options.seconds) > 0.5 / options.fps:
        whole = "one whole stride" if strides * repeats == 1 else f"{strides * repeats} whole strides"
        notes = (f"the loop lasts {total:.2f} s instead of {options.seconds:g} s: it holds {whole}",)
    return Distilled(curves, strides / length, strides * repeats, options, notes)


def _whole_strides(job: _Job, wanted: float, progress: ProgressCallback) -> float:
    """The length nearest to the wanted one, seconds, that holds whole strides of the frequency that the prior would choose."""
    state = job.state_of("main")
    if state is not None:
        return float(state["found"])
    scout = replace(job.options, mode="mas", steps=SCOUT_LEVELS, inner=SCOUT_INNER, loop=False)
    basis = CurveBasis(job.window_s, job.options.bandwidth_hz, loop=False)
    frequency = job.stride_hz(*job.fit(basis, scout, progress, "scout"))
    return max(1, round(wanted * frequency)) / frequency


def _once(job: _Job, progress: ProgressCallback) -> Distilled:
    options = job.options
    basis = CurveBasis(job.window_s, options.bandwidth_hz, loop=False)
    body, coefficients = job.fit(basis, options, progress, "main")
    frames = round(options.seconds * options.fps) + 1
    start = 0.0 if job.is_gait else _liveliest(body, coefficients, options)
    last = (job.prior.frames - 1) / job.prior.fps
    times = np.minimum(start + np.arange(frames) / options.fps, max(last, start + options.seconds))
    curves = body.joint_curves(coefficients, times, options.fps)
    return Distilled(curves, job.stride_hz(body, coefficients) if job.is_gait else None, 0, options)


def _liveliest(body: CurveBody, coefficients: torch.Tensor, options: DistillOptions) -> float:
    """Start, seconds, of the stretch of the window that holds most of the movement."""
    spare = body.basis.seconds - options.seconds
    if spare <= 0.0:
        return 0.0
    step = 1.0 / options.fps
    times = np.arange(0.0, body.basis.seconds, step)
    tokens = body.pose(coefficients, body.sample(times)).tokens.numpy()
    energy = np.concatenate([[0.0], np.cumsum(np.square(np.diff(tokens, axis=0)).sum(axis=(1, 2)))])
    count = min(round(options.seconds * options.fps), len(energy) - 1)
    return float(times[int(np.argmax(energy[count:] - energy[: len(energy) - count]))])

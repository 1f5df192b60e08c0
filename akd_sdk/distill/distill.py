"""Score distillation of a character's joint curves from a prior (AKD, arXiv 2504.01204, in the form of one annealed pass)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from akd_sdk.distill.body import CurveBody
from akd_sdk.distill.optimise import CurveOptimiser
from akd_sdk.distill.options import DistillOptions
from akd_sdk.errors import PriorError
from akd_sdk.gait.coherence import analyse, gaits_of
from akd_sdk.motion import CurveBasis, JointCurves
from akd_sdk.priors import Prior, Prompt
from akd_sdk.progress import ProgressCallback, between, ignore
from akd_sdk.rig import Rig
from akd_sdk.views.tokens import Tokens

Array = NDArray[np.float64]

SCOUT_LEVELS, SCOUT_INNER = 12, 8
"""The pass that only finds the stride frequency that the prior would choose."""
SCOUT_SHARE = 0.2
"""Share of the work that the scout is."""


@dataclass(frozen=True)
class Distilled:
    """What a distillation made.

    Attributes:
        curves: joint curves in place: no travel over the ground.
        stride_hz: strides a second, None where the action is no gait.
        strides: whole strides in the clip; 0 where the action is no gait or the clip no loop.
        notes: what the user should know, one line each.
    """

    curves: JointCurves
    stride_hz: float | None
    strides: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Job:
    rig: Rig
    tokens: Tokens
    prior: Prior
    prompt: Prompt
    options: DistillOptions
    generator: torch.Generator
    progress: ProgressCallback

    @property
    def window_s(self) -> float:
        return self.prior.frames / self.prior.fps

    @property
    def is_gait(self) -> bool:
        return self.prompt.action in gaits_of(tuple(self.tokens.feet))

    def fit(self, basis: CurveBasis, options: DistillOptions, progress: ProgressCallback, stage: str) -> tuple[CurveBody, torch.Tensor]:
        body = CurveBody(self.rig, self.tokens, basis)
        optimiser = CurveOptimiser(body, self.tokens, options, self.generator, rolled=self.is_gait)
        return body, optimiser.run(self.prior, self.prompt, progress, stage)

    def stride_hz(self, body: CurveBody, coefficients: torch.Tensor) -> float:
        """Strides a second of the feet, over the prior's own frames."""
        times = np.arange(self.prior.frames) / self.prior.fps
        positions = body.pose(coefficients, body.sample(times)).tokens.numpy().astype(np.float64)
        return analyse(positions, self.tokens.feet, self.prior.fps).frequency


def distill(
    rig: Rig,
    tokens: Tokens,
    prior: Prior,
    prompt: Prompt,
    options: DistillOptions | None = None,
    *,
    seed: int = 0,
    progress: ProgressCallback = ignore,
) -> Distilled:
    """Joint curves of a rig doing what the prompt says, in place.

    The same seed and versions give the same curves.

    Raises:
        PromptError: a length that cannot be made.
        PriorError: a prior that does not look at tracks.
    """
    if prior.observes != "tracks":
        raise PriorError(f"the prior {prior.name!r} looks at {prior.observes}, not at tracks")
    options = (options or DistillOptions()).checked(prior.frames / prior.fps)
    job = _Job(rig, tokens, prior, prompt, options, torch.Generator().manual_seed(seed), progress)
    with _one_thread():
        return _loop(job) if options.loop else _once(job)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Tensors here are so small that torch's threads cost more than they bring; one thread also gives the same curves on any machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _loop(job: _Job) -> Distilled:
    options = job.options
    repeats = max(1, round(options.seconds / job.window_s))
    wanted = options.seconds / repeats
    main = job.progress
    if job.is_gait:
        scout = replace(options, levels=SCOUT_LEVELS, inner=SCOUT_INNER, loop=False)
        basis = CurveBasis(job.window_s, options.bandwidth_hz, loop=False)
        frequency = job.stride_hz(*job.fit(basis, scout, between(job.progress, 0.0, SCOUT_SHARE, "distilling"), "distilling"))
        wanted = max(1, round(wanted * frequency)) / frequency
        main = between(job.progress, SCOUT_SHARE, 1.0, "distilling")
    frames = max(2, round(wanted * options.fps))
    length = frames / options.fps
    body, coefficients = job.fit(CurveBasis(length, options.bandwidth_hz, loop=True), options, main, "distilling")
    times = np.arange(frames * repeats + 1) % frames / options.fps
    curves = body.joint_curves(coefficients, times, options.fps)
    if not job.is_gait:
        return Distilled(curves, None, 0)
    strides = max(1, round(job.stride_hz(body, coefficients) * length))
    total = frames * repeats / options.fps
    notes: tuple[str, ...] = ()
    if abs(total - options.seconds) > 0.5 / options.fps:
        whole = "one whole stride" if strides * repeats == 1 else f"{strides * repeats} whole strides"
        notes = (f"the loop lasts {total:.2f} s instead of {options.seconds:g} s: it holds {whole}",)
    return Distilled(curves, strides / length, strides * repeats, notes)


def _once(job: _Job) -> Distilled:
    options = job.options
    basis = CurveBasis(job.window_s, options.bandwidth_hz, loop=False)
    body, coefficients = job.fit(basis, options, job.progress, "distilling")
    frames = round(options.seconds * options.fps) + 1
    start = 0.0 if job.is_gait else _liveliest(body, coefficients, options)
    last = (job.prior.frames - 1) / job.prior.fps
    times = np.minimum(start + np.arange(frames) / options.fps, max(last, start + options.seconds))
    curves = body.joint_curves(coefficients, times, options.fps)
    return Distilled(curves, job.stride_hz(body, coefficients) if job.is_gait else None, 0)


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

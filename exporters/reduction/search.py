"""Search: budgets tried until the bytes do not fall, each try refitted, repaired, pruned, rounded and measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import Clip, require_own
from akd_sdk.exporters.reduction.compiled import kernels
from akd_sdk.exporters.reduction.dense import SHORT_SHARES, dense_forms, short_levers
from akd_sdk.exporters.reduction.levers import levers_of
from akd_sdk.exporters.reduction.made import bytes_of, clip_of
from akd_sdk.exporters.reduction.options import Reduced, ReductionOptions, ReductionReport
from akd_sdk.exporters.reduction.plan import PLAIN, Price
from akd_sdk.exporters.reduction.planning import Planner
from akd_sdk.exporters.reduction.prune import prune
from akd_sdk.exporters.reduction.repair import repair
from akd_sdk.exporters.reduction.state import Stage, State
from akd_sdk.exporters.reduction.truth import Judge, Keys, Measured, dense_keys
from akd_sdk.exporters.reduction.turns import WIDEST, split_turns, widest_turn
from akd_sdk.exporters.reduction.work import Work, work_of
from akd_sdk.progress import Progress, ProgressCallback, ignore
from akd_sdk.rig import Rig

Array = NDArray[np.float64]
SLACK = 0.97
"""Share of the tolerance aimed at on frames: between frames the error is a little larger."""
TOO_FAR = 3.0
REDUCED = "reduced"
NARROWER = 0.6
"""What budgets are multiplied by where a limb cannot be repaired."""
NARROWEST = 0.35
"""What all are multiplied by before the search gives up."""
DEFAULT = ReductionOptions()


@dataclass(frozen=True)
class Found:
    """A form of the clip within the tolerance: keys, lines stored short, bytes (accessors, JSON) and what it is called."""

    keys: list[Keys | None]
    short: frozenset[int]
    bytes: tuple[int, int]
    measured: Measured
    form: str
    clip: Clip

    @property
    def size(self) -> int:
        return sum(self.bytes)


@dataclass(frozen=True)
class Effort:
    """How long to search.

    Attributes:
        factors: error budgets tried, as shares of the tolerance.
        narrowings: tries with smaller budgets for limbs that cannot be repaired.
        repairs: rounds of keys added where the error is too large.
        passes: prune passes.
        rounds: refits that a removal may take.
        polish: rounded values are pruned once more.
    """

    factors: tuple[float, ...]
    narrowings: int
    repairs: int
    passes: int
    rounds: int
    polish: bool


EFFORT = {"fast": Effort((1.0,), 2, 6, 1, 2, False), "best": Effort((0.9, 1.3, 1.9, 2.7), 5, 12, 4, 3, True)}


class Search:
    """One clip, one tolerance."""

    def __init__(self, rig: Rig, clip: Clip, options: ReductionOptions, module: ModuleType) -> None:
        self.rig, self.clip, self.options = rig, clip, options
        self.work: Work = work_of(rig, clip, options.feet_tolerance_m is not None)
        tight = options.tolerance_m / options.feet_tolerance_m if options.feet_tolerance_m and self.work.feet.any else 1.0
        self.levers = levers_of(self.work, tight)
        self.stage = Stage(module, self.work, self.levers, options)
        self.planner = Planner(module, self.work, self.levers, "nlerp" in options.players, options.tolerance_m)
        self.judge = Judge(self.work, options.players)
        self.turns = frozenset(i for i, line in enumerate(self.work.lines) if line.turns)
        self.price: Price = PLAIN

    def attempt(self, factor: float, short: frozenset[int], effort: Effort) -> State | None:
        """A state within the tolerance at frames and between, values rounded; None where the budget was too wide to be repaired."""
        factors = np.full(len(self.work.lines), factor)
        for n in range(1 + effort.narrowings):
            state = State(self.stage, self.planner.plan(factors, short, self.price))
            state.sweep(6)
            state.sweep(8)
            if state.errors().max() <= SLACK or (state.errors().max() < TOO_FAR and repair(state, self.price, SLACK, effort.repairs)):
                self.thin(state, effort, False)
                return self.finish(state, effort)
            self._narrow(factors, state.errors(), last=n == effort.narrowings - 1)
        return None

    def _narrow(self, factors: Array, errors: Array, last: bool) -> None:
        """Smaller budgets for the lines above every joint that is off by too much; for the last try much smaller ones for all."""
        if last:
            factors *= NARROWEST
        worst = errors.max(axis=0)
        above = {int(j) for k in np.flatnonzero(worst > SLACK) for j in self.work.chains[k]}
        for i, line in enumerate(self.work.lines):
            if line.joint in above:
                factors[i] *= NARROWER

    def thin(self, state: State, effort: Effort, rounding: bool) -> None:
        """Prunes and refits in turn while keys go."""
        for _ in range(effort.passes):
            if not prune(state, self.price, SLACK, rounds=effort.rounds, rounding=rounding):
                break
            state.sweep(8, rounding=rounding)

    def finish(self, state: State, effort: Effort) -> State | None:
        """Rounds the values; repairs what that or the time between frames spoils; None if the error stays too large."""
        state.sweep(10, rounding=True)
        for target in (SLACK, 0.93, 0.88):
            repair(state, self.price, target, 8, rounding=True)
            if self._kept(state):
                return self._thinner(state, effort) if effort.polish else state
        return None

    def _kept(self, state: State) -> bool:
        """Whether the state keeps all that is asked for, keys added where it turns too far between two."""
        if split_turns(state):
            state.restart()
        return bool(state.finer_errors().max() <= 1.0)

    def _thinner(self, state: State, effort: Effort) -> State:
        """Pruned once more on rounded values, if that keeps all."""
        before = state.snapshot()
        state.restart()
        self.thin(state, effort, True)
        if not self._kept(state):
            state.restore(before)
        return state

    def found(self, keys: list[Keys | None], short: frozenset[int], form: str, best: Found | None = None) -> Found | None:
        """The form with its bytes, if it keeps what was asked for and is smaller than the best so far."""
        clip = clip_of(self.rig, self.clip, self.work, keys, short)
        size = bytes_of(self.rig, clip)
        if (best is not None and sum(size) >= best.size) or (form == REDUCED and widest_turn(self.work, keys) > WIDEST):
            return None
        measured = self.judge.measure(keys)
        feet, wanted = measured.feet, self.options.feet_tolerance_m
        if measured.worst > self.options.tolerance_m or (wanted is not None and feet is not None and feet > wanted):
            return None
        return Found(keys, short, size, measured, form, clip)

    def dense(self) -> Found:
        """The smallest dense form that keeps what was asked for."""
        best: Found | None = None
        for form in dense_forms(self.stage, self.turns):
            if best is None or not form.refitted:
                best = self.found(form.keys(self.stage, self.planner), form.short, form.name, best) or best
        if best is None:  # the last form is the reference itself
            raise ExportError("cannot be kept within the tolerance even as it is", self.clip.name)
        return best

    def best(self, progress: ProgressCallback = ignore) -> Found:
        """The form with the fewest bytes."""
        effort = EFFORT[self.options.effort]
        best = self.dense()
        short = best.short or (short_levers(self.stage, self.turns, SHORT_SHARES[-1]) if self.options.int16 else best.short)
        for n, factor in enumerate(effort.factors):
            progress(Progress("reducing", n / len(effort.factors), self.clip.name))
            state = self.attempt(factor, short, effort)
            if state is not None:
                best = self.found(state.keys(), short, REDUCED, best) or best
        progress(Progress("reducing", 1.0, self.clip.name))
        return best


def reduce(rig: Rig, clip: Clip, options: ReductionOptions = DEFAULT, *, progress: ProgressCallback = ignore) -> Reduced:
    """The clip with as few bytes of keys as the tolerance allows, and what that did.

    Errors are measured against the dense clip (a float32 key at each frame of its grid) on what a file gives back, at four times the frame
    rate; where nothing smaller keeps within the tolerance, the clip stays dense. The same input gives the same output.
    Raises ExportError: a clip of another character, values that float32 does not hold, keys asked for off the clip's frames.
    """
    require_own(rig, clip)
    grid = clip if options.grid_fps is None else on_grid(clip, options.grid_fps)
    search = Search(rig, grid, options, kernels(progress))
    found = search.best(progress)
    whole = clip_of(rig, grid, search.work, list(dense_keys(search.work)), frozenset())
    dense = sum(bytes_of(rig, whole))
    return Reduced(found.clip, report_of(clip, search.work, found.measured, found.clip, found.bytes, dense, found.form))


def report_of(
    before: Clip, work: Work, measured: Measured, made: Clip, size: tuple[int, int], dense_bytes: int, form: str
) -> ReductionReport:
    """The report on a clip made of another; `size`: bytes of accessors and of JSON."""
    return ReductionReport(
        keys_before=sum(len(track.times) for track in before.tracks),
        keys=sum(len(track.times) for track in made.tracks),
        bytes=sum(size),
        json_bytes=size[1],
        dense_bytes=dense_bytes,
        worst_m=measured.worst,
        p99_m=measured.p99,
        joint=work.names[measured.joint],
        time_s=measured.time,
        feet_worst_m=measured.feet,
        form=form,
    )


def on_grid(clip: Clip, fps: float) -> Clip:
    """The clip with tracks keyed on the frames of another rate. Raises ExportError: its duration is no whole number of these frames."""
    frames = clip.duration * fps
    if abs(frames - round(frames)) > 1e-3:
        raise ExportError(f"{clip.duration:g} s are no whole number of frames at {fps:g} a second", clip.name, f"its own are {clip.fps:g}")
    if fps == clip.fps:
        return clip
    times = np.arange(round(frames) + 1) / fps
    pose = clip.sample(times)
    dense = {"translation": pose.translations, "rotation": pose.rotations, "scale": pose.scales}
    tracks = tuple(replace(track, times=times, values=dense[track.path][:, track.joint]) for track in clip.tracks)
    contacts = clip.contacts
    if contacts is not None:
        contacts = contacts[np.clip(np.round(times * clip.fps).astype(np.int64), 0, len(contacts) - 1)]
    return replace(clip, tracks=tracks, fps=fps, contacts=contacts)

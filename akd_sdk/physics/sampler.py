"""Sampler: many runs side by side, whose feet are shifted a little otherwise in every window; the runs that get on best go on.

Windows of a twentieth of a second; in each, shifts are drawn about those that feedback asks for, and the best runs are kept (SAMCON: Liu,
Yin, van de Panne, Shao and Xu 2010). What was seen teaches the feedback, which is tried by itself too: as a rule it ends in a limit cycle,
which closes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from akd_sdk.physics.responses import (
    CHANGE_COST,
    LIFT_COST,
    SHIFT_COST,
    SLIP_COST,
    Feedback,
    Feet,
    Samples,
    feedbacks,
    sample_of,
    state_cost,
    transitions,
)
from akd_sdk.physics.search import CAPS, Attempt, judged
from akd_sdk.physics.simulate import FASTEST, Run, Simulation
from akd_sdk.physics.steering import ROOT_ERRORS, Steering

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

STIFFNESS = 1.0
"""Of the drives, whose feed-forward torques do most of the work."""
WINDOW_S = 0.05
RUNS, KEPT, CHILDREN = 42, 7, 6
"""Runs side by side, how many of them go on after a window, and how many of those from one."""
THRIFTS = 1.0, 4.0
"""Times that shifts are dearer than they are among runs side by side, for feedback that is tried by itself."""
SPREAD, LEAST_SPREAD, NARROWING = 0.01, 0.0025, 0.6
"""Standard deviation of the shifts that are drawn, pelvis heights: at first, at least, and how much less after a round that stood."""
FARTHEST = 0.08
"""Of any shift."""
FADE = 0.95
"""How much of the costs so far counts after a window."""
FIRST_SAMPLES, LEAST_SAMPLES = 120, 32
"""Samples about the reference for windows of equal phase, and for each of them."""
FIRST_SHIFTS = np.array([0.01, 0.005, 0.01, 0.015, 0.015, 0.015]), np.array([0.025, 0.015, 0.025, 0.03, 0.03, 0.03])
"""Standard deviations of the root's coordinates and rates there."""
FIRST_FEET = 0.01, 0.005, 0.0004
"""Those of shifts, of feet beside them, and of planted feet up and down."""
LEANING = 0.8
"""Radians of pitch or roll beyond which a run is given up."""
LOST = 1e8
STEP_S, DOF_S = 1.5e-5, 1e-6
"""CPU seconds of a simulated step, and more of it for every coordinate: what a budget buys."""
HELP_DEAR = 1.25
"""Times that a step takes with help, which asks what touches the ground."""


OVER = 1.1
"""Share of a budget beyond which a round that has begun is broken off."""


class SpentError(Exception):
    """The budget is used up in the midst of a round."""


class Window(NamedTuple):
    """Steps from which to which it lasts, and the place in the cycle, whose windows repeat."""

    first: int
    last: int
    place: int


@dataclass
class Budget:
    """CPU seconds: as estimated for the steps simulated, so that equal seeds give equal results, or as measured where a number is given."""

    seconds: float
    measured: bool
    start: float
    spent: float = 0.0

    def share(self) -> float:
        """Of it that is used."""
        return (time.process_time() - self.start if self.measured else self.spent) / self.seconds


class Sampler:
    """Searches shifts for a simulation."""

    def __init__(self, simulation: Simulation, seed: int, budget: Budget, tell: Callable[[], None] = lambda: None) -> None:
        """tell: called now and then; may raise to stop."""
        self.simulation, self.reference, self.budget, self.tell = simulation, simulation.reference, budget, tell
        simulation.set_stiffness(STIFFNESS)
        self.steering = Steering(simulation)
        self.rng = np.random.default_rng(seed)
        self.caps, self.spread, self.rounds = CAPS[0], SPREAD, 0
        self.windows, self.groups = _windows(simulation)
        self.cycle = [window for window in self.windows if window.first == self.windows[window.place].first]
        phases = self.reference.phase
        before, after = (self.steering.planted[phases[[w[end] for w in self.cycle]]] for end in (0, 1))
        self.feet = Feet(before & after, ~after)
        self.samples = self._first_samples() if self.steering.legs else []

    def round(self) -> Iterator[Attempt]:
        """Runs side by side, which teach the feedback, and what it does by itself then; before the first round too."""
        if not self.rounds:
            yield from self._by_feedback()
        self.rounds += 1
        crowd = self._judged(self.sampled(self.learnt(), RUNS))
        narrower = self.spread * NARROWING if crowd.stands else self.spread / NARROWING
        self.spread = min(max(narrower, LEAST_SPREAD), SPREAD)
        yield crowd
        yield from self._by_feedback()

    def _by_feedback(self) -> Iterator[Attempt]:
        """Runs that follow the feedback, dear and cheap, by themselves."""
        for thrift in THRIFTS:
            yield self._judged(self.sampled(self.learnt(thrift), 1))

    def _judged(self, run: Run) -> Attempt:
        """How a run went; one that was given up has fallen."""
        if len(run.values) < len(self.reference.values):
            return Attempt.fallen(run, STIFFNESS, len(run.values) - 1)
        return judged(self.simulation, run, STIFFNESS)

    def learnt(self, thrift: float = 1.0) -> list[Feedback]:
        """The feedback of every place in the cycle that follows from all samples so far; thrift as in `feedbacks`."""
        spans = [(window.first, window.last) for window in self.cycle]
        made = transitions(self.steering, self.samples, self.groups, spans)
        return feedbacks(self.steering, made, self.feet, bool(self.reference.cycles), thrift)

    def sampled(self, guide: list[Feedback], runs: int) -> Run:
        """The best of `runs` side by side, which go on learning, a stride at a time; one alone follows the feedback."""
        crowd = Crowd.begin(self, guide)
        history: list[tuple[NDArray[np.int64], Array, Array]] = []
        for i, window in enumerate(self.windows):
            if runs > 1 and i and i % len(self.groups) == 0:
                crowd.guide = self.learnt()
            history.append(crowd.advance(window, runs))
            if crowd.lost:
                break
        at, states, caps = 0, [], []
        for parents, made, allowed in reversed(history):
            states.append(made[at])
            caps.append(allowed[at])
            at = int(parents[at])
        return self.simulation.as_run(np.concatenate([self.start, *reversed(states)]), np.concatenate(caps[::-1]), self.caps)

    @property
    def start(self) -> Array:
        """(1, n) state in which runs begin."""
        return np.concatenate([[0.0], self.simulation.start(), self.reference.rates[0]])[None]

    def step(self, states: Array, controls: Array, first: int) -> tuple[Array, Array]:
        """States after inputs from step `first` on and the caps on help, as in `Simulation.helped`; paid from the budget, which may be
        used up (`SpentError`)."""
        self.tell()
        if self.budget.share() > OVER:
            raise SpentError
        made, allowed = self.simulation.helped(states, controls, first, self.caps)
        dear = HELP_DEAR if any(self.caps) else 1.0
        self.budget.spent += dear * made.shape[0] * made.shape[1] * (STEP_S + DOF_S * self.reference.coordinates.count)
        return made, allowed

    def _first_samples(self) -> list[Samples]:
        """Samples of windows begun about the reference, in pairs of opposite deviations."""
        size = max(len(group) for group in self.groups)
        runs = 2 * max(LEAST_SAMPLES // 2, -(-FIRST_SAMPLES // (2 * size)))
        return [self._about(window, runs) for window in self.cycle]

    def _about(self, window: Window, runs: int) -> Samples:
        steering, rng, reference, half = self.steering, self.rng, self.reference, runs // 2
        count, (hinges, feet) = reference.coordinates.count, steering.maps(window.first)
        shift, beside, up = FIRST_FEET
        stands = np.repeat(self.steering.planted[reference.phase[window.first]], steering.tasks)
        spread = np.full((len(steering.legs), steering.tasks), beside)
        spread[:, 1] = np.where(stands[:: steering.tasks], up, beside)
        drawn = [rng.normal(size=(half, 6)) * FIRST_SHIFTS[0], rng.normal(size=(half, 6)) * FIRST_SHIFTS[1]]
        drawn += [rng.normal(size=(half, steering.inputs)) * shift for _ in range(2)]
        drawn.append(rng.normal(size=(half, steering.inputs)) * spread.reshape(-1))
        root, rates, before, change, foot = (np.concatenate([part, -part]) for part in drawn)
        foot = foot + np.where(stands, 0.0, before)  # a swinging foot is where it is held
        lengths = np.array([steering.height] * 3 + [1.0] * 3)
        root, rates = root * lengths, rates * lengths / steering.time
        states = np.repeat(np.concatenate([[0.0], reference.values[window.first], reference.rates[window.first]])[None], runs, axis=0)
        heading = reference.values[window.first, 3]
        states[:, 7 : 1 + count] += (foot - root @ feet.T) @ hinges.T
        states[:, 7 + count : 1 + 2 * count] -= rates @ feet.T @ hinges.T
        for part, first in ((root, 1), (rates, 1 + count)):
            states[:, first : first + 6] += _along(part, heading)
        after = before + change
        made = self.step(states, steering.controls(window.first, window.last, before, after), window.first)[0][:, -1]
        return self._seen(window, states, (before, after), made)

    def _seen(self, window: Window, states: Array, shifts: tuple[Array, Array], made: Array) -> Samples:
        sane = np.asarray(np.isfinite(made).all(axis=1) & (np.abs(made[:, 1:]) < FASTEST).all(axis=1))
        before, _ = self.steering.look(states[sane], window.first)
        after, _ = self.steering.look(made[sane], window.last)
        return Samples(*sample_of(self.steering, (window.first, window.last), before, (shifts[0][sane], shifts[1][sane]), after))


@dataclass
class Crowd:
    """Runs that go on side by side: states, deviations, middles of soles, shifts in force, and costs so far."""

    sampler: Sampler
    guide: list[Feedback]
    states: Array
    errors: Array
    soles: Array
    shifts: Array
    costs: Array
    lost: bool = False

    @classmethod
    def begin(cls, sampler: Sampler, guide: list[Feedback]) -> Crowd:
        states = sampler.start
        errors, soles = sampler.steering.look(states, 0)
        return cls(sampler, guide, states, errors, soles, np.zeros((1, sampler.steering.inputs)), np.zeros(1))

    def advance(self, window: Window, runs: int) -> tuple[NDArray[np.int64], Array, Array]:
        """Go through a window; the parents (kept,) of those that go on, their states (kept, steps, n) and the caps
        (kept, steps, 2) on help."""
        sampler, steering, guide = self.sampler, self.sampler.steering, self.guide[window.place]
        count = len(self.states)
        parents = np.resize(np.arange(count), max(runs, count))
        wished = np.concatenate([self.errors, self.shifts, np.ones((count, 1))], axis=1) @ guide.gain.T
        noise = sampler.rng.normal(size=(len(parents), steering.inputs)) * sampler.spread if runs > 1 else np.zeros((1, steering.inputs))
        noise[:count] = 0.0
        shifts = np.clip(wished[parents] + noise, -FARTHEST, FARTHEST)
        controls = steering.controls(window.first, window.last, self.shifts[parents], shifts)
        made, allowed = sampler.step(self.states[parents], controls, window.first)
        sane = np.asarray(np.isfinite(made).all(axis=(1, 2)) & (np.abs(made[:, -1, 1:]) < FASTEST).all(axis=1))
        ends = np.where(sane[:, None], made[:, -1], self.states[parents])
        errors, soles = steering.look(ends, window.last)
        if runs > 1 and window.last - window.first >= sampler.cycle[window.place].last - sampler.cycle[window.place].first:
            learnt = self.errors[parents][sane], (self.shifts[parents][sane], shifts[sane]), errors[sane]
            sampler.samples[window.place].add(*sample_of(steering, (window.first, window.last), *learnt))
        slips = (soles - self.soles[parents])[:, sampler.feet.stand[window.place]][..., [0, 2]]
        cost = (errors**2 @ state_cost(steering)) + SHIFT_COST * (shifts**2).sum(axis=1) + SLIP_COST * (slips**2).sum(axis=(1, 2))
        rises = (errors[:, 3:4] + errors[:, ROOT_ERRORS + 1 :: 3])[:, sampler.feet.swing[window.place]]
        cost = cost + LIFT_COST * (rises**2).sum(axis=1)
        cost = FADE * self.costs[parents] + cost + CHANGE_COST * ((shifts - self.shifts[parents]) ** 2).sum(axis=1)
        ranks = np.where(sane & ~self._fallen(ends, window), cost + self._to_come(window, errors, shifts), LOST)
        kept = _chosen(ranks, parents, KEPT if runs > 1 else 1)
        self.lost = bool(ranks[kept[0]] >= LOST)
        self.states, self.errors, self.soles, self.shifts, self.costs = ends[kept], errors[kept], soles[kept], shifts[kept], cost[kept]
        return parents[kept], made[kept], allowed[kept]

    def _to_come(self, window: Window, errors: Array, shifts: Array) -> Array:
        """What the feedback expects a run to cost from the end of a window on."""
        place = window.place + 1
        if place == len(self.guide):
            if not self.sampler.reference.cycles:
                return np.zeros(len(errors))
            place = 0
        state = np.concatenate([errors, shifts, np.ones((len(errors), 1))], axis=1)
        return np.asarray(((state @ self.guide[place].value) * state).sum(axis=1))

    def _fallen(self, states: Array, window: Window) -> Bools:
        wanted = self.sampler.reference.values[window.last]
        leans = (np.abs(states[:, 5:7] - wanted[4:6]) > LEANING).any(axis=1)
        rest = self.sampler.steering.height
        return np.asarray(leans | (rest + states[:, 2] < 0.6 * (rest + wanted[1])))


def _along(root: Array, heading: float) -> Array:
    """Root coordinates or rates (n, 6) given along a heading, along the character's axes."""
    turned = root.copy()
    cosine, sine = np.cos(heading), np.sin(heading)
    turned[:, 0], turned[:, 2] = cosine * root[:, 0] + sine * root[:, 2], cosine * root[:, 2] - sine * root[:, 0]
    return turned


def _chosen(ranks: Array, parents: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """The best runs, no more than `CHILDREN` of one parent."""
    seen = np.zeros(int(parents.max()) + 1, dtype=np.int64)
    chosen: list[int] = []
    for run in np.argsort(ranks, kind="stable"):
        if seen[parents[run]] < CHILDREN and len(chosen) < count:
            seen[parents[run]] += 1
            chosen.append(int(run))
    return np.array(chosen)


def _windows(simulation: Simulation) -> tuple[list[Window], list[list[int]]]:
    """Windows of a whole run, and groups of places in the cycle that have equal phases of a stride."""
    reference, steps = simulation.reference, len(simulation.controls)
    span = reference.cycle or steps
    strides = max(1, round(reference.cycle / reference.lead)) if reference.cycles and reference.lead else 1
    each = max(1, round(span / strides * reference.dt / WINDOW_S))
    count = each * strides
    edges = np.round(np.linspace(0, span, count + 1)).astype(np.int64)
    windows = []
    for lap in range(-(-steps // span)):
        for place in range(count):
            first, last = int(lap * span + edges[place]), min(int(lap * span + edges[place + 1]), steps)
            if first < last:
                windows.append(Window(first, last, place))
    return windows, [list(range(place, count, each)) for place in range(each)]

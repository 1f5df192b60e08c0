"""Search: the least help, from none upwards, with which a simulation stays up, goes where it should and closes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from akd_sdk.errors import PhysicsError
from akd_sdk.physics.loops import Cycle, best_cycle
from akd_sdk.physics.reference import Reference
from akd_sdk.physics.simulate import Run, Simulation, check_finite, first_fall
from akd_sdk.physics.slip import slip_speed
from akd_sdk.physics.strides import misstep
from akd_sdk.physics.touch import flown
from akd_sdk.progress import Progress, ProgressCallback

CAPS = ((0.0, 0.0), (0.025, 0.015), (0.05, 0.03), (0.1, 0.06), (0.15, 0.09), (0.2, 0.12), (0.2886, 0.17))
"""Help allowed per axis, body weights and body weights times pelvis height, tried upwards; the last has the bound for its norm."""
BOUND, MEAN_SHARE = (0.5, 0.3), 1.0 / 3.0
"""Norms that help never exceeds, and the share of them that its means stay under."""
STIFFNESSES = (2.0, 1.0, 0.5, 0.25)
"""Of the joints' drives: slow gaits hold a stiff pose best, springy legs land running ones."""
SLIP = 0.3
"""Pelvis heights a second that soles may slip, mean over their stances: a centimetre in a thirtieth of a second at human size."""
MISSTEP = 0.5
"""Share of their swing by which feet may miss their paths under the body."""
FLOWN = 0.5
"""Share of its planned flights in which a jump has no foot on the ground: it may leave it later and land sooner."""
FIRM = 0.5
"""Share of that slip with which no other stiffness is tried."""
FAR_ASTRAY, FAR_MISSTEP = 0.25, 0.6
"""Shares beyond which a motion that stays up is another motion."""
REMEDY = "lock its feet first, ask for a slower motion, or leave physics out"
ASTRAY, SPOT = 0.1, 0.25
"""Share of the way by which a run may miss where it should have gone, and the shortest way, pelvis heights, of loops: they creep on."""


@dataclass(frozen=True)
class Attempt:
    """A simulation and how it went.

    Attributes:
        run: its states.
        stiffness: of the drives.
        fall: step of the fall, None if it stayed up.
        mean: help used after the lead-in, means of the norms of force (body weights) and torque (body weights times pelvis height).
        cycle: of a loop, the cycle that is recorded.
        astray: distance from where it should be, over the way; of a loop, over its recorded cycle.
        slip: speed of soles that should stand, pelvis heights a second.
        misstep: deviation of feet from their paths under the body, a share of their swing.
        flown: of what does not loop, the share of planned flights in which no sole touches.
    """

    run: Run
    stiffness: float
    fall: int | None
    mean: tuple[float, float]
    cycle: Cycle | None
    astray: float
    slip: float
    misstep: float
    flown: float

    @classmethod
    def fallen(cls, run: Run, stiffness: float, step: int) -> Attempt:
        """One that fell at a step."""
        return cls(run, stiffness, step, (np.inf, np.inf), None, np.inf, np.inf, np.inf, 0.0)

    @property
    def stands(self) -> bool:
        """Whether it stays up within the bound on mean help."""
        return self.fall is None and all(mean <= MEAN_SHARE * bound for mean, bound in zip(self.mean, BOUND))

    @property
    def works(self) -> bool:
        """Whether it also goes where it should, with feet that hold the ground and keep their gait, and, a loop, closes."""
        follows = self.astray <= ASTRAY and self.slip <= SLIP and self.misstep <= MISSTEP and self.flown >= FLOWN
        return self.stands and follows and (self.cycle is None or self.cycle.closes)

    @property
    def faults(self) -> tuple[str, ...]:
        """What it lacks of working though it stands, in words."""
        found = []
        if self.astray > ASTRAY:
            found.append(f"it misses its way by {100.0 * self.astray:.0f} % of it")
        if self.slip > SLIP:
            found.append(f"its feet slip {self.slip / SLIP:.1f} times as much as they should")
        if self.misstep > MISSTEP:
            found.append(f"its feet miss their paths by {100.0 * self.misstep:.0f} % of their swing")
        if self.flown < FLOWN:
            found.append(f"its feet drag in {100.0 * (1.0 - self.flown):.0f} % of its flights")
        if self.cycle is not None and not self.cycle.closes:
            missed = f"{self.cycle.pose_deg:.1f} degrees and {100.0 * self.cycle.speed:.0f} % of its speed"
            found.append(f"its cycle missed closing by {missed}, which were spread over it")
        return tuple(found)

    @property
    def far(self) -> bool:
        """Whether it has become another motion."""
        return self.astray > FAR_ASTRAY or self.misstep > FAR_MISSTEP

    @property
    def badness(self) -> float:
        """What is compared between attempts with the same help."""
        closing = 0.0 if self.cycle is None else self.cycle.pose_deg + 20.0 * self.cycle.speed
        dragged = 3.0 * (1.0 - self.flown)
        return self.astray / ASTRAY + self.slip / SLIP + self.misstep / MISSTEP + dragged + 0.2 * closing


def attempt(simulation: Simulation, caps: tuple[float, float], stiffness: float) -> Attempt:
    """One run with help bounded by `caps` per axis and drives of a stiffness."""
    simulation.set_stiffness(stiffness)
    return judged(simulation, simulation.run(caps), stiffness)


def unaided(simulation: Simulation) -> Attempt:
    """The attempt without any help that stays up longest."""
    return max(_tried(simulation, CAPS[0], STIFFNESSES), key=lasting)


def lasting(found: Attempt) -> float:
    """Steps for which it stays up, infinite where it does not fall."""
    return np.inf if found.fall is None else found.fall


def _tried(simulation: Simulation, caps: tuple[float, float], order: Sequence[float]) -> list[Attempt]:
    """Attempts with stiffnesses in an order, until one leaves little to be wished for."""
    tried = []
    for stiffness in order:
        tried.append(attempt(simulation, caps, stiffness))
        if tried[-1].works and tried[-1].slip <= FIRM * SLIP:
            break
    return tried


def judged(simulation: Simulation, run: Run, stiffness: float) -> Attempt:
    """How a run went."""
    reference = simulation.reference
    fall = first_fall(reference, run.values)
    if fall is not None:
        return Attempt.fallen(run, stiffness, fall)
    force, torque = (float(np.linalg.norm(used[reference.lead :], axis=1).mean()) for used in (run.force, run.torque))
    cycle = best_cycle(reference, run) if reference.cycles else None
    first, last = (0, len(run.values) - 1) if cycle is None else (cycle.first, cycle.first + reference.cycle)
    slip, missed = (measure(reference, run.values, first, last) for measure in (slip_speed, misstep))
    flies = 1.0 if reference.cycles else flown(reference, run.values)
    return Attempt(run, stiffness, None, (force, torque), cycle, _astray(reference, run, first, last), slip, missed, flies)


def _astray(reference: Reference, run: Run, first: int, last: int) -> float:
    leg = reference.coordinates.articulation.root_height
    ways = [values[last, [0, 2]] - values[first, [0, 2]] for values in (run.values, reference.values)]
    wanted = float(np.linalg.norm(np.diff(reference.values[first : last + 1, [0, 2]], axis=0), axis=1).sum())
    gone, meant = (float(np.linalg.norm(way)) for way in ways)
    miss = abs(gone - meant) if reference.cycles else float(np.linalg.norm(ways[0] - ways[1]))
    return miss / max(wanted, SPOT * leg if reference.cycles else leg)


def least_help(simulation: Simulation, allowed: bool, progress: ProgressCallback, name: str) -> tuple[Attempt, Attempt]:
    """The attempt with the least help that works, else the one that stands and is nearest to working; and the one without any help.

    Raises PhysicsError where none stands.
    """
    standing: list[Attempt] = []
    levels = CAPS if allowed else CAPS[:1]
    order: tuple[float, ...] = STIFFNESSES
    for i, caps in enumerate(levels):
        progress(Progress("tracking", i / len(levels), f"help of {np.sqrt(3.0) * caps[0]:.2f} body weights" if i else "without help"))
        tried = _tried(simulation, caps, order)
        if i == 0:
            alone = max(tried, key=lasting)
        working = [a for a in tried if a.works]
        if working:
            best = min(working, key=lambda a: a.badness)
            check_finite(simulation.reference, best.run)
            return best, alone
        standing += [a for a in tried if a.stands]
        order = tuple(a.stiffness for a in sorted(tried, key=lambda a: (-lasting(a), a.badness)))
    near = [a for a in standing if not a.far]
    if near:
        best = min(near, key=lambda a: a.badness)
        check_finite(simulation.reference, best.run)
        return best, alone
    for a in tried:
        until = (a.fall or 0) + 1  # what explodes after a fall fell
        check_finite(simulation.reference, replace(a.run, values=a.run.values[:until], rates=a.run.rates[:until]))
    raise PhysicsError(_verdict(simulation.reference, alone, standing, allowed), name, REMEDY)


def _verdict(reference: Reference, alone: Attempt, standing: list[Attempt], allowed: bool) -> str:
    """Why nothing worked, in a clause."""
    if any(a.astray <= FAR_ASTRAY for a in standing):
        return "it stays up but loses its gait: its feet go other ways than they should"
    if standing:
        return "it stays up but does not get on: its feet find no hold"
    after = 0.0 if alone.fall is None else max(alone.fall - reference.lead, 0) * reference.dt
    when = f"after {after:.2f} s" if after > 0.0 else "at once"
    return f"it falls {when} without help" + (", and the most that is allowed does not keep it up" if allowed else "")

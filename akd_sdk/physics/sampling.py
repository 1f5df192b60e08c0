"""Sampling: how much of a budget goes into which help, from none on, and which of all attempts is the best."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from akd_sdk.errors import PhysicsError
from akd_sdk.physics.loops import CLOSED_DEG, CLOSED_SPEED
from akd_sdk.physics.sampler import Budget, Sampler, SpentError
from akd_sdk.physics.search import CAPS, SLIP, Attempt
from akd_sdk.physics.simulate import Simulation
from akd_sdk.progress import Progress, ProgressCallback

HOPES = 0.3, 0.6
"""Shares of the run for which something must have stayed up after the first round and after the next, else more help is tried."""
ENOUGH = 0.85
"""Share of the budget until which help that lets a motion stand is not exceeded."""
SECONDS = 4.5
"""Of CPU for a second of motion, so that it is six with all that goes before and after."""
HELP_WORTH, ANY_WORTH = 30.0, 4.0
"""Badness of a body weight of help, and of any help at all."""
TELL_SHARE = 0.01
"""Of a budget that passes between two reports."""
GOOD_SLIP = 0.6 * SLIP
SLIP_WORTH, OPEN_WORTH, WRONG_WORTH = 2.0, 2.0, 1.0
"""Badness of slip beyond that, as a share of it, of ends of a cycle that are apart by more than what closes, as shares of that, and of what
does not work."""
INTERRUPTED = "the search for a better tracking was interrupted, this is the best until then"
PATIENCE, WORTHWHILE = 3, 0.95
"""Rounds that may pass, once there is something with as little help, without a score this much better."""


class Sampled(NamedTuple):
    """What sampling ends in, and what the user should know of it."""

    best: Attempt
    notes: tuple[str, ...] = ()


def score(found: Attempt) -> float:
    """What is compared between attempts: badness and help; infinite for what does not stand or goes elsewhere."""
    if not found.stands or found.far:
        return float(np.inf)
    apart = 0.0 if found.cycle is None else found.cycle.pose_deg / CLOSED_DEG + found.cycle.speed / CLOSED_SPEED
    slips = max(found.slip / GOOD_SLIP - 1.0, 0.0)
    help_used = HELP_WORTH * found.run.caps[0] + ANY_WORTH * (found.run.caps[0] > 0.0)
    wrong = WRONG_WORTH * (not found.works)
    return found.badness + help_used + SLIP_WORTH * slips + OPEN_WORTH * max(apart - 1.0, 0.0) + wrong


def is_good(found: Attempt) -> bool:
    """Whether nothing is left to be sampled for."""
    return found.works and found.run.caps[0] == 0.0 and found.slip <= GOOD_SLIP


def sampled_best(
    simulation: Simulation, known: Attempt | PhysicsError, options: tuple[int, float | None, bool], progress: ProgressCallback
) -> Sampled:
    """The best of what is known and what sampling finds within a budget, from no help on; on an interrupt, the best so far.

    Args:
        simulation: of the motion.
        known: the best without sampling, or why there is none, which is raised where sampling finds none either.
        options: seed, budget in CPU seconds (None: six for a second of motion), whether help is allowed.
        progress: told what stands; may raise.
    """
    seed, seconds, helped = options
    best = known if isinstance(known, Attempt) else None
    reference = simulation.reference
    motion = (len(reference.values) - 1 - reference.lead) * reference.dt
    budget = Budget(SECONDS * motion if seconds is None else seconds, seconds is not None, time.process_time())
    sampler: Sampler | None = None
    trying = CAPS[0]
    told = -1.0
    notes: tuple[str, ...] = ()

    def tell() -> None:
        nonlocal told
        if budget.share() >= told + TELL_SHARE:
            told = budget.share()
            progress(Progress("tracking", min(told, 1.0), _said(trying, best)))

    try:
        for trying, until in _levels(best, helped):
            enough = best is not None and (is_good(best) or (best.works and best.run.caps[0] < trying[0]))
            if enough or budget.share() >= until:
                continue
            sampler = sampler or Sampler(simulation, seed, budget, tell)
            sampler.caps = trying
            for found in _improvements(sampler, best, until):
                best = found
    except SpentError:
        pass  # what was found before is kept
    except KeyboardInterrupt:
        if best is None:
            raise
        notes = (INTERRUPTED,)
    if best is None:
        assert isinstance(known, PhysicsError)
        raise known
    return Sampled(best, notes)


def _improvements(sampler: Sampler, best: Attempt | None, until: float) -> Iterator[Attempt]:
    """Ever better attempts with the sampler's help, until a share of the budget is used or there is little more to find."""
    idle, rounds, farthest = 0, 0, 0.0
    while sampler.steering.legs and sampler.budget.share() < until and idle < PATIENCE:
        before = np.inf if best is None else score(best)
        for found in sampler.round():
            farthest = max(farthest, 1.0 if found.fall is None else found.fall / len(sampler.reference.values))
            until = max(until, ENOUGH) if found.works else until
            if score(found) < (np.inf if best is None else score(best)):
                best = found
                yield found
                if is_good(found):
                    return
        rounds += 1
        if farthest < HOPES[min(rounds, len(HOPES)) - 1]:
            return
        if best is not None and best.works and best.run.caps == sampler.caps:
            until = 1.0  # no more help is asked for
            idle = 0 if score(best) < WORTHWHILE * before else idle + 1


def _levels(best: Attempt | None, helped: bool) -> list[tuple[tuple[float, float], float]]:
    """Help to be tried and the share of the budget until which it is."""
    if not helped:
        return [(CAPS[0], 1.0)]
    if best is None:  # what stands at all comes first
        return [(CAPS[0], 0.5), (CAPS[3], 0.85), (CAPS[5], 1.0)]
    most = CAPS.index(best.run.caps)
    return [(CAPS[0], 0.6), (CAPS[max(most // 3, 1)], 0.8), (CAPS[max(2 * most // 3, 1)], 1.0)]


def _said(caps: tuple[float, float], best: Attempt | None) -> str:
    how = f"with help of {np.sqrt(3.0) * caps[0]:.2f} body weights" if caps[0] else "without help"
    stands = "nothing stands yet" if best is None else f"best so far has {np.sqrt(3.0) * best.run.caps[0]:.2f}"
    return f"sampling {how}, {stands}"

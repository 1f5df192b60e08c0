"""`make tracking`: every rig, gait and seed, and artists' clips, tracked on the ground and measured from the files before and after."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from akd_sdk.animator import Animator
from akd_sdk.physics import TrackOptions
from akd_sdk.physics.track import prepare
from tests.bench.machine import machine
from tests.bench.tracking_rows import HEADER, Case, TrackRow, gait_cases, motion_of, quietly
from tests.gaits.cases import RigCase, sample_rigs, shared_rigs

CLIPS = (
    ("Fox", "Walk", "walk"),
    ("Wolf", "Walk", "walk"),
    ("CesiumMan", "", "walk"),
    ("Knight", "Walking_A", "walk"),
    ("Knight", "Running_A", "run"),
)
"""Artists' own clips: rig, clip (the only one, where none is named), gait that it is."""
SHOWN = (
    "quadruped walk 0", "quadruped trot 0", "biped walk 0", "biped run 0", "Fox walk 0", "Fox gallop 0", "Wolf trot 0", "Deer walk 0",
    "CesiumMan walk 0", "Knight walk 0",
)  # fmt: skip
"""Whose contact sheets are drawn."""
SLOW = ("walk", "trot")
NEEDS_NONE = ("Fox", "Wolf", "Deer", "CesiumMan", "quadruped", "biped")


def clip_cases(rigs: Sequence[RigCase]) -> list[Case]:
    found = {rig.name: rig for rig in rigs}
    cases = []
    for name, clip, gait in CLIPS:
        if name in found:
            clips = [motion.name for motion in Animator.open(found[name].path).rig.clips]
            cases.append(Case(found[name], gait, -1, next(own for own in clips if own.split("|")[-1] == clip or not clip)))
    return cases


def mark(text: str, wanted: float, rows: Sequence[TrackRow], passes: Callable[[TrackRow], bool]) -> str:
    """One line: the share of rows that pass against what is wanted, and those that miss."""
    if not rows:
        return f"none {'':27s}{text}"
    good = [passes(row) for row in rows]
    share, misses = float(np.mean(good)), [row.case.label for row, fine in zip(rows, good, strict=True) if not fine]
    met = "    " if wanted == 0.0 else "met " if share >= wanted else "MISS"
    named = f"  [{', '.join(misses)}]" if misses else ""
    asked = "  (reported)  " if wanted == 0.0 else f"(wanted {wanted:4.0%})"
    return f"{met} {share:6.1%} of {len(rows):3d} {asked}  {text}{named}"


def marks(rows: Sequence[TrackRow], effort: str) -> list[str]:
    """The acceptance table; what was not tracked has no file after, and counts in the first lines alone."""
    best = effort == "best"
    skate_mm, rougher = (6.0, 2.0) if best else (10.0, 3.0)
    slow, fast = ([r for r in rows if (r.case.gait in SLOW) == kind] for kind in (True, False))
    alone = [r for r in slow if r.case.rig.name in NEEDS_NONE]
    tracked = [r for r in rows if r.after is not None]
    lines = [
        mark("walks and trots stay up within the bound", 0.95, slow, lambda r: r.stays_up),
        mark("gallops and runs stay up within the bound", 0.95 if best else 0.7, fast, lambda r: r.stays_up),
        mark("walks and trots stay up with no help at all", 1.0 if best else 0.0, alone, lambda r: r.helped is not None and r.helped.none),
        mark("no help while all feet are in the air", 0.0, tracked, lambda r: r.helped is not None and r.helped.aloft == 0.0),
        mark(f"skate <= {skate_mm:g} mm per 1/30 s", 0.8, tracked, lambda r: r.after.measured.skate_mm <= skate_mm),
        mark("worst penetration <= 1 % of the leg", 0.9, tracked, lambda r: r.after.measured.penetration_percent <= 1.0),
        mark(f"jitter <= {rougher:g} times the input's", 1.0, tracked, lambda r: r.jitter <= rougher),
        mark("coherence with the gait >= before - 0.03", 1.0, tracked, lambda r: r.after.own >= r.before.own - 0.03),
        mark("duty >= before - 0.03", 1.0, tracked, lambda r: r.after.duty >= r.before.duty - 0.03),
        mark("duty within 0.03 of before", 0.0, tracked, lambda r: abs(r.after.duty - r.before.duty) <= 0.03),
    ]
    return [*lines, *_costs(rows, 6.0 if best else 1.0)]


def _costs(rows: Sequence[TrackRow], most: float) -> list[str]:
    tracked = [r for r in rows if r.after is not None]
    counted = {"tracked": [r.seconds / r.tracked_s for r in tracked], "of the clip": [r.seconds / r.clip_s for r in rows]}
    lines = []
    for what, taken in counted.items():
        if taken:
            met = "met " if max(taken) <= most else "MISS"
            lines.append(f"{met} mean {np.mean(taken):.2f}, most {max(taken):.2f} (wanted {most:g})  CPU seconds a second {what}")
    return lines


def steps_a_second(case: Case, cache: Path | None) -> str:
    """How fast the simulation steps, alone and as two at once."""
    animator = Animator.open(case.rig.path, seed=case.seed)
    ready = prepare(animator.rig, motion_of(case, animator, cache), TrackOptions())
    simulation, model = ready.simulation, ready.plant.model
    from mujoco import MjData, rollout

    reference = simulation.reference
    state = np.concatenate([[0.0], reference.values[0], reference.rates[0]])
    count = min(1000, len(simulation.controls))
    rates = []
    for threads in (1, 2):
        runs = 4 * threads
        states, controls = np.tile(state, (runs, 1)), np.tile(simulation.controls[:count], (runs, 1, 1))
        data = [MjData(model) for _ in range(threads)]
        start = time.perf_counter()
        rollout.rollout(model, data if threads > 1 else data[0], states, controls)
        rates.append(runs * count / (time.perf_counter() - start))
    return f"{case.label}, {model.nv} degrees of freedom: {rates[0]:,.0f} steps a second on one core, {rates[1]:,.0f} with two threads"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.tracking", description=__doc__)
    parser.add_argument("--effort", default="default", choices=("default", "best"))
    parser.add_argument("--seeds", default="0,1,2", help="seeds, separated by commas")
    parser.add_argument("--rigs", default="", help="names of rigs, separated by commas; all by default")
    parser.add_argument("--gaits", default="", help="gaits, separated by commas; all by default")
    parser.add_argument("--clips", action=argparse.BooleanOptionalAction, default=True, help="artists' own clips too")
    parser.add_argument("--cache", type=Path, help="a folder in which distilled motions are kept")
    parser.add_argument("--out", type=Path, help="a folder for contact sheets of ten of them, before above after")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    rigs = [rig for rig in sample_rigs() + shared_rigs() if not options.rigs or rig.name in options.rigs.split(",")]
    cases = gait_cases(rigs, [int(seed) for seed in options.seeds.split(",")])
    cases = [case for case in cases if not options.gaits or case.gait in options.gaits.split(",")]
    clips = clip_cases(rigs) if options.clips else []
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    how = TrackOptions(effort=options.effort)
    work = [(case, how, options.cache, options.out if case.label in SHOWN or case.clip else None) for case in cases + clips]
    print(machine(), HEADER, sep="\n", flush=True)
    rows = []
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for row in pool.imap(quietly, work):
            rows.append(row)
            print(row.line(), flush=True)
    gaits = [row for row in rows if not row.case.clip]
    for name, chosen in (
        ("All rigs but Knight", [row for row in gaits if row.case.rig.name != "Knight"]),
        ("Knight", [row for row in gaits if row.case.rig.name == "Knight"]),
        ("Artists' own clips, feet locked", [row for row in rows if row.case.clip]),
    ):
        if chosen:
            print(f"\n{name}", *marks(chosen, options.effort), sep="\n")
    print()
    for case in cases[:1]:
        print(steps_a_second(case, options.cache))
    return 0


if __name__ == "__main__":
    sys.exit(main())

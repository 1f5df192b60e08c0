"""`make gaits`: every rig, gait and seed of the acceptance table, made, measured and printed."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from .cases import SENTENCES, sample_rigs, shared_rigs
from .run import HEADER, SWAPPED, Row, cases, marks, quietly, swapped_mark, untrained_mark, untrained_weights


def made(work: Sequence[tuple[object, ...]], processes: int) -> list[Row]:
    """The rows of arguments of `run`, each printed when it is there."""
    rows = []
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for row in pool.imap(quietly, work):
            rows.append(row)
            print(row.line(), flush=True)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gaits", description=__doc__)
    parser.add_argument("--seeds", default="0,1,2", help="seeds, separated by commas")
    parser.add_argument("--rigs", default="", help="names of rigs, separated by commas; all by default")
    parser.add_argument("--gaits", default="", help="gaits, separated by commas; all by default")
    parser.add_argument("--weights", type=Path, help="a weight file instead of the package's own")
    controls = "the same cases with another gait said, and with untrained weights"
    parser.add_argument("--controls", action=argparse.BooleanOptionalAction, default=True, help=controls)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    others = shared_rigs()
    rigs = sample_rigs() + others
    if options.rigs:
        rigs = [rig for rig in rigs if rig.name in options.rigs.split(",")]
    work = cases(rigs, [int(s) for s in options.seeds.split(",")])
    if options.gaits:
        work = [w for w in work if w[1] in options.gaits.split(",")]
    print(HEADER, flush=True)
    results = marks(made([(*w, options.weights) for w in work], options.processes))
    if options.controls:
        print("\nControl: another gait is said than is measured")
        said = [(rig, gait, seed, options.weights, SENTENCES[rig.body][SWAPPED[rig.body][gait]]) for rig, gait, seed in work]
        results.append(swapped_mark(made(said, options.processes)))
        print("\nControl: untrained weights")
        with tempfile.TemporaryDirectory() as folder:
            weights = untrained_weights(Path(folder) / "untrained.safetensors")
            results.append(untrained_mark(made([(*w, weights) for w in work], options.processes)))
    print()
    for mark in results:
        print(mark.line())
    if not others:
        print("the five rigs of others were not there (AKD_SHARED): the samples alone were measured", file=sys.stderr)
    return 0 if all(mark.met for mark in results) else 1


if __name__ == "__main__":
    sys.exit(main())

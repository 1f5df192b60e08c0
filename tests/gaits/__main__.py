"""`make gaits`: every rig, gait and seed of the acceptance table, made, measured and printed."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from .cases import SENTENCES, sample_rigs, shared_rigs
from .run import HEADER, SWAPPED, Row, cases, marks, quietly


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gaits", description=__doc__)
    parser.add_argument("--seeds", default="0,1,2", help="seeds, separated by commas")
    parser.add_argument("--rigs", default="", help="names of rigs, separated by commas; all by default")
    parser.add_argument("--gaits", default="", help="gaits, separated by commas; all by default")
    parser.add_argument("--weights", type=Path, help="a weight file instead of the package's own")
    parser.add_argument("--controls", action=argparse.BooleanOptionalAction, default=True, help="seed 0 with captions swapped")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    rigs = sample_rigs() + shared_rigs()
    if options.rigs:
        rigs = [rig for rig in rigs if rig.name in options.rigs.split(",")]
    work = cases(rigs, [int(s) for s in options.seeds.split(",")])
    if options.gaits:
        work = [w for w in work if w[1] in options.gaits.split(",")]
    print(HEADER, flush=True)
    rows: list[Row] = []
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for row in pool.imap(quietly, [(*w, options.weights) for w in work]):
            rows.append(row)
            print(row.line(), flush=True)
    print()
    results = marks(rows)
    for mark in results:
        print(mark.line())
    if options.controls:
        print("\nControl: another gait is said than is measured")
        said = SENTENCES
        swapped = [(rig, gait, seed, options.weights, said[rig.body][SWAPPED[rig.body][gait]]) for rig, gait, seed in work if seed == 0]
        with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
            made = pool.map(quietly, swapped, chunksize=1)
        failed = [not row.is_asked_gait for row in made]
        for row in made:
            print(row.line())
        print(f"{'met ' if sum(failed) >= 0.9 * len(failed) else 'MISS'} {sum(failed)} of {len(failed)} fail the test of the gait not said")
    if len(rigs) < 7:
        print("the five rigs of others were not there (AKD_SHARED): the samples alone were measured", file=sys.stderr)
    return 0 if all(mark.met for mark in results) else 1


if __name__ == "__main__":
    sys.exit(main())

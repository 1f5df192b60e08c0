"""`python -m tests.bench.reduction`: keyframe reduction against the tools of others, clip by clip, tolerance by tolerance."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from akd_sdk.exporters.reduction import ReductionOptions, reduce  # noqa: E402  # after the folder of helpers is known
from akd_sdk.exporters.reduction.compiled import kernels  # noqa: E402
from akd_sdk.exporters.reduction.meshopt import compress  # noqa: E402
from akd_sdk.readers import open_rig  # noqa: E402
from tests.bench.reduction_peers import Peers, Result, best, missing  # noqa: E402
from tests.bench.reduction_set import Case, glb_cases, listed, sample_cases  # noqa: E402

TOLERANCES = (1e-4, 1e-3, 5e-3)
FORMS: dict[str, tuple[Callable[[Result], int], bool]] = {
    "plain, with JSON": (lambda result: result.plain, False),
    "plain, accessors": (lambda result: result.accessors, False),
    "meshopt": (lambda result: result.compressed, True),
}
"""How sizes are compared, and whether the compressed settings of others are."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("AKD_SHARED") or ROOT.parent / "shared"))
    parser.add_argument("--npm", type=Path, default=Path(os.environ["AKD_NPM"]) if "AKD_NPM" in os.environ else None)
    parser.add_argument("--effort", choices=("fast", "best"), action="append", help="both where none is named")
    parser.add_argument("--clips", help="only clips whose name has this in it")
    parser.add_argument("--files", type=Path, nargs="*", default=[], help="other GLB files whose clips are measured instead of the list's")
    asked = parser.parse_args()
    kernels(lambda report: print(report.stage, file=sys.stderr))
    why = missing(asked.npm)
    if why:
        print(f"The tools of others are left out: {why}.\n")
    chosen = cases(asked.shared, asked.files)
    print("| clip | tolerance mm | tool | bytes | worst mm | CPU seconds | ratio to the best of others |\n|---|---|---|---|---|---|---|")
    ratios: dict[tuple[str, str, float], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            if asked.clips is None or asked.clips in case.label:
                peers = [] if why or asked.npm is None else Peers(case, Path(folder), asked.npm).run()
                for tolerance in TOLERANCES:
                    rows(case, tolerance, peers, asked.effort or ["best", "fast"], ratios)
    summary(ratios)


def cases(shared: Path, files: Iterable[Path]) -> list[Case]:
    """The clips of the list in the shared data, of the files given instead, or made motion of the samples."""
    chosen = [case for file in files for case in glb_cases("other", file)]
    sets = shared / "facts" / "reduction" / "sets.txt"
    if not chosen and sets.is_file():
        chosen = list(listed(sets, shared / "data"))
    if not chosen:
        print("The shared data is not here: the sample characters stand in.\n")
        chosen = list(sample_cases([open_rig(path) for path in sorted((ROOT / "samples").glob("*.glb"))]))
    return chosen


def rows(case: Case, tolerance: float, peers: list[Result], efforts: list[str], ratios: dict[tuple[str, str, float], list[float]]) -> None:
    """Prints one clip at one tolerance."""
    rivals: dict[str, int] = {}
    for form, (size, packed) in FORMS.items():
        rival = best([result for result in peers if (result.compressed > 0) == packed], tolerance, size)
        if rival is not None:
            rivals[form] = size(rival)
            row(case, tolerance, f"{form}: {rival.tool} {rival.setting}", size(rival), rival.worst, rival.seconds, None)
    for effort in efforts:
        options = ReductionOptions(tolerance_m=tolerance, feet_tolerance_m=None, effort=effort)  # type: ignore[arg-type]
        start = time.process_time()
        plain = reduce(case.rig, case.clip, options).report
        middle = time.process_time()
        packed_report = compress(case.rig, case.clip, options).report
        end = time.process_time()
        for form, size_, report, seconds in (
            ("plain, with JSON", plain.bytes, plain, middle - start),
            ("plain, accessors", plain.bytes - plain.json_bytes, plain, middle - start),
            ("meshopt", packed_report.bytes, packed_report, end - middle),
        ):
            ratio = size_ / rivals[form] if form in rivals else None
            row(case, tolerance, f"{form}: ours {effort}", size_, report.worst_m, seconds, ratio)
            if ratio is not None:
                ratios.setdefault((form, effort, tolerance), []).append(ratio)


def row(case: Case, tolerance: float, tool: str, size: int, worst: float, seconds: float, ratio: float | None) -> None:
    shown = "" if ratio is None else f"{ratio:.3f}"
    print(f"| {case.label} | {1e3 * tolerance:g} | {tool} | {size} | {1e3 * worst:.4f} | {seconds:.3f} | {shown} |", flush=True)


def summary(ratios: dict[tuple[str, str, float], list[float]]) -> None:
    """Prints the geometric means and the worst clip."""
    if not ratios:
        return
    print("\n| form | effort | tolerance mm | clips | geometric mean | worst clip |\n|---|---|---|---|---|---|")
    for (form, effort, tolerance), values in sorted(ratios.items()):
        mean = float(np.exp(np.mean(np.log(values))))
        print(f"| {form} | {effort} | {1e3 * tolerance:g} | {len(values)} | {mean:.3f} | {max(values):.3f} |")


if __name__ == "__main__":
    main()

"""`make bench`: milliseconds of kinematics, one distillation and each export, with the machine and the sizes."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from akd_sdk.animator import Animator
from akd_sdk.exporters import Clip, export
from akd_sdk.gait import find_contacts, lock_feet, measure
from akd_sdk.kinematics import CurveKinematics, curves_from_motion, skin_points, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.sheet import contact_sheet
from tests.bench.machine import machine

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "quadruped.glb"
FORMATS = ("glb", "usda", "usdc", "bvh")


def timed(work: Callable[[], object], repeats: int) -> list[float]:
    """Milliseconds of each of `repeats` runs, after one that does not count where there are several."""
    if repeats > 1:
        work()
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(1e3 * (time.perf_counter() - start))
    return taken


def row(name: str, size: str, taken: list[float]) -> None:
    print(f"{name:<34}{size:<38}{statistics.median(taken):>10.1f}{min(taken):>10.1f}{len(taken):>6}", flush=True)


def kinematics(rig: Rig, motion: Motion, repeats: int) -> None:
    """Forward kinematics of motions and curves, skinning."""
    size = f"{motion.frames} frames, {rig.skeleton.count} joints"
    row("world of a motion", size, timed(lambda: world_from_motion(rig.skeleton, motion), repeats))
    world = world_from_motion(rig.skeleton, motion)
    points = sum(len(skin.vertices) for skin in rig.skins)
    skinned = timed(lambda: [skin_points(skin, world) for skin in rig.skins], repeats)
    row("skinning", f"{motion.frames} frames, {points} vertices", skinned)
    curves = curves_from_motion(rig, motion)
    turning = CurveKinematics(rig.skeleton, rig.facing)
    angles = torch.tensor(curves.angles, dtype=torch.float32, requires_grad=True)
    root = torch.tensor(curves.root, dtype=torch.float32, requires_grad=True)

    def both_ways() -> None:
        _, positions = turning(angles, root)
        positions.square().sum().backward()  # type: ignore[no-untyped-call]  # torch's own stub

    row("world of curves, with gradients", size, timed(both_ways, repeats))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--file", type=Path, default=SAMPLE, help="a character")
    parser.add_argument("--sentence", default="a trot", help="what it shall do")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(machine())
    print(f"{options.file.name}: {options.sentence!r}, 2 s loop")
    print(f"{'':<34}{'size':<38}{'median ms':>10}{'least ms':>10}{'runs':>6}")
    row("reading", f"{options.file.stat().st_size // 1024} kB", timed(lambda: open_rig(options.file), options.repeats))
    row("loading the prior", "mini", timed(lambda: Animator.open(options.file), options.repeats))
    animator = Animator.open(options.file)
    rig = animator.rig
    made: list[Motion] = []
    taken = timed(lambda: made.append(animator.animate(options.sentence, loop=True)), 1)
    motion = made[0]
    row("animating, all of it", f"{motion.frames} frames", taken)
    for stage in ("distilling", "feet", "measuring"):
        row(f"  {stage}", f"{motion.frames} frames", [1e3 * animator.report.seconds[stage]])
    kinematics(rig, motion, options.repeats)
    row("finding contacts", f"{len(rig.contact_points)} points", timed(lambda: find_contacts(rig, motion), options.repeats))
    contacts = find_contacts(rig, motion)
    row("locking feet", f"{motion.frames} frames", timed(lambda: lock_feet(rig, motion, contacts), options.repeats))
    row("measuring", f"{motion.frames} frames", timed(lambda: measure(rig, motion), options.repeats))
    row("contact sheet", "12 moments, 2 views", timed(lambda: contact_sheet(rig, motion), 1))
    with tempfile.TemporaryDirectory() as folder:
        for suffix in FORMATS:
            path = Path(folder, f"clip.{suffix}")
            taken = timed(partial(export, rig, Clip.from_motion(rig, motion), path, force=True), options.repeats)
            row(f"export to {suffix}", f"{path.stat().st_size // 1024} kB", taken)


if __name__ == "__main__":
    main()

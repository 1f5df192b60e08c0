"""`python -m tests.bench.modes`: coherence, swing and seconds of the modes of distillation on the embedded prior."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from akd_sdk.distill import DistillOptions, distill
from akd_sdk.gait.coherence import TEACHER_SWING
from akd_sdk.kinematics import motion_from_curves, point_paths, world_from_motion
from akd_sdk.priors import Prior, load_prior
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.views.rig_tokens import tokens_of
from tests.bench.machine import machine
from tests.gaits.measure import coherence, fit_cycle

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
CASES = (("quadruped.glb", "walk"), ("quadruped.glb", "trot"), ("quadruped.glb", "gallop"), ("biped.glb", "walk"), ("biped.glb", "run"))


@dataclass(frozen=True)
class Mode:
    """One row of the table."""

    name: str
    options: DistillOptions


MODES = (
    Mode("mas", DistillOptions(loop=True)),
    Mode("annealed", DistillOptions(loop=True, mode="annealed")),
    Mode("random-t", DistillOptions(loop=True, mode="random-t", steps=400)),
    Mode("random-t", DistillOptions(loop=True, mode="random-t", steps=2000)),
    Mode("random-t", DistillOptions(loop=True, mode="random-t")),
)


def feet_forward(rig: Rig, motion_world: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """(frames, limbs) how far each foot is before the root, hip heights, and the limbs' names."""
    tokens = tokens_of(rig)
    joints = np.array([tokens.joints[foot] for foot in tokens.feet.values()])
    offsets = np.array([rig.skeleton.tips[tokens.tips[foot]].offset for foot in tokens.feet.values()])
    feet = point_paths(motion_world, joints, offsets)
    root = motion_world[:, rig.skeleton.pelvis, :3, 3]
    reach = np.linalg.norm(tokens.rest[1] - tokens.rest[0])
    rest = rig.skeleton.rest_world[:, :3, 3]
    metres = np.linalg.norm(rest[tokens.joints[1]] - rest[tokens.joints[0]]) / reach
    return (feet - root[:, None]) @ rig.forward / metres, tuple(tokens.feet)


def measured(rig: Rig, gait: str, options: DistillOptions, seed: int, prior: Prior) -> tuple[float, float, float]:
    """Coherence with the gait, swing over the teacher's, seconds."""
    tokens = tokens_of(rig)
    prompt = prior.parse(gait, tokens.body)
    start = time.perf_counter()
    made = distill(rig, tokens, prior, prompt, options, seed=seed)
    seconds = time.perf_counter() - start
    world = world_from_motion(rig.skeleton, motion_from_curves(rig, made.curves, gait))
    forward, limbs = feet_forward(rig, world)
    cycle = fit_cycle(forward, np.arange(len(forward)) / made.curves.fps)
    return coherence(cycle, gait, limbs), float(np.median(cycle.swings)) / TEACHER_SWING[tokens.body, gait], seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.modes", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds a case")
    parser.add_argument("--most-steps", type=int, default=10_000, help="leave out modes with more steps")
    parser.add_argument("--least-steps", type=int, default=1, help="leave out modes with fewer steps")
    parser.add_argument("--cases", type=int, default=len(CASES), help="how many cases, from the first")
    options = parser.parse_args()
    cases = CASES[: options.cases]
    prior = load_prior("mini")
    assert isinstance(prior, Prior)
    rigs = {name: open_rig(SAMPLES / name) for name in dict.fromkeys(name for name, _ in cases)}
    print(machine())
    told = ", ".join(f"{name.split('.')[0]} {gait}" for name, gait in cases)
    print(f"samples: {told}; seeds: {options.seeds}; 2 s loops, feet not locked")
    print(f"{'mode':<10}{'steps':>7}{'x inner':>9}{'coherence':>11}{'least':>7}{'swing':>7}{'least':>7}{'seconds':>9}", flush=True)
    for mode in MODES:
        settled = mode.options.settled("tracks", prior.frames / prior.fps)
        if not options.least_steps <= (settled.steps or 0) <= options.most_steps:
            continue
        rows = np.array([measured(rigs[name], gait, mode.options, seed, prior) for name, gait in cases for seed in range(options.seeds)])
        mean, least = rows.mean(axis=0), rows.min(axis=0)
        print(
            f"{mode.name:<10}{settled.steps:>7}{settled.inner:>9}{mean[0]:>11.3f}{least[0]:>7.2f}{mean[1]:>7.2f}{least[1]:>7.2f}{mean[2]:>9.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()

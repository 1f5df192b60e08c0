"""One case of the tracking table: a motion made, tracked, written before and after, and both files measured by the tests' own rules."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from akd_sdk.animator import Animator
from akd_sdk.errors import PhysicsError
from akd_sdk.motion import Motion
from akd_sdk.physics import Tracked, TrackOptions, track
from tests.bench.motion_cache import load_motion, save_motion
from tests.gaits.cases import GAITS, SENTENCES, RigCase
from tests.gaits.measure import Measured, Walker
from tests.gaits.run import CLIP, SECONDS, Row

FORCE, TORQUE, SHARE = 0.5, 0.3, 1.0 / 3.0
"""The bound: norms of the help, body weights and body weights times pelvis height, and the share of them that its means stay under."""
ROUNDING = 1e-6
DOWN_LEGS = 0.01
"""Height of its collider, leg lengths, up to which a foot is down."""


@dataclass(frozen=True)
class Helped:
    """Help that a tracking used, from its record over time: means and peaks of the norms, the largest in flights of the motion given, and
    the share of frames in which it was helped although no foot was down."""

    mean: tuple[float, float]
    peak: tuple[float, float]
    flight: float
    aloft: float

    @classmethod
    def of(cls, tracked: Tracked, leg_m: float) -> Helped:
        record = tracked.record
        force, torque = (np.linalg.norm(used, axis=1) for used in (record.force, record.torque))
        flight = float(np.maximum(force, torque)[record.flight].max(initial=0.0))
        aloft = (record.heights > DOWN_LEGS * leg_m).all(axis=1) & (np.maximum(force, torque) > ROUNDING)
        return cls((float(force.mean()), float(torque.mean())), (float(force.max()), float(torque.max())), flight, float(aloft.mean()))

    @property
    def none(self) -> bool:
        return max(self.peak) == 0.0

    @property
    def bounded(self) -> bool:
        pairs = zip(self.peak, self.mean, (FORCE, TORQUE), strict=True)
        return self.flight == 0.0 and all(peak <= bound + ROUNDING and mean <= SHARE * bound + ROUNDING for peak, mean, bound in pairs)


@dataclass(frozen=True)
class Case:
    """What is tracked: a gait of a rig with a seed, or a clip of its file (seed -1)."""

    rig: RigCase
    gait: str
    seed: int
    clip: str = ""

    @property
    def motion(self) -> str:
        """The gait, or the clip without the name of its armature."""
        return self.clip.split("|")[-1] or self.gait

    @property
    def label(self) -> str:
        return f"{self.rig.name} {self.motion}" + ("" if self.clip else f" {self.seed}")


@dataclass(frozen=True)
class TrackRow:
    """One case: measures of the file before tracking and after (None: it could not be tracked, `fault` says why), help, CPU seconds."""

    case: Case
    before: Row
    after: Row | None
    helped: Helped | None
    alone_s: float | None
    clip_s: float
    tracked_s: float
    seconds: float
    fault: str = ""

    @property
    def stays_up(self) -> bool:
        return self.helped is not None and self.helped.bounded

    @property
    def jitter(self) -> float:
        """Jitter after over that before."""
        return _raw_jitter(self.after.measured) / _raw_jitter(self.before.measured) if self.after else float("nan")

    def line(self) -> str:
        first = f"{self.case.rig.name:10s} {self.case.motion:14s} {self.case.seed:4d}"
        if self.after is None or self.helped is None:
            return f"{first}  not tracked: {self.fault} ({self.seconds:.1f} s)"
        (force, torque), (most, turning) = self.helped.mean, self.helped.peak
        before, after = self.before, self.after
        skates = before.measured.skate_mm, after.measured.skate_mm
        sinks = before.measured.penetration_percent, after.measured.penetration_percent
        alone = "  -  " if self.alone_s is None else f"{self.alone_s:5.2f}"
        help_used = f"{force:6.3f} {torque:6.3f} {most:6.3f} {turning:6.3f}"
        feet = f"{skates[0]:6.1f} {skates[1]:6.1f} {sinks[0]:6.2f} {sinks[1]:6.2f} {self.jitter:6.2f}"
        gait = f"{before.own:6.3f} {after.own:6.3f} {before.duty:6.2f} {after.duty:6.2f}"
        return f"{first} {alone} {help_used} {feet} {gait} {self.seconds:6.1f}"


HEADER = (
    f"{'':30s} {'alone':5s} {'mean help':>13s} {'peak help':>13s} {'skate mm':>13s} {'worst pen. %':>13s} jitter {'coherence':>13s} "
    f"{'duty':>13s}    CPU\n"
    f"{'rig':10s} {'motion':14s} seed     s     BW    BWh     BW    BWh before  after before  after  ratio "
    "before  after before  after      s"
)


def _raw_jitter(measured: Measured) -> float:
    """Without the division by swing and frequency, which tracking changes too."""
    return measured.jitter * measured.swing * measured.frequency**3


def gait_cases(rigs: list[RigCase], seeds: list[int]) -> list[Case]:
    return [Case(rig, gait, seed) for rig in rigs for gait in GAITS[rig.body] if gait != "pace" for seed in seeds]


def motion_of(case: Case, animator: Animator, cache: Path | None) -> Motion:
    """The motion of a case, feet locked."""
    if case.clip:
        (clip,) = (motion for motion in animator.rig.clips if motion.name == case.clip)
        return animator.lock_feet(clip)
    path = None if cache is None else cache / f"{case.rig.name}-{case.gait}-{case.seed}.npz"
    if path is not None and path.is_file():
        return load_motion(path)
    motion = animator.animate(SENTENCES[case.rig.body][case.gait], seconds=SECONDS, loop=True, name=CLIP)
    if path is not None:
        save_motion(motion, path)
    return motion


def row_of(
    case: Case, options: TrackOptions, cache: Path | None = None, seen: Callable[[Animator, Motion, Motion], object] | None = None
) -> TrackRow:
    """Make and track one case; `seen` is shown both motions where it could be tracked."""
    animator = Animator.open(case.rig.path, seed=max(case.seed, 0))
    motion = motion_of(case, animator, cache).with_(name=CLIP)
    with tempfile.TemporaryDirectory() as folder:
        before = _measured(case, animator, motion, Path(folder, "before.glb"))
        taken: list[float] = []
        try:
            tracked = _timed(lambda: track(animator.rig, motion, options), taken)
        except PhysicsError as fault:
            return TrackRow(case, before, None, None, None, motion.duration, 0.0, taken[0], str(fault))
        after = _measured(case, animator, tracked.motion, Path(folder, "after.glb"))
    if seen is not None:
        seen(animator, motion, tracked.motion)
    long = max(tracked.cycles, 1) * motion.duration
    return TrackRow(case, before, after, Helped.of(tracked, animator.rig.leg_length), tracked.alone_s, motion.duration, long, taken[0])


def _timed(work: Callable[[], Tracked], taken: list[float]) -> Tracked:
    """The result; CPU seconds go to `taken`, also where it fails."""
    start = time.process_time()
    try:
        return work()
    finally:
        taken.append(time.process_time() - start)


def _measured(case: Case, animator: Animator, motion: Motion, path: Path) -> Row:
    animator.export(motion, path)
    measured = Walker(case.rig, path).measure(CLIP)
    return Row(case.rig.name, case.rig.body, case.gait, case.seed, measured, 0.0)


def quietly(arguments: tuple[Case, TrackOptions, Path | None, Path | None]) -> TrackRow:
    """`row_of` for a pool, with a contact sheet in the last folder; one thread a process."""
    torch.set_num_threads(1)
    case, options, cache, sheets = arguments

    def draw(animator: Animator, before: Motion, after: Motion) -> None:
        if sheets is not None:
            animator.sheet(after, sheets / f"{case.label.replace(' ', '-')}.png", before=before, force=True)

    return row_of(case, options, cache, draw)

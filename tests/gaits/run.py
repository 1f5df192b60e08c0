"""Making and measuring the cases of the acceptance table."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from akd_sdk.animator import Animator
from akd_sdk.gait.coherence import DUTY_LINE, TEACHER_JITTER, TEACHER_SWING
from akd_sdk.priors.mini.model import MiniModel
from akd_sdk.priors.mini.prior import save_model
from tests.support.engine_probes import installed_engines, new_errors

from .cases import GAITS, SENTENCES, RigCase
from .measure import Measured, Walker

SECONDS = 2.0
SWAPPED = {
    "quadruped": {"walk": "trot", "trot": "pace", "pace": "gallop", "gallop": "walk"},
    "biped": {"walk": "run", "run": "walk"},
}
"""The control: for each gait that is measured, the one that is said."""
CONTROL_RIGS = ("quadruped", "biped", "Fox", "CesiumMan")
NO_GAIT = 0.5
"""Coherence that untrained weights stay under with every gait."""


def untrained_weights(path: Path) -> Path:
    """A weight file of the package's shape with nothing learnt: the layers that start at zero are random too."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        model = MiniModel()
        torch.nn.init.normal_(model.track_out.weight, std=0.3)
        torch.nn.init.normal_(model.modulation.weight, std=0.02)
    save_model(model.state_dict(), model.config, path, {})
    return path


@dataclass(frozen=True)
class Row:
    """One case: rig, gait, seed, what was measured, and errors of the Khronos validator that are new (None: Node is not here)."""

    rig: str
    body: str
    gait: str
    seed: int
    measured: Measured
    seconds: float
    errors: int | None = None

    @property
    def own(self) -> float:
        return self.measured.coherence[self.gait]

    @property
    def other(self) -> float:
        """Highest coherence with another gait; gaits of bipeds have the same phases."""
        others = [v for g, v in self.measured.coherence.items() if g != self.gait]
        return max(others) if self.body == "quadruped" else 0.0

    @property
    def swing(self) -> float:
        return self.measured.swing / TEACHER_SWING[self.body, self.gait]

    @property
    def duty(self) -> float:
        return float(np.clip(DUTY_LINE[0] * self.measured.backward + DUTY_LINE[1], 0.0, 1.0))

    @property
    def jitter(self) -> float:
        return self.measured.jitter / TEACHER_JITTER[self.body, self.gait]

    @property
    def duty_fits(self) -> bool:
        """Walks are on the ground for more than half of the stride, runs and gallops for less; trots and paces lie between."""
        if self.gait == "walk":
            return self.duty > 0.5
        return self.duty < 0.5 if self.gait in ("run", "gallop") else True

    @property
    def is_asked_gait(self) -> bool:
        """By phases, or by duty where both gaits of a body have the same phases."""
        phased = self.own >= 0.9 and self.own > self.other
        return phased if self.body == "quadruped" else phased and self.duty_fits

    def line(self) -> str:
        m = self.measured
        return (
            f"{self.rig:10s} {self.gait:7s} {self.seed:4d} {self.own:6.3f} {self.other:6.2f} {m.frequency:6.2f} {self.swing:6.2f} "
            f"{self.duty:6.2f} {m.contact_duty:6.2f} {m.planted_share:7.2f} {m.skate_mm:6.2f} {m.penetration_percent:6.2f} "
            f"{self.jitter:6.2f} {self.seconds:6.1f}"
        )


HEADER = (
    "rig        gait    seed    coh  other     Hz  swing   duty contact planted  skate   pen%  jitter  sec"
)


CLIP = "made by the test"


def write(
    case: RigCase, gait: str, seed: int, path: Path, weights: Path | None = None, sentence: str | None = None, loop: bool = True
) -> float:
    """Make one case and write its GLB; the seconds that it took."""
    start = time.perf_counter()
    animator = Animator.open(case.path, seed=seed, weights=weights)
    motion = animator.animate(sentence or SENTENCES[case.body][gait], seconds=SECONDS, loop=loop, name=CLIP)
    animator.export(motion, path)
    return time.perf_counter() - start


def animate(
    case: RigCase, gait: str, seed: int, weights: Path | None = None, sentence: str | None = None, loop: bool = True
) -> tuple[Measured, float]:
    """Make one case and measure its GLB."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.glb"
        seconds = write(case, gait, seed, path, weights, sentence, loop)
        return Walker(case, path).measure(CLIP), seconds


def run(case: RigCase, gait: str, seed: int, weights: Path | None = None, sentence: str | None = None) -> Row:
    """Make one case, measure it as the gait (`sentence` may say another) and let the Khronos validator look at it."""
    try:
        engines = installed_engines()
    except FileNotFoundError:
        engines = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.glb"
        seconds = write(case, gait, seed, path, weights, sentence)
        errors = None if engines is None else new_errors(engines, case.path, path)
        return Row(case.name, case.body, gait, seed, Walker(case, path).measure(CLIP), seconds, errors)


def quietly(arguments: tuple[RigCase, str, int]) -> Row:
    """`run` for a pool: one thread a process."""
    torch.set_num_threads(1)
    return run(*arguments)


def cases(rigs: Sequence[RigCase], seeds: Sequence[int]) -> list[tuple[RigCase, str, int]]:
    return [(rig, gait, seed) for rig in rigs for gait in GAITS[rig.body] for seed in seeds]


@dataclass(frozen=True)
class Mark:
    """One line of the acceptance table: the share of rows that must pass, that of those that do, and how many rows it is about."""

    text: str
    wanted: float
    share: float
    count: int
    misses: tuple[str, ...]

    @property
    def met(self) -> bool:
        return self.share >= self.wanted

    def line(self) -> str:
        if not self.count:
            return f"none {'':27s}{self.text}"
        return f"{'met ' if self.met else 'MISS'} {self.share:6.1%} of {self.count:3d} (wanted {self.wanted:4.0%})  {self.text}" + (
            "" if not self.misses else f"  [{', '.join(self.misses)}]"
        )


def _mark(text: str, wanted: float, rows: Sequence[Row], passes: Sequence[bool]) -> Mark:
    misses = tuple(f"{r.rig} {r.gait} {r.seed}" for r, ok in zip(rows, passes) if not ok)
    return Mark(text, wanted, float(np.mean(passes)) if rows else 1.0, len(rows), misses)


def marks(rows: Sequence[Row]) -> list[Mark]:
    """The acceptance table of a run."""
    timed = [r for r in rows if r.gait in ("walk", "run", "gallop")]  # trots and paces may have either duty
    toes = [r for r in timed if r.rig == "Knight"]
    others = [r for r in timed if r.rig != "Knight"]
    return [
        _mark("coherence with the asked gait >= 0.95", 0.9, rows, [r.own >= 0.95 for r in rows]),
        _mark("coherence with the asked gait >= 0.9", 1.0, rows, [r.own >= 0.9 for r in rows]),
        _mark("the asked gait is the highest of the four", 1.0, rows, [r.own > r.other for r in rows]),
        _mark("swing over the teacher's mean >= 0.8", 0.95, rows, [r.swing >= 0.8 for r in rows]),
        _mark("duty: walk > 0.5, run and gallop < 0.5 (without Knight)", 0.95, others, [r.duty_fits for r in others]),
        _mark("duty of Knight", 4 / 6, toes, [r.duty_fits for r in toes]),
        _mark("planted share of feet >= duty - 0.1", 1.0, rows, [r.measured.contact_duty >= r.duty - 0.1 for r in rows]),
        _mark("skate <= 3 mm per 1/30 s", 0.9, rows, [r.measured.skate_mm <= 3.0 for r in rows]),
        _mark("worst penetration <= 1 % of the leg", 0.95, rows, [r.measured.penetration_percent <= 1.0 for r in rows]),
        _mark(
            "jitter over the teacher's: walks <= 2, others <= 1.3",
            0.9,
            rows,
            [r.jitter <= (2.0 if r.gait == "walk" else 1.3) for r in rows],
        ),
        _mark("seconds from character to file <= 20", 1.0, rows, [r.seconds <= 20.0 for r in rows]),
        *_validated([r for r in rows if r.errors is not None]),
    ]


def _validated(rows: Sequence[Row]) -> list[Mark]:
    """The mark of the Khronos validator, none where it was not there."""
    return [_mark("the Khronos validator finds no new error", 1.0, rows, [r.errors == 0 for r in rows])] if rows else []


def untrained_mark(rows: Sequence[Row]) -> Mark:
    """The control with untrained weights."""
    return _mark("control: untrained weights make no gait", 1.0, rows, [max(r.measured.coherence.values()) < NO_GAIT for r in rows])


def swapped_mark(rows: Sequence[Row]) -> Mark:
    """The control with another gait said than is measured."""
    return _mark("control: another gait said fails the asked test", 0.9, rows, [not r.is_asked_gait for r in rows])

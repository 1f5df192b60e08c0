"""The teacher's own figures, by which clips are judged: run `python -m akd_sdk.training.reference` to print them.

They stand as constants in akd_sdk.gait.coherence.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final

import numpy as np

from akd_sdk.gait.coherence import Cycle, analyse, coherences
from akd_sdk.priors.mini.vocabulary import ACTIONS, CYCLIC
from akd_sdk.training.clip import ClipWish, TeacherClip, draw_any

RATE: Final = 30.0
"""Frames a second at which the jitter of other clips is measured."""

CLIPS: Final = 60
SEED: Final = 11


@dataclass(frozen=True)
class Reference:
    """Figures of one body and gait, over clips without a style word.

    Attributes:
        kind, gait: body and canonical word.
        own: worst coherence with the gait itself.
        foreign: highest coherence with another gait of the body.
        swing: mean of the median peak to peak, hip heights.
        backward: (clips,) share of the cycle in which the feet move backwards.
        duty: (clips,) the drawn duty.
        jitter: median of jitter / (median swing x stride frequency cubed), no unit.
    """

    kind: str
    gait: str
    own: float
    foreign: float
    swing: float
    backward: tuple[float, ...]
    duty: tuple[float, ...]
    jitter: float


def relative_jitter(positions: np.ndarray, fps: float, cycle: Cycle) -> float:
    """Root mean square third difference of (frames, joints, 3) positions over swing and cubed stride frequency."""
    third = np.diff(positions, n=3, axis=0) * fps**3
    return float(np.sqrt((third**2).sum(-1).mean()) / (cycle.swing * cycle.frequency**3))


def gait_reference(kind: str, gait: str, count: int = CLIPS, seed: int = SEED) -> Reference:
    """Figures of `count` clips of random bodies, sampled at RATE over two seconds."""
    rng = np.random.default_rng([seed, ACTIONS[kind].index(gait)])
    wish = ClipWish(action=gait, frames=round(2 * RATE), fps=RATE)
    clips: list[TeacherClip] = [draw_any(rng, kind, wish) for _ in range(count)]
    cycles = [analyse(clip.positions, clip.tokens.feet, RATE) for clip in clips]
    own = [coherences(cycle) for cycle in cycles]
    return Reference(
        kind=kind,
        gait=gait,
        own=min(found[gait] for found in own),
        foreign=max(value for found in own for name, value in found.items() if name != gait),
        swing=float(np.mean([cycle.swing for cycle in cycles])),
        backward=tuple(cycle.backward for cycle in cycles),
        duty=tuple(clip.stride.duty for clip in clips if clip.stride is not None),
        jitter=float(np.median([relative_jitter(clip.positions, RATE, cycle) for clip, cycle in zip(clips, cycles)])),
    )


def duty_line(references: list[Reference]) -> tuple[float, float]:
    """Slope and offset of duty over the backward share, least squares over the walks and runs of all bodies."""
    chosen = [r for r in references if r.gait in ("walk", "run")]
    backward = np.concatenate([r.backward for r in chosen])
    duty = np.concatenate([r.duty for r in chosen])
    slope, offset = np.polyfit(backward, duty, 1)
    return float(slope), float(offset)


def main() -> None:
    """Print the table."""
    references = [gait_reference(kind, gait) for kind, actions in ACTIONS.items() for gait in actions if gait in CYCLIC]
    for r in references:
        sys.stdout.write(
            f"{r.kind:9s} {r.gait:6s} own >= {r.own:.3f}  foreign <= {r.foreign:.2f}  swing {r.swing:.3f}  "
            f"backward {np.mean(r.backward):.3f}  duty {np.mean(r.duty):.3f}  jitter {r.jitter:.0f}\n"
        )
    slope, offset = duty_line(references)
    sys.stdout.write(f"duty = {slope:.2f} backward {offset:+.2f}\n")


if __name__ == "__main__":
    main()

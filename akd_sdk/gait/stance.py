"""Stance: when each foot of a gait carries, from the cycle fitted to its path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.gait.coherence import FREQUENCIES, Cycle, analyse_feet, coherences
from akd_sdk.gait.feet import Foot, foot_forward, rest_hip_height
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

CYCLE_SHARE = 0.6
"""Share of the feet's movement that their cycle must explain for the motion to be a gait (median over feet)."""
CYCLE_SWING = 0.12
"""Least peak to peak of the cycle, hip heights (median over feet)."""
STANCE_SWING = 1.0
"""Most of its peak to peak that a foot passes in stance."""
GAIT_COHERENCE = 0.6
"""Least coherence with some gait of a motion that walks: artists' gaits have 0.7 and more, their deaths and attacks less than 0.6."""
_FINE = 360


@dataclass(frozen=True)
class Stance:
    """The stance of a gait's feet: `cycle` as fitted, lengths in hip heights; `strides` (frames,) made since the first frame;
    `centres` (feet,) phases, in strides, of the middle of each foot's stance."""

    cycle: Cycle
    strides: Array
    centres: Array

    def carries(self, stride: float = 0.0) -> Bools:
        """Whether each foot is in its stance, (frames, feet), for a body that travels `stride` hip heights in a stride.

        A foot of short swing cannot stay as long as the others: its stance ends where its path does.
        """
        duty = np.minimum(self.cycle.duty, STANCE_SWING * self.cycle.swings / max(stride, 1e-9))
        if len(self.strides) > 1:  # frames at touch-down and lift-off are counted in: half standing, they would slide
            duty = duty + (self.strides[1] - self.strides[0])
        away = np.abs((self.strides[:, None] - self.centres + 0.5) % 1.0 - 0.5)
        return np.asarray(away <= 0.5 * duty)


def is_made(motion: Motion) -> bool:
    """Whether the SDK made the motion from a prompt (its provenance says so)."""
    return "prompt" in motion.provenance


def unique_frames(motion: Motion) -> int:
    """Frames before a loop repeats its first pose; all of a motion that does not loop."""
    return motion.frames - 1 if motion.loop and motion.frames > 3 else motion.frames


def fit_cycle(rig: Rig, motion: Motion, world: Array, feet: tuple[Foot, ...]) -> Cycle | None:
    """The cycle of the feet (lengths in hip heights), None where they follow none.

    world: (frames, joints, 4, 4), metres, of the motion in place.
    """
    count = unique_frames(motion)
    hip = rest_hip_height(rig)
    if not feet or count < 8 or hip <= 0.0:
        return None
    frequencies = FREQUENCIES
    if motion.loop:  # a loop holds whole strides
        whole = np.arange(1, int(FREQUENCIES[-1] * motion.duration) + 1) / motion.duration
        frequencies = whole[whole >= FREQUENCIES[0]]
    else:  # less than two thirds of a stride fits anything
        frequencies = frequencies[frequencies * motion.duration > 0.66]
    if not len(frequencies):
        return None
    forward = foot_forward(rig, world[:count], feet) / hip
    cycle = analyse_feet(tuple(foot.limb for foot in feet), forward, motion.fps, frequencies)
    return cycle if np.median(cycle.shares) >= CYCLE_SHARE and cycle.swing >= CYCLE_SWING else None


def stance_by_cycle(rig: Rig, motion: Motion, world: Array, feet: tuple[Foot, ...]) -> Stance | None:
    """Each foot's stance: centred where it moves backward in its fitted cycle, as long as the gait's duty. None where there is no gait.

    world: (frames, joints, 4, 4), metres, of the motion in place.
    """
    cycle = fit_cycle(rig, motion, world, feet)
    if cycle is None or max(coherences(cycle).values()) < GAIT_COHERENCE:
        return None
    strides = motion.times * cycle.frequency
    forward = foot_forward(rig, world, feet)
    count = unique_frames(motion)
    centres = np.array([_backward_centre(forward[:count, f], strides[:count]) for f in range(len(feet))])
    return Stance(cycle, strides, centres)


def _backward_centre(forward: Array, strides: Array) -> float:
    """Phase, in strides, of the middle between a foot's foremost and hindmost point in its two-harmonic cycle."""
    columns = [np.ones_like(strides), strides - strides.mean()]
    columns += [wave(2 * np.pi * k * strides) for k in (1, 2) for wave in (np.cos, np.sin)]
    weights = np.linalg.lstsq(np.stack(columns, 1), forward, rcond=None)[0][2:]
    fine = np.arange(_FINE) / _FINE
    path = np.stack([wave(2 * np.pi * k * fine) for k in (1, 2) for wave in (np.cos, np.sin)], 1) @ weights
    foremost, hindmost = fine[int(path.argmax())], fine[int(path.argmin())]
    return float((foremost + 0.5 * ((hindmost - foremost) % 1.0)) % 1.0)

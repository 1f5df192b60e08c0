"""How near joint curves came to a known motion: measures of positions only, since twist is not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from akd_sdk.kinematics import point_paths, world_from_curves
from akd_sdk.motion import JointCurves
from akd_sdk.rig import Rig
from akd_sdk.views.rig_tokens import tokens_of
from tests.gaits.measure import coherence, fit_cycle
from tests.support.oracle import KnownMotion

SHORTEST_BONE = 0.02
"""Heights of the character; shorter bones have no direction that could be seen."""


@dataclass(frozen=True)
class Score:
    """Of joint curves against the known ones.

    Attributes:
        coherence: with the gait.
        known_coherence: of the known motion itself.
        bones_deg: error of the direction of bones, mean over bones and frames.
        worst_deg: of the worst bone, mean over frames.
        root_percent: largest distance of the root's path from the known one, of the path's length.
        travel_percent: how far it came forwards, of how far it should have.
        jitter: rms third difference of positions over that of the known motion.
    """

    coherence: float
    known_coherence: float
    bones_deg: float
    worst_deg: float
    root_percent: float
    travel_percent: float
    jitter: float


def score(rig: Rig, known: KnownMotion, made: JointCurves, gait: str = "walk") -> Score:
    wanted = known.at(np.arange(len(made.angles)) / made.fps)
    worlds = [world_from_curves(rig, JointCurves(c.angles, c.root, made.fps, False)) for c in (wanted, made)]
    points = [_token_paths(rig, world) for world in worlds]
    errors = _directions(rig, *points)
    roots = [world[:, rig.skeleton.pelvis, :3, 3] - world[0, rig.skeleton.pelvis, :3, 3] for world in worlds]
    length = float(np.linalg.norm(np.diff(roots[0][:, [0, 2]], axis=0), axis=1).sum())
    ahead = [float(root[-1] @ rig.forward) for root in roots]
    found = [_coherence(rig, path, made.fps, gait) for path in points]
    return Score(
        coherence=found[1],
        known_coherence=found[0],
        bones_deg=float(errors.mean()),
        worst_deg=float(errors.max()),
        root_percent=100.0 * float(np.linalg.norm(roots[1] - roots[0], axis=1).max()) / length,
        travel_percent=100.0 * ahead[1] / ahead[0],
        jitter=_jitter(points[1]) / _jitter(points[0]),
    )


def _token_paths(rig: Rig, world: np.ndarray) -> np.ndarray:
    """(frames, tokens, 3) metres."""
    tokens = tokens_of(rig)
    offsets = np.array([rig.skeleton.tips[t].offset if t >= 0 else np.zeros(3) for t in tokens.tips])
    return point_paths(world, tokens.joints, offsets)


def _directions(rig: Rig, wanted: np.ndarray, made: np.ndarray) -> np.ndarray:
    """(bones,) degrees, mean over frames."""
    parents = tokens_of(rig).parents
    hung = np.flatnonzero(parents >= 0)
    bones = [path[:, hung] - path[:, parents[hung]] for path in (wanted, made)]
    lengths = [np.linalg.norm(b, axis=-1) for b in bones]
    seen = lengths[0].min(axis=0) > SHORTEST_BONE * rig.height
    cosines = np.einsum("fbi,fbi->fb", *bones) / np.maximum(lengths[0] * lengths[1], 1e-12)
    return np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0))).mean(axis=0)[seen]


def _coherence(rig: Rig, path: np.ndarray, fps: float, gait: str) -> float:
    tokens = tokens_of(rig)
    feet = path[:, list(tokens.feet.values())] - path[:, :1]
    metres = rig.leg_length
    cycle = fit_cycle(feet @ rig.forward / metres, np.arange(len(path)) / fps)
    return coherence(cycle, gait, tuple(tokens.feet))


def _jitter(path: np.ndarray) -> float:
    return float(np.sqrt(np.square(np.diff(path, 3, axis=0)).sum(axis=-1).mean()))

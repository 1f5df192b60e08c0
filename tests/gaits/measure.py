"""Measures of a walked clip, taken from its GLB alone by the tests' own rules (vertices of the soles, not the SDK's contact points)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .cases import RigCase
from .glb_player import GlbPlayer, skin_vertices

FPS = 30.0
HUMAN_M = 1.7
SOLE_BAND = 0.03
"""Vertices of a foot within this share of the leg above its lowest one make the sole; its foremost is the toe, its rearmost the heel."""
FREQUENCIES = np.arange(0.4, 3.7, 0.02)
REFERENCE_SWING = {"walk": 0.60, "trot": 0.65, "pace": 0.65, "gallop": 0.80, "run": 0.75}
PHASES = {
    "walk": {"LH": 0.0, "LF": 0.25, "RH": 0.5, "RF": 0.75},
    "trot": {"LH": 0.0, "RF": 0.0, "RH": 0.5, "LF": 0.5},
    "pace": {"LH": 0.0, "LF": 0.0, "RH": 0.5, "RF": 0.5},
}


@dataclass(frozen=True)
class Measured:
    """What was measured of one clip; lengths in hip heights unless said."""

    coherence: dict[str, float]
    frequency: float
    swing: float
    backward: float
    contact_duty: float
    planted_share: float
    skate_mm: float
    penetration_percent: float
    jitter: float
    airborne_s: float
    foot_range_mm: float
    root_range_mm: float


class Walker:
    """A GLB with the places where its feet touch the ground."""

    def __init__(self, case: RigCase, path: Path) -> None:
        self.case, self.player = case, GlbPlayer(path)
        names, rest = self.player.names, self.player.world(None, np.zeros(1))
        self.parts = self.player.skinned()
        self.soles = {limb: self._sole(nodes, rest) for limb, nodes in case.legs.items()}
        hips = [limb for limb in case.legs if limb.endswith("H")]
        ground = min(self._points(limb, rest)[0, :, 1].min() for limb in case.legs)
        self.hip_height = float(np.mean([rest[0, names[case.legs[limb][0]], 1, 3] for limb in hips]) - ground)
        self.leg = float(np.mean([self._path_length(limb, rest) for limb in hips]))
        joints = np.array([names[n] for n in case.anatomy])
        self.human = HUMAN_M / float(np.ptp(rest[0, joints, :3, 3], axis=0).max())
        self.joints = joints

    def _sole(self, nodes: tuple[str, ...], rest: np.ndarray) -> list[tuple[int, int]]:
        """Heel and toe as (primitive, vertex)."""
        feet = [self.player.names[n] for n in nodes[-2:] if n in self.player.names]
        found = []
        for p, part in enumerate(self.parts):
            _, joints, weights, _ = part
            strongest = joints[np.arange(len(joints)), weights.argmax(axis=1)]
            rows = np.flatnonzero(np.isin(strongest, feet))
            if len(rows):
                found += [(p, int(r), *point) for r, point in zip(rows, skin_vertices(part, rows, rest)[0])]
        low = min(f[3] for f in found)
        band = SOLE_BAND * (rest[0, self.player.names[nodes[0]], 1, 3] - low)
        sole = [f for f in found if f[3] <= low + band]
        return [min(sole, key=lambda f: f[4])[:2], max(sole, key=lambda f: f[4])[:2]]

    def _points(self, limb: str, world: np.ndarray) -> np.ndarray:
        """(frames, heel and toe, 3)."""
        paths = [skin_vertices(self.parts[p], np.array([v]), world) for p, v in self.soles[limb]]
        return np.concatenate(paths, axis=1)

    def _path_length(self, limb: str, rest: np.ndarray) -> float:
        points = [rest[0, self.player.names[n], :3, 3] for n in self.case.legs[limb]]
        points.append(self._points(limb, rest)[0].mean(axis=0))
        return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())

    def measure(self, animation: str) -> Measured:
        duration = self.player.duration(animation)
        times = np.arange(round(duration * FPS) + 1) / FPS
        world = self.player.world(animation, times)
        points = np.stack([self._points(limb, world) for limb in self.case.legs], axis=1)
        root = world[:, self.player.names[self.case.pelvis], :3, 3]
        forward = (points[:, :, 1, 2] - root[:, None, 2]) / self.hip_height
        cycle = fit_cycle(forward, times)
        limbs = tuple(self.case.legs)
        planted, moved = self._planted(points, root)
        pairs = planted[:-1] & planted[1:]
        spread = np.ptp(points.reshape(len(points), -1, 3), axis=0).max() * self.human * 1e3
        low = points[..., 1].min(axis=(1, 2))
        gaits = ("walk", "trot", "pace", "gallop") if len(limbs) > 2 else ("walk", "run")
        foot = planted.any(axis=2)
        return Measured(
            coherence={g: coherence(cycle, g, limbs) for g in gaits},
            frequency=cycle.frequency,
            swing=float(np.median(cycle.swings)),
            backward=cycle.backward,
            contact_duty=float(foot.mean()),
            planted_share=float(planted.mean()),
            skate_mm=float(moved[pairs].mean() * self.human * 1e3) if pairs.any() else float("nan"),
            penetration_percent=float(max(0.0, -low.min()) / self.leg * 100),
            jitter=self._jitter(world, cycle),
            airborne_s=longest(low > 0.02 * self.leg) / FPS,
            foot_range_mm=float(spread),
            root_range_mm=float(np.ptp(root, axis=0).max() * self.human * 1e3),
        )

    def _planted(self, points: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rule for contacts of a file's motion, ground at 0: (frames, limbs, points) planted, and (frames - 1, ...) horizontal moves.

        A point's speed is the lower of those before and after the frame: a foot that stands has come to rest on one side at its first
        and its last frame. Skate is what a point moves between two frames in both of which it is planted.
        """
        moved = np.linalg.norm(np.diff(points[..., [0, 2]], axis=0), axis=-1)
        ends = np.concatenate([moved[:1], moved, moved[-1:]])
        speed = np.minimum(ends[:-1], ends[1:]) * FPS
        belt = np.linalg.norm(root[-1, [0, 2]] - root[0, [0, 2]]) / ((len(root) - 1) / FPS)
        slow = max(0.3 * self.leg, 0.35 * belt)
        height = points[..., 1]
        start = (height < 0.02 * self.leg) & (speed < slow)
        keep = (height < 0.04 * self.leg) & (speed < 2 * slow)
        planted = np.zeros_like(start)
        state = np.zeros(start.shape[1:], bool)
        for _ in range(2):
            for i in range(len(start)):
                state = start[i] | (state & keep[i])
                planted[i] = state
        for limb in range(planted.shape[1]):
            for point in range(planted.shape[2]):
                drop_short(planted[:, limb, point], 0.07 * FPS)
        return planted, moved

    def _jitter(self, world: np.ndarray, cycle: Cycle) -> float:
        third = np.diff(world[:, self.joints][..., :3, 3], 3, axis=0) * FPS**3
        rms = np.sqrt((third**2).sum(axis=-1).mean())
        return float(rms / (np.median(cycle.swings) * self.hip_height * cycle.frequency**3))


@dataclass(frozen=True)
class Cycle:
    frequency: float
    phases: np.ndarray
    shares: np.ndarray
    swings: np.ndarray
    backward: float


def columns(frequency: float, times: np.ndarray, harmonics: int) -> np.ndarray:
    waves = [f(2 * np.pi * frequency * k * times) for k in range(1, harmonics + 1) for f in (np.cos, np.sin)]
    return np.stack([np.ones_like(times), times - times.mean(), *waves], axis=1)


def fit_cycle(forward: np.ndarray, times: np.ndarray) -> Cycle:
    """Stride frequency by one harmonic and a trend, then two harmonics at it."""
    residuals = []
    for f in FREQUENCIES:
        a = columns(f, times, 1)
        residuals.append(((forward - a @ np.linalg.lstsq(a, forward, rcond=None)[0]) ** 2).sum())
    f = float(FREQUENCIES[int(np.argmin(residuals))])
    a = columns(f, times, 2)
    c = np.linalg.lstsq(a, forward, rcond=None)[0]
    variance = ((forward - forward.mean(axis=0)) ** 2).sum(axis=0) + 1e-12
    shares = np.clip(1 - ((forward - a @ c) ** 2).sum(axis=0) / variance, 0, 1)
    fine = np.linspace(0, 1 / f, 240, endpoint=False)
    cycle = columns(f, fine, 2)[:, 2:] @ c[2:]
    backward = float((np.roll(cycle, -1, axis=0) < cycle).mean())
    return Cycle(f, np.arctan2(-c[3], c[2]), shares, np.ptp(cycle, axis=0), backward)


def templates(gait: str, limbs: tuple[str, ...]) -> list[dict[str, float]]:
    if len(limbs) == 2:
        return [{"LH": 0.0, "RH": 0.5}]
    if gait != "gallop":
        return [PHASES[gait]]
    pairs = ((0.0, 0.13), (0.13, 0.0))
    return [{"LH": a, "RH": b, "LF": 0.48 + c, "RF": 0.48 + d} for a, b in pairs for c, d in pairs]


def coherence(cycle: Cycle, gait: str, limbs: tuple[str, ...]) -> float:
    strength = cycle.shares * np.minimum(1, cycle.swings / (0.25 * REFERENCE_SWING[gait]))
    return max(
        float(abs((strength * np.exp(1j * (cycle.phases + 2 * np.pi * np.array([t[limb] for limb in limbs])))).mean()))
        for t in templates(gait, limbs)
    )


def longest(mask: np.ndarray) -> int:
    best = run = 0
    for value in mask:
        run = run + 1 if value else 0
        best = max(best, run)
    return best


def drop_short(mask: np.ndarray, shortest: float) -> None:
    """Take out stretches of True shorter than `shortest` frames; the ends of a clip may be cut stretches and stay."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    for a, b in zip(edges[::2], edges[1::2]):
        if b - a < shortest and a > 0 and b < len(mask):
            mask[a:b] = False

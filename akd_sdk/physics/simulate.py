"""Simulation of a plant that follows a reference: help only where a foot should stand, and what came of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.coordinates import ROOT
from akd_sdk.errors import PhysicsError
from akd_sdk.physics import engine
from akd_sdk.physics.plant import Plant
from akd_sdk.physics.reference import Reference
from akd_sdk.physics.touch import Soles
from akd_sdk.physics.warp_steps import WarpSteps

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Run:
    """States of a simulation.

    Attributes:
        values, rates: (steps + 1, coordinates); fewer where it fell.
        force, torque: (steps, 3) help used, body weights and body weights times pelvis height.
        caps: (force, torque) per axis that were allowed.
    """

    values: Array
    rates: Array
    force: Array
    torque: Array
    caps: tuple[float, float]


class Simulation:
    """Runs a plant along a reference."""

    def __init__(self, plant: Plant, reference: Reference, efforts: Array, device: str = "cpu") -> None:
        """efforts: (steps + 1, coordinates) torques that the course is known to ask for, added to what the drives give.

        device: of `TrackOptions`. Raises BackendError: it is not here.
        """
        self.plant, self.reference = plant, reference
        self._mujoco = engine.mujoco()
        self._data: list[Any] = [self._mujoco.MjData(plant.model) for _ in range(_cores())]
        self._worlds = None if device == "cpu" else WarpSteps(plant.model, device)
        self._efforts = efforts[1:, ROOT:]
        self.controls = self._controls()
        self._soles = Soles(plant)

    def run(self, caps: tuple[float, float], offsets: Array | None = None) -> Run:
        """Follow the reference with help bounded by `caps`; offsets (steps, hinges) are added to the hinges' position targets."""
        controls = self.controls if offsets is None else self.shifted(offsets)
        reference, count = self.reference, self.reference.coordinates.count
        state = np.concatenate([[0.0], self.start(), reference.rates[0]])
        states, allowed = [state[None]], []
        for first in range(0, len(controls), LONGEST_PIECE):
            made, bounds = self.helped(state[None], controls[None, first : first + LONGEST_PIECE], first, caps)
            states.append(made[0])
            allowed.append(bounds[0])
            state = made[0, -1]
            if first_fall(reference, made[0, :, 1 : 1 + count], first + 1) is not None:
                break
        return self.as_run(np.concatenate(states), np.concatenate(allowed), caps, controls)

    def as_run(self, states: Array, allowed: Array, caps: tuple[float, float], controls: Array | None = None) -> Run:
        """A run of states (steps + 1, 1 + coordinates + rates) under help bounded by `allowed` (steps, 2)."""
        controls = self.controls if controls is None else controls
        count = self.reference.coordinates.count
        values, rates = states[:, 1 : 1 + count], states[:, 1 + count : 1 + 2 * count]
        used = slice(0, len(values) - 1)
        force, torque = self.plant.help_used(controls[used], values[:-1], rates[:-1], allowed[used])
        return Run(values, rates, force, torque, caps)

    def helped(self, states: Array, controls: Array, first: int, caps: tuple[float, float]) -> tuple[Array, Array]:
        """States (runs, steps, n) from states (runs, n) at step `first` under inputs (runs, steps, inputs), and the caps
        (runs, steps, 2) on help: none while the reference flies, nor in runs with all soles in the air."""
        steps = controls.shape[1]
        if not any(caps):
            self.plant.allow(0.0, 0.0)
            return self.step(states, controls), np.zeros((len(states), steps, 2))
        pieces, bounds = [], []
        flight = self.reference.flight[first : first + 1 + steps]
        for a, b, flies in _pieces(flight[1:] | flight[:-1]):
            stands = np.zeros(len(states), dtype=np.bool_) if flies else self._soles.touch(states)
            made, allowed = self._piece(states, controls[:, a:b], stands, caps)
            pieces.append(made)
            bounds.append(allowed)
            states = made[:, -1]
        return np.concatenate(pieces, axis=1), np.concatenate(bounds, axis=1)

    def _piece(self, states: Array, controls: Array, stands: Bools, caps: tuple[float, float]) -> tuple[Array, Array]:
        """As `helped`, with help for runs that stand; those that leave the ground are gone through again by halves."""
        steps = controls.shape[1]
        made, allowed = np.empty((len(states), steps, states.shape[1])), np.zeros((len(states), steps, 2))
        allowed[stands] = caps
        for chosen, bound in ((stands, caps), (~stands, (0.0, 0.0))):
            if chosen.any():
                self.plant.allow(*bound)
                made[chosen] = self.step(states[chosen], controls[chosen])
        if steps > SHORTEST_PIECE and stands.any():
            left = stands.copy()
            left[stands] = ~self._soles.touch(made[stands, -1])
            if left.any():
                half = steps // 2
                begun, first = self._piece(states[left], controls[left, :half], np.ones(int(left.sum()), dtype=np.bool_), caps)
                ended, second = self._piece(begun[:, -1], controls[left, half:], self._soles.touch(begun[:, -1]), caps)
                made[left], allowed[left] = np.concatenate([begun, ended], axis=1), np.concatenate([first, second], axis=1)
        return made, allowed

    def start(self) -> Array:
        """The first coordinates, lifted until no body is under the ground: it would be shot out."""
        values: Array = self.reference.values[0].copy()
        turns, origins = self.plant.coordinates.bodies(values[None])
        bodies = self.plant.coordinates.articulation.bodies
        lowest = min(float(body.shape.lowest(turns[:, i], origins[:, i])[0]) for i, body in enumerate(bodies))
        values[1] -= min(lowest, 0.0)
        return values

    def set_stiffness(self, factor: float) -> None:
        """Make the hinges' drives so many times as stiff as the articulation says; the damping goes with its root."""
        self.plant.set_stiffness(factor)
        self.controls = self._controls()

    def _controls(self) -> Array:
        reference, plant = self.reference, self.plant
        controls = plant.controls(reference.values[1:], reference.rates[1:])
        controls[:, ROOT::2] += self._efforts / plant.stiffness[ROOT:]
        return controls

    def shifted(self, offsets: Array) -> Array:
        """Actuator inputs with offsets (..., steps, hinges) on the position targets."""
        controls = np.broadcast_to(self.controls[: offsets.shape[-2]], (*offsets.shape[:-1], self.controls.shape[-1])).copy()
        controls[..., ROOT::2] += offsets
        return controls

    def step(self, states: Array, controls: Array) -> Array:
        """States (runs, steps, n) from states (runs, n) under inputs (runs, steps, inputs)."""
        if self._worlds is not None:
            return self._worlds.step(states, controls)
        data = self._data[: max(1, len(states) // RUNS_A_CORE)]
        with engine.unwarned():
            made, _ = self._mujoco.rollout.rollout(self.plant.model, data, states, controls, persistent_pool=False)
        return np.asarray(made)


RUNS_A_CORE = 8
"""Runs side by side for which another core is worth its thread."""


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


LONGEST_PIECE, HELPED_PIECE, SHORTEST_PIECE = 240, 10, 1
"""Steps between looks at whether the body has fallen, and, while it is helped, at whether it touches the ground; fewest as it leaves."""


def _pieces(flight: Bools) -> list[tuple[int, int, bool]]:
    """Stretches (first, last, flies) of equal flight, no longer than what may be helped between two looks."""
    edges = np.flatnonzero(np.diff(flight.astype(np.int8))) + 1
    bounds = sorted({0, *map(int, edges), *range(0, len(flight), HELPED_PIECE), len(flight)})
    return [(a, b, bool(flight[a])) for a, b in pairwise(bounds)]


TILT_RAD = np.radians(45.0)
SUNK = 0.6
"""A body has fallen when its trunk leans by more than the one, against its own rest, or its root is lower than the other times what it
should be, or what it is at rest, where it should fly: to jump less high is no fall."""
FASTEST = 1e3
"""Radians or metres a second that no coordinate reaches unless the simulation explodes."""


def first_fall(reference: Reference, values: Array, first: int = 0) -> int | None:
    """The first step in which a run (steps, coordinates), begun at step `first`, has fallen, None if it stays up."""
    finite = np.asarray(np.isfinite(values).all(axis=1))
    safe = np.where(finite[:, None], values, 0.0)
    wanted = reference.values[first : first + len(values)]
    upright, meant = (np.cos(v[:, 4]) * np.cos(v[:, 5]) for v in (safe, wanted))
    leans = np.asarray(upright < np.minimum(np.cos(TILT_RAD), meant - 0.3))
    rest = reference.coordinates.articulation.root_height
    sunk = np.asarray(rest + safe[:, 1] < SUNK * (rest + np.minimum(wanted[:, 1], 0.0)))
    fallen = np.flatnonzero(np.asarray(leans | sunk | ~finite))
    return first + int(fallen[0]) if len(fallen) else None


def check_finite(reference: Reference, run: Run) -> None:
    """Raise PhysicsError, with time and body, where a simulation exploded."""
    bad: Bools = np.asarray(~np.isfinite(run.values) | ~np.isfinite(run.rates) | (np.abs(run.rates) > FASTEST))
    if not bad.any():
        return
    step, coordinate = (int(i[0]) for i in np.nonzero(bad))
    body = 0 if coordinate < 6 else (coordinate - 3) // 3
    name = reference.coordinates.articulation.bodies[body].name
    fault = f"the simulation exploded after {step * reference.dt:.2f} s at {name}"
    raise PhysicsError(fault, hint="ask for a slower motion, or leave physics out")

"""Steering: how a run deviates from its reference, and how its feet are shifted against that, in sizes of the body."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies import Articulation
from akd_sdk.bodies.coordinates import ROOT, Coordinates
from akd_sdk.physics import engine
from akd_sdk.physics.course import turned
from akd_sdk.physics.loads import corners
from akd_sdk.physics.simulate import Simulation

Array = NDArray[np.float64]

ROOT_ERRORS = 12
"""Deviations of the root: place (x, z, heading), then height, pitch, roll, then six rates; three for every foot follow."""
PLACE = 3
TURN_SHARE = 0.3
"""Of a leg: what a radian of a sole counts against a shift of it by a pelvis height."""
DAMPED = 0.05
"""Singular values, in the same measure, under which a leg is not asked to move."""
FEW_FEET = 2
"""Characters with no more feet than these also turn their soles: they stand on one of them alone."""


@dataclass(frozen=True)
class Leg:
    """A foot that is shifted: its body, the middle of its sole from the body's origin, and coordinates of the hinges it has to itself."""

    body: int
    sole: Array
    hinges: NDArray[np.int64]


class Steering:
    """Deviations from a reference and shifts of feet; lengths in pelvis heights, times in that of a fall through one.

    All is seen from the body's own heading, so that where it walks and to where makes no difference to how it answers.

    Attributes:
        legs: one of each limb that the course knows.
        planted: (course steps + 1, legs) which of them stand.
        inputs: number of shifts: forward, up, aside of every foot; for few feet also pitch and roll of the sole.
        errors: number of deviations.
    """

    def __init__(self, simulation: Simulation) -> None:
        self.simulation, self.reference = simulation, simulation.reference
        articulation = self.reference.coordinates.articulation
        found = [_leg(articulation, limb, self.reference.coordinates) for limb in self.reference.course.limbs]
        self.legs = [leg for leg in found if leg is not None]
        self.planted = self.reference.course.planted[:, [leg is not None for leg in found]]
        self._tasks = [0, 1, 2, 3, 5] if len(self.legs) <= FEW_FEET else [0, 1, 2]
        self.inputs, self.errors = len(self._tasks) * len(self.legs), ROOT_ERRORS + 3 * len(self.legs)
        self.height = articulation.root_height
        self.time = float(np.sqrt(self.height / 9.81))
        self._mujoco = engine.mujoco()
        self._data: Any = self._mujoco.MjData(simulation.plant.model)
        self._maps: dict[int, tuple[Array, Array]] = {}

    @property
    def tasks(self) -> int:
        """Inputs of a foot."""
        return len(self._tasks)

    def maps(self, step: int) -> tuple[Array, Array]:
        """(hinges, inputs) what hinges do for shifts of feet at a step of the reference, and (inputs, 6) what feet do for root coordinates
        given along the heading."""
        phase = int(self.reference.phase[step])
        if phase not in self._maps:
            self._maps[phase] = self._made(self.reference.course.values[phase])
        return self._maps[phase]

    def _made(self, values: Array) -> tuple[Array, Array]:
        model, data = self.simulation.plant.model, self._data
        data.qpos[:] = values
        data.qpos[3] = 0.0  # the heading is that of the axes
        self._mujoco.mj_kinematics(model, data)
        self._mujoco.mj_comPos(model, data)
        inverse = self.reference.coordinates.facing.T
        hinges, feet = np.zeros((model.nv - ROOT, self.inputs)), np.zeros((self.inputs, ROOT))
        shift, turn = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        for i, leg in enumerate(self.legs):
            own = slice(i * self.tasks, (i + 1) * self.tasks)
            point = data.xpos[leg.body + 1] + data.xmat[leg.body + 1].reshape(3, 3) @ leg.sole
            self._mujoco.mj_jac(model, data, shift, turn, point, leg.body + 1)
            whole = np.concatenate([inverse @ shift / self.height, TURN_SHARE * inverse @ turn])
            part = whole[:, leg.hinges]
            hinges[leg.hinges - ROOT, own] = (part.T @ np.linalg.inv(part @ part.T + DAMPED**2 * np.eye(6)))[:, self._tasks]
            feet[own] = whole[self._tasks, :ROOT]
        return hinges, feet

    def look(self, states: Array, step: int) -> tuple[Array, Array]:
        """Deviations (runs, errors) of states (runs, n) from a step of the reference, and the middles of soles (runs, legs, 3), world over
        pelvis height."""
        reference, count = self.reference, self.reference.coordinates.count
        values = np.concatenate([states[:, 1 : 1 + count], reference.values[step][None]])
        rates = np.concatenate([states[:, 1 + count : 1 + 2 * count], reference.rates[step][None]])[:, :ROOT].copy()
        heading = values[:, 3]
        rates[:, [0, 2]] = turned(rates[:, [0, 2]], -heading)
        rates[:, :3] *= self.time / self.height
        rates[:, 3:] *= self.time
        turns, origins = reference.coordinates.bodies(values)
        soles = np.stack([origins[:, leg.body] + turns[:, leg.body] @ leg.sole for leg in self.legs], axis=1)
        feet = (soles - origins[:, :1]) @ reference.coordinates.facing / self.height
        for i in range(len(self.legs)):
            feet[:, i, [0, 2]] = turned(feet[:, i, [0, 2]], -heading)
        place = turned(values[:, [0, 2]] - values[-1, [0, 2]], -heading[-1]) / self.height
        upright = values[:, [1, 4, 5]] / np.array([self.height, 1.0, 1.0])
        seen = np.concatenate([place, heading[:, None], upright, rates, feet.reshape(len(values), -1)], axis=1)
        return seen[:-1] - seen[-1], soles[:-1] / self.height

    def way(self, first: int, last: int) -> tuple[Array, float]:
        """The reference's own way between two steps, (2,) pelvis heights along its heading at the first, and its turn."""
        values = self.reference.values
        moved = turned((values[last, [0, 2]] - values[first, [0, 2]])[None], -values[first, 3])[0]
        return moved / self.height, float(values[last, 3] - values[first, 3])

    def controls(self, first: int, last: int, before: Array, after: Array) -> Array:
        """Actuator inputs (runs, steps, n) while shifts go from `before` to `after` (runs, inputs)."""
        ramp = (np.arange(1, last - first + 1) / (last - first))[None, :, None]
        start, end = (shifts @ self.maps(step)[0].T for shifts, step in ((before, first), (after, last)))
        controls = np.repeat(self.simulation.controls[None, first:last], len(before), axis=0)
        controls[:, :, ROOT::2] += start[:, None] * (1.0 - ramp) + end[:, None] * ramp
        return controls


def _leg(articulation: Articulation, limb: str, coordinates: Coordinates) -> Leg | None:
    """The leg of a limb, none where no body is its foot."""
    parents, bodies = articulation.parents, articulation.bodies
    feet = [i for i, body in enumerate(bodies) if body.foot == limb]
    if not feet:
        return None
    bears: list[set[str]] = [set() for _ in bodies]
    for i, body in enumerate(bodies):
        for above in _upwards(parents, i) if body.foot else ():
            bears[above].add(body.foot)
    foot = next((i for i in feet if bodies[i].shape.kind == "box"), feet[-1])
    own = [i for i in _upwards(parents, foot) if i > 0 and len(bears[i]) == 1]
    hinges = [np.arange(coordinates.slot(i).start, coordinates.slot(i).stop) for i in own]
    return Leg(foot, corners(bodies[foot].shape).mean(axis=0), np.concatenate(hinges))


def _upwards(parents: NDArray[np.int64], body: int) -> Iterator[int]:
    while body >= 0:
        yield body
        body = int(parents[body])

"""Touch: whether a state's soles are on the ground, so that what flies is not helped."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from akd_sdk.physics import engine
from akd_sdk.physics.loads import corners
from akd_sdk.physics.plant import Plant
from akd_sdk.physics.reference import Reference

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

TOUCHING = 0.006
"""Height, pelvis heights, under which a sole touches: what presses on the ground sinks in a little."""

LOOKED = 4
"""Steps from one look to the next at a run."""


class Soles:
    """The soles of a plant: lower corners of its feet's boxes, lowest points of those that are none."""

    def __init__(self, plant: Plant) -> None:
        self._mujoco, self._model = engine.mujoco(), plant.model
        self._data: Any = self._mujoco.MjData(plant.model)
        self._height = TOUCHING * plant.height
        bodies = plant.coordinates.articulation.bodies
        self._feet = [(i, body.shape) for i, body in enumerate(bodies) if body.foot]
        self._corners = {i: corners(shape) for i, shape in self._feet if shape.kind == "box"}

    def touch(self, states: Array) -> Bools:
        """(runs,) whether any sole touches in states (runs, 1 + coordinates + rates)."""
        return np.array([self._lowest(state[1 : 1 + self._model.nq]) < self._height for state in states])

    def _lowest(self, values: Array) -> float:
        self._data.qpos[:] = values
        self._mujoco.mj_kinematics(self._model, self._data)
        lowest = np.inf
        for i, shape in self._feet:
            place, turn = self._data.xpos[i + 1], self._data.xmat[i + 1].reshape(3, 3)
            if i in self._corners:
                height = float((self._corners[i] @ turn[1]).min() + place[1])
            else:
                height = float(shape.lowest(turn[None], place[None])[0])
            lowest = min(lowest, height)
        return lowest


def flown(reference: Reference, values: Array) -> float:
    """Share of its planned flights in which no sole of a run (steps + 1, coordinates) touches the ground; 1 where none is planned."""
    steps = np.flatnonzero(reference.flight[: len(values)])[::LOOKED]
    if not len(steps):
        return 1.0
    turns, origins = reference.coordinates.bodies(values[steps])
    articulation = reference.coordinates.articulation
    feet = [body.shape.lowest(turns[:, i], origins[:, i]) for i, body in enumerate(articulation.bodies) if body.foot]
    return float((np.min(feet, axis=0) >= TOUCHING * articulation.root_height).mean()) if feet else 1.0

"""Loads: the wrench that a course asks of the ground, and how planted feet can give it.

The body as a whole accelerates by what the ground pushes alone (gravity aside). Inverse dynamics says which force and torque the root would
need; forces in friction cones at the corners of planted soles give as much of it as they can, and what is left is what the course asks
in vain. The same split as in inverse dynamics of walking by contact-force distribution (Righetti et al. 2013).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import nnls

from akd_sdk.bodies import Shape
from akd_sdk.bodies.coordinates import ROOT
from akd_sdk.physics import engine
from akd_sdk.physics.course import Course
from akd_sdk.physics.plant import Plant

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

RATE = 60.0
"""Samples a second."""
RAMP_S = 0.035
"""How softly a foot takes and gives up its load, seconds."""
LOW_LEGS = 0.03
"""Height over its foot's lowest corner, leg lengths, at which a corner bears little."""
EFFORT = 1e-3
"""Weight of contact forces, against the wrench that is missed."""
LEAST = 0.01
MOVING = 0.15
"""Speed, of a fall through a pelvis height, at which a corner gives little of a force: it is landing or leaving. Torques that count on it
would fling the foot."""


@dataclass(frozen=True)
class Loads:
    """What the ground is asked for, at samples of a course.

    Attributes:
        steps: (samples,) steps of the course.
        needed: (samples, coordinates) generalised forces that the course needs, were there no ground.
        inertia: (samples, 6, 6) of the root.
        axes: (samples, 3, 3) world axes (rows) about which the root's heading, pitch and roll turn.
        cones: for each sample (coordinates, edges), generalised forces of contact forces of one body weight along cone edges.
        still: for each sample (edges,) how much of its force an edge's corner gives, from its speed, from 0 to 1.
        scale: (6,) what root forces are measured by: body weight, and body weight times pelvis height.
    """

    steps: NDArray[np.int64]
    needed: Array
    inertia: Array
    axes: Array
    cones: tuple[Array, ...]
    still: tuple[Array, ...]
    scale: Array


def corners(shape: Shape) -> Array:
    """(4, 3) lower corners of a box, from the body's origin, world axes at rest."""
    signs = [(x, -1.0, z) for x in (-1.0, 1.0) for z in (-1.0, 1.0)]
    return np.array([shape.centre + shape.axes @ (np.array(sign) * shape.half) for sign in signs])


def loads_of(plant: Plant, course: Course, leg_m: float, friction: float) -> Loads:
    """The loads of a course, `RATE` samples a second."""
    mujoco, model = engine.mujoco(), plant.model
    data = mujoco.MjData(model)
    bodies = plant.coordinates.articulation.bodies
    steps = np.arange(0, course.steps if course.loop else course.steps + 1, max(1, round(1.0 / (RATE * course.dt))))
    bears = _bearing(course)
    turn = np.arange(4) * 0.5 * np.pi
    edges = np.stack([friction * np.cos(turn), np.ones(4), friction * np.sin(turn)])
    full, jacobian = np.zeros((model.nv, model.nv)), np.zeros((3, model.nv))
    needed, inertia, axes, cones, still = [], [], [], [], []
    slow = MOVING * np.sqrt(9.81 * plant.height)
    with _airborne(mujoco, model):
        for step in steps:
            data.qpos[:], data.qvel[:], data.qacc[:] = course.values[step], course.rates[step], course.accelerations[step]
            mujoco.mj_inverse(model, data)
            needed.append(data.qfrc_inverse.copy())
            mujoco.mj_fullM(model, data, full)
            inertia.append(full[:ROOT, :ROOT].copy())
            axes.append(data.xaxis[3:ROOT].copy())
            columns, rests = [np.zeros((model.nv, 0))], []
            for i, body in enumerate(bodies):
                weight = bears[step, course.limbs.index(body.foot)] if body.foot in course.limbs else 0.0
                if weight < LEAST or body.shape.kind != "box":
                    continue
                points = data.xpos[i + 1] + corners(body.shape) @ data.xmat[i + 1].reshape(3, 3).T
                lowest = min(float(points[:, 1].min()), 0.3 * LOW_LEGS * leg_m)
                for point in points:
                    bearing = weight * np.exp(-((max(point[1] - lowest, 0.0) / (LOW_LEGS * leg_m)) ** 2))
                    if bearing >= LEAST:
                        mujoco.mj_jac(model, data, jacobian, None, point, i + 1)
                        columns.append(jacobian.T @ edges * (bearing * plant.weight))
                        rests.append(np.exp(-((np.linalg.norm(jacobian @ data.qvel) / slow) ** 2)))
            cones.append(np.concatenate(columns, axis=1))
            still.append(np.repeat(rests, edges.shape[1]))
    scale = np.repeat([plant.weight, plant.weight * plant.height], 3)
    return Loads(steps, np.array(needed), np.array(inertia), np.array(axes), tuple(cones), tuple(still), scale)


def carried(loads: Loads, wrenches: Array) -> tuple[list[Array], Array]:
    """Cone coefficients of each sample that give most of the wrenches (samples, 6), and what is missing, (samples, 6) in `scale`."""
    coefficients, missing = [], np.empty((len(wrenches), ROOT))
    for k, (cone, wrench) in enumerate(zip(loads.cones, wrenches)):
        wanted, columns = wrench / loads.scale, cone[:ROOT] / loads.scale[:, None]
        share = np.zeros(columns.shape[1])
        if columns.shape[1]:
            damped = np.concatenate([columns, np.sqrt(EFFORT) * np.eye(len(share))])
            share, _ = nnls(damped, np.concatenate([wanted, np.zeros(len(share))]))
        coefficients.append(share)
        missing[k] = wanted - columns @ share
    return coefficients, missing


def torques(loads: Loads) -> Array:
    """(samples, coordinates) generalised forces of the joints that move the course while the ground carries what it can, with feet that
    rest on it."""
    cones = tuple(cone * still for cone, still in zip(loads.cones, loads.still))
    coefficients, _ = carried(replace(loads, cones=cones), loads.needed[:, :ROOT])
    return np.stack([need - cone @ share for need, cone, share in zip(loads.needed, cones, coefficients)])


def _bearing(course: Course) -> Array:
    """(steps + 1, limbs) how much a foot may bear, from 0 to 1: softly from touch-down and towards lift-off."""
    mode = "wrap" if course.loop else "nearest"
    planted = course.planted[:-1] if course.loop else course.planted
    soft = gaussian_filter1d(planted.astype(np.float64), RAMP_S / course.dt, axis=0, mode=mode)
    bears = np.clip(2.0 * soft - 1.0, 0.0, 1.0) * planted
    return np.concatenate([bears, bears[:1]]) if course.loop else bears


@contextmanager
def _airborne(mujoco: Any, model: Any) -> Iterator[None]:
    """The model without ground and limits, for inverse dynamics."""
    before = model.opt.disableflags
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    try:
        yield
    finally:
        model.opt.disableflags = before

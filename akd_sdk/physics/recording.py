"""Recording: what happened over time in a tracking, for pictures and reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies import Articulation, TrackRecord
from akd_sdk.gait import repeat
from akd_sdk.motion import Motion
from akd_sdk.physics.course import body_turns
from akd_sdk.physics.loads import corners
from akd_sdk.physics.search import Attempt
from akd_sdk.rig import Rig

if TYPE_CHECKING:
    from akd_sdk.physics.track import Prepared

Array = NDArray[np.float64]

FPS = 60.0
TOUCHING = 0.01
"""Height, pelvis heights, under which a corner of a sole carries."""


def record_of(rig: Rig, ready: Prepared, best: Attempt, given: Motion) -> TrackRecord:
    """The record of an attempt from the end of its lead-in on."""
    reference, articulation = ready.reference, ready.articulation
    every = max(1, round(1.0 / (FPS * reference.dt)))
    steps = np.arange(reference.lead, len(best.run.values), every)
    used = np.minimum(steps, len(best.run.force) - 1)
    limbs = tuple(dict.fromkeys(body.foot for body in articulation.bodies if body.foot))
    after = reference.coordinates.bodies(best.run.values[steps])
    long = repeat(rig, given, reference.cycles) if reference.cycles else given
    turns = body_turns(rig, articulation, long)
    before = turns, _origins(articulation, turns, long.root)
    times, frames = (steps - reference.lead) * reference.dt, np.arange(long.frames) / given.fps

    def then(values: Array) -> Array:
        """Values (frames, n) of the motion given at the steps."""
        return np.stack([np.interp(times, frames, column) for column in values.T], axis=1) if values.size else np.zeros((len(steps), 0))

    facing = reference.coordinates.facing
    return TrackRecord(
        fps=1.0 / (every * reference.dt),
        feet=limbs,
        heights=_heights(articulation, limbs, *after),
        heights_before=then(_heights(articulation, limbs, *before)),
        force=best.run.force[used] @ facing.T,
        torque=best.run.torque[used],
        com=_com(articulation, *after),
        com_before=then(_com(articulation, *before)),
        support=_support(articulation, *after),
        flight=reference.flight[steps],
    )


def _origins(articulation: Articulation, turns: Array, root: Array) -> Array:
    """Body origins (frames, bodies, 3) of turns and the root's path."""
    origins = np.empty((*turns.shape[:2], 3))
    origins[:, 0] = root
    for i, body in enumerate(articulation.bodies[1:], 1):
        arm = body.origin - articulation.bodies[body.parent].origin
        origins[:, i] = origins[:, body.parent] + turns[:, body.parent] @ arm
    return origins


def _heights(articulation: Articulation, limbs: tuple[str, ...], turns: Array, origins: Array) -> Array:
    columns = []
    for limb in limbs:
        own = [i for i, body in enumerate(articulation.bodies) if body.foot == limb]
        columns.append(np.min([articulation.bodies[i].shape.lowest(turns[:, i], origins[:, i]) for i in own], axis=0))
    return np.stack(columns, axis=1) if columns else np.zeros((len(turns), 0))


def _com(articulation: Articulation, turns: Array, origins: Array) -> Array:
    total = np.zeros((len(turns), 3))
    for i, body in enumerate(articulation.bodies):
        total += body.mass * (origins[:, i] + turns[:, i] @ body.centre)
    return np.asarray(total / articulation.mass)


def _support(articulation: Articulation, turns: Array, origins: Array) -> Array:
    """(frames, 2, 2) lowest and highest x and z of the sole corners that touch, NaN where none does."""
    points = [
        origins[:, i, None] + corners(body.shape) @ np.swapaxes(turns[:, i], -1, -2)
        for i, body in enumerate(articulation.bodies)
        if body.foot and body.shape.kind == "box"
    ]
    support = np.full((len(turns), 2, 2), np.nan)
    if not points:
        return support
    whole = np.concatenate(points, axis=1)
    touches = whole[..., 1] < TOUCHING * articulation.root_height
    some = touches.any(axis=1)
    ground = whole[..., [0, 2]]
    support[some, 0] = np.where(touches[..., None], ground, np.inf).min(axis=1)[some]
    support[some, 1] = np.where(touches[..., None], ground, -np.inf).max(axis=1)[some]
    return support

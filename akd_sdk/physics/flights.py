"""Flights: jumps retimed so that they last as long as gravity lets them.

Made motions float: what leaves the ground in them comes down more slowly than it could. The time of a clip is bent so that its long
flights go faster (or slower) and what is between them makes up for it; frames, ways and heights stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.coordinates import Coordinates
from akd_sdk.motion import Motion
from akd_sdk.physics.course import Course
from akd_sdk.rotations import slerp

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

GRAVITY = 9.81
LEAST_S = 0.2
"""Shorter flights are those of gaits, whose time is their stride's."""
EDGE_S = 0.045
"""Seconds at a flight's ends that are not looked at: smoothing mixes push-off and landing into them."""
HIGHEST = 1.6
"""By how much time is bent at most, anywhere."""
MENDED = 0.12
"""Pelvis heights by which the root's path may be moved instead: flights that are wrong by less keep their time."""
MARGIN_S, BLEND_S = 0.12, 0.15
"""Seconds at a flight's ends, of push-off and landing, that are bent as it is, and in which that dies away."""

RETIMED = "flights were retimed to last as long as gravity lets them"


def ballistic(coordinates: Coordinates, motion: Motion, course: Course) -> Motion:
    """A motion whose flights last as long as their height allows; itself where they do, where it loops or does not fly."""
    if course.loop:
        return motion
    dwell, weight = np.ones(course.steps + 1), np.zeros(course.steps + 1)
    times: Array = np.arange(course.steps + 1, dtype=np.float64) * course.dt
    heights = _heights(coordinates, course.values)
    for first, last in flights_of(course.planted, course.dt):
        inside = slice(first + round(EDGE_S / course.dt), last + 1 - round(EDGE_S / course.dt))
        factor = _stretch(times[inside], heights[inside])
        if _missing(times[last] - times[first], factor) < MENDED * coordinates.articulation.root_height:
            continue
        apart = np.maximum(np.maximum(times[first] - times, times - times[last]) - MARGIN_S, 0.0)
        share = np.clip(1.0 - apart / BLEND_S, 0.0, 1.0)
        share = share * share * (3.0 - 2.0 * share)
        dwell = np.where(share > weight, factor, dwell)
        weight = np.maximum(weight, share)
    bent = _bent(dwell, weight)
    if bent is None or not weight.any():
        return motion
    later = np.concatenate([[0.0], np.cumsum(0.5 * (bent[1:] + bent[:-1]))]) * course.dt
    shown = np.interp(np.arange(motion.frames) / motion.fps, later * times[-1] / later[-1], times)
    return retimed(motion, shown)


def flights_of(planted: Bools, dt: float) -> list[tuple[int, int]]:
    """First and last step of stretches of planted (steps, limbs) in which no foot stands, between others, of `LEAST_S` or more."""
    flying = np.concatenate([[False], ~planted.any(axis=1), [False]])
    edges = np.flatnonzero(np.diff(flying.astype(np.int8))).reshape(-1, 2)
    inside = [(int(a), int(b) - 1) for a, b in edges if a > 0 and b < len(planted)]
    return [(a, b) for a, b in inside if (b - a) * dt >= LEAST_S]


def _heights(coordinates: Coordinates, values: Array) -> Array:
    """(steps + 1,) of the centre of mass."""
    turns, origins = coordinates.bodies(values)
    bodies = coordinates.articulation.bodies
    carried = sum(body.mass * (origins[:, i, 1] + turns[:, i, 1] @ body.centre) for i, body in enumerate(bodies))
    return np.asarray(carried / coordinates.articulation.mass)


def _stretch(times: Array, heights: Array) -> float:
    """How many times as long a flight with heights of the centre of mass would last under gravity."""
    pulled = -2.0 * float(np.polyfit(times - times.mean(), heights, 2)[0])
    return float(np.clip(np.sqrt(max(pulled, 0.0) / GRAVITY), 1.0 / HIGHEST, HIGHEST))


def _missing(seconds: float, factor: float) -> float:
    """Metres by which a flight is too low, or too high, for its time."""
    return 0.125 * GRAVITY * seconds**2 * abs(1.0 - factor**2)


def _bent(dwell: Array, weight: Array) -> Array | None:
    """How long every moment of a motion is to last, for flights that ask for `dwell` with a weight; None where the rest is too short."""
    free = float((1.0 - weight).sum())
    rest = (len(dwell) - float((weight * dwell).sum())) / free if free > 0.0 else np.inf
    if not 1.0 / HIGHEST <= rest <= HIGHEST:
        return None
    return np.asarray(weight * dwell + (1.0 - weight) * rest)


def retimed(motion: Motion, times: Array) -> Motion:
    """The motion as it is at times (frames,), seconds, shown as if they were evenly apart."""
    at = np.clip(times * motion.fps, 0.0, motion.frames - 1)
    low = np.minimum(np.floor(at).astype(np.int64), motion.frames - 2)
    share = at - low
    nearest = np.clip(np.round(at).astype(np.int64), 0, motion.frames - 1)

    def between(values: Array) -> Array:
        part = share.reshape(-1, *[1] * (values.ndim - 1))
        return np.asarray((1.0 - part) * values[low] + part * values[low + 1])

    return motion.with_(
        rotations=slerp(motion.rotations[low], motion.rotations[low + 1], share[:, None]),
        root=between(motion.root),
        translations=None if motion.translations is None else between(motion.translations),
        scales=None if motion.scales is None else between(motion.scales),
        morphs={node: between(weights) for node, weights in motion.morphs.items()},
        contacts=None if motion.contacts is None else motion.contacts[nearest],
        travel=None if motion.travel is None else between(motion.travel),
    )

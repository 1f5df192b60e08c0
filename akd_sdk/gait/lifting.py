"""Lifting: how a fast foot leaves the ground and comes down; straight up and down for one frame, so that it never slides while low."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from akd_sdk.gait.contacts import HIGH_LEGS, LOW_LEGS
from akd_sdk.gait.ground import inverse_ground, move_points
from akd_sdk.gait.placement import Floor, FootMotion, path_of, shares
from akd_sdk.gait.smoothing import runs

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

FAST_LEGS = 1.2
"""Belt, leg lengths a second, from which on feet are lifted so: a slower foot that is half lifted slides little."""
OFF_LEGS, DOWN_LEGS = 1.1 * HIGH_LEGS, 1.15 * LOW_LEGS
"""Heights one frame after lift-off and one before touch-down, leg lengths: over those at which a point is let go and may be planted."""
SLIDE = 0.15
"""Share of the belt's step by which the lifted foot stays with the body already."""
SHORTEST_GAP = 5
"""Frames of swing under which a foot is not lifted so."""


def lift_edges(was: FootMotion, placed: FootMotion, stands: Bools, floor: Floor) -> tuple[FootMotion, Bools]:
    """The placed foot with the frames beside its stances put in place too, and which frames (frames,) are placed now.

    In those frames the foot is over the spot where it stood or will stand, as high as it must be not to touch, and turned as the
    motion turns it.
    """
    held = stands.copy()
    if np.linalg.norm(np.diff(floor.path[:, :2], axis=0), axis=1).mean() * floor.fps < FAST_LEGS * floor.leg:
        return placed, held
    count, loop = len(stands), floor.lap is not None
    position, turn = placed.position.copy(), placed.turn.copy()
    for gap in runs(~stands, loop):
        if len(gap) < SHORTEST_GAP or len(gap) == count:
            continue
        for free, stand, height in ((gap[0], gap[0] - 1, OFF_LEGS), (gap[-1], gap[-1] + 1, DOWN_LEGS)):
            if loop or 0 <= stand < count:
                position[free], turn[free] = _over_the_spot(was, placed, (int(free), int(stand) % count), floor, height)
                held[free] = True
    return replace(placed, position=position, turn=turn), held


def _over_the_spot(was: FootMotion, placed: FootMotion, frames: tuple[int, int], floor: Floor, legs: float) -> tuple[Array, Array]:
    """Position (3,) and turn (3, 3), in place, of a foot `legs` leg lengths high in the first of the two frames, which is beside the
    second, its stance's last or first."""
    free, stand = frames
    pair = np.array(sorted((stand, free), reverse=abs(stand - free) > 1))  # in time order, also over a loop's seam
    path = path_of(pair, floor)
    at, to = (path[:1], path[1:]) if pair[0] == stand else (path[1:], path[:1])
    correction = placed.turn[stand] @ was.turn[stand].T
    turn = correction @ was.turn[free]
    share = shares(placed.points()[stand, None, :, 1], floor.leg)[0]
    standing = placed.points()[stand, None]
    still = move_points(inverse_ground(to), move_points(at, standing))[0]
    spot = share @ (still + SLIDE * (standing[0] - still))
    arms = was.offsets[free] @ turn.T
    position = spot - share @ arms
    asked = floor.height + legs * floor.leg - arms[:, 1].min()
    fading = was.position[free, 1] + 0.5 * (placed.position[stand, 1] - was.position[stand, 1])
    edge = floor.height - (was.lowest[free] @ turn.T)[:, 1].min()
    position[1] = max(asked, fading, edge)
    return position, turn

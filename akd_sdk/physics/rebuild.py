"""Rebuild: simulated states become a motion of the file's tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.bodies.coordinates import Coordinates
from akd_sdk.kinematics import motion_from_world, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig

Array = NDArray[np.float64]


def motion_of(rig: Rig, coordinates: Coordinates, values: Array, like: Motion) -> Motion:
    """The motion whose bodies have coordinates (frames, n), a frame of `like` each.

    Joints that move no body of their own stand to their solve parent as in `like`: fingers and ears go on as they were.
    """
    skeleton = rig.skeleton
    turns, origins = coordinates.bodies(values)
    own = {body.joint: i for i, body in enumerate(coordinates.articulation.bodies)}
    given = world_from_motion(skeleton, like)
    world = given.copy()
    for j in skeleton.solve_order:
        parent = int(skeleton.solve_parents[j])
        if int(j) in own:
            i = own[int(j)]
            world[:, j, :3, :3] = turns[:, i] @ skeleton.rest_world[j, :3, :3]
            world[:, j, :3, 3] = origins[:, i]
        elif parent >= 0:
            world[:, j] = world[:, parent] @ np.linalg.inv(given[:, parent]) @ given[:, j]
    made = motion_from_world(skeleton, world, like.fps, name=like.name, loop=like.loop, like=like)
    return made.with_(contacts=None)

"""The skins of a rig at rest as one surface: what the volume of a character is measured in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from akd_sdk.errors import RigError
from akd_sdk.rig import Rig

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class RestSkin:
    """All skinned primitives at rest.

    Attributes:
        points: (n, 3) world, metres.
        triangles: (m, 3).
        weights: (n, joints) sparse, rows sum to 1.
    """

    points: Array
    triangles: Ints
    weights: csr_matrix


def rest_skin(rig: Rig) -> RestSkin:
    """The drawn skins of a rig at rest.

    Raises RigError: there are no skinned triangles, or the skin at rest is not finite.
    """
    drawn = [skin for skin in rig.skins if len(skin.triangles) and len(skin.vertices)]
    if not drawn:
        raise RigError("has no skinned triangles", rig.source.path, "bodies need a mesh on the skeleton")
    world = rig.skeleton.rest_world
    sizes = [len(skin.vertices) for skin in drawn]
    starts = np.cumsum([0, *sizes])
    points = np.concatenate([skin.at_rest(world) for skin in drawn])
    if not np.isfinite(points).all():
        raise RigError("the mesh at rest is not finite", rig.source.path, "the bind or rest transforms are broken; export the file again")
    rows = np.concatenate([np.repeat(np.arange(start, start + len(s.vertices)), s.joints.shape[1]) for s, start in zip(drawn, starts)])
    columns = np.concatenate([skin.joints.ravel() for skin in drawn])
    values = np.concatenate([skin.weights.ravel() for skin in drawn])
    return RestSkin(
        points=points,
        triangles=np.concatenate([skin.triangles + start for skin, start in zip(drawn, starts)]),
        weights=csr_matrix((values, (rows, columns)), shape=(len(points), rig.skeleton.count)),
    )

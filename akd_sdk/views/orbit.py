"""Pinhole cameras around a character that travels: from where it is filmed, and how large it is in the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from akd_sdk.errors import AkdError, RigError
from akd_sdk.rig import Rig
from akd_sdk.views.camera import Cameras
from akd_sdk.views.pinhole import Pinhole

FILL: Final = 0.7
"""Share of the picture that the character's extent takes, in the direction that is tighter; the rest is for what is nearer to the camera
than the middle, and for limbs that reach further than at rest."""
CLOSEST: Final = 1.2
"""Least distance of a camera that is free to choose it, in radii of the character."""
FIELD_OF_VIEW_DEG: Final = 35.0
"""Vertical field of view; a long lens, as motions are judged by silhouettes."""
LEAST_EXTENT_M: Final = 1e-4


@dataclass(frozen=True)
class Framing:
    """What of the character a camera looks at, the same for all frames and views.

    Attributes:
        height_m: height in the world of what the camera looks at, constant: bobbing stays visible.
        extent_m: largest horizontal and vertical extent of the character, metres.
        fov_deg: vertical field of view.
        offset_m: (left, forward) metres from the followed point to the middle of the character, in its frame.
        distance_m: from the camera to what it looks at; None: so that the extent fills FILL of the picture.
    """

    height_m: float
    extent_m: tuple[float, float]
    fov_deg: float = FIELD_OF_VIEW_DEG
    offset_m: tuple[float, float] = (0.0, 0.0)
    distance_m: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.height_m) and all(math.isfinite(e) and e >= LEAST_EXTENT_M for e in self.extent_m)):
            wide, tall = self.extent_m
            raise AkdError(f"a character of {wide} x {tall} m at a height of {self.height_m} m cannot be filmed", "framing")
        if not 1.0 <= self.fov_deg <= 120.0:
            raise AkdError(f"a field of view of {self.fov_deg} degrees", "fov_deg", "give 1 to 120")


def framing_of(rig: Rig, *, fov_deg: float = FIELD_OF_VIEW_DEG) -> Framing:
    """The framing of a character by its skin at rest, to be followed by its pelvis. Raises RigError: no skin, or one without extent."""
    points = [skin.at_rest(rig.skeleton.rest_world) for skin in rig.skins if len(skin.vertices)]
    if not points:
        raise RigError("has no skin to film", rig.source.path, "pictures need a mesh on the skeleton")
    own = np.concatenate(points) @ rig.facing
    low, high = own.min(axis=0), own.max(axis=0)
    middle, size = 0.5 * (low + high), high - low
    if not np.isfinite(size).all() or size.max() < LEAST_EXTENT_M:
        raise RigError(f"its mesh is {size.max():.3g} m large at rest", rig.source.path, "pictures need a mesh with an extent")
    followed = rig.skeleton.rest_world[max(rig.skeleton.pelvis, 0), :3, 3] @ rig.facing
    wide, tall = math.hypot(size[0], size[2]), float(size[1])
    offset = (float(middle[0] - followed[0]), float(middle[2] - followed[2]))
    return Framing(float(middle[1]), (max(wide, LEAST_EXTENT_M), max(tall, LEAST_EXTENT_M)), fov_deg, offset)


def orbit(cameras: Cameras, centres: Tensor, facing: Tensor | NDArray[np.float64], framing: Framing, size: tuple[int, int]) -> Pinhole:
    """Cameras that look at the character from `cameras` while it goes along `centres`.

    Args:
        cameras: (views,) azimuth and elevation about the facing, as for the orthographic views: at azimuth 0 the camera sees the face.
        centres: (frames, 3) the followed point, metres; its height is not looked at. May carry a gradient.
        facing: (3, 3), or (frames, 3, 3) for cameras that turn with it, maps the character frame to the world.
        framing: what is looked at, and from how far.
        size: height and width in pixels.

    Returns:
        views * frames cameras, the frames of the first view first.

    Raises:
        AkdError: the camera would be inside the character, or no picture has that size.
    """
    dtype, device = centres.dtype, centres.device
    facing = torch.as_tensor(facing).to(dtype=dtype, device=device).expand(len(centres), 3, 3)
    rows = cameras.rows.to(dtype=dtype, device=device)
    in_world = torch.einsum("vri,fji->vfrj", rows, facing)
    axes = in_world * torch.tensor([1.0, -1.0, -1.0], dtype=dtype, device=device)[:, None]  # right, down, into the scene
    left, ahead = framing.offset_m
    offset = facing @ torch.tensor([left, 0.0, ahead], dtype=dtype, device=device)
    level = torch.tensor([1.0, 0.0, 1.0], dtype=dtype, device=device)
    target = (centres + offset) * level + torch.tensor([0.0, framing.height_m, 0.0], dtype=dtype, device=device)
    distance, focal = lens(framing, size)
    # eye = target + distance * viewer, and the viewer's direction is the third row: camera axes see the target straight ahead.
    shift = -(axes @ target[None, :, :, None])
    shift = shift + torch.tensor([0.0, 0.0, distance], dtype=dtype, device=device)[:, None]
    matrices = torch.cat([axes, shift], -1).reshape(-1, 3, 4)
    return Pinhole(matrices, torch.full((len(matrices),), focal, dtype=dtype, device=device), size)


def lens(framing: Framing, size: tuple[int, int]) -> tuple[float, float]:
    """Distance in metres and focal length in pixels for a picture of `size` (height, width).

    Raises AkdError: the camera would be inside the character.
    """
    height, width = size
    slope = math.tan(math.radians(framing.fov_deg) / 2.0)
    wide, tall = (0.5 * extent for extent in framing.extent_m)
    radius = math.hypot(wide, tall)
    fitting = max(tall / (FILL * slope), wide * height / (FILL * slope * width), CLOSEST * radius)
    distance = fitting if framing.distance_m is None else framing.distance_m
    if not (math.isfinite(distance) and distance > radius):
        fault = f"a camera {distance:.3g} m away from the middle of a character of {2 * wide:.3g} x {2 * tall:.3g} m is inside it"
        raise AkdError(fault, "distance_m", f"ask for more than {radius:.3g} m")
    return distance, 0.5 * height / slope

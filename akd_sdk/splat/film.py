"""Filming: a character made of Gaussians, in motion over a checkerboard, as videos from cameras that follow it."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from akd_sdk.errors import AkdError
from akd_sdk.gaussians import GaussianPoser, Gaussians
from akd_sdk.rig import Rig
from akd_sdk.splat.cloud import Cloud, Splatter
from akd_sdk.splat.ground import DAYLIGHT, GroundColours, checkerboard
from akd_sdk.views.follow import smooth_path
from akd_sdk.views.orbit import Framing, framing_of, orbit
from akd_sdk.views.pinhole import Pinhole
from akd_sdk.views.shot import Shot

SLOWEST_FPS = 1e-3
"""Frames a second where no time passes: nothing is smoothed over time there."""


class Scene:
    """A character to be filmed; built once, then given one pose after another.

    Args:
        rig: whose facing the cameras' azimuths are about, and whose size at rest frames the pictures.
        gaussians: of the rig.
        splatter: what draws them.
        framing: what is looked at, and from how far; None: the whole character, followed by its pelvis.
        ground_m: height of the ground, metres. Gaussians whose centre is below it are hidden.
        colours: of the ground and the sky.
        dtype: of the pictures; float64 for those splatters that compute in it.
        device: where the splatter draws; what is given from elsewhere is carried there.
    """

    def __init__(
        self,
        rig: Rig,
        gaussians: Gaussians,
        splatter: Splatter,
        *,
        framing: Framing | None = None,
        ground_m: float = 0.0,
        colours: GroundColours = DAYLIGHT,
        dtype: torch.dtype = torch.float32,
        device: str = "cpu",
    ) -> None:
        if not math.isfinite(ground_m):
            raise AkdError(f"a ground at {ground_m} m", "ground_m", "give its height in metres")
        self.framing = framing_of(rig) if framing is None else framing
        self.ground_m, self.colours = ground_m, colours
        self._splatter, self._device, self._dtype = splatter, torch.device(device), dtype
        self._poser = GaussianPoser(gaussians, dtype, self._device)
        self._facing = self._carried(torch.from_numpy(rig.facing))
        self._paint = self._carried(torch.from_numpy(gaussians.colours))
        self._opacities = self._carried(torch.from_numpy(gaussians.opacities))

    def film(self, world: Tensor, shot: Shot, root: Tensor, *, loop: bool = False) -> Tensor:
        """Videos of a motion, differentiable in `world` and `root`: through the Gaussians, the camera and the ground.

        Args:
            world: (frames, joints, 3 or 4, 4) world transforms of the joints, metres.
            shot: cameras, times, size, tiles.
            root: (frames, 3) the path of the pelvis, metres, which the cameras follow smoothly over the ground.
            loop: the last frame is the first pose moved on by the travel: the cameras' path has no seam.

        Returns:
            (views, frames, height, width, 3) sRGB in 0..1.

        Raises:
            AkdError: shapes that do not fit, a camera inside the character or below the ground, poses that are not finite.
        """
        frames = len(shot.times_s)
        if root.shape != (frames, 3) or len(world) != frames:
            fault = f"{frames} times, {len(world)} poses and a path of shape {tuple(root.shape)} do not fit"
            raise AkdError(fault, "film", "give as many poses as times, and a path (frames, 3)")
        camera = self.cameras(shot, smooth_path(self._carried(root), _fps(shot.times_s), period=loop))
        pictures = self.pictures(world, camera, shot.tile_m)
        return pictures.reshape(shot.cameras.count, frames, *shot.size, 3)

    def cameras(self, shot: Shot, centres: Tensor) -> Pinhole:
        """The cameras (views * frames) of a shot that look at the character along `centres` (frames, 3)."""
        return orbit(shot.cameras, self._carried(centres), self._facing, self.framing, shot.size)

    def pictures(self, world: Tensor, camera: Pinhole, tile_m: float | None) -> Tensor:
        """(pictures, height, width, 3) what cameras see of poses (frames, joints, 3 or 4, 4); camera `view * frames + frame` of `frame`."""
        means, covariances = self._poser(self._carried(world))
        shown = torch.where(means[..., 1].detach() < self.ground_m, 0.0, self._opacities)
        background = checkerboard(camera, tile_m, self.ground_m, self.colours)
        return self._splatter(Cloud(means, covariances, self._paint, shown), camera, background)

    def _carried(self, values: Tensor) -> Tensor:
        return values.to(device=self._device, dtype=self._dtype)


def _fps(times_s: Tensor) -> float:
    """Frames a second of evenly taken frames."""
    lasted = float(times_s[-1] - times_s[0]) if len(times_s) > 1 else 0.0
    return (len(times_s) - 1) / lasted if lasted > 0.0 else SLOWEST_FPS

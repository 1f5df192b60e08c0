"""What is splatted: clouds of Gaussians over time, what is seen of them where, and the protocol of the backends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from akd_sdk.errors import AkdError
from akd_sdk.views.pinhole import Pinhole


@dataclass(frozen=True)
class Cloud:
    """Gaussians in the world, at every frame; each tensor may carry a gradient.

    Attributes:
        means: (frames, gaussians, 3) metres.
        covariances: (frames, gaussians, 3, 3) square metres, symmetric and positive semidefinite.
        colours: (gaussians, 3) sRGB in 0..1, as displayed.
        opacities: (gaussians,) or (frames, gaussians), 0..1; Gaussians below 1/255 are not seen and get no gradient.
    """

    means: Tensor
    covariances: Tensor
    colours: Tensor
    opacities: Tensor

    def __post_init__(self) -> None:
        if self.means.dim() != 3 or self.means.shape[-1] != 3:
            raise AkdError(f"means of shape {tuple(self.means.shape)} are no Gaussians over time", "means", "give (frames, gaussians, 3)")
        frames, count, _ = self.means.shape
        expected: dict[str, list[tuple[int, ...]]] = {
            "covariances": [(frames, count, 3, 3)],
            "colours": [(count, 3)],
            "opacities": [(count,), (frames, count)],
        }
        for name, shapes in expected.items():
            shape = tuple(getattr(self, name).shape)
            if shape not in shapes:
                raise AkdError(f"{name} of shape {shape} do not fit {count} Gaussians at {frames} frames", name, f"give {shapes[-1]}")

    @property
    def frames(self) -> int:
        return int(self.means.shape[0])

    @property
    def count(self) -> int:
        return int(self.means.shape[1])


@runtime_checkable
class Splatter(Protocol):
    """Draws Gaussians; differentiable in the cloud, the background and the camera's `camera_from_world`."""

    @property
    def name(self) -> str:
        """Name of the backend: "warp", "torch" or "gsplat"."""

    def __call__(self, cloud: Cloud, camera: Pinhole, background: Tensor) -> Tensor:
        """Pictures (pictures, height, width, 3), colours in 0..1 where those of cloud and background are.

        `background` is one colour (3,) or pictures (pictures, height, width, 3). There is one picture a camera. Where there are more
        cameras than frames they look at the frames in turn: camera `view * frames + frame` at frame `frame`.
        """


@dataclass(frozen=True)
class Matched:
    """Cloud, cameras and background with one entry a picture, checked, of one dtype; what every backend starts from.

    Attributes:
        cloud: one frame a picture; opacities (pictures, gaussians).
        camera: one a picture.
        background: (pictures, height, width, 3) or (3,).
    """

    cloud: Cloud
    camera: Pinhole
    background: Tensor


def matched(cloud: Cloud, camera: Pinhole, background: Tensor, device: str, dtype: torch.dtype) -> Matched:
    """The three made to fit each other, on the device of the backend.

    Raises:
        AkdError: counts, shapes or devices that do not fit, or numbers that are not finite.
    """
    pictures, frames = camera.count, cloud.frames
    if frames == 0 or pictures == 0 or pictures % frames:
        raise AkdError(f"{pictures} cameras cannot look at {frames} frames", "camera", "give a whole number of cameras for each frame")
    if background.shape not in {(3,), (pictures, *camera.size, 3)}:
        fault = f"a background of shape {tuple(background.shape)} does not fit {pictures} pictures of {camera.size[1]} x {camera.size[0]}"
        raise AkdError(fault, "background", "give one colour (3,), or (pictures, height, width, 3)")
    tensors = {"means": cloud.means, "covariances": cloud.covariances, "colours": cloud.colours, "opacities": cloud.opacities}
    tensors |= {"background": background, "camera_from_world": camera.camera_from_world, "focal": camera.focal}
    _check(tensors, torch.device(device).type)
    views, opacities = pictures // frames, cloud.opacities.to(dtype).expand(frames, cloud.count)
    means, covariances = cloud.means.to(dtype), cloud.covariances.to(dtype)
    if views > 1:
        means, covariances, opacities = means.repeat(views, 1, 1), covariances.repeat(views, 1, 1, 1), opacities.repeat(views, 1)
    fitted = Cloud(means, covariances, cloud.colours.to(dtype), opacities)
    return Matched(fitted, Pinhole(camera.camera_from_world.to(dtype), camera.focal.to(dtype), camera.size), background.to(dtype))


def _check(tensors: dict[str, Tensor], device: str) -> None:
    """All on the device, and finite: where the sums are finite nobody looks at each number."""
    for name, tensor in tensors.items():
        if tensor.device.type != device:
            raise AkdError(
                f"{name} on {tensor.device} cannot be drawn on {device}", name, f"move all to {device}, or load a splatter for theirs"
            )
    if math.isfinite(sum(tensor.detach().sum() for tensor in tensors.values())):
        return
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise AkdError(f"{name} hold numbers that are not finite", name, "give finite numbers")

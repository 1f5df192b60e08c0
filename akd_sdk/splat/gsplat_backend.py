"""Splatting by gsplat's CUDA kernels."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Final

import torch
from torch import Tensor

from akd_sdk.errors import BackendError
from akd_sdk.splat.cloud import Cloud, Matched, matched
from akd_sdk.splat.memory import told_what_fits
from akd_sdk.splat.projection import BLUR_PX2, NEAR_M
from akd_sdk.views.pinhole import Pinhole

HINT: Final = "pip install 'akd-sdk[cuda]' on a machine with an NVIDIA GPU and the CUDA toolkit, or take the backend warp"


class GsplatSplatter:
    """Splatting in float32 on a CUDA device; other floats are converted there and back."""

    name: Final = "gsplat"

    def __init__(self, device: str = "cuda") -> None:
        """Finds the compiled part, building it where a toolkit is at hand (minutes, once), and tries it.

        Raises:
            BackendError: the package, a CUDA device or the compiled part is missing, or does not run on this GPU.
        """
        if torch.device(device).type != "cuda" or not torch.cuda.is_available():
            raise BackendError(f"gsplat draws on CUDA devices only, and {device!r} is none that is available", "gsplat", HINT)
        self.device = device
        self._rasterize = _find_rasterization()
        self._try()

    def __call__(self, cloud: Cloud, camera: Pinhole, background: Tensor) -> Tensor:
        """See `Splatter`."""
        given = matched(cloud, camera, background, self.device, torch.float32)
        with told_what_fits(camera, cloud.count):
            image, covered = self._draw(given)
            return (image + (1.0 - covered) * given.background).to(cloud.means.dtype)

    def _draw(self, given: Matched) -> tuple[Tensor, Tensor]:
        cloud, camera = given.cloud, given.camera
        pictures, count = camera.count, cloud.count
        height, width = camera.size
        if count == 0:
            nothing = cloud.means.new_zeros(pictures, height, width, 4)
            return nothing[..., :3], nothing[..., 3:]
        view = torch.cat([camera.camera_from_world, camera.camera_from_world.new_zeros(pictures, 1, 4)], 1)
        view = view + torch.diag(view.new_tensor([0.0, 0.0, 0.0, 1.0]))
        lens = torch.zeros(pictures, 3, 3, device=view.device)
        lens[:, 0, 0] = lens[:, 1, 1] = camera.focal
        lens[:, 0, 2], lens[:, 1, 2], lens[:, 2, 2] = width / 2, height / 2, 1.0
        covariances = (cloud.covariances + cloud.covariances.transpose(-1, -2)) / 2  # gsplat reads, and differentiates, one half
        image, covered, _ = self._rasterize(
            means=cloud.means.contiguous(),
            quats=None,
            scales=None,
            opacities=cloud.opacities.contiguous(),
            colors=cloud.colours.expand(pictures, count, 3).contiguous(),
            viewmats=view[:, None].contiguous(),
            Ks=lens[:, None],
            width=width,
            height=height,
            near_plane=NEAR_M,
            eps2d=BLUR_PX2,
            packed=False,
            covars=covariances.contiguous(),
        )
        return image[:, 0], covered[:, 0]

    def _try(self) -> None:
        one = torch.zeros(1, 1, 3, device=self.device)
        cloud = Cloud(one, torch.eye(3, device=self.device)[None, None] * 0.01, one[0], one[0, :, 0] + 1.0)
        view = torch.eye(4, device=self.device)[None, :3] + torch.tensor([0.0, 0.0, 0.0, 1.0], device=self.device)
        try:
            self(cloud, Pinhole(view, torch.ones(1, device=self.device) * 8.0, (8, 8)), one[0, 0])
        except (RuntimeError, ImportError) as error:
            raise BackendError(f"gsplat does not run on {self.device!r}: {error}", "gsplat", HINT) from error


def _find_rasterization() -> Any:
    """gsplat's function; typed Any, since gsplat is an extra that may be missing where types are checked."""
    with contextlib.redirect_stdout(sys.stderr):  # it announces its build on standard output, which belongs to results
        try:
            from gsplat import rasterization
            from gsplat.cuda._backend import _C as compiled
        except ImportError as error:
            raise BackendError(f"gsplat cannot be loaded: {error}", "gsplat", HINT) from error
        except (RuntimeError, OSError) as error:
            raise BackendError(f"gsplat's CUDA part cannot be built: {error}", "gsplat", HINT) from error
    if compiled is None:
        raise BackendError("gsplat's CUDA part is not compiled, and no CUDA toolkit was found to compile it with", "gsplat", HINT)
    return rasterization

"""Running out of memory, said with what would fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import torch

from akd_sdk.errors import BackendError
from akd_sdk.views.pinhole import Pinhole

PIXEL_BYTES: Final = 80
"""Of a picture while it is drawn and differentiated: colour, light and their gradients, background, index."""
GAUSSIAN_BYTES: Final = 400
"""Of a Gaussian in a picture: mean, covariance, projection and their gradients, order."""


@contextmanager
def told_what_fits(camera: Pinhole, gaussians: int) -> Iterator[None]:
    """Turns running out of memory within it into a BackendError that says how many pictures at once would fit."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise _refusal(camera, gaussians) from error
    except RuntimeError as error:
        if not any(words in str(error).lower() for words in ("out of memory", "can't allocate memory", "failed to allocate")):
            raise
        raise _refusal(camera, gaussians) from error


def _refusal(camera: Pinhole, gaussians: int) -> BackendError:
    height, width = camera.size
    each = height * width * PIXEL_BYTES + gaussians * GAUSSIAN_BYTES
    device = camera.camera_from_world.device
    fault = f"{camera.count} pictures of {width} x {height} with {gaussians} Gaussians do not fit in the memory of {device}"
    needed = f"they need about {camera.count * each / 1e9:.2g} GB"
    fit = camera.count // 2
    if device.type == "cuda":
        free = torch.cuda.mem_get_info(device)[0]
        needed, fit = f"{needed} and {free / 1e9:.2g} GB are free", min(fit, free // each)
    return BackendError(
        fault, hint=f"{needed}: draw " + (f"at most {fit} at once, or smaller ones" if fit else "smaller ones, or fewer Gaussians")
    )

"""The choice of a splatting backend by name and device."""

from __future__ import annotations

from typing import Final

import torch

from akd_sdk.errors import BackendError
from akd_sdk.splat.cloud import Splatter

SPLATTERS: Final = ("auto", "warp", "torch", "gsplat")
"""Names that `load_splatter` knows."""


def load_splatter(name: str = "auto", device: str = "cpu") -> Splatter:
    """The backend of that name, ready to draw on that device.

    auto takes gsplat on CUDA where it is usable, else warp; torch is the plain dense twin, for comparison and for float64.

    Raises:
        BackendError: no backend has that name, or it cannot work here: a package, the device or a compiled part is missing.
    """
    if name not in SPLATTERS:
        raise BackendError(f"no splatting backend is called {name!r}", hint=f"known are {', '.join(SPLATTERS)}")
    device = _checked(device)
    if name == "torch":
        from akd_sdk.splat.twin import TorchSplatter

        return TorchSplatter(device)
    from akd_sdk.splat.gsplat_backend import GsplatSplatter
    from akd_sdk.splat.warp_backend import WarpSplatter

    if name == "gsplat":
        return GsplatSplatter(device)
    if name == "auto" and device.startswith("cuda"):
        try:
            return GsplatSplatter(device)
        except BackendError:
            return WarpSplatter(device)
    return WarpSplatter(device)


def _checked(device: str) -> str:
    """The device as all backends call it: there is one CPU, which torch also calls cpu:0."""
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise BackendError(f"there is no device {device!r}", hint="give cpu, cuda or cuda:0") from error
    if kind not in ("cpu", "cuda"):
        raise BackendError(f"nothing is splatted on the device {device!r}", hint="give cpu, cuda or cuda:0")
    if kind == "cuda" and not torch.cuda.is_available():
        hint = "this needs an NVIDIA GPU, its driver and torch's CUDA build; or give cpu"
        raise BackendError(f"the device {device!r} is not available", hint=hint)
    return "cpu" if kind == "cpu" else device

"""The compiled kernels: Warp started quietly, its module built at the first use on a machine and cached from then on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import BackendError
from akd_sdk.progress import Progress, ProgressCallback, ignore
from akd_sdk.splat.quiet import without_line

DEVICE = "cpu"
NO_DRIVER = "Could not find or load the NVIDIA CUDA driver"
KERNELS = "akd_sdk.exporters.reduction.kernels"


def kernels(progress: ProgressCallback = ignore) -> ModuleType:
    """The module of kernels, loaded. Raises BackendError: no folder for compiled kernels can be written."""
    with _quietly() as warp:
        if not _loaded.cache_info().currsize and not any(Path(warp.config.kernel_cache_dir or "").glob(f"*{KERNELS}*")):
            progress(Progress("compiling the reduction's kernels, once on this machine", 0.0))
        return _loaded()


@cache
def _loaded() -> ModuleType:
    import warp

    try:
        from akd_sdk.exporters.reduction import kernels as module

        warp.load_module(module, device=DEVICE)
    except (OSError, RuntimeError) as error:
        fault = f"the kernels of the reduction cannot be compiled: {error}".splitlines()[0]
        raise BackendError(fault, "warp", "name a folder that can be written in the environment variable WARP_CACHE_PATH") from error
    built: ModuleType = module
    return built


@contextmanager
def _quietly() -> Iterator[Any]:  # Any: Warp's module, which has no types
    """Warp without its banner and its notes on kernels."""
    import warp

    before = warp.config.log_level
    warp.config.log_level = warp.LOG_WARNING
    try:
        with without_line(NO_DRIVER):
            warp.init()  # type: ignore[no-untyped-call]  # of warp
        yield warp
    finally:
        warp.config.log_level = before


def shared(array: NDArray[Any], kind: str = "") -> Any:  # Any: a Warp array
    """A Warp array on the memory of a numpy array; `kind` is Warp's name of what its last axis (or two) is: "vec3d", "quatd", "mat33d"."""
    import warp

    dtype = getattr(warp, kind) if kind else {"i": warp.int32, "f": warp.float64}[array.dtype.kind]
    return warp.array(array, dtype=dtype, copy=False, device=DEVICE)


def launch(kernel: Any, *arguments: Any) -> None:
    """Runs a kernel once, on one thread."""
    import warp

    warp.launch(kernel, 1, list(arguments), device=DEVICE)


def indices(values: NDArray[Any] | list[int]) -> Any:
    """A Warp array of whole numbers."""
    return shared(np.ascontiguousarray(values, dtype=np.int32))

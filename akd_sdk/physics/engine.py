"""The engines behind the simulation: newton builds the model, MuJoCo's C library steps it; imported here alone, and quietly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from akd_sdk.errors import BackendError
from akd_sdk.splat.quiet import without_line

NO_DRIVER = "Could not find or load the NVIDIA CUDA driver"
KERNELS = "newton._src.solvers.mujoco.kernels"
"""The largest of the modules that newton has Warp compile, as its folder in the cache is called."""


def newton() -> ModuleType:
    """newton, imported with kernels that need no derivatives: half the time of a first run."""
    try:
        import warp

        before = warp.config.enable_backward
        warp.config.enable_backward = False
        try:
            with compiling(), quietly():
                import newton
        finally:
            warp.config.enable_backward = before
    except ImportError as missing:
        raise BackendError(f"the simulation needs {missing.name}, which is not installed", hint="pip install akd-sdk anew") from missing
    module: ModuleType = newton
    return module


@contextmanager
def quietly() -> Iterator[None]:
    """Warp without its banner, its notes on kernels and its remark that there is no CUDA driver."""
    import warp

    before = warp.config.log_level
    warp.config.log_level = warp.LOG_WARNING
    try:
        with without_line(NO_DRIVER):
            warp.init()  # type: ignore[no-untyped-call]  # of warp
            yield
    finally:
        warp.config.log_level = before


@contextmanager
def compiling() -> Iterator[None]:
    """Says in one line when the folder of compiled kernels cannot be used."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        fault = f"the kernels of the simulation cannot be compiled: {error}".splitlines()[0]
        raise BackendError(fault, "warp", "name a folder that can be written in the environment variable WARP_CACHE_PATH") from error


def compiles() -> bool:
    """Whether the simulation's kernels are still to be compiled: the first run on a machine, or of a version."""
    import warp

    folder = warp.config.kernel_cache_dir or ""
    return not any(Path(folder).glob(f"*{KERNELS}*"))


def mujoco() -> ModuleType:
    """MuJoCo's own Python package."""
    try:
        import mujoco
        import mujoco.rollout
    except ImportError as missing:
        raise BackendError(f"the simulation needs {missing.name}, which is not installed", hint="pip install akd-sdk anew") from missing
    module: ModuleType = mujoco
    return module


@contextmanager
def unwarned() -> Iterator[None]:
    """MuJoCo without its warnings, written to standard error and into a file in the working folder; what it warns of is looked at here."""
    library = mujoco()
    before = library.get_mju_user_warning()
    library.set_mju_user_warning(lambda _: None)
    try:
        yield
    finally:
        library.set_mju_user_warning(before)

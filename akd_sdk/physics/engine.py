"""The engines behind the simulation: newton builds the model, MuJoCo's C library steps it; imported here alone, and quietly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from akd_sdk.errors import BackendError
from akd_sdk.splat.quiet import without_line


def newton() -> ModuleType:
    """newton, imported with kernels that need no derivatives: half the time of a first run."""
    try:
        import warp

        from akd_sdk.splat.warp_backend import NO_DRIVER

        warp.config.log_level = warp.LOG_WARNING  # what it says otherwise would stand among results
        before = warp.config.enable_backward
        warp.config.enable_backward = False
        try:
            with without_line(NO_DRIVER):
                warp.init()  # type: ignore[no-untyped-call]  # of warp
            import newton
        finally:
            warp.config.enable_backward = before
    except ImportError as missing:
        raise BackendError(f"the simulation needs {missing.name}, which is not installed", hint="pip install akd-sdk anew") from missing
    module: ModuleType = newton
    return module


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

"""akd-sdk: a rigged character and a sentence become animation clips that engines play."""

from pathlib import Path as _Path

# A checkout without symbolic links (git on Windows, a zip download) has text files in place of the two links: the
# top-level folders are found through the package path instead.
_here = _Path(__file__).resolve().parent
if not (_here / "exporters").is_dir() and (_here.parent / "pyproject.toml").is_file():
    __path__.append(str(_here.parent))

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from akd_sdk.errors import (
    AkdError,
    BackendError,
    ExportError,
    PhysicsError,
    PriorError,
    PromptError,
    ReadError,
    RetargetError,
    RigError,
)
from akd_sdk.progress import Progress

if TYPE_CHECKING:
    from akd_sdk.animator import Animator
    from akd_sdk.distill import DistillOptions
    from akd_sdk.motion import Motion
    from akd_sdk.physics import Tracked
    from akd_sdk.priors import Prior, Prompt, VideoPrior, load_prior
    from akd_sdk.priors.video import VideoOptions
    from akd_sdk.readers import open_rig
    from akd_sdk.rig import Rig, Skeleton

__version__ = "0.1.0"

__all__ = [
    "AkdError",
    "Animator",
    "BackendError",
    "DistillOptions",
    "ExportError",
    "Motion",
    "PhysicsError",
    "Prior",
    "PriorError",
    "Progress",
    "Prompt",
    "PromptError",
    "ReadError",
    "RetargetError",
    "Rig",
    "RigError",
    "Skeleton",
    "Tracked",
    "VideoOptions",
    "VideoPrior",
    "load_prior",
    "open_rig",
]

# Names whose modules bring numpy, torch or usd: loaded when first asked for.
_LAZY = {
    "Animator": "akd_sdk.animator",
    "DistillOptions": "akd_sdk.distill",
    "Motion": "akd_sdk.motion",
    "Prior": "akd_sdk.priors",
    "Prompt": "akd_sdk.priors",
    "Rig": "akd_sdk.rig",
    "Skeleton": "akd_sdk.rig",
    "Tracked": "akd_sdk.physics",
    "VideoOptions": "akd_sdk.priors.video",
    "VideoPrior": "akd_sdk.priors",
    "load_prior": "akd_sdk.priors",
    "open_rig": "akd_sdk.readers",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(_import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

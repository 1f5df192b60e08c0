"""What every prior offers, and the registry of priors by name."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from akd_sdk.errors import PriorError
from akd_sdk.priors.prompt import Prompt

if TYPE_CHECKING:
    from torch import Tensor

    from akd_sdk.priors.video.base import VideoOptions
    from akd_sdk.views.camera import Cameras
    from akd_sdk.views.shot import Shot
    from akd_sdk.views.tokens import Tokens

GROUP: Final = "akd_sdk.priors"
"""Entry-point group in which other packages offer priors: an object with `load(path) -> Prior` or `VideoPrior`."""

VIDEO: Final = ("cogvideox", "ltx", "wan")
"""Video models that are loaded from checkpoints."""


class Model(Protocol):
    """What all priors offer."""

    @property
    def name(self) -> str:
        """Its name in the registry."""

    @property
    def observes(self) -> str:
        """What it sees of a motion: "tracks" or "pixels"."""

    @property
    def frames(self) -> int:
        """Length of what it sees at once."""

    @property
    def fps(self) -> float:
        """Frames a second of it."""

    def parse(self, sentence: str, body: str) -> Prompt:
        """The sentence as understood; PromptError where it asks for nothing that the prior knows."""

    def alpha_sigma(self, t: float) -> tuple[float, float]:
        """Signal and noise weights at time t in 0..1."""


@runtime_checkable
class Prior(Model, Protocol):
    """A model of motion that looks at tracks, asked for the clean tracks that it believes in."""

    def encode(self, tracks: Tensor) -> Tensor:
        """Latents of an observation; for tracks they are the same."""

    def estimate(self, latents: Tensor, t: float, prompt: Prompt, tokens: Tokens, cameras: Cameras) -> Tensor:
        """Clean latents believed in at time t, in the x0 form, of the shape of `latents`."""


@runtime_checkable
class VideoPrior(Model, Protocol):
    """A model of videos, asked for the clean latents that it believes in; all tensors of videos and latents are float32.

    `encode` is differentiable. Where `two_pass` is set it is called twice a step, first without a graph, so that what `estimate` needs
    and the graph of the encoder never lie in memory together; else once.
    """

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of a video, pixels."""

    @property
    def device(self) -> str:
        """Where its videos and latents lie, as torch names it."""

    @property
    def two_pass(self) -> bool:
        """Whether videos are encoded a second time for the gradient."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said before the start, one line each: what it will need."""

    def encode(self, pixels: Tensor) -> Tensor:
        """Latents of videos (views, frames, height, width, 3) in 0..1; the first axis is kept."""

    def estimate(self, latents: Tensor, t: float, prompt: Prompt, shot: Shot) -> Tensor:
        """Clean latents believed in at time t, in the x0 form, of the shape of `latents`, without gradient."""


def prior_names() -> tuple[str, ...]:
    """Names of the priors that can be loaded, the embedded one first, then video models, then those of other packages."""
    others = sorted({point.name for point in entry_points(group=GROUP)} - {"mini", *VIDEO})
    return ("mini", *VIDEO, *others)


def load_prior(name: str = "mini", path: str | Path | None = None, video: VideoOptions | None = None) -> Prior | VideoPrior:
    """The prior of that name.

    Args:
        name: "mini", a video model ("cogvideox", "ltx", "wan"), or what another package offers.
        path: its weights, a file or a folder; None: its own, which video models do not have.
        video: how a video model is used.

    Raises:
        PriorError: no prior has that name, or its weights cannot be used.
        BackendError: packages, weights or a device are missing, or memory is too small. AkdError: options that cannot be.
    """
    if name in VIDEO:
        from akd_sdk.priors.video import load_video_prior

        return load_video_prior(name, path, video)
    if video is not None:
        raise PriorError(f"{name!r} is no video model and takes no options of one", "--prior", f"video models are {', '.join(VIDEO)}")
    if name == "mini":
        from akd_sdk.priors.mini.prior import MiniPrior

        return MiniPrior.load(path)
    for point in entry_points(group=GROUP):
        if point.name == name:
            prior: Prior | VideoPrior = point.load().load(path)
            return prior
    raise PriorError(f"no prior is called {name!r}", hint=f"known are {', '.join(prior_names())}")

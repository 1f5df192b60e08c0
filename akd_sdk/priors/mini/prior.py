"""The embedded prior at use: weights, words and one guided estimate."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Self

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from akd_sdk.errors import PriorError
from akd_sdk.formats.atomic import write_whole
from akd_sdk.priors.mark import mark_of
from akd_sdk.priors.mini import vocabulary
from akd_sdk.priors.mini.lexicon import parse
from akd_sdk.priors.mini.model import FPS, FRAMES, Condition, MiniModel, ModelConfig, TokenFeatures, alpha_sigma
from akd_sdk.priors.prompt import Prompt
from akd_sdk.views.camera import Cameras
from akd_sdk.views.tokens import Tokens

__all__ = ["FPS", "FRAMES", "WEIGHTS", "MiniPrior", "load_model", "save_model"]

WEIGHTS: Final = Path(__file__).with_name("mini.safetensors")
"""The weights that come with the package."""

FORMAT: Final = "akd-mini-1"
"""Name and version of the weight file's layout."""


def save_model(state: Mapping[str, Tensor], config: ModelConfig, path: Path, facts: Mapping[str, str]) -> None:
    """Write weights as half precision safetensors with their shape and `facts` as metadata, whole or not at all.

    Raises ExportError: the file cannot be written.
    """
    halves = {name: value.detach().to(torch.float16).contiguous() for name, value in state.items()}
    metadata = {"format": FORMAT, "config": json.dumps(asdict(config), sort_keys=True), **facts}
    write_whole(path, save(halves, metadata=metadata), force=True)


def load_model(path: Path) -> tuple[MiniModel, dict[str, str]]:
    """The network of a weight file, ready for use, and the file's metadata.

    Raises:
        PriorError: the file is missing, broken, of another layout, or does not fit its own configuration.
    """
    if not os.path.isfile(path):  # not Path.is_file, which raises for names that are too long
        raise PriorError("no weights of the prior here", path, "make them with `akd train mini`")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = dict(file.metadata() or {})
            state = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118 - not a dictionary
    except (SafetensorError, OSError) as fault:
        raise PriorError(f"not a safetensors file ({fault})", path, "make the weights with `akd train mini`") from fault
    if metadata.get("format") != FORMAT:
        raise PriorError(f"weights are of format {metadata.get('format', 'unnamed')!r}, not {FORMAT!r}", path)
    model = MiniModel(_config(metadata.get("config", ""), path))
    wanted = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    found = {name: tuple(value.shape) for name, value in state.items()}
    if wanted != found:
        odd = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        raise PriorError(f"weights do not fit their configuration, first at {odd[0]!r}", path, "make them with `akd train mini`")
    if not all(bool(torch.isfinite(value).all()) for value in state.values()):
        raise PriorError("weights hold numbers that are not finite", path)
    model.load_state_dict(state)
    return model.eval().requires_grad_(False), metadata


def _config(text: str, path: Path) -> ModelConfig:
    try:
        config = ModelConfig(**json.loads(text))
    except (ValueError, TypeError) as fault:
        raise PriorError(f"configuration of the weights cannot be read ({fault})", path) from fault
    numbers = (config.width, config.depth, config.heads)
    if not all(isinstance(n, int) and 0 < n <= 1024 for n in numbers) or config.width % config.heads:
        raise PriorError(f"configuration of the weights is out of range: {text}", path)
    if config.frames != FRAMES or config.words != len(vocabulary.CANONICAL):
        raise PriorError(f"weights are for {config.frames} frames and {config.words} words", path)
    return config


@dataclass(frozen=True)
class MiniPrior:
    """The prior `mini`: words, weights, and the clean tracks that it believes in.

    Attributes:
        model: the network, without gradients.
        metadata: of the weight file.
    """

    model: MiniModel
    metadata: Mapping[str, str]

    name = "mini"
    observes = "tracks"
    frames = FRAMES
    fps = FPS

    @classmethod
    def load(cls, path: str | Path | None = None) -> Self:
        """The prior with the package's weights, or those of `path`; PriorError names the file and its fault."""
        return cls(*load_model(WEIGHTS if path is None else Path(path)))

    @property
    def mark(self) -> str:
        """Which weights it has."""
        return mark_of(self.model)

    def parse(self, sentence: str, body: str) -> Prompt:
        """The sentence as understood for a "quadruped", "biped" or "bird"; PromptError where it asks for nothing known."""
        return parse(sentence, body)

    def alpha_sigma(self, t: float) -> tuple[float, float]:
        """Signal and noise weights at time t in 0..1: cosine and sine of a quarter turn, no signal at t = 1."""
        alpha, sigma = alpha_sigma(torch.tensor(t, dtype=torch.float64))
        return float(alpha), float(sigma)

    def encode(self, tracks: Tensor) -> Tensor:
        """Latents of tracks: the tracks themselves."""
        return tracks

    @torch.no_grad()
    def estimate(self, latents: Tensor, t: float, prompt: Prompt, tokens: Tokens, cameras: Cameras) -> Tensor:
        """Clean tracks that the prior believes in, pushed by the prompt's guidance w: x_u + w (x_c - x_u).

        Args:
            latents: (views, tokens, frames, 2 kinds, 2) noisy tracks, float32.
            t: time in 0..1.

        Returns:
            tracks of the shape of `latents`, without gradient; the same input gives the same output.
        """
        views = latents.shape[0]
        words = torch.tensor([vocabulary.index(w) for w in (prompt.body, prompt.action, *prompt.styles)])
        spoken = torch.stack([words, torch.zeros_like(words)]).repeat_interleave(views, 0)
        condition = Condition(spoken, cameras.rows.repeat(2, 1, 1), cameras.params.repeat(2, 1))
        both = self.model(latents.repeat(2, 1, 1, 1, 1), torch.full((2 * views,), t), TokenFeatures.of(tokens, 2 * views), condition)
        asked, free = both.chunk(2)
        answer: Tensor = free + prompt.guidance * (asked - free)
        return answer

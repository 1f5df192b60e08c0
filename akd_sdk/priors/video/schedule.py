"""How much noise a model's time means, and the clean latents that its answer stands for: one x0 form for v-prediction and flow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from akd_sdk.errors import AkdError, PriorError


class Schedule(Protocol):
    """Times in 0..1, as distillation counts them, in a model's own terms."""

    def alpha_sigma(self, t: float) -> tuple[float, float]:
        """Weights of signal and noise: noisy = alpha clean + sigma noise."""

    def timestep(self, t: float) -> float:
        """What the model is told as its time."""

    def clean(self, noisy: Tensor, answer: Tensor, t: float) -> Tensor:
        """Clean latents that the model's answer about noisy ones stands for."""


@dataclass(frozen=True)
class VPrediction:
    """Steps of a variance-preserving schedule; the model answers v = alpha noise - sigma clean.

    Attributes:
        alphas_cumprod: (steps,) squared signal weights, the last 0 where the schedule ends in pure noise.
    """

    alphas_cumprod: NDArray[np.float64]

    @classmethod
    def of(cls, config: Mapping[str, Any], path: Path) -> Self:
        """The schedule of a checkpoint's scheduler; PriorError where it is none of v-prediction.

        The signal-to-noise ratio is divided by `snr_shift_scale`, then the roots are moved and stretched so that the last is 0.
        """
        if config.get("prediction_type") != "v_prediction":
            raise PriorError(f"the scheduler predicts {config.get('prediction_type', 'epsilon')!r}, not 'v_prediction'", path)
        if config.get("beta_schedule", "scaled_linear") != "scaled_linear" or config.get("trained_betas") is not None:
            raise PriorError("the noise schedule is none that CogVideoX was published with", path, "beta_schedule is 'scaled_linear'")
        steps = int(config.get("num_train_timesteps", 1000))
        low, high = (math.sqrt(float(config.get(key, value))) for key, value in (("beta_start", 0.00085), ("beta_end", 0.012)))
        shift = float(config.get("snr_shift_scale", 3.0))
        kept = np.cumprod(1.0 - np.linspace(low, high, steps) ** 2, dtype=np.float64)
        kept = kept / (shift + (1.0 - shift) * kept)
        if config.get("rescale_betas_zero_snr", False):
            root = np.sqrt(kept)
            kept = ((root - root[-1]) * (root[0] / (root[0] - root[-1]))) ** 2
        return cls(np.asarray(kept, dtype=np.float64))

    def _step(self, t: float) -> int:
        return round(_within(t) * (len(self.alphas_cumprod) - 1))

    def alpha_sigma(self, t: float) -> tuple[float, float]:
        kept = float(self.alphas_cumprod[self._step(t)])
        return math.sqrt(kept), math.sqrt(1.0 - kept)

    def timestep(self, t: float) -> float:
        return float(self._step(t))

    def clean(self, noisy: Tensor, answer: Tensor, t: float) -> Tensor:
        alpha, sigma = self.alpha_sigma(t)
        return alpha * noisy - sigma * answer


@dataclass(frozen=True)
class Flow:
    """A straight path from clean to noise, noisy = (1 - sigma) clean + sigma noise; the model answers noise - clean.

    Attributes:
        shift: k of sigma = k t / (1 + (k - 1) t), as the model's sampler spaces its steps.
        steps: what the model calls sigma = 1.
    """

    shift: float
    steps: int = 1000

    @classmethod
    def of(cls, config: Mapping[str, Any], tokens: int) -> Self:
        """The flow of a checkpoint's scheduler for a video of so many tokens, whose shift may depend on them."""
        steps = int(config.get("num_train_timesteps", 1000))
        if not config.get("use_dynamic_shifting", False):
            return cls(float(config.get("shift", config.get("flow_shift", 1.0)) or 1.0), steps)
        low, high = float(config.get("base_image_seq_len", 256)), float(config.get("max_image_seq_len", 4096))
        least, most = float(config.get("base_shift", 0.5)), float(config.get("max_shift", 1.15))
        mu = least + (most - least) * (tokens - low) / (high - low)
        return cls(math.exp(mu) if config.get("time_shift_type", "exponential") == "exponential" else mu, steps)

    def _sigma(self, t: float) -> float:
        return self.shift * _within(t) / (1.0 + (self.shift - 1.0) * t)

    def alpha_sigma(self, t: float) -> tuple[float, float]:
        sigma = self._sigma(t)
        return 1.0 - sigma, sigma

    def timestep(self, t: float) -> float:
        return self.steps * self._sigma(t)

    def clean(self, noisy: Tensor, answer: Tensor, t: float) -> Tensor:
        return noisy - self._sigma(t) * answer


def _within(t: float) -> float:
    if not 0.0 <= t <= 1.0:
        raise AkdError(f"time {t:g} of the noise lies outside 0 to 1", "t")
    return t

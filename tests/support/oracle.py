"""A video prior that knows the answer: whatever it is shown, it believes in the video of one motion, filmed by its own cameras.

It stands for a video model that is certain, and more than a model can be: it is told the direction of the camera and the phase of the
window, and does not look at the noisy latents. Of the optimised body it knows nothing: its cameras follow the known motion, so that
travel shows in the ground alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from akd_sdk.gaussians import world_of
from akd_sdk.kinematics import CurveKinematics
from akd_sdk.motion import CurveBasis, JointCurves
from akd_sdk.priors import Prompt
from akd_sdk.rig import Rig
from akd_sdk.splat import Scene
from akd_sdk.views.shot import Shot

RESIDUAL = 0.1
"""What the random weights at the end of residual branches are multiplied by."""


class KnownMotion:
    """A loop of joint curves that can be asked about at any time; it travels steadily beside its periodic part."""

    def __init__(self, rig: Rig, curves: JointCurves) -> None:
        self.rig, self.curves = rig, curves
        frames = len(curves.angles) - 1
        self.seconds = frames / curves.fps
        self.velocity = (curves.root[-1, :3] - curves.root[0, :3]) / self.seconds * np.array([1.0, 0.0, 1.0])
        times = np.arange(frames) / curves.fps
        self._basis = CurveBasis(self.seconds, min(12.0, 0.45 * curves.fps), loop=True)
        samples = self._basis.sample(times)
        root = curves.root[:-1].copy()
        root[:, :3] -= times[:, None] * self.velocity
        values = np.concatenate([curves.angles[:-1].reshape(frames, -1), root], axis=1)
        self._weights = np.linalg.lstsq(samples, values, rcond=None)[0]
        self._kinematics = CurveKinematics(rig.skeleton, rig.facing)
        self._rest = torch.from_numpy(np.ascontiguousarray(rig.skeleton.rest_world)).float()

    def at(self, times_s: np.ndarray, *, travels: bool = True) -> JointCurves:
        """Curves at any times; travel counts from the first of them."""
        values = self._basis.sample(np.mod(times_s, self.seconds)) @ self._weights
        angles, root = values[:, :-6].reshape(len(values), -1, 3), values[:, -6:].copy()
        if travels:
            root[:, :3] += (times_s - times_s[0])[:, None] * self.velocity
        return JointCurves(angles, root, self.curves.fps, False)

    def world(self, times_s: np.ndarray) -> tuple[Tensor, Tensor]:
        """World transforms (frames, joints, 3, 4) and the pelvis's path (frames, 3)."""
        curves = self.at(times_s)
        turns, positions = self._kinematics(torch.from_numpy(curves.angles).float(), torch.from_numpy(curves.root).float())
        return world_of(turns, positions, self._rest), positions[:, self.rig.skeleton.pelvis]


@dataclass(frozen=True)
class OraclePrior:
    """A video prior for one known motion; `encoder` makes latents of pixels, by default the pixels themselves."""

    motion: KnownMotion
    scene: Scene
    frames: int
    fps: float
    size: tuple[int, int]
    encoder: Callable[[Tensor], Tensor] | None = None

    name = "oracle"
    observes = "pixels"
    device = "cpu"
    two_pass = False
    notes = ()

    def parse(self, sentence: str, body: str) -> Prompt:
        return Prompt(sentence, body, "walk")

    def encode(self, pixels: Tensor) -> Tensor:
        return pixels if self.encoder is None else self.encoder(pixels)

    def alpha_sigma(self, t: float) -> tuple[float, float]:
        return 1.0 - t, t

    def estimate(self, latents: Tensor, t: float, prompt: Prompt, shot: Shot) -> Tensor:
        world, root = self.motion.world(shot.times_s.numpy())
        with torch.no_grad():
            return self.encode(self.scene.film(world, shot, root))


def random_encoder(seed: int = 0) -> Callable[[Tensor], Tensor]:
    """The encoder of a small CogVideoX autoencoder with random weights: videos (views, frames, h, w, 3) in 0..1 to latents, half as wide
    and high, and half as many after the first.

    Channels are mixed at random; but a kernel looks at one place and frame, as causal convolutions do that were inflated from those of
    images, only what makes pictures smaller averages, and residual branches are small. Kernels of white noise fold all detail onto few
    numbers, and what is left of the gradient of a distance (its cosine with the way to go is .02) leads nowhere; wide ones blur a
    walk over time, layer upon layer, until feet and hands are lost.
    """
    from diffusers import AutoencoderKLCogVideoX

    torch.manual_seed(seed)
    down, up = ("CogVideoXDownBlock3D",) * 2, ("CogVideoXUpBlock3D",) * 2
    sizes = {"block_out_channels": (8, 8), "layers_per_block": 1, "latent_channels": 16, "norm_num_groups": 2}
    vae = AutoencoderKLCogVideoX(down_block_types=down, up_block_types=up, **sizes).eval().requires_grad_(False)
    for name, module in vae.encoder.named_modules():
        weight = getattr(module, "weight", None)
        if weight is not None and weight.ndim >= 4:
            mixed = _mixing(weight.shape, averages="downsample" in name)
            weight.copy_(mixed * (RESIDUAL if name.endswith("conv2.conv") else 1.0))

    def encode(pixels: Tensor) -> Tensor:
        videos = (2.0 * pixels - 1.0).permute(0, 4, 1, 2, 3)
        latents: Tensor = torch.cat([vae.encode(video[None]).latent_dist.mode() for video in videos])
        return latents

    return encode


def _mixing(shape: torch.Size, averages: bool) -> Tensor:
    """Weights of a convolution: a random mix of channels at the middle of the picture and the last frame, or of a binomial average."""
    kernel = torch.ones(())
    for axis, side in enumerate(shape[2:]):
        line = torch.zeros(side)
        if axis == 0 and len(shape) == 5:
            line[-1] = 1.0
        elif averages and side == 3:
            line = torch.tensor([1.0, 2.0, 1.0]) / 4.0
        else:
            line[side // 2] = 1.0
        kernel = kernel[..., None] * line
    return torch.randn(shape[:2]).reshape(*shape[:2], *(1,) * kernel.ndim) / shape[1] ** 0.5 * kernel

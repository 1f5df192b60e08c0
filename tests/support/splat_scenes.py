"""Random Gaussians, cameras and backgrounds for the tests and benchmarks of splatting."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from akd_sdk.splat import Cloud, Splatter
from akd_sdk.views.pinhole import Pinhole


@dataclass(frozen=True)
class Scene:
    """A cloud before cameras and a background, and the weights (the gradient of a loss) of the pictures' pixels."""

    means: Tensor
    covariances: Tensor
    colours: Tensor
    opacities: Tensor
    view: Tensor
    background: Tensor
    focal: Tensor
    size: tuple[int, int]
    weights: Tensor

    @property
    def leaves(self) -> dict[str, Tensor]:
        """What pictures are differentiated by."""
        names = ("means", "covariances", "colours", "opacities", "view", "background")
        return {name: getattr(self, name) for name in names}

    def draw(self, splatter: Splatter) -> Tensor:
        cloud = Cloud(self.means, self.covariances, self.colours, self.opacities)
        return splatter(cloud, Pinhole(self.view, self.focal, self.size), self.background)

    def draw_and_differentiate(self, splatter: Splatter) -> tuple[Tensor, dict[str, Tensor]]:
        """The pictures, and the gradients of their weighted sum."""
        pictures = self.draw(splatter)
        gradients = torch.autograd.grad((pictures * self.weights).sum(), list(self.leaves.values()))
        return pictures.detach(), dict(zip(self.leaves, gradients))

    def on(self, device: str) -> Scene:
        leaves = {name: leaf.detach().to(device).requires_grad_() for name, leaf in self.leaves.items()}
        return replace(self, **leaves, focal=self.focal.to(device), weights=self.weights.to(device))

    def to(self, dtype: torch.dtype) -> Scene:
        leaves = {name: leaf.detach().to(dtype).requires_grad_() for name, leaf in self.leaves.items()}
        return replace(self, **leaves, focal=self.focal.to(dtype), weights=self.weights.to(dtype))


def random_scene(
    frames: int, gaussians: int, size: tuple[int, int], *, spread_m: float = 0.4, deviation_m: float = 0.06, seed: int = 1
) -> Scene:
    """A ball of Gaussians three metres before turned and shifted cameras, in float32."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, dtype=torch.float64)

    axes = normal(frames, gaussians, 3, 3) * deviation_m
    turn, _ = torch.linalg.qr(torch.eye(3, dtype=torch.float64) + 0.3 * normal(frames, 3, 3))
    turn = turn * torch.sign(torch.diagonal(turn, dim1=1, dim2=2))[:, None]
    shift = 0.1 * normal(frames, 3, 1) + torch.tensor([[0.0], [0.0], [3.0]], dtype=torch.float64)
    scene = Scene(
        means=normal(frames, gaussians, 3) * spread_m,
        covariances=axes @ axes.transpose(-1, -2),
        colours=uniform(gaussians, 3),
        opacities=uniform(gaussians),
        view=torch.cat([turn, shift], -1),
        background=uniform(frames, *size, 3),
        focal=torch.full((frames,), 1.2 * max(size), dtype=torch.float64),
        size=size,
        weights=normal(frames, *size, 3),
    )
    return scene.to(torch.float32)

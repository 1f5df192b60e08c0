"""A prior that looks at pixels: the body is filmed, and the belief about the video is pulled back to its pose (AKD, arXiv 2504.01204).

With `z = encode(video)` and the belief `x0` about `a z + s noise`, score distillation's gradient is `J^T (z - x0)`, J the Jacobian of
`encode(film(pose))`. It is taken in two halves: through the encoder to the pixels, view by view, then through the film to the pose.
Latents have whatever scale their makers chose, and what curves are held to must not weigh more or less for it: the gradient is divided by
the encoder's gain, found once by a small move of the body, so that it is in units of pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from akd_sdk.distill.body import CurveBody, Pose
from akd_sdk.distill.held import Held
from akd_sdk.distill.optimise import Look
from akd_sdk.distill.options import DistillOptions, Stage
from akd_sdk.errors import BackendError, PriorError
from akd_sdk.gaussians import bone_gaussians, surface_gaussians, world_of
from akd_sdk.priors import Prompt, VideoPrior
from akd_sdk.splat import Scene, load_splatter
from akd_sdk.views.camera import Cameras
from akd_sdk.views.shot import Shot

PROBE_AZIMUTH, PROBE_ELEVATION = 0.8, 0.2
"""Radians; from where the encoder's gain is probed."""
PROBE_RAD = 0.05
"""Of the coefficients of the move with which it is probed."""
SMALLEST = 1e-30
MULTIPLE = 8
"""Sides of pictures smaller than the prior's own are multiples of so many pixels."""


class PixelView:
    """What a video prior believes of a body that is filmed, and which way that pulls the body."""

    def __init__(self, body: CurveBody, scene: Scene, asked: tuple[VideoPrior, Prompt], options: DistillOptions, stage: Stage) -> None:
        self._body, self._scene, self._options = body, scene, options
        self._prior, self._prompt = asked
        self._held = Held(body, replace(options.pixels, effort=options.pixels.effort * stage.effort))
        self._rest = torch.from_numpy(np.ascontiguousarray(body.rig.skeleton.rest_world)).float()
        self._pelvis = body.rig.skeleton.pelvis
        height, width = self._prior.size
        self._size = (_scaled(height, stage.size), _scaled(width, stage.size))
        self._tile_m = stage.tile * body.rig.height if options.pixels.ground else None
        self._look: Look | None = None
        self._gain: float | None = None

    def begin(self, look: Look) -> None:
        """Choose the cameras of a step."""
        low, high = (math.radians(e) for e in self._options.pixels.elevation_deg)
        cameras = Cameras.ring(self._options.views or 1, (low, high), look.generator)
        self._shot = Shot(cameras, torch.from_numpy(look.times_s), self._size, self._tile_m)
        self._look = look

    def loss(self, pose: Pose) -> Tensor:
        """Half the mean squared distance to what is believed, as far as its gradient goes, and what curves are held to beside it."""
        if self._look is None:
            raise ValueError("nothing is looked at yet")
        if self._gain is None:
            self._gain = self._encoders_gain()
        video = self.film(pose, self._shot)
        pull, distance = (part / self._gain for part in self._pull(video.detach()))
        surrogate = (video * pull).sum()
        believed = (surrogate - surrogate.detach() + distance).to("cpu")
        return believed + self._held.loss(pose, self._look.coefficients)

    def film(self, pose: Pose, shot: Shot) -> Tensor:
        """The pose as videos (views, frames, height, width, 3) in 0..1."""
        world = world_of(pose.turns, pose.positions, self._rest)
        return self._scene.film(world, shot, pose.positions[:, self._pelvis])

    @torch.no_grad()
    def _encoders_gain(self) -> float:
        """How much a small move of the body changes latents, mean square against that of its pixels: 1 where latents are the pixels.

        The body is at rest, and moved a little at random, always alike: a resumed run finds the same.
        """
        times = np.arange(self._prior.frames) / self._prior.fps
        camera = Cameras(torch.tensor([PROBE_AZIMUTH]), torch.tensor([PROBE_ELEVATION]))
        shot = Shot(camera, torch.from_numpy(times), self._size, self._tile_m)
        still = self._body.still()
        moved = PROBE_RAD * torch.randn(still.shape, generator=torch.Generator().manual_seed(0))
        videos = [self.film(self._body.pose(given, self._body.sample(times, np.zeros_like(times))), shot) for given in (still, moved)]
        pixels = float((videos[1] - videos[0]).double().square().mean())
        latents = [self._prior.encode(video).double() for video in videos]
        gain = float((latents[1] - latents[0]).square().mean()) / max(pixels, SMALLEST)
        if not (math.isfinite(gain) and gain > 0.0):
            raise PriorError(f"the encoder of the prior {self._prior.name!r} does not tell a moved body from a still one")
        return gain

    def _pull(self, video: Tensor) -> tuple[Tensor, Tensor]:
        """The gradient at the pixels of each view, and the distance to what is believed; one view at a time, as memory is what is short."""
        pulls, distances = [], []
        for view in range(len(video)):
            cameras = Cameras(self._shot.cameras.azimuth[view : view + 1], self._shot.cameras.elevation[view : view + 1])
            shot = Shot(cameras, self._shot.times_s, self._shot.size, self._shot.tile_m)
            pull, distance = self._pull_of_one(video[view : view + 1], shot)
            pulls.append(pull)
            distances.append(distance)
        return torch.cat(pulls) / len(pulls), torch.stack(distances).mean()

    def _pull_of_one(self, video: Tensor, shot: Shot) -> tuple[Tensor, Tensor]:
        look, prior = self._look, self._prior
        assert look is not None
        leaf = video.requires_grad_()
        with torch.set_grad_enabled(not prior.two_pass):
            latents = prior.encode(leaf)
        clean = latents.detach()
        alpha, sigma = prior.alpha_sigma(look.t)
        noise = torch.randn(clean.shape, generator=look.generator).to(clean)
        with torch.no_grad():
            believed = prior.estimate(alpha * clean + sigma * noise, look.t, self._prompt, shot)
        if not bool(torch.isfinite(believed).all()):
            raise PriorError(f"the prior {prior.name!r} believes in numbers that are not finite, at time {look.t:.3f}")
        away = (clean - believed) / clean.numel()
        if prior.two_pass:
            latents = prior.encode(leaf)
        (pull,) = torch.autograd.grad(latents, leaf, grad_outputs=away)
        return pull, 0.5 * (away * (clean - believed)).sum()


@contextmanager
def fitting_memory(prior: VideoPrior) -> Iterator[None]:
    """Turns running out of the device's memory anywhere in a step into a BackendError; encoders, models and splatters say it themselves,
    what is left is the way from the splats back to the pose."""
    try:
        yield
    except torch.OutOfMemoryError as fault:
        height, width = prior.size
        raise BackendError(
            f"out of memory on {prior.device} with {prior.frames} frames of {width} x {height}",
            "--views",
            "give fewer --views, a smaller --size, fewer --frames, or less --memory so that the model leaves room",
        ) from fault


def _scaled(side: int, share: float) -> int:
    """Pixels of a side in a stage."""
    return side if share == 1.0 else max(MULTIPLE, round(side * share / MULTIPLE) * MULTIPLE)


def staged_views(body: CurveBody, asked: tuple[VideoPrior, Prompt], options: DistillOptions) -> Callable[[float], PixelView]:
    """The view for a share of the work that is done: stages follow one another, each with its own picture."""
    pixels = options.pixels
    made = surface_gaussians(body.rig, pixels.gaussians) if pixels.look == "surface" else bone_gaussians(body.rig)
    device = asked[0].device
    scene = Scene(body.rig, made, load_splatter("auto", device), ground_m=body.ground_m, device=device)
    views = [PixelView(body, scene, asked, options, stage) for stage in pixels.stages]
    return lambda share: views[min(int(share * len(views)), len(views) - 1)]

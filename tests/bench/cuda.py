"""What only a CUDA device can show, in one run of a few minutes and without weights: `python -m tests.bench.cuda` (`make cuda`).

Pictures and gradients of gsplat and of the Warp kernels against the plain dense twin, on usual and on awkward scenes; the speed table of
`tests.bench.splat`; films at the size of video models; and tiny video models on the device against themselves on the CPU.
Status 0 where all marks are held, 1 where one is missed, 2 where there is no CUDA device.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from akd_sdk.errors import BackendError
from akd_sdk.splat import Splatter, load_splatter
from tests.bench.machine import machine
from tests.bench.splat import CASES, compare, timed
from tests.support.splat_scenes import Scene, random_scene

PICTURE_MARK, GRADIENT_MARK = 1e-4, 1e-3
"""Of colours in 0..1; of the largest gradient of its kind."""
ONE_CONTRIBUTION = 1.02 / 255.0
FEW = 1e-4
"""Rounding may decide otherwise on a Gaussian that is just at the cut-off of 1/255: so many pixels may be off by so much."""
FILMS = ((49, 480, 720), (49, 256, 384))
FLOAT32_MARK, BFLOAT16_MARK = 1e-2, 0.9
"""Relative error of float32, whose convolutions are TF32; cosine of bfloat16."""


def leaf(tensor: Tensor) -> Tensor:
    return tensor.detach().clone().requires_grad_()


def awkward_scenes() -> Iterator[tuple[str, Scene]]:
    """Scenes that backends must agree on, with names."""
    usual = random_scene(4, 42, (32, 32))
    yield "usual", usual
    yield "odd size", random_scene(2, 300, (33, 47))
    yield "one Gaussian", random_scene(1, 1, (16, 16))
    none = {name: leaf(getattr(usual, name)[:, :0]) for name in ("means", "covariances")}
    yield "none", replace(usual, **none, **{name: leaf(getattr(usual, name)[:0]) for name in ("colours", "opacities")})
    unseen = usual.opacities.detach().clone()
    unseen[::2] = 0.0
    yield "half with zero opacity", replace(usual, opacities=leaf(unseen))
    back = torch.tensor([[0.0], [0.0], [100.0]])
    yield "behind the camera", replace(usual, view=leaf(torch.cat([usual.view[..., :3], usual.view[..., 3:] - back], -1)))
    yield "all around the camera", random_scene(3, 150, (32, 24), spread_m=3.0)
    dense = random_scene(2, 200, (32, 32), deviation_m=0.2)
    yield "opaque layers", replace(dense, opacities=leaf(0.9 + 0.1 * dense.opacities))
    yield "specks", random_scene(2, 50, (24, 40), deviation_m=1e-4)
    yield "2000, 128 x 128", random_scene(2, 2000, (128, 128), deviation_m=0.0275)


def agreement(splatters: list[Splatter], device: str, scenes: Iterable[tuple[str, Scene]]) -> bool:
    """Print how far backends are from the twin on named scenes; whether all marks are held."""
    print(f"\n{'scene':<24}{'backend':<9}{'picture off':>12}{'pixels over':>12}{'gradients off':>14}")
    twin, held = load_splatter("torch", device), True
    for name, scene in ((name, scene.on(device)) for name, scene in scenes):
        true, by_true = scene.draw_and_differentiate(twin)
        for splatter in splatters:
            drawn, gradients = scene.draw_and_differentiate(splatter)
            off = (drawn - true).abs().amax(-1)
            over = int((off > PICTURE_MARK).sum())
            worst = max(relative(gradients[leaf], wanted) for leaf, wanted in by_true.items())
            good = worst <= GRADIENT_MARK and over <= max(1.0, FEW * off.numel()) and float(off.max()) <= ONE_CONTRIBUTION
            held &= good
            print(f"{name:<24}{splatter.name:<9}{float(off.max()):>12.1e}{over:>12}{worst:>14.1e}{'' if good else '  MISSED'}", flush=True)
    return held


def relative(found: Tensor, wanted: Tensor) -> float:
    """Largest difference over the largest value; infinite where something is not finite, or is there and should not be."""
    if wanted.numel() == 0:
        return 0.0 if found.shape == wanted.shape else float("inf")
    off, scale = float((found - wanted).abs().max()), float(wanted.abs().max())
    if not off < float("inf"):
        return float("inf")
    return off / scale if scale > 0.0 else (0.0 if off == 0.0 else float("inf"))


def films(splatters: list[Splatter], device: str, gaussians: tuple[int, ...] = (2000, 20000), clips: tuple[Any, ...] = FILMS) -> None:
    """Print what whole films cost, forward and with all gradients."""
    print(f"\n{'film':<20}{'Gaussians':>10}  {'backend':<9}{'forward ms':>11}{'backward ms':>12}{'peak GiB':>10}")
    for frames, height, width in clips:
        for count in gaussians:
            scene = random_scene(frames, count, (height, width), deviation_m=0.02).on(device)
            for splatter in splatters:
                cuda = scene.means.is_cuda
                if cuda:
                    torch.cuda.reset_peak_memory_stats()
                try:
                    it = timed(scene, splatter, 3)
                except BackendError as error:
                    print(f"{frames}x{height}x{width:<12}{count:>10}  {splatter.name:<9}{error}")
                    continue
                peak = torch.cuda.max_memory_allocated() / 2**30 if cuda else float("nan")
                row = f"{1e3 * it.forward_s:>11.1f}{1e3 * it.backward_s:>12.1f}{peak:>10.2f}"
                print(f"{f'{frames}x{height}x{width}':<20}{count:>10}  {splatter.name:<9}{row}", flush=True)


def pull(folder: Path, model: str, device: str, dtype: torch.dtype, *, lean: bool) -> tuple[Tensor, Tensor]:
    """Clean latents that a tiny video model believes in, and the gradient of the distance to them at the pixels, float32 on the CPU."""
    from unittest.mock import patch

    from akd_sdk.priors.video import MemoryPlan, VideoOptions, base, load_video_prior
    from akd_sdk.views.camera import Cameras
    from akd_sdk.views.shot import Shot
    from tests.support.tiny_video import SIZES

    frames, size = SIZES[model]
    plan = MemoryPlan(lean, lean, lean, lean, not lean, not lean, 1.0, None, ("tiny",))
    options = VideoOptions(device=device, memory_gb=64.0, frames=frames, size=size, dtype=dtype)
    with patch.object(base, "plan_for", lambda *_: plan):
        prior = load_video_prior(model.split("-")[0], folder, options)
    generator = torch.Generator().manual_seed(5)
    pixels = torch.rand(1, frames, *size, 3, generator=generator).to(device).requires_grad_()
    shot = Shot(Cameras(torch.zeros(1), torch.zeros(1)), torch.arange(frames) / prior.fps, size, 0.5)
    with torch.set_grad_enabled(not lean):
        latents = prior.encode(pixels)
    alpha, sigma = prior.alpha_sigma(0.6)
    noise = torch.randn(latents.shape, generator=generator).to(latents)
    believed = prior.estimate(alpha * latents.detach() + sigma * noise, 0.6, prior.parse("a fox trots", "quadruped"), shot)
    away = (latents - believed).detach()
    if lean:
        latents = prior.encode(pixels)
    (gradient,) = torch.autograd.grad(latents, pixels, grad_outputs=away)
    return believed.float().cpu(), gradient.float().cpu()


def video_models(device: str) -> bool:
    """Print how far tiny video models on the device are from themselves on the CPU; whether all marks are held."""
    if any(find_spec(package) is None for package in ("diffusers", "transformers", "sentencepiece")):
        print("\nvideo models: left out, since the extra `video` is not installed")
        return True
    from tests.support.tiny_video import MODELS, tiny_checkpoint

    print(f"\n{'tiny video model':<18}{'float32 off':>12}{'bf16 cosine':>12}{'lean off':>10}")
    held = True
    for model in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = tiny_checkpoint(model, Path(folder, model))
            wanted = pull(checkpoint, model, "cpu", torch.float32, lean=False)
            single = pull(checkpoint, model, device, torch.float32, lean=False)
            half = pull(checkpoint, model, device, torch.bfloat16, lean=False)
            lean = pull(checkpoint, model, device, torch.float32, lean=True)
        off = max(relative(found, true) for found, true in zip(single, wanted))
        lean_off = max(relative(found, true) for found, true in zip(lean, single))
        cosine = min(float(torch.cosine_similarity(found.flatten(), true.flatten(), 0)) for found, true in zip(half, wanted))
        good = off <= FLOAT32_MARK and lean_off <= FLOAT32_MARK and cosine >= BFLOAT16_MARK
        held &= good
        print(f"{model:<18}{off:>12.1e}{cosine:>12.4f}{lean_off:>10.1e}{'' if good else '  MISSED'}", flush=True)
    return held


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.cuda", description=__doc__)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("there is no CUDA device here, or torch is built without CUDA: nothing was run", file=sys.stderr)
        sys.exit(2)
    start = time.perf_counter()
    print(f"{torch.cuda.get_device_name(options.device)}, CUDA {torch.version.cuda}; {machine()}")
    splatters: list[Splatter] = []
    for name in ("warp", "gsplat"):
        begin = time.perf_counter()
        try:
            splatters.append(load_splatter(name, options.device))
            print(f"{name}: ready after {time.perf_counter() - begin:.1f} s", flush=True)
        except BackendError as error:
            print(f"{name}: left out. {error}", flush=True)
    held = agreement(splatters, options.device, awkward_scenes())
    for case in CASES:
        compare(case, [splatter.name for splatter in splatters], options.device, 10)
    films(splatters, options.device)
    held &= video_models(options.device)
    print(f"\nall marks {'held' if held else 'NOT held'}; {time.perf_counter() - start:.0f} s")
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()

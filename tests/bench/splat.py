"""Splatting backends against the plain dense twin, in one run: `python -m tests.bench.splat`.

Milliseconds of pictures forward and of all gradients backward, how much faster that is than the twin, and how far pictures and gradients
are from the twin's. The twin of the large scene takes a minute or two on a CPU.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from akd_sdk.errors import BackendError
from akd_sdk.splat import Splatter, load_splatter
from akd_sdk.splat.cloud import Cloud, matched
from akd_sdk.splat.projection import project
from akd_sdk.views.pinhole import Pinhole
from tests.support.splat_scenes import Scene, random_scene


@dataclass(frozen=True)
class Case:
    """A scene, and the share of the twin's time that may be taken."""

    name: str
    frames: int
    gaussians: int
    side: int
    deviation_m: float
    mark: float

    def scene(self, device: str) -> Scene:
        size = (self.side, self.side)
        return random_scene(self.frames, self.gaussians, size, deviation_m=self.deviation_m).on(device)


CASES = (Case("small", 16, 42, 32, 0.088, 1 / 6), Case("large", 16, 2000, 128, 0.0275, 1 / 300))
"""Gaussians cover about 90 and 140 pixels each, as those of bones in small pictures and of a surface in larger ones do."""


@dataclass(frozen=True)
class Timed:
    """The fastest of some runs: seconds forward and backward, seconds of all the process's threads, and what was drawn."""

    forward_s: float
    backward_s: float
    cpu_s: float
    pictures: Tensor
    gradients: dict[str, Tensor]

    @property
    def seconds(self) -> float:
        return self.forward_s + self.backward_s


def timed(scene: Scene, splatter: Splatter, runs: int) -> Timed:
    wait: Callable[[], None] = torch.cuda.synchronize if scene.means.is_cuda else lambda: None
    best: Timed | None = None
    for _ in range(runs):
        wait()
        start, cpu = time.perf_counter(), time.process_time()
        pictures = scene.draw(splatter)
        loss = (pictures * scene.weights).sum()
        wait()
        middle = time.perf_counter()
        gradients = torch.autograd.grad(loss, list(scene.leaves.values()))
        wait()
        end = time.perf_counter()
        if best is None or end - start < best.seconds:
            best = Timed(middle - start, end - middle, time.process_time() - cpu, pictures.detach(), dict(zip(scene.leaves, gradients)))
    assert best is not None
    return best


def covered(scene: Scene) -> float:
    """Pixels that a Gaussian covers, in the mean: the area of the ellipse where it is drawn."""
    cloud = Cloud(scene.means, scene.covariances, scene.colours, scene.opacities)
    with torch.no_grad():
        given = matched(cloud, Pinhole(scene.view, scene.focal, scene.size), scene.background, scene.means.device.type, torch.float32)
        projected = project(given)
        a, b, c = projected.conics.unbind(-1)
        return float((2 * math.pi * projected.cuts.clamp(min=0.0) / (a * c - b * b).sqrt()).mean())


def compare(case: Case, names: list[str], device: str, runs: int) -> None:
    scene = case.scene(device)
    size = f"{case.frames} pictures of {case.side} x {case.side}, {case.gaussians} Gaussians"
    print(f"\n{case.name}: {size}, each over {covered(scene):.0f} pixels")
    columns = f"{'':<8}{'forward ms':>12}{'backward ms':>13}{'both ms':>10}{'twin / it':>11}{'CPU ms':>10}{'twin / it':>11}"
    print(f"{columns}{'picture off':>13}{'gradients off':>15}")
    fast: dict[str, Timed] = {}
    for name in names:
        try:
            splatter = load_splatter(name, device)
        except BackendError as error:
            print(f"{name:<8}{error}")
            continue
        timed(scene, splatter, 2)
        fast[name] = timed(scene, splatter, runs)
    twin = timed(scene, load_splatter("torch", device), runs if case.name == "small" else 1)
    for name, it in {"torch": twin, **fast}.items():
        off = float((it.pictures - twin.pictures).abs().max())
        worst = max(float((it.gradients[leaf] - true).abs().max() / true.abs().max()) for leaf, true in twin.gradients.items())
        times = f"{1e3 * it.forward_s:>12.1f}{1e3 * it.backward_s:>13.1f}{1e3 * it.seconds:>10.1f}{twin.seconds / it.seconds:>11.1f}"
        times += f"{1e3 * it.cpu_s:>10.1f}{twin.cpu_s / it.cpu_s:>11.1f}"
        print(f"{name:<8}{times}{off:>13.1e}{worst:>15.1e}")
        if name != "torch":
            held = "held" if it.seconds <= case.mark * twin.seconds else "MISSED"
            print(f"{'':<8}mark: at most 1/{1 / case.mark:.0f} of the twin's time, {held}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.splat", description=__doc__)
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--backends", default=None, help="with commas; as a default warp, and gsplat on CUDA")
    parser.add_argument("--cases", default="small,large", help="with commas")
    parser.add_argument("--runs", type=int, default=10, help="of which the fastest counts")
    options = parser.parse_args()
    cuda = options.device.startswith("cuda")
    chip = torch.cuda.get_device_name(options.device) if cuda else f"{platform.machine()}, {os.cpu_count()} cores"
    print(f"{chip}, torch {torch.__version__} with {torch.get_num_threads()} threads, load {os.getloadavg()[0]:.1f}")
    names = (options.backends or ("warp,gsplat" if cuda else "warp")).split(",")
    for case in CASES:
        if case.name in options.cases.split(","):
            compare(case, names, options.device, options.runs)


if __name__ == "__main__":
    main()

"""`python -m tests.bench.oracle`: does the path from pixels to joint angles move a character? Known walks are to be found again.

A prior that always believes in the video of one known walk stands for a certain video model. Curves start at rest; several cameras,
coarse to fine. Rows: the belief in pixels, the belief in latents of a small video autoencoder with random weights, AKD's two ablations
(without the checkerboard, without the smoothness loss), and the skin instead of coloured bones. Pictures of the known and the found
walk are written beside the table.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from akd_sdk.distill import DistillOptions, PixelOptions, Stage, distill
from akd_sdk.gaussians import bone_gaussians, surface_gaussians
from akd_sdk.motion import JointCurves
from akd_sdk.progress import Progress, ignore
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig
from akd_sdk.splat import Scene, load_splatter
from akd_sdk.views.camera import Cameras
from akd_sdk.views.rig_tokens import tokens_of
from akd_sdk.views.shot import Shot
from tests.bench.machine import machine
from tests.support.oracle import KnownMotion, OraclePrior, random_encoder
from tests.support.oracle_score import score
from tests.support.walks import clip_walk, written_walk

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("AKD_SHARED") or ROOT.parent / "shared") / "data" / "rigs"
ARTISTS = (
    ("Fox", SHARED / "khronos" / "Fox.glb", "Walk"),
    ("Wolf", SHARED / "quaternius" / "animals_vol2" / "Wolf.glb", "WolfArmature|Walking"),
    ("CesiumMan", SHARED / "khronos" / "CesiumMan.glb", "animation_0"),
)
SAMPLES = (("quadruped", ROOT / "samples" / "quadruped.glb", None), ("biped", ROOT / "samples" / "biped.glb", None))
STAGES = (Stage(1 / 3, 2.0, 100.0), Stage(2 / 3, 1.0, 10.0), Stage(1.0, 0.5, 1.0), Stage(1.0, 0.5, 0.1))
"""Coarse to fine, also the tiles: small ones look alike from a tile further on."""
LATENT_STAGES = (Stage(1.0, 2.0, 100.0), Stage(1.0, 1.0, 20.0), Stage(1.0, 0.5, 3.0), Stage(1.0, 0.5, 0.5))
"""An autoencoder has one size; and since it shows every limb a little in every number, limbs are held to rest longer."""
PICTURES, PICTURE_SIZE = 8, 160


@dataclass(frozen=True)
class Row:
    """What is different in a row of the table; an encoder is slow, so it gets a `share` of the pixels a side, and fewer views,
    which show no more than `harmonics` of a walk, and `patience` times the steps."""

    name: str
    pixels: PixelOptions
    frames: int = 16
    share: float = 1.0
    views: int = 3
    rate: float = 0.06
    patience: float = 1.0
    harmonics: float = math.inf
    encoder: Callable[[Tensor], Tensor] | None = None


def rows(names: list[str]) -> list[Row]:
    bones = PixelOptions(look="bones", stages=STAGES, unlock=0.4)
    surface = PixelOptions(look="surface", gaussians=1000, stages=STAGES, unlock=0.4)
    made = {
        "pixels": lambda: Row("pixels", bones),
        "skin": lambda: Row("pixels, skin instead of bones", surface),
        "latents": lambda: Row("latents", replace(bones, stages=LATENT_STAGES), 17, 2 / 3, 2, 0.04, 1.6, 4.0, random_encoder()),
        "no-ground": lambda: Row("no checkerboard", replace(bones, ground=False)),
        "no-smoothness": lambda: Row("no smoothness", replace(bones, smoothness=0.0)),
    }
    return [made[name]() for name in names]


ROWS = ("pixels", "no-ground", "no-smoothness", "skin", "latents")


def run(rig: Rig, known: KnownMotion, row: Row, options: argparse.Namespace) -> tuple[JointCurves, float]:
    """The curves that were found, and the seconds."""
    tokens = tokens_of(rig)
    gaussians = bone_gaussians(rig) if row.pixels.look == "bones" else surface_gaussians(rig, row.pixels.gaussians)
    scene = Scene(rig, gaussians, load_splatter("warp"))
    size = round(row.share * options.size)
    prior = OraclePrior(known, scene, row.frames, row.frames / known.seconds, (size, size), row.encoder)
    fps = round(30.0 * known.seconds) / known.seconds
    length = DistillOptions(seconds=known.seconds, loop=True, fps=fps)
    fastest = min(length.bandwidth_hz, row.harmonics / known.seconds)
    steps = round(row.patience * options.steps)
    asked = replace(length, steps=steps, views=row.views, rate=row.rate, bandwidth_hz=fastest, pixels=row.pixels)
    start = time.perf_counter()
    prompt = prior.parse("a walk", tokens.body)
    made = distill(rig, tokens, prior, prompt, asked, seed=options.seed, progress=told if sys.stderr.isatty() else ignore)
    return made.curves, time.perf_counter() - start


def told(report: Progress) -> None:
    print(f"\r{report.detail:<60}", end="\r", file=sys.stderr, flush=True)


def strip(rig: Rig, known: KnownMotion, made: JointCurves) -> Image.Image:
    """The known walk above the found one, both on the checkerboard, seen from three quarters by cameras that follow the known one."""
    scene = Scene(rig, surface_gaussians(rig, 6000), load_splatter("warp"))
    times = np.arange(PICTURES) / PICTURES * known.seconds
    camera = Cameras(torch.tensor([np.pi / 3]), torch.tensor([0.2]))
    shot = Shot(camera, torch.from_numpy(times), (PICTURE_SIZE, PICTURE_SIZE), 0.5 * rig.height)
    found = KnownMotion(rig, made)
    lines = []
    for motion in (known, found):
        world, _ = motion.world(times)
        _, root = known.world(times)
        video = scene.film(world, shot, root)[0].clamp(0.0, 1.0)
        lines.append(np.concatenate(list((255.0 * video).byte().numpy()), axis=1))
    return Image.fromarray(np.concatenate(lines, axis=0))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.oracle", description=__doc__)
    parser.add_argument("--rows", default=",".join(ROWS), help=f"of {', '.join(ROWS)}")
    parser.add_argument("--rigs", help="names, with commas; all by default")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--size", type=int, default=96, help="pixels a side, a multiple of 24")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out/oracle"), help="folder for the pictures")
    options = parser.parse_args()
    torch.set_num_threads(1)
    cases = [case for case in ARTISTS if case[1].is_file()] or list(SAMPLES)
    if options.rigs:
        cases = [case for case in (*ARTISTS, *SAMPLES) if case[0] in options.rigs.split(",")]
    options.out.mkdir(parents=True, exist_ok=True)
    print(machine())
    print(f"{options.steps} steps, {options.size} x {options.size} pixels at the end; from the rest pose")
    titles = f"{'rig':<11}{'row':<31}{'coherence':>10}{'(known)':>9}{'bones deg':>11}{'worst':>7}{'root %':>8}{'travel %':>10}"
    print(f"{titles}{'jitter x':>10}{'s':>6}", flush=True)
    for name, path, clip in cases:
        rig = open_rig(path)
        known = KnownMotion(rig, written_walk(rig) if clip is None else clip_walk(rig, clip))
        for row in rows(options.rows.split(",")):
            made, seconds = run(rig, known, row, options)
            s = score(rig, known, made)
            print(
                f"{name:<11}{row.name:<31}{s.coherence:>10.3f}{s.known_coherence:>9.3f}{s.bones_deg:>11.2f}{s.worst_deg:>7.1f}"
                f"{s.root_percent:>8.2f}{s.travel_percent:>10.1f}{s.jitter:>10.2f}{seconds:>6.0f}",
                flush=True,
            )
            strip(rig, known, made).save(options.out / f"{name}_{row.name.replace(' ', '_').replace(',', '')}.png")


if __name__ == "__main__":
    main()

"""Previews: a motion as a small animated picture, drawn by the character's own Gaussians on a checkerboard."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from akd_sdk.errors import AkdError, ExportError, RigError
from akd_sdk.formats.atomic import staged
from akd_sdk.gait.contacts import ground_height
from akd_sdk.gait.edits import resample
from akd_sdk.gait.feet import contact_paths
from akd_sdk.gait.travel import with_travel
from akd_sdk.gaussians import surface_gaussians
from akd_sdk.kinematics import world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.progress import Progress, ProgressCallback, ignore
from akd_sdk.rig import Rig
from akd_sdk.sheet.model import model_of
from akd_sdk.splat import Scene, load_splatter
from akd_sdk.views.camera import Cameras
from akd_sdk.views.follow import smooth_path
from akd_sdk.views.orbit import LEAST_EXTENT_M, Framing
from akd_sdk.views.pinhole import Pinhole
from akd_sdk.views.shot import Shot

Array = NDArray[np.float64]

SUFFIXES: Final = (".png", ".apng", ".gif")
GAUSSIANS: Final = 12_000
FASTEST_FPS: Final = 20.0
"""Pictures a second: motions with more are sampled anew, which keeps files small and is what a GIF can show."""
MOST_PICTURES: Final = 600
"""Longer motions have fewer a second: all of them lie in memory before they are written."""
AZIMUTH, ELEVATION = math.radians(60.0), math.radians(12.0)
"""Nearly from the side, so that the steps are seen, and a little from the front."""
ABOUT: Final = Cameras(torch.tensor([AZIMUTH]), torch.tensor([ELEVATION]))
FRAMED_POSES: Final = 24
"""Poses of a motion that are looked at to frame it."""
TILE_SHARE: Final = 0.4
"""Side of a tile over the character's height, about."""
SMALLEST, LARGEST = 64, 2048
"""Pixels a side."""
PALETTE: Final = 255
TICK_MS: Final = 10.0
"""A GIF counts time in these; rounded ends instead of rounded lengths keep the pace."""


@dataclass(frozen=True)
class _Film:
    """What is drawn picture by picture: `world` (frames, joints, 3, 4), a camera a frame, and the ground's tiles."""

    scene: Scene
    world: torch.Tensor
    camera: Pinhole
    tile_m: float

    def pictures(self, progress: ProgressCallback) -> Iterator[Image.Image]:
        count = len(self.world)
        for frame in range(count):
            progress(Progress("drawing", frame / count))
            one = slice(frame, frame + 1)
            camera = Pinhole(self.camera.camera_from_world[one], self.camera.focal[one], self.camera.size)
            with torch.no_grad():
                pixels = self.scene.pictures(self.world[one], camera, self.tile_m)[0]
            yield Image.fromarray((pixels * 255.0).round().clamp(0, 255).to(torch.uint8).numpy())
        progress(Progress("drawing", 1.0))


def save_preview(
    rig: Rig,
    motion: Motion,
    path: str | PathLike[str],
    *,
    size: tuple[int, int] = (360, 480),
    force: bool = False,
    progress: ProgressCallback = ignore,
) -> Path:
    """Write a motion as an animated PNG (.png, .apng) or GIF (.gif) that plays for ever, whole or not at all; its path.

    The camera follows the character over the ground; motions that walk in place walk as their feet ask for. The tiles of a loop's
    ground are chosen so that it has no seam either, where it goes straight on. Nothing morphs.

    Args:
        rig: the character.
        motion: of it.
        path: what to write.
        size: height and width in pixels.
        force: replace what is there.
        progress: told how far the drawing is; may raise to stop it.

    Raises:
        ExportError: the name ends otherwise, the file exists and `force` is off, the folder cannot be written.
        RigError: no skin to draw, a motion of another skeleton. AkdError: a size out of range. BackendError: Gaussians cannot be
            splatted here.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ExportError("is no name of an animated picture", path, f"a preview is a {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if not all(SMALLEST <= side <= LARGEST for side in size):
        raise AkdError(f"a preview of {size[1]} x {size[0]} pixels", "size", f"ask for {SMALLEST} to {LARGEST} a side")
    if motion.rotations.shape[1] != rig.skeleton.count:
        raise RigError(f"motion {motion.name} has {motion.rotations.shape[1]} joints, the character {rig.skeleton.count}", rig.source.path)
    with staged(path, force=force) as draft:
        film, fps = _film(rig, motion, size)
        ends = np.round(1000.0 * np.arange(len(film.world) + 1) / fps / TICK_MS) * TICK_MS
        _write(film.pictures(progress), draft, suffix, [int(d) for d in np.diff(ends)])
    return Path(path)


def _film(rig: Rig, motion: Motion, size: tuple[int, int]) -> tuple[_Film, float]:
    """What is drawn, and frames a second; a straight loop goes along an axis of the tiles, by a whole number of their pattern."""
    moved = with_travel(rig, motion) if rig.skeleton.pelvis >= 0 else motion
    fps = min(FASTEST_FPS, MOST_PICTURES / max(moved.duration, 1e-9))
    moved = resample(moved, fps) if moved.fps > fps else moved
    world = world_from_motion(rig.skeleton, moved)
    ground_m = ground_height(rig, moved, contact_paths(rig, world)) if rig.contact_points else 0.0
    step = moved.root[-1] - moved.root[0] if moved.loop else np.zeros(3)
    length = math.hypot(float(step[0]), float(step[2]))
    tile = TILE_SHARE * rig.height
    turn = np.eye(3)
    if length > tile:
        turn = np.array([[step[2], 0.0, -step[0]], [0.0, length, 0.0], [step[0], 0.0, step[2]]]) / length
        tile = 0.5 * length / max(1, round(0.5 * length / tile))
    path = smooth_path(torch.from_numpy(moved.root), moved.fps, period=moved.loop).numpy()
    framing = _framing(rig, moved, path)
    centres = torch.from_numpy(path @ turn.T)
    if moved.loop and moved.frames > 1:
        world, centres = world[:-1], centres[:-1]
    turned = replace(rig, forward=turn @ rig.forward)
    scene = Scene(turned, surface_gaussians(rig, GAUSSIANS), load_splatter("auto"), framing=framing, ground_m=ground_m)
    camera = scene.cameras(Shot(ABOUT, torch.arange(len(world)) / moved.fps, size, tile), centres)
    return _Film(scene, torch.from_numpy(turn @ world[:, :, :3]).float(), camera, tile), moved.fps


def _framing(rig: Rig, motion: Motion, path: Array) -> Framing:
    """What the camera looks at: all that the body takes of the picture around the followed path, over the motion."""
    frames = np.unique(np.linspace(0, motion.frames - 1, FRAMED_POSES).astype(np.int64))
    level = np.array([1.0, 0.0, 1.0])
    points = model_of(rig, motion, [int(f) for f in frames]).points - (path[frames] * level)[:, None]
    seen = points.reshape(-1, 3) @ rig.facing @ ABOUT.rows[0, :2].double().numpy().T
    low, high = seen.min(axis=0), seen.max(axis=0)
    (aside, above), size = 0.5 * (low + high), np.maximum(high - low, LEAST_EXTENT_M)
    right = math.cos(AZIMUTH), math.sin(AZIMUTH)
    offset = float(aside * right[0]), float(aside * right[1])
    return Framing(float(above / math.cos(ELEVATION)), (float(size[0]), float(size[1])), offset_m=offset)


def _write(pictures: Iterator[Image.Image], draft: Path, suffix: str, durations_ms: list[int]) -> None:
    if suffix != ".gif":
        first, *rest = pictures
        first.save(draft, format="PNG", save_all=True, append_images=rest, duration=durations_ms, loop=0)
        return
    # One palette for all, or colours would flicker; without dithering, whose grain would move.
    first = next(pictures)
    palette = first.quantize(PALETTE, dither=Image.Dither.NONE)
    rest = [palette, *(picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures)]
    rest[0].save(draft, format="GIF", save_all=True, append_images=rest[1:], duration=durations_ms, loop=0)

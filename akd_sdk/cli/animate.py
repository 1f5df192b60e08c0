"""`akd animate`: a character and a sentence become a clip."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from akd_sdk.cli.arguments import PHYSICS, Effort, File, Force, Friction, Height, Json, Seed
from akd_sdk.cli.exporting import (
    AddRoot,
    AllJoints,
    ClipOnly,
    Compression,
    FeetTolerance,
    Formats,
    ProfileName,
    Reduction,
    RootMode,
    Tolerance,
    export_options,
    lines,
    moved,
    notes,
    suffixes_for,
)
from akd_sdk.cli.outputs import listing, output_stem, together
from akd_sdk.cli.terminal import progress_bar, say, say_json, warn
from akd_sdk.errors import AkdError
from akd_sdk.progress import Progress, ProgressCallback, between

if TYPE_CHECKING:
    from akd_sdk.animator import Animator
    from akd_sdk.motion import Motion
    from akd_sdk.priors.video import VideoOptions
    from akd_sdk.schemas import Report

EXAMPLE: Final = 'akd animate fox.glb "a fox trotting slowly" -o out --loop --formats glb,usda'

SHARES: Final = (0.0, 0.75, 0.87, 1.0)
"""Of the command's time, where making, tracking and writing begin and end."""

FINE: Final = "Distillation"
VIDEO: Final = "Video models: see docs/cogvideox-to-clip.md"
"""Panels of the help."""


def animate(
    file: File,
    prompt: Annotated[str, typer.Argument(metavar="SENTENCE", help="What it shall do: one action, in English.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the results.")] = Path("out"),
    seconds: Annotated[float, typer.Option(help="Length, from 0.5 to what the prior sees at once (mini: 2); loops may be longer.")] = 2.0,
    loop: Annotated[bool, typer.Option("--loop/--no-loop", help="Make it repeat without a seam.")] = False,
    fps: Annotated[float, typer.Option(help="Frames a second.")] = 30.0,
    seed: Seed = 0,
    formats: Formats = None,
    prior: Annotated[
        str, typer.Option(help="Who knows what the sentence means: mini, here and on any CPU, or a video model: cogvideox, ltx, wan.")
    ] = "mini",
    weights: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Of the prior: a file of akd train; a video model's folder, which it needs.", show_default=False),
    ] = None,
    height: Height = None,
    name: Annotated[str | None, typer.Option(help="Name of the clip; else the words understood.", show_default=False)] = None,
    sheet: Annotated[bool, typer.Option("--sheet/--no-sheet", help="Draw a contact sheet of the clip.")] = True,
    preview: Annotated[bool, typer.Option("--preview/--no-preview", help="Draw the clip as a moving picture (GIF).")] = False,
    physics: Annotated[
        bool,
        typer.Option(
            "--physics/--no-physics",
            help="Let the body track it; if it cannot, the clip is as before and the last line says so.",
            rich_help_panel=PHYSICS,
        ),
    ] = True,
    effort: Effort = "default",
    friction: Friction = 0.8,
    profile: ProfileName = None,
    root_mode: RootMode = None,
    add_root: AddRoot = False,
    all_joints: AllJoints = False,
    clip_only: ClipOnly = False,
    reduction: Reduction = "fast",
    tolerance: Tolerance = None,
    feet_tolerance: FeetTolerance = None,
    compression: Compression = "none",
    mode: Annotated[
        str | None,
        typer.Option(
            help="How noise falls: mas, for mini; annealed, for video models; random-t, at random, as in the paper.",
            show_default=False,
            rich_help_panel=FINE,
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(help="How many; else 40 (mas), 400 (annealed), 10000 (random-t).", show_default=False, rich_help_panel=FINE),
    ] = None,
    views: Annotated[
        int | None, typer.Option(help="Cameras a step; else 6, of a video model 2.", show_default=False, rich_help_panel=FINE)
    ] = None,
    guidance: Annotated[
        float | None, typer.Option(help="Weight of the sentence; else 2.5, of a video model 15.", show_default=False, rich_help_panel=FINE)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where this command was interrupted.", rich_help_panel=FINE)] = False,
    device: Annotated[str | None, typer.Option(help="cuda (default), cuda:1, cpu.", show_default=False, rich_help_panel=VIDEO)] = None,
    memory: Annotated[
        float | None,
        typer.Option(metavar="GIB", help="Of the device, that may be used; else what is free.", show_default=False, rich_help_panel=VIDEO),
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WxH", help="Of the videos, pixels; else the model's.", show_default=False, rich_help_panel=VIDEO)
    ] = None,
    frames: Annotated[
        int | None, typer.Option(help="Of the videos, 4k + 1 (ltx 8k + 1); else the model's.", show_default=False, rich_help_panel=VIDEO)
    ] = None,
    gaussians: Annotated[
        int | None, typer.Option(help="That show the character, 500 to 20000; else 2000.", show_default=False, rich_help_panel=VIDEO)
    ] = None,
    allow_download: Annotated[
        bool, typer.Option("--allow-download", help="Fetch weights that are not here.", rich_help_panel=VIDEO)
    ] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make a clip from a sentence: GLB, USD or BVH.

    A report and a contact sheet come with it. Nothing is written until all is done. Ctrl-C leaves a checkpoint that --resume takes up.
    """
    suffixes = suffixes_for(formats, profile)
    bounds = {"reduction": reduction, "tolerance": tolerance, "feet_tolerance": feet_tolerance, "compression": compression}
    written_as: dict[str, Any] = {"profile": profile, "add_root": add_root, "all_joints": all_joints, "clip_only": clip_only, **bounds}
    export_options(written_as, root_mode)
    from akd_sdk.animator import Animator, clip_name
    from akd_sdk.distill import DistillOptions, PixelOptions
    from akd_sdk.physics import TrackOptions
    from akd_sdk.priors.prior import VIDEO as VIDEO_MODELS

    video = _video_options(prior, _Asked(device, memory, size, frames, gaussians, allow_download), guidance)
    pixels = PixelOptions() if gaussians is None else PixelOptions(gaussians=gaussians)
    TrackOptions(effort=effort, friction=friction)  # refused before there is work to lose
    how = DistillOptions(seconds=seconds, loop=loop, fps=fps, mode=mode, steps=steps, views=views, pixels=pixels)
    if prior in VIDEO_MODELS:  # whose weights are gigabytes to read: what can be told without them is told first
        how.settled("pixels", math.inf)
    animator = Animator.open(file, prior=prior, weights=weights, seed=seed, height=height, video=video)
    how.settled(animator.prior.observes, animator.prior.frames / animator.prior.fps)
    for note in getattr(animator.prior, "notes", ()):
        typer.echo(note, err=True)
    understood = animator.understand(prompt)
    name = name or clip_name(understood)
    files = _Files(output_stem(animator.rig.name, name), suffixes, sheet, preview)
    with _kept_until_written(animator), together(output, files.names, force=force) as work, progress_bar() as bar:
        typer.echo(f"understood: {' '.join((*understood.styles, understood.action))} ({understood.body})", err=True)
        making, tracking, writing = (between(bar, start, end) for start, end in pairwise(SHARES))
        made = animator.animate(
            prompt, seconds=seconds, loop=loop, fps=fps, name=name, how=how, guidance=guidance, resume=resume, keep=True, progress=making
        )
        place = _Place(files, work, {**written_as, "root_mode": root_mode})
        motion = animator.track(made, effort=effort, friction=friction, strict=False, progress=tracking) if physics else made
        _write(animator, motion, made if physics and _is_tracked(animator.report) else None, place, writing)
        exports = moved(animator.report.exports, output)
        report = animator.report.model_copy(update={"files": listing(work, output), "exports": exports})
        (work / files.report).write_text(report.to_json(), encoding="utf-8")
    _say(report, output / files.report, json)


def _is_tracked(report: Report) -> bool:
    return report.physics is not None and report.physics.kept


def _say(report: Report, path: Path, json: bool) -> None:
    """What came of it; where it could not be tracked, the last line says so."""
    failed = None if report.physics is None or report.physics.kept else f"{report.physics.summary()}; the clip is as it was before"
    if json:
        say_json(report)
        if failed:
            warn(failed)
        return
    for warning in report.warnings:
        warn(warning)
    say(report.summary())
    for line in lines(report.exports):
        say(line)
    for written in (*(written.path for written in report.files), path):
        say(f"wrote {written}")
    for note in notes(report.exports):
        say(note)
    if failed:
        say(failed)


@contextmanager
def _kept_until_written(animator: Animator) -> Iterator[None]:
    """What was distilled stays in its checkpoint until all outputs are in their place."""
    try:
        yield
    except (KeyboardInterrupt, AkdError):
        if animator.checkpoint is not None:
            warn(f"the motion is made; --resume takes it up from {animator.checkpoint}")
        raise
    animator.discard_checkpoint()


@dataclass(frozen=True)
class _Files:
    """What is written, by name."""

    stem: str
    suffixes: Sequence[str]
    sheet: bool
    preview: bool

    @property
    def clips(self) -> tuple[str, ...]:
        return tuple(self.stem + suffix for suffix in self.suffixes)

    @property
    def pictures(self) -> tuple[str, ...]:
        return (*((f"{self.stem}.png",) if self.sheet else ()), *((f"{self.stem}.gif",) if self.preview else ()))

    @property
    def report(self) -> str:
        return f"{self.stem}.report.json"

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.clips, *self.pictures, self.report)


@dataclass(frozen=True)
class _Place:
    """Files, the folder that they are written in first, and the keyword arguments of `Animator.export`."""

    files: _Files
    work: Path
    export: Mapping[str, Any]


def _write(animator: Animator, motion: Motion, before: Motion | None, place: _Place, progress: ProgressCallback) -> None:
    """Clips and pictures of a motion, which was tracked where there is one `before`."""
    files, work = place.files, place.work
    count = len(files.clips) + len(files.pictures)
    for done, clip in enumerate(files.clips):
        progress(Progress("writing", done / count, clip))
        animator.export(motion, work / clip, **place.export)
    for done, picture in enumerate(files.pictures, start=len(files.clips)):
        progress(Progress("writing", done / count, picture))
        if picture.endswith(".gif"):
            animator.preview(motion, work / picture, progress=between(progress, done / count, (done + 1) / count, "drawing"))
        else:
            animator.sheet(motion, work / picture, before=before)
    progress(Progress("writing", 1.0, files.report))


@dataclass(frozen=True)
class _Asked:
    """Options of video models as given."""

    device: str | None
    memory: float | None
    size: str | None
    frames: int | None
    gaussians: int | None
    allow_download: bool


def _video_options(prior: str, asked: _Asked, guidance: float | None) -> VideoOptions | None:
    """Options for a video model; refused for any other prior."""
    from akd_sdk.priors.prior import VIDEO

    if prior not in VIDEO:
        for option, value in vars(asked).items():
            if value is not None and value is not False:
                raise AkdError(f"{prior} takes no such option", f"--{option.replace('_', '-')}", f"it is for {', '.join(VIDEO)}")
        return None
    from akd_sdk.priors.video import VideoOptions

    standard = VideoOptions()
    return VideoOptions(
        device=asked.device or standard.device,
        memory_gb=asked.memory,
        frames=asked.frames,
        size=None if asked.size is None else _size(asked.size),
        guidance=standard.guidance if guidance is None else guidance,
        allow_download=asked.allow_download,
    )


def _size(text: str) -> tuple[int, int]:
    """Height and width of "720x480"."""
    found = re.fullmatch(r"(\d{1,5})\s*[xX]\s*(\d{1,5})", text.strip())
    if found is None:
        raise AkdError(f"{text!r} is no size", "--size", "give width and height, such as 720x480")
    return int(found[2]), int(found[1])

"""`akd animate`: a character and a sentence become a clip."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from akd_sdk.cli.arguments import File, Force, Height, Json
from akd_sdk.cli.outputs import listing, together
from akd_sdk.cli.terminal import progress_bar, say, say_json, warn
from akd_sdk.errors import ExportError
from akd_sdk.progress import Progress, between

EXAMPLE: Final = 'akd animate fox.glb "a fox trotting slowly" -o out --loop --formats glb,usda'

LONGEST_STEM: Final = 200
"""Bytes of an output's name before its suffix; what file systems take is some 250."""

MAKING_SHARE: Final = 0.85
"""Share of the command's time in which the motion is made; the rest writes it."""


def animate(
    file: File,
    prompt: Annotated[str, typer.Argument(metavar="SENTENCE", help="What it shall do: one action, in English.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the results.")] = Path("out"),
    seconds: Annotated[float, typer.Option(help="Length, 0.5 to 2; loops may be longer.")] = 2.0,
    loop: Annotated[bool, typer.Option("--loop/--no-loop", help="Make it repeat without a seam.")] = False,
    fps: Annotated[float, typer.Option(help="Frames a second.")] = 30.0,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, metavar="NUMBER", help="Another seed, another take.")] = 0,
    formats: Annotated[str, typer.Option(help="Of the results, with commas: glb,usda,usdc,usdz,bvh.")] = "glb",
    prior: Annotated[str, typer.Option(help="Which model knows what the sentence means.")] = "mini",
    weights: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Weights for the prior, as akd train writes them.", show_default=False)
    ] = None,
    height: Height = None,
    name: Annotated[str | None, typer.Option(help="Name of the clip; else the words understood.", show_default=False)] = None,
    sheet: Annotated[bool, typer.Option("--sheet/--no-sheet", help="Draw a contact sheet of the clip.")] = True,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make a clip from a sentence: GLB, USD or BVH.

    A report and a contact sheet come with it. Nothing is written until all is done.
    """
    suffixes = _suffixes(formats)
    from akd_sdk.animator import Animator, clip_name
    from akd_sdk.distill import DistillOptions

    animator = Animator.open(file, prior=prior, weights=weights, seed=seed, height=height)
    understood = animator.understand(prompt)
    DistillOptions(seconds=seconds, loop=loop, fps=fps).checked(animator.prior.frames / animator.prior.fps)
    name = name or clip_name(understood)
    stem = output_stem(animator.rig.name, name)
    pictures = (f"{stem}.png",) if sheet else ()
    report_name = f"{stem}.report.json"
    with together(output, (*(stem + suffix for suffix in suffixes), *pictures, report_name), force=force) as work, progress_bar() as bar:
        typer.echo(f"understood: {' '.join((*understood.styles, understood.action))} ({understood.body})", err=True)
        making, writing = between(bar, 0.0, MAKING_SHARE), between(bar, MAKING_SHARE, 1.0)
        motion = animator.animate(prompt, seconds=seconds, loop=loop, fps=fps, name=name, progress=making)
        for done, suffix in enumerate(suffixes):
            writing(Progress("writing", done / (len(suffixes) + 1), stem + suffix))
            animator.export(motion, work / (stem + suffix))
        for picture in pictures:
            writing(Progress("writing", len(suffixes) / (len(suffixes) + 1), picture))
            animator.sheet(motion, work / picture)
        writing(Progress("writing", 1.0, report_name))
        report = animator.report.model_copy(update={"files": listing(work, output)})
        (work / report_name).write_text(report.to_json(), encoding="utf-8")
    if json:
        say_json(report)
        return
    for warning in report.warnings:
        warn(warning)
    say(report.summary())
    for written in (*(written.path for written in report.files), output / report_name):
        say(f"wrote {written}")


def output_stem(character: str, clip: str) -> str:
    """What the outputs for a clip of a character are called, before the suffix: nothing that a file system minds, and not too long."""
    return re.sub(r"[^\w.-]+", "_", f"{character}_{clip}").encode()[:LONGEST_STEM].decode(errors="ignore")


def _suffixes(formats: str) -> Sequence[str]:
    """File suffixes of a list of formats, each once."""
    from akd_sdk.exporters import known_suffixes

    known = known_suffixes()
    wanted = dict.fromkeys("." + word.strip().lower().lstrip(".") for word in formats.split(","))
    for suffix in wanted:
        if suffix not in known:
            raise ExportError(f"unknown format {suffix[1:]!r}", "--formats", f"known: {', '.join(s[1:] for s in known)}")
    return tuple(wanted)

"""`akd track`: a clip of a file as the character's own body does it in a simulation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from akd_sdk.cli.arguments import PHYSICS, Clip, Effort, File, Force, Friction, Height, Json, Seed
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
from akd_sdk.cli.metrics import cells
from akd_sdk.cli.outputs import listing, output_stem, together
from akd_sdk.cli.terminal import progress_bar, results, say, say_json, table, warn
from akd_sdk.errors import AkdError, ExportError, PhysicsError
from akd_sdk.progress import Progress, between

if TYPE_CHECKING:
    from akd_sdk.motion import Motion
    from akd_sdk.schemas import Report

EXAMPLE: Final = "akd track fox.glb --clip Walk -o out --plot walk.png"

TRACKING_SHARE: Final = 0.8
"""Share of the command's time in which the motion is tracked; the rest writes it."""


def track(
    file: File,
    clip: Clip = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the results.")] = Path("out"),
    formats: Formats = None,
    name: Annotated[str | None, typer.Option(help="Name of the new clip; else the clip's with _tracked.", show_default=False)] = None,
    plot: Annotated[Path | None, typer.Option(metavar="PNG", help="Draw feet, help, balance over time.", show_default=False)] = None,
    sheet: Annotated[Path | None, typer.Option(metavar="PNG", help="Draw a contact sheet, before and after.", show_default=False)] = None,
    effort: Effort = "default",
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS", help="Of best; else 6 a second simulated (a loop: 4 s).", show_default=False, rich_help_panel=PHYSICS
        ),
    ] = None,
    friction: Friction = 0.8,
    no_help: Annotated[bool, typer.Option("--no-help", help="Refuse rather than help the pelvis.", rich_help_panel=PHYSICS)] = False,
    device: Annotated[str, typer.Option(help="That steps the simulation: cpu, cuda, cuda:1.", rich_help_panel=PHYSICS)] = "cpu",
    no_loop: Annotated[
        bool, typer.Option("--no-loop", help="It is done once, though it ends as it begins.", rich_help_panel=PHYSICS)
    ] = False,
    lock: Annotated[
        bool, typer.Option("--lock/--no-lock", help="First hold the feet on the ground and let it travel.", rich_help_panel=PHYSICS)
    ] = True,
    profile: ProfileName = None,
    root_mode: RootMode = None,
    add_root: AddRoot = False,
    all_joints: AllJoints = False,
    clip_only: ClipOnly = False,
    reduction: Reduction = "fast",
    tolerance: Tolerance = None,
    feet_tolerance: FeetTolerance = None,
    compression: Compression = "none",
    seed: Seed = 0,
    height: Height = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Track a clip by the character's own body in a simulation.

    Where it would fall, its pelvis gets the least help that keeps it up, and a report says how much. What cannot be tracked is refused.
    """
    suffixes = suffixes_for(formats, profile)
    bounds = {"reduction": reduction, "tolerance": tolerance, "feet_tolerance": feet_tolerance, "compression": compression}
    written_as: dict[str, Any] = {"profile": profile, "add_root": add_root, "all_joints": all_joints, "clip_only": clip_only, **bounds}
    export_options(written_as, root_mode)
    from akd_sdk.animator import Animator
    from akd_sdk.cli.clips import single
    from akd_sdk.physics import TrackOptions

    # refused before anything is read:
    TrackOptions(effort=effort, friction=friction, help=not no_help, budget_s=budget, seed=seed, device=device)
    animator = Animator.open(file, seed=seed, height=height)
    given = single(animator.rig, clip)
    if no_loop:
        given = given.with_(loop=False)
    name = name or f"{given.name}_tracked"
    stem = output_stem(animator.rig.name, name)
    names = (*(stem + suffix for suffix in suffixes), f"{stem}.report.json")
    with _pictures(plot, sheet, force=force) as drafts, together(output, names, force=force) as work, progress_bar() as bar:
        bar(Progress("locking feet", 0.0))
        held = (animator.lock_feet(given) if lock else given).with_(name=name)
        tracking = between(bar, 0.05, TRACKING_SHARE)
        with _told_of_clip(file, given, name):
            motion = animator.track(
                held, effort=effort, friction=friction, help=not no_help, budget=budget, device=device, progress=tracking
            )
        bar(Progress("writing", TRACKING_SHARE))
        for clip_name in names[:-1]:
            animator.export(motion, work / clip_name, root_mode=root_mode, **written_as)
        if plot is not None:
            animator.plot(drafts[plot])
        if sheet is not None:
            animator.sheet(motion, drafts[sheet], before=held)
        written = (*listing(work, output), *(found for path, draft in drafts.items() for found in listing(draft.parent, path.parent)))
        report = animator.report.model_copy(update={"files": written, "exports": moved(animator.report.exports, output)})
        (work / names[-1]).write_text(report.to_json(), encoding="utf-8")
        bar(Progress("writing", 1.0))
    _say(report, output / names[-1], json)


@contextmanager
def _told_of_clip(file: Path, clip: Motion, name: str) -> Iterator[None]:
    """What cannot be tracked is told with its file and clip; of a loop that cannot also how it is tracked as what is done once."""
    try:
        yield
    except PhysicsError as fault:
        of_motion = clip.loop and fault.path == name
        once = "--no-loop tracks it as a clip that is done once" if of_motion else None
        hint = "; ".join(part for part in (fault.hint, once) if part)
        raise PhysicsError(f"clip {clip.name!r}: {fault.fault}", file, hint or None) from fault


@contextmanager
def _pictures(plot: Path | None, sheet: Path | None, *, force: bool) -> Iterator[dict[Path, Path]]:
    """Where pictures that are asked for are drawn first, by their place; they move there when the block ends.

    Raises:
        ExportError: a place is taken, cannot be written or is no name of a PNG. AkdError: both are to have one place.
    """
    wanted = [path for path in (plot, sheet) if path is not None]
    for path in wanted:
        if path.suffix.lower() != ".png":
            raise ExportError("is no name of a PNG", path, "a picture is a .png")
    if plot is not None and sheet is not None and plot.resolve() == sheet.resolve():
        raise AkdError(f"{sheet} is the plot's place already", "--sheet", "give another name")
    with ExitStack() as stack:
        yield {path: stack.enter_context(together(path.parent, [path.name], force=force)) / path.name for path in wanted}


def _say(report: Report, path: Path, json: bool) -> None:
    """The report as JSON, or its summary with metrics before and after, and what was written."""
    if json:
        say_json(report)
        return
    for warning in report.warnings:
        warn(warning)
    say(report.summary())
    found = report.physics
    if found is not None and found.before is not None and found.after is not None:
        rows = [(name, *(cell for _, cell in cells(measured))) for name, measured in (("before", found.before), ("after", found.after))]
        results().print(table(("", *(title for title, _ in cells(found.before))), rows))
    for line in lines(report.exports):
        say(line)
    for written in (*(written.path for written in report.files), path):
        say(f"wrote {written}")
    for note in notes(report.exports):
        say(note)

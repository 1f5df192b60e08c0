"""`akd convert`: a file's clips in another format, or for an engine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from akd_sdk.cli.arguments import Clip, File, Force, Height, Json
from akd_sdk.cli.exporting import (
    EXPORT,
    AddRoot,
    AllJoints,
    ClipOnly,
    Compression,
    FeetTolerance,
    ProfileName,
    Reduction,
    RootMode,
    Tolerance,
    export_options,
    lines,
    notes,
)
from akd_sdk.cli.outputs import claim
from akd_sdk.cli.terminal import progress_bar, say, say_json

EXAMPLE: Final = "akd convert fox.glb fox_walk.usda --clip Walk"


def convert(
    file: File,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="What to write; the suffix names the format.", show_default=False)],
    clip: Clip = None,
    profile: ProfileName = None,
    root_mode: RootMode = None,
    add_root: AddRoot = False,
    all_joints: AllJoints = False,
    clip_only: ClipOnly = False,
    reduction: Reduction = "fast",
    tolerance: Tolerance = None,
    feet_tolerance: FeetTolerance = None,
    compression: Compression = "none",
    fps: Annotated[
        float | None, typer.Option(help="Of a BVH or USD; else the clip's own.", show_default=False, rich_help_panel=EXPORT)
    ] = None,
    t_pose: Annotated[bool, typer.Option("--t-pose", help="A BVH whose zero pose is a T pose.", rich_help_panel=EXPORT)] = False,
    dialect: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of a BVH: biovision, blender, motionbuilder or cgspeed; else the profile's, else biovision.",
            show_default=False,
            rich_help_panel=EXPORT,
        ),
    ] = None,
    height: Height = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write the clips of a file in another format, or as an engine wants them.

    A GLB takes all clips (or one, with --clip) beside those that it has; a USD or BVH file takes one: choose it with --clip. Textures go
    into a folder beside a USD file, into a .usdz itself.
    """
    arguments = {"profile": profile, "reduction": reduction, "tolerance": tolerance, "feet_tolerance": feet_tolerance}
    ways = {
        "clip_only": clip_only,
        "all_joints": all_joints,
        "add_root": add_root,
        "fps": fps,
        "t_pose": t_pose,
        "dialect": dialect,
        "compression": compression,
    }
    options = export_options({**arguments, **ways}, root_mode)
    from akd_sdk.cli.clips import chosen
    from akd_sdk.exporters import deliver
    from akd_sdk.readers import open_rig
    from akd_sdk.schemas import Conversion, OutputFile

    rig = open_rig(file, height=height)
    claim(output, force=force)
    with progress_bar() as bar:
        made = deliver(rig, chosen(rig, clip), output, root_mode=root_mode, force=force, options=options, progress=bar)
    names = tuple(item.name for item in made.clips)
    if json:
        file_written = OutputFile(path=made.facts.path, bytes=made.facts.bytes)
        say_json(Conversion(source=str(file), clips=names, file=file_written, exported=made.facts))
        return
    say(f"{made.path}: {', '.join(names)}")
    for line in (*lines([made.facts]), *notes([made.facts])):
        say(line)

"""`akd convert`: a file's clips in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from akd_sdk.cli.arguments import Clip, File, Force, Height, Json
from akd_sdk.cli.terminal import say, say_json

EXAMPLE: Final = "akd convert fox.glb fox_walk.usda --clip Walk"


def convert(
    file: File,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="What to write; the suffix names the format.", show_default=False)],
    clip: Clip = None,
    height: Height = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write the clips of a file in another format.

    A GLB takes all clips (or one, with --clip) beside those that it has; a USD or BVH file takes one: choose it with --clip. Textures go
    into a folder beside a USD file, into a .usdz itself.
    """
    from akd_sdk.cli.clips import chosen
    from akd_sdk.exporters import Clip as ExportedClip
    from akd_sdk.exporters import export
    from akd_sdk.readers import open_rig
    from akd_sdk.schemas import Conversion, OutputFile

    rig = open_rig(file, height=height)
    clips = [ExportedClip.from_motion(rig, motion) for motion in chosen(rig, clip)]
    written = export(rig, clips, output, force=force)
    if json:
        file_written = OutputFile(path=str(written), bytes=written.stat().st_size)
        say_json(Conversion(source=str(file), clips=tuple(c.name for c in clips), file=file_written))
        return
    say(f"{written}: {', '.join(c.name for c in clips)}")

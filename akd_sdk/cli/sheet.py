"""`akd sheet`: a picture of a clip."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from akd_sdk.cli.arguments import Clip, File, Force, Height, Json
from akd_sdk.cli.outputs import claim
from akd_sdk.cli.terminal import say, say_json

EXAMPLE: Final = "akd sheet fox.glb --clip Walk -o fox_walk.png"


def sheet(
    file: File,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PNG", help="The picture to write.", show_default=False)],
    clip: Clip = None,
    renderer: Annotated[
        str, typer.Option(help="mesh, its triangles; splat, its Gaussians on a checkerboard, as video models see it.")
    ] = "mesh",
    height: Height = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Draw a clip of a file as a contact sheet.

    The character at twelve times, from the side and from three quarters, planted feet marked.
    """
    from akd_sdk.cli.clips import single
    from akd_sdk.gait import find_contacts
    from akd_sdk.readers import open_rig
    from akd_sdk.schemas import Conversion, OutputFile
    from akd_sdk.sheet import contact_sheet, save_sheet

    claim(output, force=force)
    rig = open_rig(file, height=height)
    motion = single(rig, clip)
    if motion.contacts is None:
        motion = motion.with_(contacts=find_contacts(rig, motion))
    written = save_sheet(contact_sheet(rig, motion, renderer=renderer), output, force=force)
    if json:
        say_json(Conversion(source=str(file), clips=(motion.name,), file=OutputFile(path=str(written), bytes=written.stat().st_size)))
        return
    say(f"{written}: {motion.name}")

"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

File = Annotated[Path, typer.Argument(metavar="FILE", help="A skinned character, .glb, .gltf or .vrm.", show_default=False)]
Clip = Annotated[
    str | None, typer.Option("--clip", metavar="NAME", help="Which clip of the file, where it holds several.", show_default=False)
]
Height = Annotated[
    float | None,
    typer.Option("--height", metavar="METRES", help="Height of the character; else the file's own, or guessed.", show_default=False),
]
Force = Annotated[bool, typer.Option("--force", help="Replace outputs that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="NUMBER", help="Another seed, another take.")]
PHYSICS: Final = "Physics"
"""Panel of the help."""
Effort = Annotated[
    str,
    typer.Option("--effort", help="default, or best: longer, with less help on the pelvis.", rich_help_panel=PHYSICS),
]
Friction = Annotated[float, typer.Option("--friction", help="Between feet and ground.", rich_help_panel=PHYSICS)]

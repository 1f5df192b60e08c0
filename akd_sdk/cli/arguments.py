"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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

"""`akd inspect`: a character as the program sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from akd_sdk.cli.arguments import File, Height, Json
from akd_sdk.cli.terminal import printable, results, say_json, table
from akd_sdk.schemas import CharacterSummary, JointSummary

EXAMPLE: Final = "akd inspect fox.glb --joints"


def inspect(
    file: File,
    height: Height = None,
    joints: Annotated[bool, typer.Option("--joints", help="List every joint with its group.")] = False,
    json: Json = False,
) -> None:
    """Show a character as the program sees it.

    Body, size, facing, limbs, soles, clips, and what was guessed.
    """
    from akd_sdk.cli.summary import summarise
    from akd_sdk.readers import open_rig

    summary = summarise(open_rig(file, height=height))
    if json:
        say_json(summary)
        return
    _show(summary, joints)


def _show(summary: CharacterSummary, joints: bool) -> None:
    console = results()
    facts = Table.grid(padding=(0, 2))
    for label, text in _facts(summary):
        facts.add_row(Text(label, style="bold"), Text(printable(text)))
    console.print(facts)
    if summary.chains:
        chains = ((c.kind, c.side, " > ".join(c.joints), c.tip or "") for c in summary.chains)
        console.print(table(("chain", "side", "joints", "tip"), chains))
    if joints:
        listed = ((j.name, j.group, j.side, j.role, j.solve_parent or "", _other_parent(j)) for j in summary.joints)
        console.print(table(("joint", "group", "side", "role", "anatomical parent", "parent in the file, if another"), listed))
    if summary.clips:
        clips = ((c.name, f"{c.frames}", f"{c.fps:g}", f"{c.seconds:.2f} s", "loop" if c.loop else "") for c in summary.clips)
        console.print(table(("clip", "frames", "fps", "length", ""), clips))


def _facts(summary: CharacterSummary) -> Iterable[tuple[str, str]]:
    x, y, z = summary.forward
    yield "file", summary.path
    yield "body", summary.body
    yield "height", f"{summary.height_m:.3f} m ({summary.metres_per_unit:g} m a unit of the file)"
    yield "faces", f"{x:+.2f} {y:+.2f} {z:+.2f}"
    yield "pelvis", summary.pelvis or "not found"
    yield "legs", f"{summary.leg_length_m:.3f} m" if summary.leg_length_m > 0 else "none"
    yield "contacts", ", ".join(summary.contact_points) or "none"
    yield "joints", f"{len(summary.joints)}, {sum(j.role == 'anatomy' for j in summary.joints)} of them anatomy"
    yield "skin", f"{summary.vertices} vertices, {summary.triangles} triangles"
    for note in summary.notes:
        yield "note", note
    for repair in summary.repairs:
        yield "repaired", repair


def _other_parent(joint: JointSummary) -> str:
    return "" if joint.parent == joint.solve_parent else joint.parent or "none"

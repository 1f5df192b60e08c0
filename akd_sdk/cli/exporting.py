"""Options of commands that write clips: for which engine, where the travel goes, how hard keys are saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from akd_sdk.cli.outputs import suffixes_of
from akd_sdk.errors import ExportError

if TYPE_CHECKING:
    from akd_sdk.exporters import ExportOptions
    from akd_sdk.schemas import ExportedFile

EXPORT: Final = "Export"
"""Panel of the help."""

ProfileName = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="ENGINE",
        help="Write for godot, unity, unreal, omniverse, isaac, blender, web or a profile of your own (.json).",
        show_default=False,
        rich_help_panel=EXPORT,
    ),
]
RootMode = Annotated[
    str | None,
    typer.Option(
        "--root-mode",
        metavar="MODE",
        help="Where travel goes: hips, root (on a root above the pelvis), in_place; else the profile's, else hips.",
        show_default=False,
        rich_help_panel=EXPORT,
    ),
]
AddRoot = Annotated[bool, typer.Option("--add-root", help="Add a root bone where the file has none.", rich_help_panel=EXPORT)]
AllJoints = Annotated[bool, typer.Option("--all-joints", help="Give joints that do not move channels too.", rich_help_panel=EXPORT)]
ClipOnly = Annotated[bool, typer.Option("--clip-only", help="Write the motion without the mesh.", rich_help_panel=EXPORT)]
Reduction = Annotated[str, typer.Option("--reduction", help="How hard keys are saved: none, fast or best.", rich_help_panel=EXPORT)]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        metavar="METRES",
        help="How far saved keys may stray, at human size; else the profile's, 0.001.",
        show_default=False,
        rich_help_panel=EXPORT,
    ),
]
FeetTolerance = Annotated[
    float | None,
    typer.Option(
        "--feet-tolerance",
        metavar="METRES",
        help="The same of planted feet; else the profile's, 0.0002.",
        show_default=False,
        rich_help_panel=EXPORT,
    ),
]
Compression = Annotated[
    str,
    typer.Option("--compression", help="Of saved keys in a GLB: none, or meshopt for engines that read it.", rich_help_panel=EXPORT),
]
Formats = Annotated[
    str | None,
    typer.Option("--formats", help="Of the results, with commas: glb, usda, usdc, usdz, bvh; else the profile's, glb.", show_default=False),
]


def export_options(arguments: Mapping[str, Any], root_mode: str | None) -> ExportOptions:
    """The options of `deliver` from the keyword arguments of `Animator.export`: wrong ones are refused before there is work to lose.

    Raises:
        ExportError: an unknown profile, root mode or reduction, a tolerance that is not positive.
    """
    from akd_sdk.exporters import ExportOptions, load_profile
    from akd_sdk.exporters.root_modes import ROOT_MODES

    if root_mode is not None and root_mode not in ROOT_MODES:
        raise ExportError(f"unknown root mode {root_mode!r}", "--root-mode", f"known: {', '.join(ROOT_MODES)}")
    given = dict(arguments)
    profile = given.pop("profile")
    bounds = {f"{name}_m": given.pop(name) for name in ("tolerance", "feet_tolerance")}
    return ExportOptions(profile=None if profile is None else load_profile(profile), **bounds, **given)


def suffixes_for(formats: str | None, profile: str | None) -> Sequence[str]:
    """Suffixes of the formats asked for; else the best of the profile; else .glb.

    Raises:
        ExportError: a format that is not known, or that the profile's engine does not take.
    """
    from akd_sdk.exporters import load_profile

    if profile is None:
        return suffixes_of("glb" if formats is None else formats)
    engine = load_profile(profile)
    if formats is None:
        return engine.suffixes[:1]
    wanted = suffixes_of(formats)
    for suffix in wanted:
        if suffix not in engine.suffixes:
            raise ExportError(f"{engine.title} takes no {suffix}", "--formats", f"for it there are {', '.join(engine.suffixes)}")
    return wanted


def moved(files: Sequence[ExportedFile], folder: Path) -> tuple[ExportedFile, ...]:
    """What was written in a folder of drafts, as it is called in its own."""
    return tuple(file.model_copy(update={"path": str(folder / Path(file.path).name)}) for file in files)


def lines(files: Sequence[ExportedFile]) -> list[str]:
    """What to say of exported files: keys and errors of each clip, and new names."""
    said = []
    for file in files:
        name = Path(file.path).name
        for clip in file.clips:
            saved = "" if clip.keys_before is None else f" of {clip.keys_before}"
            far = "" if clip.worst_mm is None else f", at worst {clip.worst_mm:.2f} mm off ({clip.worst_joint}, {clip.worst_time_s:.2f} s)"
            said.append(f"{name}: {clip.name}: {clip.channels} channels, {clip.keys}{saved} keys{far}")
        said += [f"{name}: {old} is called {new}" for old, new in file.renamed.items()]
    return said


def notes(files: Sequence[ExportedFile]) -> list[str]:
    """What the user has to know or do, the rate to set at import last of all."""
    said = dict.fromkeys(f"{Path(file.path).name}: {note}" for file in files for note in file.notes)
    rates = [f"{Path(file.path).name}: set FPS to {file.import_fps:g} in the import dock" for file in files if file.import_fps is not None]
    return [*said, *rates]

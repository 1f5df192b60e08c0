"""Isaac: the character as an articulation in USD, and beside it each clip as a trajectory of its joints for Isaac Lab."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Final

from akd_sdk.errors import ExportError, RigError
from akd_sdk.exporters.articulated import Articulated, articulated
from akd_sdk.exporters.clip import Clip
from akd_sdk.exporters.options import PLAIN, ExportOptions
from akd_sdk.exporters.trajectory import frame_rate, save_trajectory, trajectory_of
from akd_sdk.exporters.usd_physics import VISUAL, add_articulation
from akd_sdk.exporters.usd_visuals import add_visuals
from akd_sdk.formats.atomic import staged
from akd_sdk.formats.usd import identifiers, load, save
from akd_sdk.rig import Rig

SUFFIXES: Final = (".usda", ".usdc", ".usd")


def export_isaac(
    rig: Rig, clips: Clip | Sequence[Clip], path: str | PathLike[str], *, force: bool = False, options: ExportOptions = PLAIN
) -> Path:
    """Write the rig as a UsdPhysics articulation (.usda, .usdc, .usd) and its clips as trajectories; the path of the articulation.

    One clip becomes `<name>.npz` beside it, several `<name>_<clip>.npz`; an articulation without clips is one, too. Both have Z up, face
    +X and are in metres. Limits hold the anatomy's and what these clips do; write all clips of a character together where they go beyond.
    `options.fps` is the rate of the trajectories, 60 or more; they hold every frame, so a `reduction` has nothing to do.
    Raises ExportError: no USD suffix, a character without a pelvis or a closed skin, a clip of another character, a rate below 60 or one
    at which a clip does not end on a frame, a file that exists or cannot be written.
    """
    options.only(path, "fps")
    target, chosen = Path(path), (clips,) if isinstance(clips, Clip) else tuple(clips)
    if target.suffix.lower() not in SUFFIXES:
        raise ExportError("is no name for an articulation", path, f"known: {', '.join(SUFFIXES)}")
    rates = [frame_rate(clip, options.fps) for clip in chosen]
    try:
        character = articulated(rig, chosen)
    except RigError as fault:
        raise ExportError(f"no articulation can be made: {fault.fault}", fault.path or target, fault.hint) from fault
    load()
    with staged(target, force=force) as draft:
        try:
            _write_character(draft, rig, character)
            names = identifiers([clip.name for clip in chosen])
            for clip, name, fps in zip(chosen, names, rates, strict=True):
                file = draft.with_name(f"{draft.stem}.npz" if len(chosen) == 1 else f"{draft.stem}_{name}.npz")
                save_trajectory(file, character, clip, trajectory_of(rig, character, clip, fps))
        except ExportError as fault:
            raise fault.at(target) from fault
    return target


def told_notes(path: Path) -> tuple[str, ...]:
    """What an articulation that was written tells of itself: what is odd about its bodies, and what its hinges cannot follow."""
    from pxr import Sdf

    layer = Sdf.Layer.OpenAsAnonymous(str(path))
    return tuple(layer.GetPrimAtPath(f"/{layer.defaultPrim}").customData.get("akd", {}).get("notes", ()))


def _write_character(path: Path, rig: Rig, character: Articulated) -> None:
    from pxr import Usd

    stage = Usd.Stage.CreateInMemory()
    prims = add_articulation(stage, character, rig.name)
    add_visuals(stage, rig, character, prims, VISUAL)
    save(stage.GetRootLayer(), path)

"""USD: the character as a UsdSkel with mesh, rest pose, materials and one clip, Y up, in metres; or the clip alone as a layer over it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import Clip, require_own
from akd_sdk.exporters.options import PLAIN, ExportOptions
from akd_sdk.exporters.usd_animation import add_animation, time_codes
from akd_sdk.exporters.usd_character import Plan, add_character, fits, plan_of, set_stage
from akd_sdk.exporters.usd_looks import Looks
from akd_sdk.exporters.usd_poses import Bounds, Poses, all_poses, kept_poses
from akd_sdk.formats.atomic import staged
from akd_sdk.formats.usd import SUFFIXES, identifiers, load, save
from akd_sdk.rig import Rig

if TYPE_CHECKING:
    from pxr import Sdf, Usd

TOLERANCE_M, FEET_TOLERANCE_M = 1e-3, 2e-4
"""Of dropped poses, at human size, where neither options nor profile say."""
PLAYERS: Final = ("slerp", "nlerp")
"""Engines without a profile: USD itself and Blender."""
REST_RATE = 24.0
"""Time codes a second of a layer in which nothing moves: what USD assumes of one that says nothing."""


def export_usd(rig: Rig, clips: Sequence[Clip], path: str | PathLike[str], *, force: bool = False, options: ExportOptions = PLAIN) -> Path:
    """Write the rig and one clip as .usda, .usdc, .usd or .usdz; its path.

    Joint names become identifiers, their own names are kept in `jointNames`. Translations, rotations and scales of all joints are
    authored at every frame, or, with a `reduction`, at the fewest that play the same within the tolerance (the error is told in the
    animation's custom data). Textures lie in `<name>_textures` beside the file (in a .usdz: inside). `options.fps` is the number of
    time codes a second; poses stay at their times.
    `options.clip_only` writes the animation as a layer over `<character>_character.usdc` beside it, which is written if it is not there.
    Raises ExportError: not exactly one clip, a clip of another skeleton, binds that cannot be inverted, a tolerance that half precision
    does not allow, a character beside the clip that is another, the file cannot be written.
    """
    options.only(path, "clip_only", "all_joints", "fps")
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise ExportError("is no USD file name", path, f"known: {', '.join(SUFFIXES)}")
    if options.clip_only and suffix == ".usdz":
        raise ExportError("a .usdz holds its character: a clip alone cannot be one", path, "write .usda or .usdc")
    if len(clips) != 1:
        raise ExportError(f"a USD file plays one clip, not {len(clips)}", path, "write a file for each, or clips alone over one character")
    clip = clips[0]
    require_own(rig, clip)
    load()
    with staged(target, force=force) as draft:
        try:
            plan, poses = plan_of(rig, clip.name), poses_of(rig, clip, options)
            if options.clip_only:
                _write_clip(draft, target, plan, (clip, poses), options, force)
            else:
                _write_whole(draft, plan, (clip, poses), options)
        except ExportError as fault:
            raise fault.at(target) from fault
    return target


def poses_of(rig: Rig, clip: Clip, options: ExportOptions = PLAIN) -> Poses:
    """The poses that are written of a clip: all, or with a `reduction` the fewest within the tolerances, their error measured."""
    bounds = bounds_of_options(options)
    return all_poses(clip) if bounds is None else kept_poses(rig, clip, bounds)


def bounds_of_options(options: ExportOptions) -> Bounds | None:
    """What the options, else the profile, allow dropped poses to stray; None where none are dropped."""
    if options.reduction == "none":
        return None
    profile = options.profile
    tolerance = options.tolerance_m or (profile.tolerance_m if profile else TOLERANCE_M)
    feet = options.feet_tolerance_m or (profile.feet_tolerance_m if profile else FEET_TOLERANCE_M)
    return Bounds(tolerance, feet, profile.players if profile else PLAYERS, firm=options.tolerance_m is not None)


def _write_whole(draft: Path, plan: Plan, played: tuple[Clip, Poses], options: ExportOptions) -> None:
    from pxr import Usd

    textures = draft.parent / f"{draft.stem}_textures"
    stage = Usd.Stage.CreateInMemory()
    _set_times(stage, played[0], options)
    add_character(stage, plan, Looks(textures, plan.rig.source.document))
    _animate(stage, plan, played, options)
    save(stage.GetRootLayer(), draft)
    if draft.suffix.lower() == ".usdz" and textures.is_dir():
        for picture in textures.iterdir():
            picture.unlink()
        textures.rmdir()


def _write_clip(draft: Path, target: Path, plan: Plan, played: tuple[Clip, Poses], options: ExportOptions, force: bool) -> None:
    """The clip as a layer, and the character beside it unless it is there."""
    from pxr import Sdf, Usd

    name = f"{identifiers([plan.rig.name or 'Character'])[0]}_character.usdc"
    if target.name == name:
        raise ExportError(f"is the name of the character that the clip lies over ({name})", target, "give the clip another name")
    character = target.parent / name
    if force or not character.exists():
        character = draft.parent / name
        _write_character(character, plan)
    else:
        _require_fit(character, plan)
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().subLayerPaths.append(str(character.absolute()))
    _set_times(stage, played[0], options)
    stage.SetDefaultPrim(stage.OverridePrim(plan.root))
    _animate(stage, plan, played, options)
    layer: Sdf.Layer = Sdf.Layer.CreateAnonymous()  # apart from the stage, which would miss its character at once
    layer.TransferContent(stage.GetRootLayer())
    layer.subLayerPaths.clear()
    layer.subLayerPaths.append(f"./{name}")
    save(layer, draft)


def _write_character(path: Path, plan: Plan) -> None:
    """The character at rest."""
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.CreateInMemory()
    set_stage(stage, REST_RATE, 0.0)
    root = add_character(stage, plan, Looks(path.parent / f"{path.stem}_textures", plan.rig.source.document))
    extent = UsdGeom.Boundable.ComputeExtentFromPlugins(root, Usd.TimeCode.Default())
    if extent:
        root.CreateExtentAttr(extent)
    save(stage.GetRootLayer(), path)


def _require_fit(path: Path, plan: Plan) -> None:
    from pxr import Tf, Usd

    try:
        stage: Usd.Stage | None = Usd.Stage.Open(str(path))
    except Tf.ErrorException:
        stage = None
    if stage is None or not fits(stage, plan):
        raise ExportError("is not this character", path, "write the clip into another folder, or force to replace the character too")


def _set_times(stage: Usd.Stage, clip: Clip, options: ExportOptions) -> None:
    rate = options.fps or clip.fps
    set_stage(stage, rate, float(time_codes(np.array(clip.duration), rate)))


def _animate(stage: Usd.Stage, plan: Plan, played: tuple[Clip, Poses], options: ExportOptions) -> None:
    bounds = bounds_of_options(options)
    add_animation(stage, plan, *played, None if bounds is None else bounds.tolerance_m)

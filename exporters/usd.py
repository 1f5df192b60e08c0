"""USD: the character as a UsdSkel with mesh, rest pose, materials and one clip, Y up, in metres, a time code a frame."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError
from akd_sdk.exporters.clip import Clip, require_own
from akd_sdk.exporters.options import PLAIN, ExportOptions
from akd_sdk.exporters.pose import world_from_local
from akd_sdk.exporters.usd_looks import Looks
from akd_sdk.exporters.usd_mesh import add_mesh, bind_groups
from akd_sdk.formats.atomic import staged
from akd_sdk.formats.usd import SUFFIXES, float3, half3, identifiers, joint_paths, load, quatf, row_matrices, save
from akd_sdk.rig import Rig, Skeleton, Transforms
from akd_sdk.rotations import compose, quat_continuous

if TYPE_CHECKING:
    from pxr import Usd, UsdSkel

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Scene:
    """Names and prims that the parts of the file share."""

    stage: Usd.Stage
    root: str
    joints: list[str]
    taken: set[str]


def export_usd(rig: Rig, clips: Sequence[Clip], path: str | PathLike[str], *, force: bool = False, options: ExportOptions = PLAIN) -> Path:
    """Write the rig and one clip as .usda, .usdc, .usd or .usdz; its path.

    Joint names become identifiers, their own names are kept in `jointNames`. Translations, rotations and scales of all joints are
    authored at every frame; textures lie in `<name>_textures` beside the file (in a .usdz: inside).
    Raises ExportError: not exactly one clip, a clip of another skeleton, binds that cannot be inverted, the file cannot be written.
    """
    options.only(path)
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise ExportError("is no USD file name", path, f"known: {', '.join(SUFFIXES)}")
    if len(clips) != 1:
        raise ExportError(f"a USD file holds one clip, not {len(clips)}", path, "write a file for each")
    clip = clips[0]
    require_own(rig, clip)
    load()
    with staged(target, force=force) as draft:
        textures = draft.parent / f"{target.stem}_textures"
        try:
            stage = build_stage(rig, clip, Looks(textures))
            save(stage.GetRootLayer(), draft)
        except ExportError as fault:
            raise fault.at(target) from fault
        if target.suffix.lower() == ".usdz" and textures.is_dir():
            for picture in textures.iterdir():
                picture.unlink()
            textures.rmdir()
    return target


def build_stage(rig: Rig, clip: Clip, looks: Looks) -> Usd.Stage:
    """The stage in memory; `looks` writes the textures."""
    from pxr import Kind, Sdf, Usd, UsdGeom, UsdSkel

    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(clip.fps)
    stage.SetFramesPerSecond(clip.fps)
    stage.SetStartTimeCode(0.0)
    stage.SetEndTimeCode(float(clip.frames - 1))
    name = identifiers([rig.name or "Character"])[0]
    root = UsdSkel.Root.Define(stage, f"/{name}")
    stage.SetDefaultPrim(root.GetPrim())
    Usd.ModelAPI(root.GetPrim()).SetKind(Kind.Tokens.component)
    scene = _Scene(stage, f"/{name}", joint_paths(rig.skeleton.names, rig.skeleton.parents), set())
    animation = _add_animation(scene, clip, identifiers([clip.name], scene.taken)[0])
    groups = bind_groups(rig)
    for group in groups:
        skeleton = _add_skeleton(scene, rig.skeleton, group.binds, animation)
        for skin, bind in group.members:
            mesh = add_mesh(stage, f"{scene.root}/{identifiers([skin.name or 'Mesh'], scene.taken)[0]}", skin, bind)
            UsdSkel.BindingAPI(mesh.GetPrim()).CreateSkeletonRel().SetTargets([skeleton.GetPath()])
            looks.bind(mesh, skin, f"{scene.root}/Looks")
    binding = UsdSkel.BindingAPI.Apply(root.GetPrim())
    binding.CreateAnimationSourceRel().SetTargets([Sdf.Path(animation)])
    if len(groups) == 1:
        binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    _author_extents(root, clip)
    return stage


def _add_skeleton(scene: _Scene, skeleton: Skeleton, binds: Array, animation: str) -> UsdSkel.Skeleton:
    from pxr import Sdf, UsdSkel

    prim = UsdSkel.Skeleton.Define(scene.stage, f"{scene.root}/{identifiers(['Skeleton'], scene.taken)[0]}")
    prim.CreateJointsAttr(scene.joints)
    prim.CreateJointNamesAttr(list(skeleton.names))
    prim.CreateBindTransformsAttr(row_matrices(binds))
    prim.CreateRestTransformsAttr(row_matrices(skeleton.rest.matrices))
    UsdSkel.BindingAPI.Apply(prim.GetPrim()).CreateAnimationSourceRel().SetTargets([Sdf.Path(animation)])
    return prim


def _add_animation(scene: _Scene, clip: Clip, name: str) -> str:
    """The SkelAnimation with every frame authored; its path."""
    from pxr import UsdSkel

    path = f"{scene.root}/{name}"
    prim = UsdSkel.Animation.Define(scene.stage, path)
    prim.CreateJointsAttr(scene.joints)
    translations, rotations, scales = prim.CreateTranslationsAttr(), prim.CreateRotationsAttr(), prim.CreateScalesAttr()
    pose = half_scaled(clip.skeleton, clip.sample(clip.times))
    turns = quat_continuous(pose.rotations)
    for frame in range(clip.frames):
        translations.Set(float3(pose.translations[frame]), float(frame))
        rotations.Set(quatf(turns[frame]), float(frame))
        scales.Set(half3(pose.scales[frame]), float(frame))
    told = {"name": clip.name, "loop": clip.loop, "root_mode": clip.root_mode, "facts": json.dumps(clip.facts())}
    prim.GetPrim().SetCustomDataByKey("akd", told)
    return path


def half_scaled(skeleton: Skeleton, pose: Transforms) -> Transforms:
    """The pose (frames, joints) with scales that half precision holds, and translations that put every joint where it was nevertheless."""
    with np.errstate(over="ignore"):
        scales = pose.scales.astype(np.float16).astype(np.float64)
    if np.array_equal(scales, pose.scales) or not np.isfinite(scales).all():
        return pose  # exact, or to be refused with its reason where it is written
    wanted = world_from_local(skeleton, pose)[..., :3, 3]
    translations = pose.translations.copy()
    world = np.empty((*scales.shape[:2], 4, 4))
    for j, parent in enumerate(skeleton.parents):
        if parent >= 0:
            up = world[:, parent]
            sound = np.abs(np.linalg.det(up[:, :3, :3])) > 1e-12
            offset = wanted[sound, j] - up[sound, :3, 3]
            translations[sound, j] = np.linalg.solve(up[sound, :3, :3], offset[..., None])[..., 0]
        local = compose(translations[:, j], pose.rotations[:, j], scales[:, j])
        world[:, j] = local if parent < 0 else world[:, parent] @ local
    return Transforms(translations, pose.rotations, scales)


def _author_extents(root: UsdSkel.Root, clip: Clip) -> None:
    """The bounds of the moving character at every frame."""
    from pxr import UsdGeom

    attribute = root.CreateExtentAttr()
    for frame in range(clip.frames):
        extent = UsdGeom.Boundable.ComputeExtentFromPlugins(root, float(frame))
        if extent:
            attribute.Set(extent, float(frame))

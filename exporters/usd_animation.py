"""The SkelAnimation of a clip, what plays it, and the bounds it moves through."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.clip import Clip
from akd_sdk.exporters.usd_character import Plan
from akd_sdk.exporters.usd_poses import Poses
from akd_sdk.exporters.usd_shapes import kept_weights
from akd_sdk.formats.usd import float3, half3, quatf

if TYPE_CHECKING:
    from pxr import Usd

Array = NDArray[np.float64]


def add_animation(stage: Usd.Stage, plan: Plan, clip: Clip, poses: Poses, tolerance_m: float | None) -> None:
    """Author a clip on a stage that shows the character: poses, weights, bindings, bounds.

    Where poses were dropped (`tolerance_m` is given), a property that never changes has one sample, and weights of shapes have their own.
    """
    from pxr import Sdf, UsdSkel

    rate = stage.GetTimeCodesPerSecond()
    prim = UsdSkel.Animation.Define(stage, plan.animation)
    prim.CreateJointsAttr(plan.joints)
    written = (
        (prim.CreateTranslationsAttr(), poses.local.translations, float3),
        (prim.CreateRotationsAttr(), poses.local.rotations, quatf),
        (prim.CreateScalesAttr(), poses.local.scales, half3),
    )
    for attribute, values, pack in written:
        still = tolerance_m is not None and bool((values == values[:1]).all())
        codes = time_codes(poses.times, rate)
        for code, value in zip(codes[:1] if still else codes, values, strict=not still):
            attribute.Set(pack(value), float(code))
    _add_weights(prim, plan, clip, rate, tolerance_m)
    prim.GetPrim().SetCustomDataByKey("akd", _told(clip, poses, tolerance_m))
    for path in (plan.root, *plan.skeletons):
        binding = UsdSkel.BindingAPI.Apply(stage.OverridePrim(path))
        binding.CreateAnimationSourceRel().SetTargets([Sdf.Path(plan.animation)])
    _add_extents(stage, plan, clip)


def time_codes(times: Array, rate: float) -> Array:
    """Seconds as time codes; what is a whole code but for rounding is whole."""
    codes = times * rate
    whole = np.rint(codes)
    return np.where(np.abs(codes - whole) < 1e-6, whole, codes)


def _add_weights(prim: Any, plan: Plan, clip: Clip, rate: float, tolerance_m: float | None) -> None:  # Any: pxr has no types
    from pxr import Vt

    if not plan.shapes.names:
        return
    weights = plan.shapes.weights_of(clip)
    frames = np.arange(len(weights))
    if tolerance_m is not None:
        reach = np.concatenate(list(plan.shapes.reach_m.values())) * plan.rig.human_scale
        frames = np.zeros(1, dtype=np.int64) if (weights == weights[:1]).all() else kept_weights(weights, reach, tolerance_m)
    prim.CreateBlendShapesAttr(plan.shapes.names)
    attribute = prim.CreateBlendShapeWeightsAttr()
    codes = time_codes(clip.times, rate)
    for frame in frames:
        attribute.Set(Vt.FloatArray.FromNumpy(weights[frame].astype(np.float32)), float(codes[frame]))


def _told(clip: Clip, poses: Poses, tolerance_m: float | None) -> dict[str, Any]:
    """What the file says of the clip that USD has no place for."""
    told: dict[str, Any] = {"name": clip.name, "loop": clip.loop, "root_mode": clip.root_mode, "facts": json.dumps(clip.facts())}
    if tolerance_m is not None and poses.worst_m is not None:
        told |= {"poses": len(poses.times), "poses_dense": poses.dense, "tolerance_m": tolerance_m, "worst_m": poses.worst_m}
        told |= {"worst_joint": clip.skeleton.names[poses.joint], "worst_time_s": poses.time_s, "p99_m": poses.p99_m}
        if poses.feet_worst_m is not None:
            told["feet_worst_m"] = poses.feet_worst_m
    return told


def told_poses(path: Path) -> Mapping[str, Any] | None:
    """What a file written with dropped poses tells of them: `poses`, `poses_dense`, `worst_m`, `p99_m`, `worst_joint`, `worst_time_s`,
    where known `feet_worst_m`; None: every pose is in it."""
    from pxr import Sdf

    layer = Sdf.Layer.OpenAsAnonymous(str(path))
    prims = layer.GetPrimAtPath(f"/{layer.defaultPrim}").nameChildren
    told = (prim.customData.get("akd", {}) for prim in prims if prim.typeName == "SkelAnimation")
    return next((found for found in told if "poses" in found), None)


def _add_extents(stage: Usd.Stage, plan: Plan, clip: Clip) -> None:
    """The bounds of the moving character at every frame, on the SkelRoot, as USD computes them: validators compare."""
    from pxr import UsdGeom, UsdSkel

    root = UsdSkel.Root(stage.GetPrimAtPath(plan.root))
    attribute, rate = root.CreateExtentAttr(), stage.GetTimeCodesPerSecond()
    for code in time_codes(clip.times, rate):
        extent = UsdGeom.Boundable.ComputeExtentFromPlugins(root, float(code))
        if extent:
            attribute.Set(extent, float(code))

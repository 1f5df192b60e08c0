"""Faults of UsdSkel files that players take in silence: none is in what is written, and each, planted, is found by the same look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion, write_case
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "quadruped.glb")


def _prims(stage: Usd.Stage, kind: type) -> list[Usd.Prim]:
    return [prim for prim in stage.Traverse() if prim.IsA(kind)]


def faults(stage: Usd.Stage) -> set[str]:
    """What is wrong with a character's file."""
    root = stage.GetPseudoRoot()
    found = {key for key in ("upAxis", "metersPerUnit", "timeCodesPerSecond", "defaultPrim") if not root.HasAuthoredMetadata(key)}
    if not _prims(stage, UsdSkel.Root):
        found.add("no SkelRoot")
    for prim in stage.Traverse():
        rels = [rel for rel in prim.GetRelationships() if rel.GetName().startswith("skel:")]
        skinned = any(name.startswith(("skel:", "primvars:skel:")) for name in prim.GetPropertyNames())
        if skinned and not prim.HasAPI(UsdSkel.BindingAPI) and not prim.IsA(UsdSkel.BlendShape):
            found.add("no SkelBindingAPI")
        if any(not stage.GetPrimAtPath(target) for rel in rels for target in rel.GetTargets()):
            found.add("a target that is nowhere")
    if not any(UsdSkel.BindingAPI(prim).GetAnimationSourceRel().GetTargets() for prim in _prims(stage, UsdSkel.Root)):
        found.add("no animationSource on the SkelRoot")
    for prim in _prims(stage, UsdSkel.Skeleton):
        found |= _skeleton_faults(UsdSkel.Skeleton(prim))
    for prim in _prims(stage, UsdSkel.Animation):
        skeletons = _prims(stage, UsdSkel.Skeleton)
        found |= _animation_faults(UsdSkel.Animation(prim), UsdSkel.Skeleton(skeletons[0]), stage.GetStartTimeCode())
    return found


def _order_faults(joints: list[str]) -> set[str]:
    found, seen = set(), set()
    for joint in joints:
        above = joint.rpartition("/")[0]
        if above and above not in seen:
            found.add("a parent missing" if above not in joints else "a child before its parent")
        seen.add(joint)
    return found


def _skeleton_faults(skeleton: UsdSkel.Skeleton) -> set[str]:
    joints = [str(joint) for joint in skeleton.GetJointsAttr().Get()]
    found = _order_faults(joints)
    for name, attribute in (("no binds", skeleton.GetBindTransformsAttr()), ("no rests", skeleton.GetRestTransformsAttr())):
        if len(attribute.Get() or []) != len(joints):
            found.add(name)
    return found


def _animation_faults(animation: UsdSkel.Animation, skeleton: UsdSkel.Skeleton, start: float) -> set[str]:
    joints = [str(joint) for joint in animation.GetJointsAttr().Get()]
    found = _order_faults(joints)
    if joints != [str(joint) for joint in skeleton.GetJointsAttr().Get()]:
        found.add("other joints than the skeleton's")
    wanted = {"translations": "float3[]", "rotations": "quatf[]", "scales": "half3[]"}
    for name, kind in wanted.items():
        attribute = animation.GetPrim().GetAttribute(name)
        times = attribute.GetTimeSamples()
        if not attribute.HasAuthoredValue():
            found.add(f"no {name}")
            continue
        if any(str(spec.typeName) != kind for spec in attribute.GetPropertyStack(Usd.TimeCode.Default())):
            found.add(f"{name} of another type")
            continue
        if times[0] != start or start != 0.0:
            found.add("a first sample that is not at 0")
        if any(len(attribute.Get(time)) != len(joints) for time in times):
            found.add("an array of another length")
        elif name == "rotations":
            lengths = [q.GetLength() for time in times for q in attribute.Get(time)]
            if np.abs(np.array(lengths) - 1.0).max() > 1e-5:
                found.add("a quaternion that is no rotation")
    return found


def _animation(stage: Usd.Stage) -> UsdSkel.Animation:
    return UsdSkel.Animation(_prims(stage, UsdSkel.Animation)[0])


def _skeleton(stage: Usd.Stage) -> UsdSkel.Skeleton:
    return UsdSkel.Skeleton(_prims(stage, UsdSkel.Skeleton)[0])


def _short(stage: Usd.Stage) -> None:
    attribute = _animation(stage).GetRotationsAttr()
    attribute.Set(Vt.QuatfArray(list(attribute.Get(3.0))[:-1]), 3.0)


def _long_quaternion(stage: Usd.Stage) -> None:
    attribute = _animation(stage).GetRotationsAttr()
    values = list(attribute.Get(3.0))
    values[2] = Gf.Quatf(1.3, Gf.Vec3f(0.0))
    attribute.Set(Vt.QuatfArray(values), 3.0)


def _doubles(stage: Usd.Stage) -> None:
    prim = _animation(stage).GetPrim()
    prim.RemoveProperty("rotations")
    spec = Sdf.AttributeSpec(stage.GetRootLayer().GetPrimAtPath(prim.GetPath()), "rotations", Sdf.ValueTypeNames.QuatdArray)
    stage.GetRootLayer().SetTimeSample(spec.path, 0.0, Vt.QuatdArray(28))


def _backwards(stage: Usd.Stage) -> None:
    attribute = _skeleton(stage).GetJointsAttr()
    attribute.Set(list(reversed(attribute.Get())))


def _orphan(stage: Usd.Stage) -> None:
    attribute = _animation(stage).GetJointsAttr()
    attribute.Set([joint for joint in attribute.Get() if str(joint).count("/") != 1])


def _astray(stage: Usd.Stage) -> None:
    UsdSkel.BindingAPI(_prims(stage, UsdSkel.Root)[0]).GetAnimationSourceRel().SetTargets([Sdf.Path("/nowhere")])


def _early(stage: Usd.Stage) -> None:
    attribute = _animation(stage).GetTranslationsAttr()
    attribute.Set(attribute.Get(0.0), -5.0)


def _unbound(stage: Usd.Stage) -> None:
    _prims(stage, UsdGeom.Mesh)[0].RemoveAPI(UsdSkel.BindingAPI)


PLANTED: dict[str, Callable[[Usd.Stage], object]] = {
    **{key: lambda stage, key=key: stage.ClearMetadata(key) for key in ("upAxis", "metersPerUnit", "timeCodesPerSecond", "defaultPrim")},
    "no SkelRoot": lambda stage: stage.GetDefaultPrim().SetTypeName("Xform"),
    "no SkelBindingAPI": _unbound,
    "rotations of another type": _doubles,
    "no scales": lambda stage: _animation(stage).GetPrim().RemoveProperty("scales"),
    "a target that is nowhere": _astray,
    "no animationSource on the SkelRoot": lambda stage: stage.GetDefaultPrim().RemoveProperty("skel:animationSource"),
    "a child before its parent": _backwards,
    "a parent missing": _orphan,
    "an array of another length": _short,
    "no binds": lambda stage: _skeleton(stage).GetPrim().RemoveProperty("bindTransforms"),
    "no rests": lambda stage: _skeleton(stage).GetPrim().RemoveProperty("restTransforms"),
    "a quaternion that is no rotation": _long_quaternion,
    "a first sample that is not at 0": _early,
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_seen(rig: Rig, fault: str, tmp_path: Path) -> None:
    stage = Usd.Stage.Open(str(export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / "a.usda")))
    assert faults(stage) == set()
    PLANTED[fault](stage)
    assert fault in faults(stage)


KINDS = [(".usda", ExportOptions()), (".usdc", ExportOptions(reduction="fast", tolerance_m=5e-3)), (".usdz", ExportOptions(fps=24.0))]


@pytest.mark.parametrize(("suffix", "options"), KINDS)
@pytest.mark.parametrize("case", ["rolled", "armature100", "mirrored", "two_skins", "stretched"])
def test_no_file_has_a_fault(case: str, options: ExportOptions, suffix: str, tmp_path: Path) -> None:
    rig = open_rig(write_case(case, tmp_path))
    path = export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / f"a{suffix}", options=options)
    assert faults(Usd.Stage.Open(str(path))) == set()


def test_neither_a_file_without_a_mesh_nor_a_clip_alone_has_one(rig: Rig, tmp_path: Path) -> None:
    bare = replace(rig, skins=())
    for owner, options in ((bare, ExportOptions()), (rig, ExportOptions(clip_only=True)), (bare, ExportOptions(clip_only=True))):
        folder = tmp_path / f"{len(owner.skins)}{options.clip_only}"
        path = export(owner, Clip.from_motion(owner, smooth_motion(owner)), folder / "a.usda", options=options)
        assert faults(Usd.Stage.Open(str(path))) == set()

"""Skeletons of a USD file: where they lie, their joints, bind and rest transforms, and which animation they play."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from akd_sdk.exporters.check.codes import found
from akd_sdk.exporters.check.findings import Finding, some
from akd_sdk.exporters.check.usd_source import TYPES, UsdSource, values, wrong_type
from akd_sdk.schemas.profile import Profile


def skeleton_findings(source: UsdSource) -> Iterable[Finding]:
    """What is wrong with the skeletons of a stage and their bindings."""
    from pxr import UsdSkel

    for prim in source.skeletons:
        skeleton, where = UsdSkel.Skeleton(prim), str(prim.GetPath())
        if not UsdSkel.Root.Find(prim):
            yield found("skel-no-root", where, "no SkelRoot is above it")
        joints = joints_of(skeleton)
        yield from _joint_findings(joints, where)
        arrays = {"skel-no-bind": skeleton.GetBindTransformsAttr(), "skel-no-rest": skeleton.GetRestTransformsAttr()}
        for attribute in (skeleton.GetJointsAttr(), *arrays.values()):
            other = wrong_type(attribute)
            if other is not None:
                yield found("skel-type", where, f"{attribute.GetName()} is {other}, not {TYPES[attribute.GetName()]}")
        for code, attribute in arrays.items():
            if wrong_type(attribute) is None and len(values(attribute)) != len(joints):
                yield found(code, where, f"{attribute.GetName()} has {len(values(attribute))} for {len(joints)} joints")
    yield from _binding_findings(source)


def joints_of(schema: Any) -> list[str]:
    """Paths of the joints of a Skeleton or SkelAnimation."""
    return [str(joint) for joint in values(schema.GetJointsAttr())]


def played(source: UsdSource) -> list[tuple[Any, Any]]:
    """Skeletons with the animation that each plays, as prims."""
    from pxr import UsdSkel

    pairs = ((prim, UsdSkel.BindingAPI(prim).GetInheritedAnimationSource()) for prim in source.skeletons)
    return [(skeleton, animation) for skeleton, animation in pairs if animation and animation.IsA(UsdSkel.Animation)]


def skeleton_limits(source: UsdSource, profile: Profile) -> Iterable[Finding]:
    """What the profile's engine does not take of skeletons and skins."""
    from pxr import Usd, UsdPhysics, UsdSkel

    prims = list(Usd.PrimRange.Stage(source.stage, Usd.TraverseInstanceProxies()))
    articulations = sum(prim.HasAPI(UsdPhysics.ArticulationRootAPI) for prim in prims)
    if profile.articulation and articulations != 1:
        yield found("articulation-missing", "the file", f"{articulations} prims are an articulation root")
    for prim in source.skeletons:
        joints, where = joints_of(UsdSkel.Skeleton(prim)), str(prim.GetPath())
        tops = [joint for joint in joints if "/" not in joint]
        if profile.single_root and len(tops) > 1:
            yield found("root-several", where, f"{len(tops)} root joints: {some(tops)}")
        if profile.bones is not None and len(joints) > profile.bones:
            yield found("bone-count", where, f"{len(joints)} joints, {profile.title} takes {profile.bones}")
    if profile.influences is None:
        return
    for prim in prims:
        most = _influences(UsdSkel.BindingAPI(prim))
        if most > profile.influences:
            yield found("influence-count", str(prim.GetPath()), f"{most} joints move a vertex, {profile.title} takes {profile.influences}")


def _influences(binding: Any) -> int:
    """The most joints with a weight at one vertex of a skinned prim."""
    import numpy as np

    primvar = binding.GetJointWeightsPrimvar()
    usable = primvar and str(primvar.GetTypeName()) == "float[]"
    weights, size = primvar.Get() if usable else None, primvar.GetElementSize() if usable else 0
    if not weights or size < 1 or len(weights) % size:
        return 0
    return int((np.array(weights).reshape(-1, size) > 0.0).sum(axis=1).max())


def order_fault(joints: Sequence[str]) -> str | None:
    """A joint that comes before its parent, in words; None where none does."""
    places = {joint: i for i, joint in reversed(list(enumerate(joints)))}
    for joint, i in places.items():
        above = joint.rpartition("/")[0]
        if above in places and places[above] > i:
            return f"{joint} comes before {above}"
    return None


def _joint_findings(joints: Sequence[str], where: str) -> Iterable[Finding]:
    known = set(joints)
    fault = order_fault(joints)
    if fault is not None:
        yield found("skel-joint-order", where, fault)
    orphans = [joint for joint in joints if "/" in joint and joint.rpartition("/")[0] not in known]
    if orphans:
        yield found("skel-joint-parent", where, f"the parent of {some(orphans)} is not listed")
    twice = [joint for joint, times in Counter(joints).items() if times > 1]
    if twice:
        yield found("skel-joint-twice", where, some(twice))


def _binding_findings(source: UsdSource) -> Iterable[Finding]:
    from pxr import Usd, UsdSkel

    lost = False
    for prim in Usd.PrimRange.Stage(source.stage, Usd.TraverseInstanceProxies()):
        for target in UsdSkel.BindingAPI(prim).GetAnimationSourceRel().GetTargets():
            aim = source.stage.GetPrimAtPath(target)
            if not (aim and aim.IsA(UsdSkel.Animation)):
                lost = True
                yield found("skel-source-nowhere", str(prim.GetPath()), f"{target} is no SkelAnimation")
    pairs = played(source)
    for skeleton, animation in pairs:
        root = UsdSkel.Root.Find(skeleton)
        if root and not UsdSkel.BindingAPI(root.GetPrim()).GetAnimationSourceRel().GetTargets():
            yield found("skel-source-place", str(root.GetPath()), f"{animation.GetPath()} is bound below it only")
    playing = {str(animation.GetPath()) for _, animation in pairs}
    for prim in source.animations:
        if str(prim.GetPath()) not in playing and not lost:
            yield found("skel-unplayed", str(prim.GetPath()), "no skeleton is bound to it")

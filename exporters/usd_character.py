"""The character in USD: a SkelRoot with skeletons in bind and rest pose, skinned meshes, blend shapes and materials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.usd_looks import Looks
from akd_sdk.exporters.usd_mesh import BindGroup, add_mesh, bind_groups
from akd_sdk.exporters.usd_shapes import Shapes, add_shapes, shapes_of
from akd_sdk.formats.usd import identifiers, joint_paths, row_matrices
from akd_sdk.rig import Rig

if TYPE_CHECKING:
    from pxr import Usd, UsdSkel

LOOKS = "Looks"


@dataclass(frozen=True)
class Plan:
    """What is called how in a character's layers, whether or not they are written together.

    Attributes:
        rig: whose.
        root: path of the SkelRoot.
        joints: as UsdSkel calls them, in the skeleton's order.
        groups: skins by skeleton.
        skeletons: a path a group.
        meshes: paths of a group's meshes, by group.
        shapes: morph targets.
        animation: path of the SkelAnimation.
    """

    rig: Rig
    root: str
    joints: list[str]
    groups: list[BindGroup]
    skeletons: list[str]
    meshes: list[list[str]]
    shapes: Shapes
    animation: str


def plan_of(rig: Rig, clip_name: str) -> Plan:
    """The plan of a character that plays a clip. Raises ExportError: binds that cannot be inverted."""
    root = f"/{identifiers([rig.name or 'Character'])[0]}"
    groups = bind_groups(rig)
    taken = {LOOKS}
    skeletons = [f"{root}/{name}" for name in identifiers(["Skeleton"] * len(groups), taken)]
    meshes = [[f"{root}/{name}" for name in identifiers([skin.name or "Mesh" for skin, _ in group.members], taken)] for group in groups]
    shapes = shapes_of(rig, [member for group in groups for member in group.members])
    joints = joint_paths(rig.skeleton.names, rig.skeleton.parents)
    return Plan(rig, root, joints, groups, skeletons, meshes, shapes, f"{root}/{identifiers([clip_name], taken)[0]}")


def set_stage(stage: Usd.Stage, codes_per_second: float, end_code: float) -> None:
    """What every layer says of itself: axes, unit, rate and length."""
    from pxr import UsdGeom

    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(codes_per_second)
    stage.SetFramesPerSecond(codes_per_second)
    stage.SetStartTimeCode(0.0)
    stage.SetEndTimeCode(end_code)


def add_character(stage: Usd.Stage, plan: Plan, looks: Looks) -> UsdSkel.Root:
    """Skeletons, meshes and materials below a new SkelRoot, which becomes the default prim; `looks` writes the pictures."""
    from pxr import Kind, Usd, UsdSkel

    root = UsdSkel.Root.Define(stage, plan.root)
    stage.SetDefaultPrim(root.GetPrim())
    Usd.ModelAPI(root.GetPrim()).SetKind(Kind.Tokens.component)
    for group, path, meshes in zip(plan.groups, plan.skeletons, plan.meshes, strict=True):
        skeleton = _add_skeleton(stage, path, plan, group)
        for (skin, bind_map), mesh_path in zip(group.members, meshes, strict=True):
            mesh = add_mesh(stage, mesh_path, skin, bind_map)
            UsdSkel.BindingAPI(mesh.GetPrim()).CreateSkeletonRel().SetTargets([skeleton.GetPath()])
            looks.bind(mesh, skin, f"{plan.root}/{LOOKS}")
            add_shapes(mesh, skin, bind_map, plan.shapes)
    binding = UsdSkel.BindingAPI.Apply(root.GetPrim())
    if len(plan.groups) == 1:
        binding.CreateSkeletonRel().SetTargets([plan.skeletons[0]])
    return root


def _add_skeleton(stage: Usd.Stage, path: str, plan: Plan, group: BindGroup) -> UsdSkel.Skeleton:
    from pxr import UsdSkel

    skeleton = plan.rig.skeleton
    prim = UsdSkel.Skeleton.Define(stage, path)
    prim.CreateJointsAttr(plan.joints)
    prim.CreateJointNamesAttr(list(skeleton.names))
    prim.CreateBindTransformsAttr(row_matrices(group.binds))
    prim.CreateRestTransformsAttr(row_matrices(skeleton.rest.matrices))
    UsdSkel.BindingAPI.Apply(prim.GetPrim())
    return prim


def fits(stage: Usd.Stage, plan: Plan) -> bool:
    """Whether a stage holds the character of the plan: the same joints, at rest in the same places."""
    from pxr import UsdGeom, UsdSkel

    for path in plan.skeletons:
        skeleton = UsdSkel.Skeleton(stage.GetPrimAtPath(path))
        joints, rests = skeleton.GetJointsAttr().Get(), skeleton.GetRestTransformsAttr().Get()
        if not skeleton or joints is None or [str(joint) for joint in joints] != plan.joints or rests is None:
            return False
        wanted: NDArray[np.float64] = plan.rig.skeleton.rest.matrices.swapaxes(-1, -2)
        if len(rests) != len(wanted) or not np.allclose(np.array(rests), wanted, atol=1e-6):
            return False
    return bool(UsdGeom.GetStageMetersPerUnit(stage) == 1.0 and UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y)

"""USD and BVH files with one fault each, made from ones that have none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt
from scipy.spatial.transform import Rotation

CHAIN = ("a", "a/b", "a/b/c")
CODES = (0.0, 15.0, 30.0)


@dataclass
class Swing:
    """A bare skeleton of joints in a chain that swings for a second."""

    joints: Sequence[str] = CHAIN
    moved: Sequence[str] | None = None
    rotations: Any = None
    translations: Any = None
    stage: Any = field(init=False)
    animation: Any = field(init=False)
    skeleton: Any = field(init=False)

    def __post_init__(self) -> None:
        moved = self.joints if self.moved is None else self.moved
        self.stage = stage = Usd.Stage.CreateInMemory()
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        stage.SetTimeCodesPerSecond(30.0)
        stage.SetStartTimeCode(CODES[0])
        stage.SetEndTimeCode(CODES[-1])
        root = UsdSkel.Root.Define(stage, "/Post")
        stage.SetDefaultPrim(root.GetPrim())
        self.skeleton = UsdSkel.Skeleton.Define(stage, "/Post/Skeleton")
        self.skeleton.CreateJointsAttr(list(self.joints))
        still = Vt.Matrix4dArray([Gf.Matrix4d(1.0)] * len(self.joints))
        self.skeleton.CreateBindTransformsAttr(still)
        self.skeleton.CreateRestTransformsAttr(still)
        self.animation = UsdSkel.Animation.Define(stage, "/Post/Swing")
        self.animation.CreateJointsAttr(list(moved))
        turns = swing(30.0) if self.rotations is None else self.rotations
        places = np.zeros((3, 3)) if self.translations is None else self.translations
        for code, turn, place in zip(CODES, turns, places, strict=True):
            many = np.tile(np.asarray(turn, dtype=np.float32), (len(moved), 1))
            self.animation.CreateRotationsAttr().Set(Vt.QuatfArray.FromNumpy(many), code)
            self.animation.CreateTranslationsAttr().Set(Vt.Vec3fArray.FromNumpy(np.tile(np.float32(place), (len(moved), 1))), code)
            self.animation.CreateScalesAttr().Set(Vt.Vec3hArray.FromNumpy(np.ones((len(moved), 3), np.float16)), code)
        UsdSkel.BindingAPI.Apply(root.GetPrim()).CreateAnimationSourceRel().SetTargets([self.animation.GetPath()])

    @property
    def root(self) -> Any:
        return self.stage.GetDefaultPrim()

    def save(self, folder: Path) -> Path:
        path = folder / "swing.usda"
        self.stage.GetRootLayer().Export(str(path))
        return path


def swing(degrees: float) -> Any:
    """Rotations out and back, (3, 4) xyzw."""
    return Rotation.from_euler("x", [[0.0], [degrees], [0.0]], degrees=True).as_quat()


@dataclass(frozen=True)
class UsdFault:
    """How to make a fault: other arguments of the swing, or a change of its stage."""

    change: Callable[[Swing], object] | None = None
    made: dict[str, Any] = field(default_factory=dict)
    profile: str | None = None
    absent: str | None = None

    def save(self, folder: Path) -> Path:
        made = Swing(**self.made)
        if self.change is not None:
            self.change(made)
        return made.save(folder)


def _cleared(*keys: str) -> Callable[[Swing], object]:
    return lambda made: [made.stage.ClearMetadata(key) for key in keys]


def _short(made: Swing) -> None:
    attribute = made.animation.GetRotationsAttr()
    attribute.Set(Vt.QuatfArray(list(attribute.Get(15.0))[:-1]), 15.0)


def _doubles(made: Swing) -> None:
    prim, layer = made.animation.GetPrim(), made.stage.GetRootLayer()
    prim.RemoveProperty("rotations")
    spec = Sdf.AttributeSpec(layer.GetPrimAtPath(prim.GetPath()), "rotations", Sdf.ValueTypeNames.QuatdArray)
    layer.SetTimeSample(spec.path, 0.0, Vt.QuatdArray(3))


def _single(made: Swing) -> None:
    prim, layer = made.skeleton.GetPrim(), made.stage.GetRootLayer()
    prim.RemoveProperty("restTransforms")
    spec = Sdf.AttributeSpec(layer.GetPrimAtPath(prim.GetPath()), "restTransforms", Sdf.ValueTypeNames.Matrix3dArray)
    spec.default = Vt.Matrix3dArray(3)


def _early(made: Swing) -> None:
    attribute = made.animation.GetTranslationsAttr()
    attribute.Set(attribute.Get(0.0), -5.0)


def _bound_below(made: Swing) -> None:
    made.root.RemoveProperty("skel:animationSource")
    UsdSkel.BindingAPI.Apply(made.skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([made.animation.GetPath()])


def _skinned(made: Swing) -> None:
    """A mesh whose vertices hang on nine joints."""
    binding = UsdSkel.BindingAPI.Apply(UsdGeom.Mesh.Define(made.stage, "/Post/Mesh").GetPrim())
    binding.CreateJointIndicesPrimvar(False, 9).Set(Vt.IntArray([0] * 9))
    binding.CreateJointWeightsPrimvar(False, 9).Set(Vt.FloatArray([1 / 9] * 9))


def _without(path: str, name: str) -> Callable[[Swing], object]:
    return lambda made: made.stage.GetPrimAtPath(path).RemoveProperty(name)


def _many(count: int) -> dict[str, Any]:
    return {"joints": ["a", *(f"a/b{i}" for i in range(count))]}


ANIMATION, SKELETON = "/Post/Swing", "/Post/Skeleton"
FAR = [[0.0] * 3, [0.0, 1e20, 0.0], [0.0] * 3]
NOWHERE = [Sdf.Path("/nowhere")]

USD_FAULTS: dict[str, UsdFault] = {
    "stage-broken": UsdFault(lambda made: made.stage.GetRootLayer().subLayerPaths.append("./gone.usda")),
    "stage-up-axis": UsdFault(_cleared("upAxis")),
    "stage-unit": UsdFault(_cleared("metersPerUnit")),
    "stage-rate": UsdFault(_cleared("timeCodesPerSecond")),
    "stage-default-prim": UsdFault(_cleared("defaultPrim")),
    "stage-no-range": UsdFault(_cleared("startTimeCode", "endTimeCode")),
    "stage-range": UsdFault(_early),
    "skel-no-root": UsdFault(lambda made: made.root.SetTypeName("Xform")),
    "skel-joint-order": UsdFault(made={"joints": CHAIN[::-1], "moved": CHAIN}),
    "skel-joint-parent": UsdFault(made={"joints": ("a", "a/b/c")}),
    "skel-joint-twice": UsdFault(made={"joints": (*CHAIN, "a/b"), "moved": CHAIN}),
    "skel-type": UsdFault(_single),
    "skel-no-bind": UsdFault(_without(SKELETON, "bindTransforms")),
    "skel-no-rest": UsdFault(_without(SKELETON, "restTransforms")),
    "skel-source-nowhere": UsdFault(lambda made: UsdSkel.BindingAPI(made.root).GetAnimationSourceRel().SetTargets(NOWHERE)),
    "skel-source-place": UsdFault(_bound_below),
    "skel-unplayed": UsdFault(_without("/Post", "skel:animationSource")),
    "anim-channel": UsdFault(_without(ANIMATION, "scales")),
    "anim-type": UsdFault(_doubles),
    "anim-length": UsdFault(_short),
    "anim-joint-order": UsdFault(made={"moved": CHAIN[::-1]}),
    "anim-joint-unknown": UsdFault(made={"moved": (*CHAIN, "a/x")}),
    "anim-joint-missing": UsdFault(made={"moved": CHAIN[:2]}),
    "anim-not-finite": UsdFault(made={"rotations": swing(30.0) * [[1.0], [np.nan], [1.0]]}),
    "anim-huge": UsdFault(made={"translations": FAR}),
    "anim-not-unit": UsdFault(made={"rotations": swing(30.0) * 1.3}),
    "anim-antipodal": UsdFault(made={"rotations": swing(30.0) * [[1.0], [-1.0], [1.0]]}),
    "anim-apart": UsdFault(made={"rotations": swing(61.0)}),
    "articulation-missing": UsdFault(profile="isaac"),
}
"""By code, a file that has it."""

USD_ALSO: dict[str, UsdFault] = {
    "root-several": UsdFault(made={"joints": (*CHAIN, "d")}, profile="unreal"),
    "bone-count": UsdFault(made=_many(260), profile="unreal"),
    "influence-count": UsdFault(_skinned, profile="unreal"),
}
"""Of codes that glTF files have too."""


@dataclass(frozen=True)
class BvhFault:
    """A change of the good text; the profile that minds it."""

    old: str = ""
    new: str = ""
    profile: str | None = None
    absent: str | None = None

    def save(self, folder: Path) -> Path:
        assert self.old in BVH_TEXT
        path = folder / "swing.bvh"
        path.write_text(BVH_TEXT.replace(self.old, self.new) if self.old else BVH_TEXT)
        return path


BVH_TEXT = """HIERARCHY
ROOT hips
{
	OFFSET 0 0 0
	CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
	JOINT head
	{
		OFFSET 0 30 0
		CHANNELS 3 Zrotation Xrotation Yrotation
		End Site
		{
			OFFSET 0 20 0
		}
	}
}
MOTION
Frames: 3
Frame Time: 0.0333333333
0 90 0 0 0 0 0 10 0
0 90 1 0 5 0 0 20 0
0 90 2 0 0 0 0 10 0
"""

BVH_FAULTS: dict[str, BvhFault] = {
    "bvh-frame-time": BvhFault("Frame Time: 0.0333333333", "Frame Time: 0"),
    "bvh-channels": BvhFault("0 90 1 0 5 0 0 20 0", "0 90 1 0 5 0 0 20"),
    "bvh-frames": BvhFault("Frames: 3", "Frames: 30"),
    "bvh-not-finite": BvhFault("0 90 1 0 5", "0 -1.#IND 1 0 5"),
    "bvh-huge": BvhFault("0 90 1 0 5", "0 1e27 1 0 5"),
    "bvh-same-name": BvhFault("JOINT head", "JOINT hips"),
    "bvh-jump": BvhFault("0 20 0\n", "0 200 0\n"),
}
"""By code, a file that has it."""

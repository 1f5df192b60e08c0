"""Forward kinematics and skinning against UsdSkel's own evaluation of the same skeleton, poses and weights."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt
from scipy.spatial.transform import Rotation

from akd_sdk.kinematics import skin_points, world_from_motion
from akd_sdk.motion import Motion
from akd_sdk.rig import Material, Skin

sys.path.insert(0, str(Path(__file__).parent))

from test_kinematics import random_rig

USDSKEL_TOLERANCE = 1e-5
FRAMES = 4


def usd_matrix(m: np.ndarray) -> Gf.Matrix4d:
    return Gf.Matrix4d(m.T)  # rows act on row vectors


def test_positions_and_skinned_points_are_usdskels() -> None:
    rig = random_rig(3)
    skeleton, rng = rig.skeleton, np.random.default_rng(3)
    count = skeleton.count
    motion = Motion(
        "made",
        Rotation.random(FRAMES * count, rng=rng).as_quat().reshape(FRAMES, count, 4),
        rng.normal(size=(FRAMES, 3)),
        30.0,
        translations=rng.normal(size=(FRAMES, count, 3)),
    )
    world = world_from_motion(skeleton, motion)
    local = np.array([[np.linalg.inv(w[p]) @ w[j] if p >= 0 else w[j] for j, p in enumerate(skeleton.parents)] for w in world])

    weights = rng.random((50, 4))
    weights /= weights.sum(axis=1, keepdims=True)
    joints = rng.integers(0, count, (50, 4))
    vertices = rng.normal(size=(50, 3))
    binds = skeleton.rest_world
    skin = Skin(
        "made", 0, vertices, None, None, np.zeros((0, 3), int), joints, weights, np.linalg.inv(binds), Material("made", np.ones(4))
    )

    stage = Usd.Stage.CreateInMemory()
    UsdSkel.Root.Define(stage, "/Root")
    usd_skeleton = UsdSkel.Skeleton.Define(stage, "/Root/Skel")
    paths: list[str] = []
    for j, parent in enumerate(skeleton.parents):
        paths.append(skeleton.names[j] if parent < 0 else f"{paths[parent]}/{skeleton.names[j]}")
    usd_skeleton.CreateJointsAttr(paths)
    usd_skeleton.CreateBindTransformsAttr(Vt.Matrix4dArray([usd_matrix(m) for m in binds]))
    usd_skeleton.CreateRestTransformsAttr(Vt.Matrix4dArray([usd_matrix(m) for m in skeleton.rest.matrices]))
    animation = UsdSkel.Animation.Define(stage, "/Root/Anim")
    animation.CreateJointsAttr(paths)
    for f in range(FRAMES):
        animation.SetTransforms(Vt.Matrix4dArray([usd_matrix(m) for m in local[f]]), f)
    UsdSkel.BindingAPI.Apply(usd_skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/Root/Anim"])
    mesh = UsdGeom.Mesh.Define(stage, "/Root/Mesh")
    points = Vt.Vec3fArray([Gf.Vec3f(*map(float, v)) for v in vertices])
    mesh.CreatePointsAttr(points)
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets(["/Root/Skel"])
    binding.CreateJointIndicesPrimvar(False, 4).Set(Vt.IntArray([int(j) for j in joints.reshape(-1)]))
    binding.CreateJointWeightsPrimvar(False, 4).Set(Vt.FloatArray([float(w) for w in weights.reshape(-1)]))
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))

    cache = UsdSkel.Cache()
    root = UsdSkel.Root(stage.GetPrimAtPath("/Root"))
    cache.Populate(root, Usd.TraverseInstanceProxies())
    query = cache.GetSkelQuery(usd_skeleton)
    skinning = cache.GetSkinningQuery(mesh.GetPrim())
    ours = skin_points(skin, world)
    for f in range(FRAMES):
        theirs = np.array(query.ComputeJointSkelTransforms(f)).transpose(0, 2, 1)
        np.testing.assert_allclose(world[f], theirs, atol=USDSKEL_TOLERANCE)
        moved = Vt.Vec3fArray(points)
        assert skinning.ComputeSkinnedPoints(query.ComputeSkinningTransforms(f), moved, f)
        np.testing.assert_allclose(ours[f], np.array(moved), atol=USDSKEL_TOLERANCE)

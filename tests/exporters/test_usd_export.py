"""USD: what players and validators ask of a UsdSkel character."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion, write_case
from export_readback import UsdFile
from PIL import Image
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, UsdUtils, UsdValidation

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, export
from akd_sdk.kinematics import skin_points, world_from_motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "quadruped.glb")


@pytest.fixture(scope="module")
def textured(rig: Rig) -> Rig:
    """The sample with a picture on its first skin and the same on its second."""
    picture = np.random.default_rng(0).integers(0, 256, (4, 8, 4), dtype=np.uint8)
    material = replace(rig.skins[0].material, texture=picture, colour=np.array([0.5, 1.0, 0.25, 1.0]))
    uvs = [np.random.default_rng(1).uniform(size=(len(skin.vertices), 2)) for skin in rig.skins]
    skins = [replace(skin, material=replace(material, name=f"coat {i}"), uvs=uvs[i]) for i, skin in enumerate(rig.skins[:2])]
    return replace(rig, skins=(*skins, *rig.skins[2:]))


def findings(path: Path) -> list[str]:
    """What USD's own validators say."""
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    stage = Usd.Stage.Open(str(path))
    context = UsdValidation.ValidationContext(validators)
    errors = [*context.Validate(stage), *(error for layer in stage.GetUsedLayers() for error in context.Validate(layer))]
    return [f"{error.GetName()}: {error.GetMessage()}" for error in errors]


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd", ".usdz"])
def test_every_validator_of_usd_is_content(textured: Rig, suffix: str, tmp_path: Path) -> None:
    path = export(textured, Clip.from_motion(textured, smooth_motion(textured)), tmp_path / f"a{suffix}")
    assert findings(path) == []


def test_the_stage_says_its_axes_unit_rate_and_length(rig: Rig, tmp_path: Path) -> None:
    motion = smooth_motion(rig, fps=25.0)
    stage = UsdFile(export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usda")).stage
    assert (stage.GetTimeCodesPerSecond(), stage.GetFramesPerSecond()) == (25.0, 25.0)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, motion.frames - 1)
    root = stage.GetDefaultPrim()
    assert root.IsA(UsdSkel.Root)
    assert Usd.ModelAPI(root).GetKind() == "component"
    for key in ("upAxis", "metersPerUnit", "timeCodesPerSecond", "defaultPrim"):
        assert stage.GetRootLayer().pseudoRoot.HasInfo(key), key


def test_all_of_translation_rotation_and_scale_is_authored_at_every_frame(rig: Rig, tmp_path: Path) -> None:
    motion = smooth_motion(rig)
    file = UsdFile(export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usdc"))
    animation = UsdSkel.Animation(file.queries[0].GetAnimQuery().GetPrim())
    frames = [float(frame) for frame in range(motion.frames)]
    for attribute in (animation.GetTranslationsAttr(), animation.GetRotationsAttr(), animation.GetScalesAttr()):
        assert attribute.GetTimeSamples() == frames
        assert all(len(attribute.Get(frame)) == rig.skeleton.count for frame in frames)
    rotations = np.array([[(*q.imaginary, q.real) for q in animation.GetRotationsAttr().Get(frame)] for frame in frames])
    np.testing.assert_allclose(np.linalg.norm(rotations, axis=-1), 1.0, atol=1e-6)
    assert (np.sum(rotations[1:] * rotations[:-1], axis=-1) > 0.0).all()


def test_joints_come_parents_first_with_rest_binds_and_their_own_names(rig: Rig, tmp_path: Path) -> None:
    file = UsdFile(export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / "a.usda"))
    query = file.queries[0]
    skeleton = query.GetSkeleton()
    joints = [str(joint) for joint in skeleton.GetJointsAttr().Get()]
    for j, parent in enumerate(rig.skeleton.parents):
        assert joints[j].rpartition("/")[0] == ("" if parent < 0 else joints[parent])
    assert tuple(skeleton.GetJointNamesAttr().Get()) == rig.skeleton.names
    rest = np.array([np.array(m).T for m in query.ComputeJointSkelTransforms(Usd.TimeCode.Default(), True)])
    np.testing.assert_allclose(rest, rig.skeleton.rest_world, atol=1e-9)
    binds = np.array([np.array(m).T for m in skeleton.GetBindTransformsAttr().Get()])
    np.testing.assert_allclose(binds[1:], rig.skeleton.rest_world[1:], atol=1e-5)  # this character is bound at rest
    for prim in (file.root.GetPrim(), skeleton.GetPrim()):
        assert prim.HasAPI(UsdSkel.BindingAPI)
        targets = UsdSkel.BindingAPI(prim).GetAnimationSourceRel().GetTargets()
        assert targets == [query.GetAnimQuery().GetPrim().GetPath()]


def test_meshes_keep_their_shape_weights_and_coordinates(textured: Rig, tmp_path: Path) -> None:
    file = UsdFile(export(textured, Clip.from_motion(textured, smooth_motion(textured)), tmp_path / "a.usdc"))
    meshes = [UsdGeom.Mesh(prim) for prim in Usd.PrimRange(file.root.GetPrim()) if prim.IsA(UsdGeom.Mesh)]
    assert len(meshes) == len(textured.skins)
    for mesh, skin in zip(meshes, textured.skins, strict=True):
        rest = skin.at_rest(textured.skeleton.rest_world)
        np.testing.assert_allclose(np.array(mesh.GetPointsAttr().Get()), rest, atol=1e-5)
        np.testing.assert_array_equal(np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3), skin.triangles)
        np.testing.assert_allclose(np.array(mesh.GetExtentAttr().Get()), [rest.min(0), rest.max(0)], atol=1e-5)
        assert mesh.GetNormalsInterpolation() == "vertex"
        np.testing.assert_allclose(np.array(mesh.GetNormalsAttr().Get()), skin.normals, atol=1e-4)
        binding = UsdSkel.BindingAPI(mesh.GetPrim())
        weights = binding.GetJointWeightsPrimvar()
        assert weights.GetElementSize() == skin.weights.shape[1]
        np.testing.assert_allclose(np.array(weights.Get()).reshape(skin.weights.shape).sum(1), 1.0, atol=1e-6)
        if skin.uvs is not None:
            st = np.array(UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st").Get())
            np.testing.assert_allclose(st, skin.uvs * [1, -1] + [0, 1], atol=1e-6)


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz"])
def test_textures_are_found_from_the_file_and_hold_the_picture(textured: Rig, suffix: str, tmp_path: Path) -> None:
    path = export(textured, Clip.from_motion(textured, smooth_motion(textured)), tmp_path / f"coat{suffix}")
    layers, assets, missing = UsdUtils.ComputeAllDependencies(Sdf.AssetPath(str(path)))
    assert len(layers) == 1
    assert len(assets) == 1, "a picture that two materials share is written once"
    assert missing == []
    picture = textured.skins[0].material.texture
    assert picture is not None
    if suffix == ".usdz":
        assert sorted(tmp_path.iterdir()) == [path]
        with zipfile.ZipFile(path) as package:
            names = package.namelist()
            assert names[0].endswith(".usdc"), "the first file of a package is its layer"
            with package.open(names[1]) as file, Image.open(file) as image:
                np.testing.assert_array_equal(np.asarray(image), picture[..., :3])
    else:
        assert sorted(p.name for p in tmp_path.iterdir()) == [path.name, "coat_textures"]
        with Image.open(assets[0]) as image:
            np.testing.assert_array_equal(np.asarray(image), picture[..., :3])


def test_materials_have_the_base_colour(textured: Rig, tmp_path: Path) -> None:
    file = UsdFile(export(textured, Clip.from_motion(textured, smooth_motion(textured)), tmp_path / "a.usda"))
    meshes = [prim for prim in Usd.PrimRange(file.root.GetPrim()) if prim.IsA(UsdGeom.Mesh)]
    for prim, skin in zip(meshes, textured.skins, strict=True):
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        surface, _, _ = material.ComputeSurfaceSource()
        assert surface.GetIdAttr().Get() == "UsdPreviewSurface"
        colour = surface.GetInput("diffuseColor")
        wanted = Gf.Vec3f(*(float(c) for c in skin.material.colour[:3]))
        if skin.material.texture is None:
            assert Gf.IsClose(colour.Get(), wanted, 1e-6)
            continue
        source = UsdShade.Shader(colour.GetConnectedSources()[0][0].source)
        assert source.GetIdAttr().Get() == "UsdUVTexture"
        assert source.GetInput("sourceColorSpace").Get() == "sRGB"
        assert Gf.IsClose(Gf.Vec3f(*source.GetInput("scale").Get()[:3]), wanted, 1e-6)


def test_extents_of_the_root_hold_the_moving_skin(rig: Rig, tmp_path: Path) -> None:
    motion = smooth_motion(rig)
    file = UsdFile(export(rig, Clip.from_motion(rig, motion), tmp_path / "a.usdc"))
    world = world_from_motion(rig.skeleton, motion)
    points = np.concatenate([skin_points(skin, world) for skin in rig.skins], axis=1)
    attribute = UsdGeom.Boundable(file.root).GetExtentAttr()
    assert attribute.GetTimeSamples() == [float(frame) for frame in range(motion.frames)]
    # USD pads joint positions by how far the mesh reaches beyond them at rest; this motion's folded limbs may pass that by a little.
    slack = 0.1 / rig.human_scale
    for frame in range(motion.frames):
        low, high = np.array(attribute.Get(float(frame)))
        assert (low - slack < points[frame].min(0)).all()
        assert (high + slack > points[frame].max(0)).all()


def test_skins_that_disagree_about_a_bind_get_skeletons_of_their_own(tmp_path: Path) -> None:
    rig = open_rig(write_case("two_skins", tmp_path))
    file = UsdFile(export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / "a.usda"))
    assert len(file.queries) == 2, "the second skin differs by its space alone, the third by a joint"
    targets = [target.GetPrim().GetName() for binding in file.bindings for target in binding.GetSkinningTargets()]
    assert len(targets) == len(rig.skins)


def test_an_inverse_bind_that_cannot_be_inverted_is_refused_by_name(rig: Rig, tmp_path: Path) -> None:
    skin = rig.skins[0]
    binds = skin.inverse_binds.copy()
    joint = int(skin.joints[skin.weights > 0.0][0])
    binds[joint, 0, :3] = 0.0
    broken = replace(rig, skins=(replace(skin, inverse_binds=binds),))
    with pytest.raises(ExportError, match=rf"inverse bind matrix of {rig.skeleton.names[joint]} in .* cannot be inverted"):
        export(broken, Clip.from_motion(broken, smooth_motion(broken)), tmp_path / "a.usda")
    assert list(tmp_path.iterdir()) == []


def test_what_the_clip_says_of_itself_is_kept(rig: Rig, tmp_path: Path) -> None:
    clip = Clip.from_motion(rig, smooth_motion(rig).with_(loop=True, provenance={"seed": 3}))
    file = UsdFile(export(rig, clip, tmp_path / "a.usda"))
    told = file.queries[0].GetAnimQuery().GetPrim().GetCustomDataByKey("akd")
    assert (told["name"], told["loop"], told["root_mode"]) == ("swing", True, "hips")
    assert json.loads(told["facts"]) == clip.facts()


@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_the_same_clip_gives_the_same_bytes(textured: Rig, suffix: str, tmp_path: Path) -> None:
    clip = Clip.from_motion(textured, smooth_motion(textured))
    (tmp_path / "x").mkdir()
    (tmp_path / "y").mkdir()
    a, b = (export(textured, clip, tmp_path / folder / f"a{suffix}") for folder in ("x", "y"))
    assert a.read_bytes() == b.read_bytes()


def test_a_rig_without_skins_is_still_played(rig: Rig, tmp_path: Path) -> None:
    bare = replace(rig, skins=())
    motion = smooth_motion(bare)
    file = UsdFile(export(bare, Clip.from_motion(bare, motion), tmp_path / "a.usda"))
    np.testing.assert_allclose(file.positions(motion.times), world_from_motion(rig.skeleton, motion)[..., :3, 3], atol=1e-5)


def test_scales_that_half_precision_cannot_hold_are_refused(rig: Rig, tmp_path: Path) -> None:
    motion = smooth_motion(rig, scaled=True)
    assert motion.scales is not None
    with pytest.raises(ExportError, match=r"a\.usda: scales beyond 65504"):
        export(rig, Clip.from_motion(rig, motion.with_(scales=motion.scales * 1e5)), tmp_path / "a.usda")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".usda", ".usdz"])
def test_names_that_would_meet_are_kept_apart(textured: Rig, suffix: str, tmp_path: Path) -> None:
    """Meshes called like the scope of materials, like the skeleton, like each other; a clip called like a mesh; materials without names."""
    names = ["Looks", "Skeleton", "Skeleton", "骨 1", "骨 2"]
    skins = [
        replace(skin, name=names[i % len(names)], material=replace(skin.material, name="" if i else "Surface"))
        for i, skin in enumerate(textured.skins)
    ]
    odd = replace(textured, name="狐 fox.v2", skins=tuple(skins))
    motion = smooth_motion(odd).with_(name="Skeleton")
    path = export(odd, Clip.from_motion(odd, motion), tmp_path / f"a{suffix}")
    assert findings(path) == []
    file = UsdFile(path)
    meshes = [prim for prim in Usd.PrimRange(file.root.GetPrim()) if prim.IsA(UsdGeom.Mesh)]
    assert len(meshes) == len(odd.skins)
    assert all(UsdShade.MaterialBindingAPI(mesh).ComputeBoundMaterial()[0] for mesh in meshes)
    wanted = world_from_motion(odd.skeleton, motion)[..., :3, 3]
    np.testing.assert_allclose(file.positions(motion.times), wanted, atol=1e-4)


def test_the_types_of_what_is_animated_are_those_of_usdskel(rig: Rig, tmp_path: Path) -> None:
    stage = Usd.Stage.Open(str(export(rig, Clip.from_motion(rig, smooth_motion(rig)), tmp_path / "a.usda")))
    layer = stage.GetRootLayer()
    (animation,) = [prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Animation)]
    path = animation.GetPath()
    kinds = {name: str(layer.GetAttributeAtPath(path.AppendProperty(name)).typeName) for name in animation.GetAuthoredPropertyNames()}
    assert kinds == {"joints": "token[]", "translations": "float3[]", "rotations": "quatf[]", "scales": "half3[]"}

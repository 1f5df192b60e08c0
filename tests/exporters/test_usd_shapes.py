"""Blend shapes in USD: morph targets of a glTF source, deformed by UsdSkel as the morphs deform the mesh."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import join_glb, split_glb
from export_readback import UsdFile
from pxr import Sdf, Usd, UsdGeom, UsdSkel, UsdValidation, Vt
from usd_sources import FPS, FRAMES, REST, morphing, waves

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.exporters.usd_shapes import kept_weights
from akd_sdk.kinematics import skin_points
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


def deformed(file: UsdFile, code: float) -> list[np.ndarray]:
    """World points of every mesh as UsdSkel's own queries make them: shapes, then skin."""
    cache = file._cache
    out = []
    for binding in file.bindings:
        query = cache.GetSkelQuery(binding.GetSkeleton())
        animation = query.GetAnimQuery()
        for target in binding.GetSkinningTargets():
            prim = target.GetPrim()
            points = UsdGeom.Mesh(prim).GetPointsAttr().Get()
            shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(prim))
            weights = target.GetBlendShapeMapper().Remap(animation.ComputeBlendShapeWeights(Usd.TimeCode(code)))
            sub_weights, indices, sub_indices = shapes.ComputeSubShapeWeights(Vt.FloatArray(weights))
            deltas = shapes.ComputeSubShapePointOffsets()
            assert shapes.ComputeDeformedPoints(sub_weights, indices, sub_indices, shapes.ComputeBlendShapePointIndices(), deltas, points)
            assert target.ComputeSkinnedPoints(query.ComputeSkinningTransforms(Usd.TimeCode(code)), points, Usd.TimeCode(code))
            out.append(np.array(points, dtype=np.float64))
    return out


def wanted(rig: Rig, clip: Clip, frame: int, weights: np.ndarray, number: int = 0) -> np.ndarray:
    skin = rig.skins[number]
    assert skin.morphs is not None
    shaped = replace(skin, vertices=skin.vertices + np.einsum("t,tnc->nc", weights, skin.morphs))
    return np.asarray(skin_points(shaped, clip.world(np.array([frame / FPS])))[0])


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz"])
def test_the_mesh_is_shaped_and_skinned_as_the_source_s(suffix: str, tmp_path: Path) -> None:
    rig = open_rig(morphing(tmp_path))
    clip = Clip.from_motion(rig, rig.clips[0])
    file = UsdFile(export(rig, clip, tmp_path / f"a{suffix}"))
    for frame in (0, 7, 24):
        (points,) = deformed(file, frame)
        np.testing.assert_allclose(points, wanted(rig, clip, frame, waves()[frame]), atol=1e-5 * rig.height)


def test_shapes_keep_their_names_and_only_what_they_move(tmp_path: Path) -> None:
    rig = open_rig(morphing(tmp_path))
    file = UsdFile(export(rig, Clip.from_motion(rig, rig.clips[0]), tmp_path / "a.usda"))
    (mesh,) = [prim for prim in Usd.PrimRange(file.root.GetPrim()) if prim.IsA(UsdGeom.Mesh)]
    binding = UsdSkel.BindingAPI(mesh)
    assert list(binding.GetBlendShapesAttr().Get()) == ["smile_wide", "blink", "empty"]
    counts = []
    for path in binding.GetBlendShapeTargetsRel().GetTargets():
        shape = UsdSkel.BlendShape(file.stage.GetPrimAtPath(path))
        indices = np.array(shape.GetPointIndicesAttr().Get())
        assert UsdSkel.BlendShape.ValidatePointIndices(shape.GetPointIndicesAttr().Get(), 24)[0]
        assert len(shape.GetOffsetsAttr().Get()) == len(indices)
        counts.append(len(indices))
    assert counts == [24, 8, 1], "a shape that moves nothing keeps one point: readers drop empty ones"
    animation = UsdSkel.Animation(file.queries[0].GetAnimQuery().GetPrim())
    assert list(animation.GetBlendShapesAttr().Get()) == ["smile_wide", "blink", "empty"]
    np.testing.assert_allclose([animation.GetBlendShapeWeightsAttr().Get(code) for code in range(FRAMES)], waves(), atol=1e-6)


def test_weights_that_no_clip_moves_are_those_of_the_file(tmp_path: Path) -> None:
    rig = open_rig(morphing(tmp_path, moved=False))
    file = UsdFile(export(rig, Clip.from_motion(rig, rig.clips[0]), tmp_path / "a.usda", options=ExportOptions(reduction="fast")))
    attribute = UsdSkel.Animation(file.queries[0].GetAnimQuery().GetPrim()).GetBlendShapeWeightsAttr()
    assert attribute.GetTimeSamples() == [0.0]
    assert list(attribute.Get(3.0)) == pytest.approx(REST)


def test_nodes_of_one_mesh_are_shaped_each_for_itself(tmp_path: Path) -> None:
    rig = open_rig(morphing(tmp_path, bodies=2))
    clip = Clip.from_motion(rig, rig.clips[0])
    file = UsdFile(export(rig, clip, tmp_path / "a.usdc"))
    names = list(UsdSkel.Animation(file.queries[0].GetAnimQuery().GetPrim()).GetBlendShapesAttr().Get())
    assert len(set(names)) == 6
    found = deformed(file, 11)
    for number, weights in enumerate((waves()[11], np.array([0.0, 1.0, 0.0]))):
        points = wanted(rig, clip, 11, weights, number)
        assert min(np.abs(points - other).max() for other in found) < 1e-5 * rig.height


def test_weights_between_kept_frames_keep_points_within_the_tolerance(tmp_path: Path) -> None:
    rig = open_rig(morphing(tmp_path))
    clip = Clip.from_motion(rig, rig.clips[0])
    file = UsdFile(export(rig, clip, tmp_path / "a.usdc", options=ExportOptions(reduction="fast", tolerance_m=5e-3)))
    attribute = UsdSkel.Animation(file.queries[0].GetAnimQuery().GetPrim()).GetBlendShapeWeightsAttr()
    assert len(attribute.GetTimeSamples()) < FRAMES
    assert (attribute.GetTimeSamples()[0], attribute.GetTimeSamples()[-1]) == (0.0, FRAMES - 1)
    skin = rig.skins[0]
    assert skin.morphs is not None
    joint = int(skin.joints[0, 0])
    matrix = rig.skeleton.rest_world[joint] @ skin.inverse_binds[joint]
    reach = np.linalg.norm(skin.morphs @ matrix[:3, :3].T, axis=-1).max(axis=1) * rig.human_scale
    assert reach.max() > 0.05
    for frame in range(FRAMES):
        strays = np.abs(np.array(attribute.Get(float(frame))) - waves()[frame])
        assert strays @ reach <= 5e-3 + 1e-6


def test_weights_on_a_line_need_their_ends_alone() -> None:
    line = np.linspace([0.0, 1.0], [1.0, 0.0], 11)
    assert kept_weights(line, np.array([1.0, 1.0]), 1e-9).tolist() == [0, 10]
    line[5, 0] += 0.1
    assert kept_weights(line, np.array([1.0, 1.0]), 1e-9).tolist() == [0, 4, 5, 6, 10]
    assert kept_weights(line, np.array([0.0, 1.0]), 1e-9).tolist() == [0, 10], "what moves no point does not count"


def test_weights_for_another_number_of_targets_are_refused(tmp_path: Path) -> None:
    rig = open_rig(morphing(tmp_path))
    clip = replace(Clip.from_motion(rig, rig.clips[0]), morphs={rig.skins[0].node: np.zeros((FRAMES, 2))})
    with pytest.raises(ExportError, match=r"holds weights \(25, 2\) for the 3 shapes of 25 frames"):
        export(rig, clip, tmp_path / "out" / "a.usda")
    assert not (tmp_path / "out").exists()


def test_shapes_turn_normals_as_the_source_s_do(tmp_path: Path) -> None:
    rig = open_rig(morphing(tmp_path, normals=True))
    skin = rig.skins[0]
    assert skin.morph_normals is not None
    assert skin.normals is not None
    file = UsdFile(export(rig, Clip.from_motion(rig, rig.clips[0]), tmp_path / "a.usda"))
    (prim,) = [prim for prim in Usd.PrimRange(file.root.GetPrim()) if prim.IsA(UsdGeom.Mesh)]
    base = np.array(UsdGeom.Mesh(prim).GetNormalsAttr().Get())
    joint = int(skin.joints[0, 0])
    linear = (rig.skeleton.rest_world[joint] @ skin.inverse_binds[joint])[:3, :3]
    shapes = [UsdSkel.BlendShape(file.stage.GetPrimAtPath(p)) for p in UsdSkel.BindingAPI(prim).GetBlendShapeTargetsRel().GetTargets()]
    assert not np.array(shapes[1].GetNormalOffsetsAttr().Get()).any()
    wanted = (skin.normals + 0.5 * skin.morph_normals[0]) @ np.linalg.inv(linear)
    found = base + 0.5 * np.array(shapes[0].GetNormalOffsetsAttr().Get())
    directions = [vectors / np.linalg.norm(vectors, axis=1, keepdims=True) for vectors in (found, wanted)]
    np.testing.assert_allclose(directions[0], directions[1], atol=1e-5)


def test_shapes_whose_normals_cannot_be_read_keep_their_points(tmp_path: Path) -> None:
    content, blob = split_glb(morphing(tmp_path, normals=True).read_bytes())
    target = content["meshes"][0]["primitives"][0]["targets"][0]
    for broken in (10_000, content["skins"][0]["inverseBindMatrices"], content["meshes"][0]["primitives"][0]["indices"]):
        target["NORMAL"] = broken
        (tmp_path / "broken.glb").write_bytes(join_glb(content, blob))
        rig = open_rig(tmp_path / "broken.glb")
        assert rig.skins[0].morphs is not None
        assert rig.skins[0].morph_normals is None
        assert any("left out" in note and "NORMAL" in note for note in rig.source.repairs)


def test_validators_have_nothing_to_say_of_shapes(tmp_path: Path) -> None:
    rig = open_rig(morphing(tmp_path, bodies=2))
    path = export(rig, Clip.from_motion(rig, rig.clips[0]), tmp_path / "a.usdc")
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    stage = Usd.Stage.Open(Sdf.Layer.FindOrOpen(str(path)))
    assert [error.GetMessage() for error in UsdValidation.ValidationContext(validators).Validate(stage)] == []

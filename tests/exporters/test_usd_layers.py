"""Clips alone: a layer over the character's file, which many clips share."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion, write_case
from export_readback import UsdFile, true_positions
from pxr import Sdf, Usd, UsdGeom, UsdSkel, UsdUtils, UsdValidation

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

ALONE = ExportOptions(clip_only=True)


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "quadruped.glb")


@pytest.fixture(scope="module")
def motion(rig: Rig) -> Motion:
    return smooth_motion(rig, fps=25.0)


def played_mm(rig: Rig, motion: Motion, path: Path) -> float:
    times = np.linspace(0.0, motion.duration, 4 * (motion.frames - 1) + 1)
    away = np.linalg.norm(UsdFile(path).positions(times) - true_positions(rig, motion, times), axis=-1)
    return float(away.max() * rig.human_scale * 1e3)


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd"])
def test_a_clip_plays_over_the_character_beside_it(rig: Rig, motion: Motion, suffix: str, tmp_path: Path) -> None:
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "clips" / f"trot{suffix}", options=ALONE)
    assert sorted(p.name for p in path.parent.iterdir()) == ["quadruped_character.usdc", f"trot{suffix}"]
    assert played_mm(rig, motion, path) < 0.1
    whole = UsdFile(export(rig, Clip.from_motion(rig, motion), tmp_path / "whole.usdc"))
    alone = UsdFile(path)
    for seconds in (0.0, 0.21):
        wanted, found = whole.skinned(seconds), alone.skinned(seconds)
        assert wanted.keys() == found.keys()
        for name, points in wanted.items():
            np.testing.assert_allclose(found[name], points, atol=1e-6)


def test_the_layer_holds_the_animation_and_no_mesh(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "trot.usda", options=ALONE)
    layer = Sdf.Layer.FindOrOpen(str(path))
    assert list(layer.subLayerPaths) == ["./quadruped_character.usdc"]
    root = layer.GetPrimAtPath(f"/{layer.defaultPrim}")
    assert root.specifier == Sdf.SpecifierOver
    kinds = {child.name: child.typeName for child in root.nameChildren}
    assert kinds == {"Skeleton": "", "swing": "SkelAnimation"}
    assert path.stat().st_size < (tmp_path / "quadruped_character.usdc").stat().st_size


def test_every_layer_says_its_axes_unit_rate_and_default_prim(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "trot.usda", options=ALONE)
    for name, rate, end in ((path.name, 25.0, motion.frames - 1), ("quadruped_character.usdc", 24.0, 0)):
        layer = Sdf.Layer.FindOrOpen(str(tmp_path / name))
        root = layer.pseudoRoot
        assert (root.GetInfo("upAxis"), root.GetInfo("metersPerUnit"), layer.defaultPrim) == ("Y", 1.0, "quadruped")
        for key in ("timeCodesPerSecond", "framesPerSecond", "startTimeCode", "endTimeCode"):
            assert root.HasInfo(key), (name, key)
        assert (layer.timeCodesPerSecond, layer.startTimeCode, layer.endTimeCode) == (rate, 0.0, end)


def test_validators_are_content_with_both_layers(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "trot.usda", options=ALONE)
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    for file in (path, tmp_path / "quadruped_character.usdc"):
        errors = UsdValidation.ValidationContext(validators).Validate(Usd.Stage.Open(str(file)))
        assert [error.GetMessage() for error in errors] == []


def test_the_character_alone_is_at_rest(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    export(rig, Clip.from_motion(rig, motion), tmp_path / "trot.usda", options=ALONE)
    stage = Usd.Stage.Open(str(tmp_path / "quadruped_character.usdc"))
    root, cache = UsdSkel.Root(stage.GetDefaultPrim()), UsdSkel.Cache()
    cache.Populate(root, Usd.TraverseInstanceProxies())
    skeleton = next(prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Skeleton))
    query = cache.GetSkelQuery(UsdSkel.Skeleton(skeleton))
    assert not query.GetAnimQuery()
    rest = np.array([np.array(m).T for m in query.ComputeJointSkelTransforms(Usd.TimeCode.Default(), True)])
    np.testing.assert_allclose(rest, rig.skeleton.rest_world, atol=1e-9)
    low, high = np.array(root.GetExtentAttr().Get())
    points = np.concatenate([skin.at_rest(rig.skeleton.rest_world) for skin in rig.skins])
    assert (low <= points.min(0) + 1e-5).all()
    assert (high >= points.max(0) - 1e-5).all()


def test_many_clips_share_one_character(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    clips = [Clip.from_motion(rig, smooth_motion(rig, seed)) for seed in range(3)]
    first = export(rig, clips[0], tmp_path / "a.usda", options=ALONE)
    character = tmp_path / "quadruped_character.usdc"
    before, stamp = character.read_bytes(), character.stat().st_mtime_ns
    for name, clip in zip("bc", clips[1:], strict=True):
        export(rig, clip, tmp_path / f"{name}.usdc", options=ALONE)
    assert (character.read_bytes(), character.stat().st_mtime_ns) == (before, stamp)
    assert played_mm(rig, smooth_motion(rig, 0), first) < 0.1
    assert played_mm(rig, smooth_motion(rig, 2), tmp_path / "c.usdc") < 0.1


def test_the_files_can_be_moved_together(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (4, 4, 4), dtype=np.uint8)
    skin = rig.skins[0]
    dressed = replace(skin, uvs=np.zeros((len(skin.vertices), 2)), material=replace(skin.material, texture=picture))
    textured = replace(rig, skins=(dressed, *rig.skins[1:]))
    export(textured, Clip.from_motion(textured, motion), tmp_path / "here" / "trot.usda", options=ALONE)
    assert (tmp_path / "here" / "quadruped_character_textures").is_dir()
    shutil.move(tmp_path / "here", tmp_path / "there")
    layers, assets, missing = UsdUtils.ComputeAllDependencies(Sdf.AssetPath(str(tmp_path / "there" / "trot.usda")))
    assert (len(layers), len(assets), missing) == (2, 1, [])
    assert played_mm(textured, motion, tmp_path / "there" / "trot.usda") < 0.1


def test_another_character_of_the_same_name_is_refused_and_kept(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    sized = open_rig(SAMPLES / "quadruped.glb", height=2.0 * rig.height)
    export(sized, Clip.from_motion(sized, smooth_motion(sized)), tmp_path / "big.usda", options=ALONE)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(ExportError, match=r"quadruped_character\.usdc: is not this character"):
        export(rig, Clip.from_motion(rig, motion), tmp_path / "trot.usda", options=ALONE)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    export(rig, Clip.from_motion(rig, motion), tmp_path / "trot.usda", force=True, options=ALONE)
    assert played_mm(rig, motion, tmp_path / "trot.usda") < 0.1


def test_what_is_no_usd_at_the_character_s_place_is_refused_and_kept(rig: Rig, motion: Motion, tmp_path: Path) -> None:
    (tmp_path / "quadruped_character.usdc").write_bytes(b"mine")
    with pytest.raises(ExportError, match="is not this character"):
        export(rig, Clip.from_motion(rig, motion), tmp_path / "trot.usda", options=ALONE)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("quadruped_character.usdc", b"mine")]


@pytest.mark.parametrize(
    ("name", "fault"),
    [("trot.usdz", "a clip alone cannot be one"), ("quadruped_character.usdc", "is the name of the character that the clip lies over")],
)
def test_places_where_a_clip_alone_cannot_lie_are_refused(rig: Rig, motion: Motion, name: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=fault):
        export(rig, Clip.from_motion(rig, motion), tmp_path / "new" / name, options=ALONE)
    assert list(tmp_path.iterdir()) == []


def test_a_reference_from_a_scene_plays_at_the_clip_s_own_speed(tmp_path: Path) -> None:
    rig = open_rig(write_case("armature100", tmp_path))
    motion = smooth_motion(rig, fps=25.0)
    path = export(rig, Clip.from_motion(rig, motion), tmp_path / "trot.usda", options=ALONE)
    scene = Usd.Stage.CreateNew(str(tmp_path / "scene.usda"))
    scene.SetTimeCodesPerSecond(60.0)
    UsdGeom.SetStageUpAxis(scene, "Y")
    UsdGeom.SetStageMetersPerUnit(scene, 1.0)
    prim = scene.DefinePrim("/animal")
    prim.GetReferences().AddReference(f"./{path.name}")
    scene.SetDefaultPrim(prim)
    scene.Save()
    assert played_mm(rig, motion, tmp_path / "scene.usda") < 0.1

"""Materials of a glTF source in USD: factors, pictures as the file holds them, alpha, and what is seen from behind."""

from __future__ import annotations

import io
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_readback import UsdFile
from PIL import Image
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdUtils, UsdValidation
from usd_sources import dressed, encoded

from akd_sdk.exporters import Clip, export
from akd_sdk.exporters.usd_surface import unshown
from akd_sdk.motion import Motion
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


class Shown:
    """The material of the one mesh of an exported file."""

    def __init__(self, rig: Rig, path: Path) -> None:
        count = rig.skeleton.count
        still = Motion("still", np.tile(rig.skeleton.rest.rotations, (3, 1, 1)).reshape(3, count, 4), np.zeros((3, 3)), 30.0)
        self.path = export(rig, Clip.from_motion(rig, still), path)
        self.file = UsdFile(self.path)
        (prim,) = [prim for prim in Usd.PrimRange(self.file.root.GetPrim()) if prim.IsA(UsdGeom.Mesh)]
        self.mesh = UsdGeom.Mesh(prim)
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        self.surface, _, _ = material.ComputeSurfaceSource()

    def value(self, name: str) -> Any:
        found = self.surface.GetInput(name)
        return found.Get() if found else None

    def picture(self, name: str) -> tuple[dict[str, Any], str, Path]:
        """Inputs of the texture that feeds an input of the surface, which of its outputs, and its file."""
        (source,), _ = self.surface.GetInput(name).GetConnectedSources()
        shader = UsdShade.Shader(source.source)
        assert shader.GetIdAttr().Get() == "UsdUVTexture"
        values = {inner.GetBaseName(): inner.Get() for inner in shader.GetInputs()}
        return values, source.sourceName, self.path.parent / values["file"].path

    def errors(self) -> list[str]:
        validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
        return [error.GetMessage() for error in UsdValidation.ValidationContext(validators).Validate(self.file.stage)]


def test_factors_are_the_file_s(tmp_path: Path) -> None:
    pbr = {"baseColorFactor": [0.1, 0.2, 0.3, 1.0], "metallicFactor": 0.25, "roughnessFactor": 0.75}
    strong = {"KHR_materials_emissive_strength": {"emissiveStrength": 4.0}}
    shown = Shown(
        dressed(tmp_path, {"pbrMetallicRoughness": pbr, "emissiveFactor": [0.5, 0.0, 0.25], "extensions": strong}), tmp_path / "a.usda"
    )
    assert Gf.IsClose(shown.value("diffuseColor"), Gf.Vec3f(0.1, 0.2, 0.3), 1e-6)
    assert (shown.value("metallic"), shown.value("roughness")) == (0.25, 0.75)
    assert Gf.IsClose(shown.value("emissiveColor"), Gf.Vec3f(2.0, 0.0, 1.0), 1e-6)
    assert shown.value("opacity") is None
    assert shown.errors() == []


@pytest.mark.parametrize("suffix", [".usda", ".usdz"])
def test_pictures_travel_byte_for_byte(suffix: str, tmp_path: Path) -> None:
    pictures = [encoded("PNG", 0), encoded("JPEG", 1), encoded("PNG", 2), encoded("PNG", 3)]
    material = {
        "name": "coat",
        "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "metallicRoughnessTexture": {"index": 1}, "metallicFactor": 0.5},
        "normalTexture": {"index": 2},
        "emissiveTexture": {"index": 3},
        "emissiveFactor": [1.0, 1.0, 1.0],
    }
    shown = Shown(dressed(tmp_path, material, pictures), tmp_path / f"a{suffix}")
    _, assets, missing = UsdUtils.ComputeAllDependencies(Sdf.AssetPath(str(shown.path)))
    assert (len(assets), missing) == (4, [])
    if suffix == ".usda":
        assert sorted(Path(asset).read_bytes() for asset in assets) == sorted(pictures)
    assert shown.errors() == []


def test_each_picture_feeds_what_it_is_of(tmp_path: Path) -> None:
    pictures = [encoded("PNG", seed) for seed in range(5)]
    material = {
        "pbrMetallicRoughness": {
            "baseColorTexture": {"index": 0}, "metallicRoughnessTexture": {"index": 1}, "metallicFactor": 0.5, "roughnessFactor": 0.75,
        },
        "normalTexture": {"index": 2},
        "occlusionTexture": {"index": 3, "strength": 0.75},
        "emissiveTexture": {"index": 4},
        "emissiveFactor": [1.0, 0.5, 0.0],
    }  # fmt: skip
    shown = Shown(dressed(tmp_path, material, pictures), tmp_path / "a.usda")
    fed = {
        "diffuseColor": (0, "rgb", "sRGB"), "roughness": (1, "g", "raw"), "metallic": (1, "b", "raw"), "normal": (2, "rgb", "raw"),
        "occlusion": (3, "r", "raw"), "emissiveColor": (4, "rgb", "sRGB"),
    }  # fmt: skip
    for name, (number, output, space) in fed.items():
        values, channel, file = shown.picture(name)
        assert (file.read_bytes(), channel, values["sourceColorSpace"]) == (pictures[number], output, space), name
    assert Gf.IsClose(shown.picture("roughness")[0]["scale"], Gf.Vec4f(1.0, 0.75, 0.5, 1.0), 1e-6)
    assert Gf.IsClose(shown.picture("emissiveColor")[0]["scale"], Gf.Vec4f(1.0, 0.5, 0.0, 1.0), 1e-6)
    occlusion = shown.picture("occlusion")[0]
    assert (occlusion["scale"][0], occlusion["bias"][0]) == (0.75, 0.25), "1 + strength * (picture - 1)"
    normal = shown.picture("normal")[0]
    assert (normal["scale"], normal["bias"]) == (Gf.Vec4f(2, 2, 2, 1), Gf.Vec4f(-1, -1, -1, 0))


def test_the_strength_of_bumps_is_drawn_into_their_picture(tmp_path: Path) -> None:
    """Validators, and readers that leave out factors, want a normal map as it is."""
    data = encoded("PNG", 0)
    shown = Shown(dressed(tmp_path, {"normalTexture": {"index": 0, "scale": 0.5}}, [data]), tmp_path / "a.usda")
    values, _, file = shown.picture("normal")
    assert (values["scale"], values["bias"]) == (Gf.Vec4f(2, 2, 2, 1), Gf.Vec4f(-1, -1, -1, 0))
    with Image.open(io.BytesIO(data)) as source, Image.open(file) as written:
        wanted = (np.asarray(source, dtype=float)[..., :3] / 127.5 - 1.0) * [0.5, 0.5, 1.0]
        found = np.asarray(written, dtype=float) / 127.5 - 1.0
    np.testing.assert_allclose(found, wanted / np.linalg.norm(wanted, axis=-1, keepdims=True), atol=1.0 / 127.0)
    assert shown.errors() == []


def test_a_texture_lies_where_the_source_s_does(tmp_path: Path) -> None:
    rig = dressed(tmp_path, {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}, [encoded("PNG", 0)])
    shown = Shown(rig, tmp_path / "a.usda")
    st = np.array(UsdGeom.PrimvarsAPI(shown.mesh).GetPrimvar("st").Get())
    uvs = rig.skins[0].uvs
    assert uvs is not None
    np.testing.assert_allclose(st, np.stack([uvs[:, 0], 1.0 - uvs[:, 1]], 1), atol=1e-6)  # v goes down in glTF, up in USD


@pytest.mark.parametrize(
    ("sampler", "wraps"), [({}, ("repeat", "repeat")), ({"wrapS": 33071, "wrapT": 33648}, ("clamp", "mirror"))]
)
def test_textures_go_on_beyond_their_edges_as_the_sampler_says(sampler: dict[str, int], wraps: tuple[str, str], tmp_path: Path) -> None:
    material = {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}
    values, _, _ = Shown(dressed(tmp_path, material, [encoded("PNG", 0)], sampler=sampler), tmp_path / "a.usda").picture("diffuseColor")
    assert (values["wrapS"], values["wrapT"]) == wraps


@pytest.mark.parametrize(
    ("mode", "opacity", "threshold"),
    [({}, None, None), ({"alphaMode": "MASK", "alphaCutoff": 0.25}, "a", 0.25), ({"alphaMode": "BLEND"}, "a", 0.0)],
)
def test_alpha_counts_only_where_the_material_says_so(
    mode: dict[str, Any], opacity: str | None, threshold: float | None, tmp_path: Path
) -> None:
    material = {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "baseColorFactor": [1.0, 1.0, 1.0, 0.5]}} | mode
    shown = Shown(dressed(tmp_path, material, [encoded("PNG", 0)]), tmp_path / "a.usda")
    values, _, _ = shown.picture("diffuseColor")
    assert values["scale"] == Gf.Vec4f(1.0, 1.0, 1.0, 1.0 if opacity is None else 0.5)
    assert shown.value("opacityThreshold") == threshold
    if opacity is None:
        assert not shown.surface.GetInput("opacity")
    else:
        assert shown.picture("opacity")[1] == opacity


def test_alpha_without_a_picture_is_the_factor_s(tmp_path: Path) -> None:
    material = {"pbrMetallicRoughness": {"baseColorFactor": [1.0, 0.0, 0.0, 0.5]}, "alphaMode": "BLEND"}
    shown = Shown(dressed(tmp_path, material), tmp_path / "a.usda")
    assert (shown.value("opacity"), shown.value("opacityThreshold")) == (0.5, 0.0)


@pytest.mark.parametrize(("material", "seen"), [({}, False), ({"doubleSided": True}, True), (None, True)])
def test_what_is_seen_from_behind_is_the_material_s_to_say(material: dict[str, Any] | None, seen: bool, tmp_path: Path) -> None:
    assert Shown(dressed(tmp_path, material), tmp_path / "a.usda").mesh.GetDoubleSidedAttr().Get() is seen


def test_pictures_that_usd_does_not_take_become_png(tmp_path: Path) -> None:
    data = encoded("WEBP", 0)
    material = {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}
    _, _, file = Shown(dressed(tmp_path, material, [data]), tmp_path / "a.usda").picture("diffuseColor")
    assert file.suffix == ".png"
    with Image.open(io.BytesIO(data)) as source, Image.open(file) as written:
        np.testing.assert_array_equal(np.asarray(written.convert("RGBA")), np.asarray(source.convert("RGBA")))


def test_a_mesh_without_coordinates_has_colours_and_no_pictures(tmp_path: Path) -> None:
    material = {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}, "baseColorFactor": [0.5, 0.25, 1.0, 1.0]}}
    shown = Shown(dressed(tmp_path, material, [encoded("PNG", 0)], placed=False), tmp_path / "a.usda")
    assert Gf.IsClose(shown.value("diffuseColor"), Gf.Vec3f(0.5, 0.25, 1.0), 1e-6)
    assert not (tmp_path / "a_textures").exists()


def test_colours_of_vertices_are_shown(tmp_path: Path) -> None:
    colours = np.random.default_rng(2).uniform(size=(24, 4))
    material = {"pbrMetallicRoughness": {"baseColorFactor": [0.5, 1.0, 1.0, 1.0]}}
    shown = Shown(dressed(tmp_path, material, colours=colours), tmp_path / "a.usda")
    (source,), _ = shown.surface.GetInput("diffuseColor").GetConnectedSources()
    assert UsdShade.Shader(source.source).GetInput("varname").Get() == "displayColor"
    np.testing.assert_allclose(shown.mesh.GetDisplayColorAttr().Get(), colours[:, :3] * [0.5, 1.0, 1.0], atol=1e-6)


def test_a_picture_that_lies_elsewhere_than_the_base_colour_is_left_out_aloud(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    material = {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}, "normalTexture": {"index": 1, "texCoord": 1}}
    with caplog.at_level(logging.WARNING):
        shown = Shown(dressed(tmp_path, material, [encoded("PNG", 0), encoded("PNG", 1)]), tmp_path / "a.usda")
    assert not shown.surface.GetInput("normal")
    assert "lies elsewhere" in caplog.text


def test_what_usd_does_not_show_of_a_material_is_listed(tmp_path: Path) -> None:
    material = {
        "name": "coat",
        "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}},
        "normalTexture": {"index": 0, "texCoord": 1},
        "occlusionTexture": {"index": 0, "extensions": {"KHR_texture_transform": {"scale": [2.0, 2.0]}}},
        "emissiveTexture": {"index": 0},
        "extensions": {"KHR_materials_clearcoat": {}, "KHR_materials_unlit": {}},
    }
    rig = dressed(tmp_path, material, [encoded("PNG", 0)])
    assert unshown([skin.material for skin in rig.skins], rig.source.document) == (
        "material 'coat' is written without its normalTexture, occlusionTexture, which lie on other coordinates than its base colour",
        "material 'coat' is written without KHR_materials_clearcoat",
    )
    plain = dressed(tmp_path, {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}, [encoded("PNG", 0)])
    assert unshown([skin.material for skin in plain.skins], plain.source.document) == ()


def test_a_mesh_without_normals_is_flat(tmp_path: Path) -> None:
    shown = Shown(dressed(tmp_path, {}), tmp_path / "a.usda")
    points, corners = np.array(shown.mesh.GetPointsAttr().Get()), np.array(shown.mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
    across = np.cross(points[corners[:, 1]] - points[corners[:, 0]], points[corners[:, 2]] - points[corners[:, 0]])
    normals = np.array(shown.mesh.GetNormalsAttr().Get()).reshape(-1, 3, 3)
    assert shown.mesh.GetNormalsInterpolation() == "faceVarying"
    np.testing.assert_allclose(normals, np.repeat((across / np.linalg.norm(across, axis=1, keepdims=True))[:, None], 3, axis=1), atol=1e-5)


@pytest.mark.parametrize("name", ["khronos/Fox", "khronos/CesiumMan", "kaykit_adventurers/Knight"])
def test_characters_of_artists_keep_their_pictures(shared: Path, name: str, tmp_path: Path) -> None:
    rig = open_rig(shared / "data" / "rigs" / f"{name}.glb")
    path = export(rig, Clip.from_motion(rig, rig.clips[0]), tmp_path / "a.usdc")
    source = Path(rig.source.path).read_bytes()
    _, assets, missing = UsdUtils.ComputeAllDependencies(Sdf.AssetPath(str(path)))
    assert assets
    assert missing == []
    for asset in assets:
        assert Path(asset).read_bytes() in source

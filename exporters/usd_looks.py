"""Materials in USD: UsdPreviewSurface with base colour, vertex colours and texture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from akd_sdk.formats.usd import identifiers
from akd_sdk.rig import Material, Skin

if TYPE_CHECKING:
    from pxr import Usd, UsdGeom, UsdShade

ROUGHNESS = 0.8
"""Of characters in general: `Material` knows colour and texture alone."""


class Looks:
    """Materials of one file, each written once; textures go into `folder` as PNG and are named relative to the folder above it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._taken: set[str] = set()
        self._pictures: set[str] = set()
        self._known: dict[tuple[str, bytes, int, bool], UsdShade.Material] = {}
        self._written: dict[int, str] = {}

    def bind(self, mesh: UsdGeom.Mesh, skin: Skin, scope: str) -> None:
        """Give the mesh the material of its skin; materials lie below `scope`."""
        from pxr import UsdGeom, UsdShade

        material = skin.material
        texture = material.texture if skin.uvs is not None else None
        by_vertex = skin.colours is not None and texture is None
        key = (material.name, material.colour.tobytes(), id(texture), by_vertex)
        if key not in self._known:
            stage = mesh.GetPrim().GetStage()
            UsdGeom.Scope.Define(stage, scope)
            path = f"{scope}/{identifiers([material.name or 'Material'], self._taken)[0]}"
            self._known[key] = self._define(stage, path, material, texture, by_vertex)
        UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(self._known[key])

    def _define(
        self, stage: Usd.Stage, path: str, material: Material, texture: NDArray[np.uint8] | None, by_vertex: bool
    ) -> UsdShade.Material:
        from pxr import Gf, Sdf, UsdShade

        defined = UsdShade.Material.Define(stage, path)
        surface = UsdShade.Shader.Define(stage, f"{path}/Surface")
        surface.CreateIdAttr("UsdPreviewSurface")
        surface.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(ROUGHNESS)
        surface.CreateInput("metallic", Sdf.ValueTypeNames.Float).Set(0.0)
        colour = surface.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f)
        if texture is not None:
            picture = self._add_texture(stage, path, self._picture(texture, material.name), material)
            colour.ConnectToSource(picture.CreateOutput("rgb", Sdf.ValueTypeNames.Float3))
        elif by_vertex:
            reader = UsdShade.Shader.Define(stage, f"{path}/VertexColour")
            reader.CreateIdAttr("UsdPrimvarReader_float3")
            reader.CreateInput("varname", Sdf.ValueTypeNames.String).Set("displayColor")
            colour.ConnectToSource(reader.CreateOutput("result", Sdf.ValueTypeNames.Float3))
        else:
            colour.Set(Gf.Vec3f(*(float(c) for c in material.colour[:3])))
        defined.CreateSurfaceOutput().ConnectToSource(surface.ConnectableAPI(), "surface")
        return defined

    def _add_texture(self, stage: Usd.Stage, path: str, asset: str, material: Material) -> UsdShade.Shader:
        """The shader that reads the picture, sRGB, times the material's colour, by the texture coordinates `st`."""
        from pxr import Gf, Sdf, UsdShade

        reader = UsdShade.Shader.Define(stage, f"{path}/Coordinates")
        reader.CreateIdAttr("UsdPrimvarReader_float2")
        reader.CreateInput("varname", Sdf.ValueTypeNames.String).Set("st")
        shader = UsdShade.Shader.Define(stage, f"{path}/Texture")
        shader.CreateIdAttr("UsdUVTexture")
        shader.CreateInput("file", Sdf.ValueTypeNames.Asset).Set(Sdf.AssetPath(asset))
        shader.CreateInput("sourceColorSpace", Sdf.ValueTypeNames.Token).Set("sRGB")
        shader.CreateInput("wrapS", Sdf.ValueTypeNames.Token).Set("repeat")
        shader.CreateInput("wrapT", Sdf.ValueTypeNames.Token).Set("repeat")
        factor = Gf.Vec4f(*(float(c) for c in material.colour[:3]), 1.0)
        shader.CreateInput("scale", Sdf.ValueTypeNames.Float4).Set(factor)
        coordinates = shader.CreateInput("st", Sdf.ValueTypeNames.Float2)
        coordinates.ConnectToSource(reader.CreateOutput("result", Sdf.ValueTypeNames.Float2))
        return shader

    def _picture(self, texture: NDArray[np.uint8], name: str) -> str:
        """Write a texture once; how the layer calls it."""
        from PIL import Image

        if id(texture) not in self._written:
            self._folder.mkdir(exist_ok=True)
            file = identifiers([name or "texture"], self._pictures)[0] + ".png"
            Image.fromarray(np.ascontiguousarray(texture[..., :3])).save(self._folder / file)
            self._written[id(texture)] = f"./{self._folder.name}/{file}"
        return self._written[id(texture)]

"""Materials in USD: UsdPreviewSurface with the factors and pictures of the source's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from akd_sdk.exporters.usd_surface import Picture, Surface, surface_of
from akd_sdk.formats.usd import identifiers
from akd_sdk.rig import Material, Skin

if TYPE_CHECKING:
    from pxr import Sdf, Usd, UsdGeom, UsdShade

_RAW, _SRGB = "raw", "sRGB"


class Looks:
    """Materials of one file, each written once; pictures go into `folder` and are named relative to the folder above it."""

    def __init__(self, folder: Path, document: object = None) -> None:
        self._folder, self._document = folder, document
        self._taken: set[str] = set()
        self._names: set[str] = set()
        self._surfaces: dict[tuple[str, bytes, int, int | None], Surface] = {}
        self._known: dict[tuple[str, bytes, int, int | None, bool, bool], UsdShade.Material] = {}
        self._written: dict[bytes, str] = {}

    def bind(self, mesh: UsdGeom.Mesh, skin: Skin, scope: str) -> None:
        """Give the mesh the material of its skin; materials lie below `scope`."""
        from pxr import UsdGeom, UsdShade

        material = skin.material
        key = (material.name, material.colour.tobytes(), id(material.texture), material.index)
        if key not in self._surfaces:
            self._surfaces[key] = surface_of(material, self._document)
        surface = self._surfaces[key]
        mesh.CreateDoubleSidedAttr(surface.double_sided)
        placed = skin.uvs is not None
        by_vertex = skin.colours is not None and (surface.colour_map is None or not placed)
        full = (*key, placed, by_vertex)
        if full not in self._known:
            stage = mesh.GetPrim().GetStage()
            UsdGeom.Scope.Define(stage, scope)
            path = f"{scope}/{identifiers([material.name or 'Material'], self._taken)[0]}"
            self._known[full] = self._define(_Writer(stage, path), surface if placed else surface.without_maps(), material, by_vertex)
        UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(self._known[full])

    def _define(self, writer: _Writer, surface: Surface, material: Material, by_vertex: bool) -> UsdShade.Material:
        from pxr import UsdShade

        defined = UsdShade.Material.Define(writer.stage, writer.path)
        writer.start()
        self._paint(writer, surface, material.name, by_vertex)
        self._finish(writer, surface, material.name)
        self._shape(writer, surface, material.name)
        defined.CreateSurfaceOutput().ConnectToSource(writer.surface.ConnectableAPI(), "surface")
        return defined

    def _paint(self, writer: _Writer, surface: Surface, name: str, by_vertex: bool) -> None:
        """Colour and what is seen through."""
        from pxr import Gf

        see_through = surface.alpha != "OPAQUE"
        red, green, blue, alpha = (float(c) for c in surface.colour)
        if surface.colour_map is not None:
            factor = (red, green, blue, alpha if see_through else 1.0)
            texture = _Texture(surface.colour_map, self._file(surface.colour_map, name), _SRGB, factor)
            writer.connect("Colour", texture, {"diffuseColor": "rgb"} | ({"opacity": "a"} if see_through else {}))
        elif by_vertex:
            writer.connect_vertex_colour()
        else:
            writer.set("diffuseColor", Gf.Vec3f(red, green, blue))
        if see_through:
            if surface.colour_map is None:
                writer.set("opacity", alpha)
            writer.set("opacityThreshold", surface.cutoff if surface.alpha == "MASK" else 0.0)

    def _finish(self, writer: _Writer, surface: Surface, name: str) -> None:
        """How it shines, and glows."""
        from pxr import Gf

        if surface.rough_map is not None:
            factor = (1.0, surface.roughness, surface.metallic, 1.0)
            texture = _Texture(surface.rough_map, self._file(surface.rough_map, f"{name}_roughness"), _RAW, factor)
            writer.connect("Roughness", texture, {"roughness": "g", "metallic": "b"})
        else:
            writer.set("roughness", surface.roughness)
            writer.set("metallic", surface.metallic)
        if surface.emission is None or not surface.emission.any():
            return
        red, green, blue = (float(c) for c in surface.emission)
        if surface.emission_map is not None:
            texture = _Texture(surface.emission_map, self._file(surface.emission_map, f"{name}_emission"), _SRGB, (red, green, blue, 1.0))
            writer.connect("Emission", texture, {"emissiveColor": "rgb"})
        else:
            writer.set("emissiveColor", Gf.Vec3f(red, green, blue))

    def _shape(self, writer: _Writer, surface: Surface, name: str) -> None:
        """Bumps and hollows."""
        if surface.normal_map is not None:
            factor, offset = (2.0, 2.0, 2.0, 1.0), (-1.0, -1.0, -1.0, 0.0)
            texture = _Texture(surface.normal_map, self._file(surface.normal_map, f"{name}_normal"), _RAW, factor, offset)
            writer.connect("Normal", texture, {"normal": "rgb"})
        if surface.occlusion_map is not None:
            s = surface.occlusion_strength
            lifted = None if s == 1.0 else (1.0 - s, 1.0 - s, 1.0 - s, 0.0)
            texture = _Texture(surface.occlusion_map, self._file(surface.occlusion_map, f"{name}_occlusion"), _RAW, (s, s, s, 1.0), lifted)
            writer.connect("Occlusion", texture, {"occlusion": "r"})

    def _file(self, picture: Picture, name: str) -> str:
        """Write a picture once; how the layer calls it."""
        if picture.data not in self._written:
            self._folder.mkdir(exist_ok=True)
            file = identifiers([name or "texture"], self._names)[0] + picture.suffix
            (self._folder / file).write_bytes(picture.data)
            self._written[picture.data] = f"./{self._folder.name}/{file}"
        return self._written[picture.data]


@dataclass(frozen=True)
class _Texture:
    """A picture as a shader reads it: what the layer calls it, its colour space, and value = picture * scale + bias."""

    picture: Picture
    asset: str
    space: str
    scale: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    bias: tuple[float, float, float, float] | None = None


_TYPES = {
    "diffuseColor": "Color3f", "emissiveColor": "Color3f", "normal": "Normal3f", "opacity": "Float", "opacityThreshold": "Float",
    "roughness": "Float", "metallic": "Float", "occlusion": "Float",
}  # fmt: skip


class _Writer:
    """The shaders of one material."""

    def __init__(self, stage: Usd.Stage, path: str) -> None:
        self.stage, self.path = stage, path
        self.surface: UsdShade.Shader = None
        self._coordinates: UsdShade.Output = None

    def start(self) -> None:
        self.surface = self._shader("Surface", "UsdPreviewSurface")

    def set(self, name: str, value: object) -> None:
        self._input(name).Set(value)

    def connect_vertex_colour(self) -> None:
        from pxr import Sdf

        reader = self._shader("VertexColour", "UsdPrimvarReader_float3")
        reader.CreateInput("varname", Sdf.ValueTypeNames.String).Set("displayColor")
        self._input("diffuseColor").ConnectToSource(reader.CreateOutput("result", Sdf.ValueTypeNames.Float3))

    def connect(self, name: str, texture: _Texture, outputs: dict[str, str]) -> None:
        """A shader that reads a picture by the coordinates `st`; `outputs`: which of its channels feed which inputs of the surface."""
        from pxr import Gf, Sdf

        types = Sdf.ValueTypeNames
        shader = self._shader(name, "UsdUVTexture")
        shader.CreateInput("file", types.Asset).Set(Sdf.AssetPath(texture.asset))
        shader.CreateInput("sourceColorSpace", types.Token).Set(texture.space)
        for key, wrap in zip(("wrapS", "wrapT"), texture.picture.wraps, strict=True):
            shader.CreateInput(key, types.Token).Set(wrap)
        shader.CreateInput("scale", types.Float4).Set(Gf.Vec4f(*texture.scale))
        if texture.bias is not None:
            shader.CreateInput("bias", types.Float4).Set(Gf.Vec4f(*texture.bias))
        shader.CreateInput("st", types.Float2).ConnectToSource(self._st())
        for target, channel in outputs.items():
            self._input(target).ConnectToSource(shader.CreateOutput(channel, types.Float3 if channel == "rgb" else types.Float))

    def _input(self, name: str) -> UsdShade.Input:
        from pxr import Sdf

        kind: Sdf.ValueTypeName = getattr(Sdf.ValueTypeNames, _TYPES[name])
        return self.surface.CreateInput(name, kind)

    def _st(self) -> UsdShade.Output:
        from pxr import Sdf

        if self._coordinates is None:
            reader = self._shader("Coordinates", "UsdPrimvarReader_float2")
            reader.CreateInput("varname", Sdf.ValueTypeNames.String).Set("st")
            self._coordinates = reader.CreateOutput("result", Sdf.ValueTypeNames.Float2)
        return self._coordinates

    def _shader(self, name: str, kind: str) -> UsdShade.Shader:
        from pxr import UsdShade

        shader = UsdShade.Shader.Define(self.stage, f"{self.path}/{name}")
        shader.CreateIdAttr(kind)
        return shader

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
            self._known[full] = self._define(_Writer(stage, path), surface, material, placed, by_vertex)
        UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(self._known[full])

    def _define(self, writer: _Writer, surface: Surface, material: Material, placed: bool, by_vertex: bool) -> UsdShade.Material:
        """The material; without texture coordinates (`placed`) its pictures cannot be shown."""
        from pxr import Gf, UsdShade

        defined = UsdShade.Material.Define(writer.stage, writer.path)
        maps = (surface.colour_map, surface.rough_map, surface.emission_map, surface.normal_map, surface.occlusion_map)
        colour_map, rough_map, emission_map, normal_map, occlusion_map = (m if placed else None for m in maps)
        files = {id(m): self._file(m, material.name) for m in maps if m is not None and placed}
        colour = [float(c) for c in surface.colour]
        writer.start()
        see_through = surface.alpha != "OPAQUE"
        if colour_map is not None:
            texture = _Texture(colour_map, files[id(colour_map)], _SRGB, (*colour[:3], colour[3] if see_through else 1.0))
            writer.connect("Colour", texture, {"diffuseColor": "rgb"} | ({"opacity": "a"} if see_through else {}))
        elif by_vertex:
            writer.connect_vertex_colour()
        else:
            writer.set("diffuseColor", Gf.Vec3f(*colour[:3]))
        if see_through:
            if colour_map is None:
                writer.set("opacity", colour[3])
            writer.set("opacityThreshold", surface.cutoff if surface.alpha == "MASK" else 0.0)
        if rough_map is not None:
            scale = (1.0, surface.roughness, surface.metallic, 1.0)
            writer.connect("Roughness", _Texture(rough_map, files[id(rough_map)], _RAW, scale), {"roughness": "g", "metallic": "b"})
        else:
            writer.set("roughness", surface.roughness)
            writer.set("metallic", surface.metallic)
        if surface.emission is not None and surface.emission.any():
            glow = [float(c) for c in surface.emission]
            if emission_map is not None:
                writer.connect("Emission", _Texture(emission_map, files[id(emission_map)], _SRGB, (*glow, 1.0)), {"emissiveColor": "rgb"})
            else:
                writer.set("emissiveColor", Gf.Vec3f(*glow))
        if normal_map is not None:
            s = surface.normal_scale
            texture = _Texture(normal_map, files[id(normal_map)], _RAW, (2.0 * s, 2.0 * s, 2.0, 1.0), (-s, -s, -1.0, 0.0))
            writer.connect("Normal", texture, {"normal": "rgb"})
        if occlusion_map is not None:
            writer.connect("Occlusion", _Texture(occlusion_map, files[id(occlusion_map)], _RAW), {"occlusion": "r"})
        defined.CreateSurfaceOutput().ConnectToSource(writer.surface.ConnectableAPI(), "surface")
        return defined

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

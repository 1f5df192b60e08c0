"""What UsdPreviewSurface can show of a material: of a glTF file's own, or of what a rig knows of it."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import Json, child, integer, label, numbers, optional_reference, text
from akd_sdk.formats.gltf.images import texture_data, texture_rgba
from akd_sdk.rig import Material

Array = NDArray[np.float64]
Alpha = Literal["OPAQUE", "MASK", "BLEND"]

ROUGHNESS = 0.8
"""Of characters in general, where a source knows colour and texture alone."""
WRAPS = {10497: "repeat", 33071: "clamp", 33648: "mirror"}
OLD = "KHR_materials_pbrSpecularGlossiness"
SHOWN = frozenset({OLD, "KHR_materials_unlit", "KHR_materials_emissive_strength"})
"""Extensions of materials that are heeded."""
SIGNATURES = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg"}
"""Pictures that USD takes as they are."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Picture:
    """A texture: its bytes, PNG or JPEG by `suffix`, and how it goes on beyond its edges."""

    data: bytes
    suffix: str
    wraps: tuple[str, str] = ("repeat", "repeat")


@dataclass(frozen=True)
class Surface:
    """Factors of a material, and the pictures they multiply.

    Attributes:
        colour: (4,) linear RGBA.
        colour_map: sRGB, alpha in it.
        metallic, roughness: 0..1.
        rough_map: roughness in green, metallic in blue.
        emission: (3,) linear RGB.
        emission_map: sRGB.
        normal_map: tangent space, the strength of its bumps in it.
        occlusion_map: in red.
        occlusion_strength: 1 + strength * (picture - 1) of the light is left.
        alpha: whether alpha counts, and how.
        cutoff: of a mask.
        double_sided: seen from behind.
    """

    colour: Array
    colour_map: Picture | None = None
    metallic: float = 0.0
    roughness: float = ROUGHNESS
    rough_map: Picture | None = None
    emission: Array | None = None
    emission_map: Picture | None = None
    normal_map: Picture | None = None
    occlusion_map: Picture | None = None
    occlusion_strength: float = 1.0
    alpha: Alpha = "OPAQUE"
    cutoff: float = 0.5
    double_sided: bool = True

    def without_maps(self) -> Surface:
        """The same for a mesh without texture coordinates."""
        return replace(self, colour_map=None, rough_map=None, emission_map=None, normal_map=None, occlusion_map=None)


def surface_of(material: Material, document: object) -> Surface:
    """The surface of a material; `document`: the rig's source. What of a glTF material cannot be read is left out with a warning."""
    if material.index is None or not isinstance(document, Document):
        return Surface(material.colour, _drawn(material.texture))
    try:
        return _gltf_surface(material, document, material.index)
    except ReadError as fault:
        log.warning("material %s: %s", material.name, fault)
        return Surface(material.colour, _drawn(material.texture))


def unshown(materials: Iterable[Material], document: object) -> tuple[str, ...]:
    """What of glTF materials UsdPreviewSurface, or the one set of coordinates that a mesh has here, leaves out; one line each."""
    if not isinstance(document, Document):
        return ()
    lines: list[str] = []
    for index in sorted({material.index for material in materials if material.index is not None}):
        item = document.items("materials")[index]
        where = label("material", index, item.get("name"))
        try:
            base, maps = _base(item, where), _maps(item, where)
            lost = [name for name, info in maps.items() if info and _placing(info, where) != _placing(base, where)]
            extensions = sorted(set(child(item, "extensions", where)) - SHOWN)
        except ReadError as fault:
            lost, extensions = [], []
            lines.append(f"{where} is shown by its colour alone: {fault}")
        if lost:
            lines.append(f"{where} is written without its {', '.join(lost)}, which lie on other coordinates than its base colour")
        if extensions:
            lines.append(f"{where} is written without {', '.join(extensions)}")
    return tuple(lines)


def _base(item: Json, where: str) -> Json:
    """The textureInfo of the base colour, empty where there is none."""
    if "pbrMetallicRoughness" in item:
        return child(child(item, "pbrMetallicRoughness", where), "baseColorTexture", where)
    return child(child(child(item, "extensions", where), OLD, where), "diffuseTexture", where)


def _maps(item: Json, where: str) -> dict[str, Json]:
    """The other textureInfos, by name."""
    rough = child(child(item, "pbrMetallicRoughness", where), "metallicRoughnessTexture", where)
    named = {key: child(item, key, where) for key in ("normalTexture", "occlusionTexture", "emissiveTexture")}
    return {"metallicRoughnessTexture": rough} | named


def _gltf_surface(material: Material, document: Document, index: int) -> Surface:
    item = document.items("materials")[index]
    where = label("material", index, item.get("name"))
    pbr = child(item, "pbrMetallicRoughness", where)
    extensions = child(item, "extensions", where)
    old = {} if "pbrMetallicRoughness" in item else child(extensions, OLD, where)
    dull = "KHR_materials_unlit" in extensions or "pbrMetallicRoughness" not in item
    strength = _number(child(extensions, "KHR_materials_emissive_strength", where), "emissiveStrength", 1.0, where)
    base, infos = _base(item, where), _maps(item, where)
    maps = _Maps(document, _placing(base, where), where)
    mode = text(item, "alphaMode", where)
    alpha: Alpha = "MASK" if mode == "MASK" else "BLEND" if mode == "BLEND" else "OPAQUE"
    return Surface(
        colour=material.colour,
        colour_map=_given(material, document, base, where) or _drawn(material.texture, see_through=alpha != "OPAQUE"),
        metallic=0.0 if dull else _number(pbr, "metallicFactor", 1.0, where),
        roughness=_dull_roughness(old, where) if dull else _number(pbr, "roughnessFactor", 1.0, where),
        rough_map=None if dull else maps.picture(infos["metallicRoughnessTexture"]),
        emission=numbers(item, "emissiveFactor", (0.0, 0.0, 0.0), where) * strength,
        emission_map=maps.picture(infos["emissiveTexture"]),
        normal_map=maps.normals(infos["normalTexture"]),
        occlusion_map=maps.picture(infos["occlusionTexture"]),
        occlusion_strength=_number(infos["occlusionTexture"], "strength", 1.0, where),
        alpha=alpha,
        cutoff=_number(item, "alphaCutoff", 0.5, where),
        double_sided=item.get("doubleSided") is True,
    )


def _dull_roughness(old: Json, where: str) -> float:
    """Of a material without metal: what KHR_materials_pbrSpecularGlossiness says, else full."""
    return 1.0 - _number(old, "glossinessFactor", 1.0, where) if old else 1.0


def _number(item: Json, key: str, default: float, where: str) -> float:
    return float(numbers({key: [item.get(key, default)]}, key, (0.0,), where)[0])


def _placing(info: Json, where: str) -> tuple[int, Json]:
    """Which coordinates a texture takes, and how they are moved."""
    moved = child(child(info, "extensions", where), "KHR_texture_transform", where)
    return integer(info, "texCoord", where, 0), moved


class _Maps:
    """Pictures of a material that lie on the mesh as its base colour does: the mesh has one set of coordinates."""

    def __init__(self, document: Document, placing: tuple[int, Json], where: str) -> None:
        self._document, self._placing, self._where = document, placing, where

    def picture(self, info: Json) -> Picture | None:
        if not info:
            return None
        if _placing(info, self._where) != self._placing:
            log.warning("%s: a texture that lies elsewhere than the base colour's is left out", self._where)
            return None
        try:
            return picture_of(self._document, integer(info, "index", self._where), self._where)
        except ReadError as fault:
            log.warning("%s is written without a texture: %s", self._where, fault)
            return None

    def normals(self, info: Json) -> Picture | None:
        """A normal map; one whose bumps are weaker or stronger than it says is drawn anew: USD wants all between -1 and 1 as they are."""
        picture, strength = self.picture(info), _number(info, "scale", 1.0, self._where)
        if picture is None or strength == 1.0:
            return picture
        try:
            pixels = texture_rgba(self._document, integer(info, "index", self._where), self._where)[..., :3]
        except ReadError as fault:
            log.warning("%s is written without its bumps: %s", self._where, fault)
            return None
        bumps = (pixels / 127.5 - 1.0) * (strength, strength, 1.0)
        bumps /= np.maximum(np.linalg.norm(bumps, axis=-1, keepdims=True), 1e-6)
        drawn = np.clip(np.rint((bumps + 1.0) * 127.5), 0, 255).astype(np.uint8)
        return replace(picture, data=_png(drawn), suffix=".png")


def picture_of(document: Document, texture: int, where: str) -> Picture:
    """The picture of a texture, as the file holds it where USD takes it so. Raises ReadError where it is missing or not read."""
    data = texture_data(document, texture, where)
    suffix = next((found for head, found in SIGNATURES.items() if data.startswith(head)), None)
    if suffix is None:
        data, suffix = _png(texture_rgba(document, texture, where)), ".png"
    samplers = document.items("samplers")
    entry = document.items("textures")[texture]
    index = optional_reference(entry, "sampler", len(samplers), f"texture {texture}")
    sampler: Json = {} if index is None else samplers[index]
    wraps = tuple(WRAPS.get(integer(sampler, key, "sampler", 10497), "repeat") for key in ("wrapS", "wrapT"))
    return Picture(data, suffix, (wraps[0], wraps[1]))


def _given(material: Material, document: Document, info: Json, where: str) -> Picture | None:
    """The file's base colour picture; None where the rig's material has none or has been given another."""
    if material.texture is None or not info:
        return None
    index = integer(info, "index", where)
    return picture_of(document, index, where) if np.array_equal(texture_rgba(document, index, where), material.texture) else None


def _drawn(texture: NDArray[np.uint8] | None, *, see_through: bool = False) -> Picture | None:
    return None if texture is None else Picture(_png(texture if see_through else texture[..., :3]), ".png")


def _png(pixels: NDArray[np.uint8]) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(out, "PNG")
    return out.getvalue()

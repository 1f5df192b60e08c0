"""What a picture needs of glTF materials: base colours, their textures, and where on them a vertex lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import Json, child, integer, label, name_of, numbers
from akd_sdk.formats.gltf.images import texture_rgba
from akd_sdk.rig import Material

WHITE = (1.0, 1.0, 1.0, 1.0)
_OLD = "KHR_materials_pbrSpecularGlossiness"


@dataclass(frozen=True)
class UvMap:
    """How a material's texture takes coordinates: from `TEXCOORD_<channel>`, then `linear @ uv + offset` (KHR_texture_transform)."""

    channel: int
    linear: NDArray[np.float64]
    offset: NDArray[np.float64]


class Materials:
    """The materials of a document, each read once; what could not be read is said in `notes`."""

    def __init__(self, document: Document) -> None:
        self.notes: list[str] = []
        self._document = document
        self._items = document.items("materials")
        self._read: dict[int | None, Material] = {}
        self._textures: dict[int, NDArray[np.uint8] | None] = {}

    def __len__(self) -> int:
        return len(self._items)

    def material(self, index: int | None) -> Material:
        """A material; None: the white one of primitives without."""
        if index not in self._read:
            self._read[index] = Material("default", np.array(WHITE)) if index is None else self._material(index)
        return self._read[index]

    def uv_map(self, index: int | None) -> UvMap:
        """Where the base colour texture of a material lies."""
        if index is None:
            return UvMap(0, np.eye(2), np.zeros(2))
        where = label("material", index, self._items[index].get("name"))
        _, info = self._base(self._items[index], where)
        moved = child(child(info, "extensions", where), "KHR_texture_transform", where)
        angle = float(numbers({"rotation": [moved.get("rotation", 0.0)]}, "rotation", (0.0,), where)[0])
        # Counter-clockwise where v points down, as viewers do it; the extension's own listing is transposed (KhronosGroup/glTF#1563).
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        linear = turn * numbers(moved, "scale", (1.0, 1.0), where)
        channel = integer(moved, "texCoord", where, integer(info, "texCoord", where, 0))
        return UvMap(channel, linear, numbers(moved, "offset", (0.0, 0.0), where))

    def _material(self, index: int) -> Material:
        item = self._items[index]
        where = label("material", index, item.get("name"))
        colour, info = self._base(item, where)
        texture = self._texture(integer(info, "index", where), where) if info else None
        return Material(name_of(item) or f"material_{index}", colour, texture, index)

    def _base(self, item: Json, where: str) -> tuple[NDArray[np.float64], Json]:
        """Colour factor and textureInfo (empty: none)."""
        if "pbrMetallicRoughness" not in item:
            old = child(child(item, "extensions", where), _OLD, where)
            return numbers(old, "diffuseFactor", WHITE, where), child(old, "diffuseTexture", where)
        pbr = child(item, "pbrMetallicRoughness", where)
        return numbers(pbr, "baseColorFactor", WHITE, where), child(pbr, "baseColorTexture", where)

    def _texture(self, index: int, where: str) -> NDArray[np.uint8] | None:
        if index not in self._textures:
            try:
                self._textures[index] = texture_rgba(self._document, index, where)
            except ReadError as fault:
                self._textures[index] = None
                self.notes.append(f"{where} is shown without its texture: {fault}")
        return self._textures[index]

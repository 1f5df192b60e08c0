"""What a picture needs of glTF materials: base colours and their textures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.container import Document
from akd_sdk.formats.gltf.fields import Json, child, label, numbers
from akd_sdk.formats.gltf.images import texture_index, texture_rgba
from akd_sdk.rig import Material

WHITE = (1.0, 1.0, 1.0, 1.0)
_OLD = "KHR_materials_pbrSpecularGlossiness"


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

    def _material(self, index: int) -> Material:
        item = self._items[index]
        where = label("material", index, item.get("name"))
        colour, info = self._base(item, where)
        texture = self._texture(texture_index(info, where), where) if info else None
        name = item.get("name")
        return Material(name if isinstance(name, str) and name else f"material_{index}", colour, texture)

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

"""Which extensions of glTF a file may require."""

from __future__ import annotations

from typing import Final

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.fields import Json
from akd_sdk.formats.gltf.meshopt import EXTENSIONS as MESHOPT

READ: Final = ("KHR_mesh_quantization", *MESHOPT)

LOOKS: Final = (
    "KHR_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "KHR_lights_",
    "EXT_lights_",
    "KHR_xmp",
    "KHR_animation_pointer",
    "VRM",
)
"""Beginnings of extensions that say nothing about where joints and vertices are: what they say is kept, not read."""


def check_required(content: Json) -> None:
    """ReadError that names the first required extension that is not read."""
    required = content.get("extensionsRequired", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        raise ReadError("extensionsRequired is not an array of names")
    for name in required:
        if name not in READ and not name.startswith(LOOKS):
            hint = "decompress it first, e.g. with gltf-transform copy" if "compression" in name else None
            raise ReadError(f"needs the extension {name[:80]}, which is not read", hint=hint)

"""Pictures of glTF: a texture as RGBA bytes, bounded in size, or as the file holds it; one that cannot be read is said, not fatal."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from typing import Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.accessors import view_bytes
from akd_sdk.formats.gltf.container import Document, resource
from akd_sdk.formats.gltf.fields import child, optional_reference, reference, text

LARGEST_SIDE: Final = 1024
"""Pixels; larger pictures are scaled down."""

LARGEST_AREA: Final = 1 << 26
"""Pixels of the largest picture that is decoded at all."""


def texture_rgba(document: Document, texture: int, where: str) -> NDArray[np.uint8]:
    """The picture of a texture, (h, w, 4) sRGB bytes, at most 1024 pixels a side.

    Raises:
        ReadError: it is missing, huge, or of a kind that is not read.
    """
    data, here = _data(document, texture, where)
    return _decode(data, here)


def texture_data(document: Document, texture: int, where: str) -> bytes:
    """The picture of a texture as the file holds it: PNG, JPEG or WebP bytes.

    Raises:
        ReadError: it is missing.
    """
    return _data(document, texture, where)[0]


def _data(document: Document, texture: int, where: str) -> tuple[bytes, str]:
    """The bytes of a texture's picture, and how messages call it."""
    textures = document.items("textures")
    images = document.items("images")
    entry = textures[reference(texture, len(textures), f"texture of {where}")]
    source = optional_reference(entry, "source", len(images), f"texture {texture}")
    if source is None:
        webp = child(child(entry, "extensions", f"texture {texture}"), "EXT_texture_webp", f"texture {texture}")
        source = optional_reference(webp, "source", len(images), f"texture {texture}")
    if source is None:
        raise ReadError(f"texture {texture} has no picture that is read")
    image, here = images[source], f"image {source}"
    view = optional_reference(image, "bufferView", len(document.items("bufferViews")), here)
    if view is not None:
        return bytes(view_bytes(document, view)), here
    uri = text(image, "uri", here)
    if uri is None:
        raise ReadError(f"{here} has no data")
    return resource(document.path, uri, here), here


def _decode(data: bytes, where: str) -> NDArray[np.uint8]:
    from PIL import Image

    faults = (OSError, SyntaxError, ValueError, EOFError, TypeError, IndexError, KeyError, OverflowError, struct.error, zlib.error)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as picture:
                if picture.width * picture.height > LARGEST_AREA:
                    raise ReadError(f"{where} is huge ({picture.width} x {picture.height})")
                picture.draft("RGB", (LARGEST_SIDE, LARGEST_SIDE))
                rgba = picture.convert("RGBA")
        rgba.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
        return np.asarray(rgba, dtype=np.uint8).copy()
    except (*faults, Image.DecompressionBombError) as fault:
        raise ReadError(f"{where} cannot be decoded ({type(fault).__name__}: {fault})") from fault

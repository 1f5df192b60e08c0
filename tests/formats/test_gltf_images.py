"""Pictures: the right pixels, bounded in size, and a reason where there are none."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from gltf_build import Gltf
from PIL import Image

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf import load
from akd_sdk.formats.gltf.images import texture_rgba


def encoded(picture: Image.Image, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind)
    return buffer.getvalue()


def read(folder: Path, data: bytes) -> np.ndarray:
    file = Gltf()
    file.add("images", {"bufferView": file.view(data), "mimeType": "image/png"})
    file.add("textures", {"source": 0})
    return texture_rgba(load(file.save(folder / "file.glb")), 0, "material 0")


PIXELS = np.random.default_rng(0).integers(0, 256, (5, 7, 4)).astype(np.uint8)


def test_pixels_are_those_of_the_picture(tmp_path: Path) -> None:
    assert np.array_equal(read(tmp_path, encoded(Image.fromarray(PIXELS))), PIXELS)


@pytest.mark.parametrize("mode", ["L", "P", "RGB", "I;16", "1", "LA"])
def test_other_modes_become_rgba(tmp_path: Path, mode: str) -> None:
    found = read(tmp_path, encoded(Image.new(mode, (6, 4))))
    assert found.shape == (4, 6, 4)
    assert found.dtype == np.uint8


def test_a_jpeg_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, encoded(Image.new("RGB", (16, 16), (200, 40, 10)), "JPEG"))
    assert np.abs(found[8, 8].astype(int) - (200, 40, 10, 255)).max() < 6


def test_large_pictures_are_scaled_down(tmp_path: Path) -> None:
    assert read(tmp_path, encoded(Image.new("RGB", (3000, 1500)))).shape == (512, 1024, 4)


def test_a_picture_beside_the_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "Textures").mkdir()
    (tmp_path / "Textures" / "colour map.png").write_bytes(encoded(Image.fromarray(PIXELS)))
    file = Gltf()
    file.add("images", {"uri": "Textures/colour%20map.png"})
    file.add("textures", {"source": 0})
    assert np.array_equal(texture_rgba(load(file.save(tmp_path / "file.glb")), 0, "material 0"), PIXELS)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


GOOD = encoded(Image.fromarray(PIXELS))
FAULTS = {
    "noise": (bytes(range(256)), "cannot be decoded"),
    "cut short": (GOOD[:60], "cannot be decoded"),
    "broken data": (GOOD[:45] + bytes(20) + GOOD[65:], "cannot be decoded"),
    "huge": (GOOD[:8] + _chunk(b"IHDR", struct.pack(">IIBBBBB", 90_000, 90_000, 8, 6, 0, 0, 0)) + GOOD[33:], "huge|cannot be decoded"),
    "large": (GOOD[:8] + _chunk(b"IHDR", struct.pack(">IIBBBBB", 9_000, 9_000, 8, 6, 0, 0, 0)) + GOOD[33:], "huge"),
    "ktx2": (b"\xabKTX 20\xbb\r\n\x1a\n" + bytes(80), "cannot be decoded"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_pictures_that_are_none_are_refused_with_a_reason(tmp_path: Path, case: str) -> None:
    data, reason = FAULTS[case]
    with pytest.raises(ReadError, match=reason):
        read(tmp_path, data)


def test_a_texture_without_a_picture_is_refused(tmp_path: Path) -> None:
    file = Gltf()
    file.json["textures"] = [{}, {"source": 0}, {"extensions": {"KHR_texture_basisu": {"source": 0}}}]
    file.json["images"] = [{}]
    document = load(file.save(tmp_path / "file.glb"))
    for texture, reason in ((0, "no picture"), (1, "no data"), (2, "no picture"), (3, "there are only")):
        with pytest.raises(ReadError, match=reason):
            texture_rgba(document, texture, "material 0")

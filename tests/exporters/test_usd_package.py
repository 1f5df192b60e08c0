"""Packages and failures: a .usdz as its specification wants it, and nothing half-written."""

from __future__ import annotations

import os
import struct
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_cases import SAMPLES, smooth_motion
from pxr import Sdf

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, export, usd_looks
from akd_sdk.exporters import usd as usd_exporter
from akd_sdk.exporters.options import ExportOptions
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig


@pytest.fixture(scope="module")
def rig() -> Rig:
    """The sample with two different pictures, one of a size that needs padding."""
    rig = open_rig(SAMPLES / "quadruped.glb")
    rng = np.random.default_rng(0)
    skins = []
    for number, skin in enumerate(rig.skins[:2]):
        picture = rng.integers(0, 256, (5 + number, 7, 4), dtype=np.uint8)
        material = replace(skin.material, name=f"coat {number}", texture=picture)
        skins.append(replace(skin, material=material, uvs=rng.uniform(size=(len(skin.vertices), 2))))
    return replace(rig, skins=(*skins, *rig.skins[2:]))


@pytest.fixture(scope="module")
def clip(rig: Rig) -> Clip:
    return Clip.from_motion(rig, smooth_motion(rig, frames=5))


def test_a_package_is_uncompressed_aligned_to_64_bytes_and_its_first_file_the_layer(rig: Rig, clip: Clip, tmp_path: Path) -> None:
    path = export(rig, clip, tmp_path / "a.usdz")
    data = path.read_bytes()
    with zipfile.ZipFile(path) as package:
        entries = package.infolist()
    assert [Path(entry.filename).suffix for entry in entries] == [".usdc", ".png", ".png"]
    for entry in entries:
        assert (entry.compress_type, entry.flag_bits & 1, entry.compress_size) == (zipfile.ZIP_STORED, 0, entry.file_size)
        name_size, extra_size = struct.unpack_from("<HH", data, entry.header_offset + 26)
        assert (entry.header_offset + 30 + name_size + extra_size) % 64 == 0, entry.filename
    assert Sdf.Layer.FindOrOpen(str(path)).defaultPrim == "quadruped"


def test_two_clips_are_refused_with_what_to_do(rig: Rig, clip: Clip, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"a USD file plays one clip, not 2; write a file for each"):
        export(rig, [clip, clip], tmp_path / "a.usdc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [{"add_root": True}, {"t_pose": True}])
def test_options_that_usd_has_no_use_for_are_refused(rig: Rig, clip: Clip, options: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=rf"--{next(iter(options)).replace('_', '-')} cannot be done for \.usdc"):
        export(rig, clip, tmp_path / "a.usdc", options=ExportOptions(**options))
    assert list(tmp_path.iterdir()) == []


class FullError(OSError):
    """A disk that is full."""


@pytest.mark.parametrize("clip_only", [False, True])
@pytest.mark.parametrize("where", ["the second picture", "the layer", "the last move"])
def test_a_failure_at_any_point_leaves_old_files_and_pictures_as_they_were(
    rig: Rig, clip: Clip, where: str, clip_only: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ExportOptions(clip_only=clip_only)
    export(rig, clip, tmp_path / "a.usdc", options=options)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    calls = []

    move = os.replace

    def fail(*paths: str) -> None:
        calls.append(paths)
        if where == "the last move" and not (Path(paths[1]).name == "a.usdc" and ".a.usdc." in str(Path(paths[0]).parent)):
            return move(*paths)
        if where != "the second picture" or len(calls) == 2:
            raise FullError(28, "No space left on device")
        return None

    targets = {"the layer": (usd_exporter, "save"), "the second picture": (usd_looks.Path, "write_bytes"), "the last move": (os, "replace")}
    monkeypatch.setattr(*targets[where], fail)
    other = smooth_motion(rig, seed=9, frames=5)
    skins = [skin for skin in rig.skins if skin.material.texture is not None]
    repainted = [replace(skin, material=replace(skin.material, texture=skin.material.texture[::-1])) for skin in skins]
    with pytest.raises(ExportError, match=r"a\.usdc: cannot be written \(No space left on device\)"):
        export(replace(rig, skins=tuple(repainted)), Clip.from_motion(rig, other), tmp_path / "a.usdc", force=True, options=options)
    monkeypatch.undo()
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_pictures_of_somebody_else_are_not_replaced(rig: Rig, clip: Clip, tmp_path: Path) -> None:
    (tmp_path / "a_textures").mkdir()
    (tmp_path / "a_textures" / "coat_0.png").write_bytes(b"mine")
    with pytest.raises(ExportError, match=r"coat_0\.png: exists already"):
        export(rig, clip, tmp_path / "a.usdc")
    assert [p.name for p in tmp_path.rglob("*")] == ["a_textures", "coat_0.png"]
    assert (tmp_path / "a_textures" / "coat_0.png").read_bytes() == b"mine"

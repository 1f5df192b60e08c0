"""One call for all formats: choice by suffix, and failures that leave nothing behind."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from export_cases import SAMPLES, smooth_motion

from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, export, known_suffixes
from akd_sdk.readers import open_rig
from akd_sdk.rig import Rig

SUFFIXES = (".glb", ".usda", ".usdc", ".usd", ".usdz", ".bvh")


@pytest.fixture(scope="module")
def rig() -> Rig:
    return open_rig(SAMPLES / "biped.glb")


@pytest.fixture(scope="module")
def clip(rig: Rig) -> Clip:
    return Clip.from_motion(rig, smooth_motion(rig, frames=3))


def write_elsewhere(rig: Rig, clips: Any, path: Any, *, force: bool = False, options: Any = None) -> Path:
    Path(path).write_text(f"{len(clips)} {force}")
    return Path(path)


def test_known_suffixes_are_these() -> None:
    assert known_suffixes() == SUFFIXES


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".GLB", ".Usda"])
def test_the_suffix_chooses_the_format(rig: Rig, clip: Clip, suffix: str, tmp_path: Path) -> None:
    path = export(rig, clip, tmp_path / "new" / f"a{suffix}")
    assert path == tmp_path / "new" / f"a{suffix}"
    start = {".glb": b"glTF", ".usda": b"#usda", ".usdz": b"PK", ".bvh": b"HIERARCHY"}.get(suffix.lower(), b"PXR-USDC")
    assert path.read_bytes().startswith(start)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(("name", "fault"), [("a.fbx", "unknown format .fbx"), ("a", "the name has no suffix"), ("glb", "no suffix")])
def test_unknown_formats_are_refused_with_the_known_ones(rig: Rig, clip: Clip, name: str, fault: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=rf"{fault}; known: \.glb, \.usda, \.usdc, \.usd, \.usdz, \.bvh"):
        export(rig, clip, tmp_path / "new" / name)
    assert list(tmp_path.iterdir()) == []


def test_formats_of_installed_packages_are_used(rig: Rig, clip: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"fbx": f"{__name__}:write_elsewhere", "x": "no_such_module:f"}
    found = [EntryPoint(name, value, "akd_sdk.exporters") for name, value in values.items()]
    monkeypatch.setattr("akd_sdk.exporters.registry.entry_points", lambda group: found if group == "akd_sdk.exporters" else [])
    assert known_suffixes() == (*SUFFIXES, ".fbx", ".x")
    assert export(rig, [clip, clip], tmp_path / "a.FBX", force=True).read_text() == "2 True"
    with pytest.raises(ExportError, match=r"the exporter for \.x cannot be loaded"):
        export(rig, clip, tmp_path / "a.x")


def test_no_clip_is_refused(rig: Rig, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="there is no clip to write"):
        export(rig, [], tmp_path / "a.glb")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_clips_of_another_character_are_refused(clip: Clip, suffix: str, tmp_path: Path) -> None:
    other = open_rig(SAMPLES / "quadruped.glb")
    with pytest.raises(ExportError, match="another character"):
        export(other, clip, tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_exists_is_kept_unless_forced(rig: Rig, clip: Clip, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"mine")
    with pytest.raises(ExportError, match="exists already"):
        export(rig, clip, path)
    assert path.read_bytes() == b"mine"
    export(rig, clip, path, force=True)
    assert path.stat().st_size > 1000
    assert list(tmp_path.iterdir()) == [path]


def test_the_source_itself_can_be_replaced(rig: Rig, clip: Clip, tmp_path: Path) -> None:
    path = tmp_path / "a.glb"
    path.write_bytes((SAMPLES / "biped.glb").read_bytes())
    own = open_rig(path)
    export(own, clip, path, force=True)
    assert [motion.name for motion in open_rig(path).clips] == ["swing"]


FULL_DISK = """
import resource, sys
from pathlib import Path
sys.path.insert(0, "tests/support")
from export_cases import SAMPLES, smooth_motion
from akd_sdk.errors import ExportError
from akd_sdk.exporters import Clip, export
from akd_sdk.readers import open_rig
rig = open_rig(SAMPLES / "biped.glb")
clip = Clip.from_motion(rig, smooth_motion(rig, frames=60))
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
for path in sys.argv[1:]:
    try:
        export(rig, clip, path, force=True)
    except ExportError as fault:
        print(fault)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are Unix's")
def test_a_disk_that_fills_up_leaves_nothing_and_keeps_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "old.usda").write_bytes(b"mine")
    paths = [str(tmp_path / "old.usda"), *(str(tmp_path / "new" / f"a{suffix}") for suffix in SUFFIXES)]
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, *paths], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(paths)
    for path, line in zip(paths, lines, strict=True):
        assert line.startswith(f"{path}: ")
    assert [p.name for p in tmp_path.iterdir()] == ["old.usda"]
    assert (tmp_path / "old.usda").read_bytes() == b"mine"

"""Profiles are data: known ones load, each value has a source, wrong ones are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from akd_sdk.errors import ExportError
from akd_sdk.exporters import ExportOptions, known_suffixes
from akd_sdk.exporters.profiles import known_profiles, load_profile

NAMES = ("blender", "godot", "isaac", "omniverse", "unity", "unreal", "web")
KEYS = ("players", "int16", "unread", "import_fps", "interpolation", "short_way")
NEED_SOURCES = (*KEYS, "influences", "naming", "older_naming", "joint_scale", "humanoid")


def test_the_profiles_of_the_engines_are_known() -> None:
    assert known_profiles() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_is_called_as_its_file_and_takes_files_that_are_written(name: str) -> None:
    profile = load_profile(name)
    assert profile.name == name
    assert set(profile.suffixes) <= set(known_suffixes())
    assert profile.notes


@pytest.mark.parametrize("name", NAMES)
def test_what_differs_from_the_plain_has_a_source(name: str) -> None:
    profile = load_profile(name)
    stated = type(profile).model_fields
    differs = [field for field in NEED_SOURCES if getattr(profile, field) != stated[field].get_default(call_default_factory=True)]
    assert [field for field in differs if field not in profile.sources] == []


def test_engines_that_misread_get_no_short_rotations_and_godot_nothing_compressed() -> None:
    assert not load_profile("web").int16  # three.js and Babylon do not normalise them
    godot = load_profile("godot")
    assert not godot.int16
    assert not godot.meshopt
    assert {"KHR_mesh_quantization", "EXT_meshopt_compression", "KHR_draco_mesh_compression"} <= set(godot.unread)


def test_unknown_profiles_are_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ExportError, match="--profile: unknown profile 'gogot'; known: blender, godot, isaac, omniverse, unity, unreal, web"
    ):
        load_profile("gogot")


def test_a_profile_of_ones_own_is_read_from_its_file(tmp_path: Path) -> None:
    own = tmp_path / "mine.json"
    own.write_text(json.dumps({"name": "mine", "title": "My engine", "suffixes": [".glb"], "root_mode": "root", "sources": {}}))
    assert load_profile(str(own)).root_mode == "root"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", "is no profile"),
        ('{"name": "a", "title": "A", "suffixes": [".glb"], "sources": {"colour": "x"}}', "sources of unknown fields: colour"),
        ('{"name": "a", "title": "A", "suffixes": [".glb"], "sources": {}, "root_mode": "feet"}', "root_mode"),
        ('{"name": "a", "title": "A", "suffixes": [], "sources": {}}', "suffixes"),
    ],
)
def test_files_that_are_no_profile_are_refused_with_the_field(content: str, fault: str, tmp_path: Path) -> None:
    own = tmp_path / "mine.json"
    own.write_text(content)
    with pytest.raises(ExportError, match=fault):
        load_profile(str(own))
    with pytest.raises(ExportError, match="cannot be read"):
        load_profile(str(tmp_path / "none.json"))


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_tolerances_have_to_be_positive(value: float) -> None:
    with pytest.raises(ExportError, match=r"--tolerance: .* is no positive number"):
        ExportOptions(tolerance_m=value)
    with pytest.raises(ExportError, match="--feet-tolerance"):
        ExportOptions(feet_tolerance_m=value)
    with pytest.raises(ExportError, match="--reduction: unknown reduction 'much'; known: none, fast, best"):
        ExportOptions(reduction="much")  # type: ignore[arg-type]

"""Every code of the checker has a file that raises it and nothing else, and one that raises nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from check_gltf import GLTF_FAULTS, NO_FAULTS, Fault
from check_usd import BVH_FAULTS, USD_ALSO, USD_FAULTS, BvhFault, UsdFault

from akd_sdk.exporters import check, known_profiles, load_profile
from akd_sdk.exporters.check import CODES, SEVERITIES

AnyFault = Fault | UsdFault | BvhFault

FAULTS: dict[str, AnyFault] = {**GLTF_FAULTS, **USD_FAULTS, **BVH_FAULTS}


def codes(path: Path, profile: str | None) -> set[str]:
    return {finding.code for finding in check(path, profile)}


@pytest.fixture
def faulty(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[AnyFault, Path]:
    """The fault of a code and its file, packages absent that have to be."""
    fault = FAULTS[request.getfixturevalue("code")]
    if fault.absent:
        monkeypatch.setitem(sys.modules, fault.absent, None)
    return fault, fault.save(tmp_path)


def test_every_code_has_a_file() -> None:
    assert set(FAULTS) == set(CODES)


@pytest.mark.parametrize("code", FAULTS)
def test_a_file_with_one_fault_raises_its_code_alone(code: str, faulty: tuple[AnyFault, Path]) -> None:
    fault, path = faulty
    assert codes(path, fault.profile) == {code}


@pytest.mark.parametrize("code", USD_ALSO)
def test_codes_of_several_formats_are_raised_in_usd_too(code: str, tmp_path: Path) -> None:
    fault = USD_ALSO[code]
    assert codes(fault.save(tmp_path), fault.profile) == {code}


@pytest.mark.parametrize("code", [code for code in FAULTS if CODES[code].profiled and code != "format-unread"])
def test_what_an_engine_minds_is_no_fault_without_its_profile(code: str, tmp_path: Path) -> None:
    assert codes(FAULTS[code].save(tmp_path), None) == set()


@pytest.mark.parametrize("name", NO_FAULTS)
def test_what_is_close_to_a_fault_raises_nothing(name: str, tmp_path: Path) -> None:
    fault = NO_FAULTS[name]
    assert codes(fault.save(tmp_path), fault.profile) == set()


GOOD = {".glb": Fault(), ".usda": UsdFault(), ".bvh": BvhFault()}


@pytest.mark.parametrize("suffix", GOOD)
@pytest.mark.parametrize("profile", [None, *known_profiles()])
def test_a_good_file_raises_nothing(suffix: str, profile: str | None, tmp_path: Path) -> None:
    wanted: set[str] = set()
    if profile is not None:
        engine = load_profile(profile)
        layered = suffix == ".usda" and ".usdc" in engine.suffixes
        wanted = set() if suffix in engine.suffixes or layered else {"format-unread"}
        wanted |= {"articulation-missing"} if suffix == ".usda" and engine.articulation else set()
    assert codes(GOOD[suffix].save(tmp_path), profile) == wanted


@pytest.mark.parametrize("code", FAULTS)
def test_a_finding_says_where_what_and_what_to_do(code: str, faulty: tuple[AnyFault, Path]) -> None:
    fault, path = faulty
    found = next(finding for finding in check(path, fault.profile) if finding.code == code)
    assert found.severity == CODES[code].severity
    for text in (found.where, found.fault, found.remedy):
        assert text
        assert "\n" not in text
        assert not text.endswith(".")


def test_codes_say_what_comes_of_them_and_what_to_do() -> None:
    for code in CODES.values():
        assert code.severity in SEVERITIES
        assert code.why.endswith(".")
        assert code.remedy
        assert "\n" not in code.remedy

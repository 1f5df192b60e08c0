"""What an install brings is known: every package is pinned at the version at hand, and nothing is pinned that nobody asks for."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from packaging_tree import ROOT, brought_by

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
PIN = re.compile(r"^([\w.-]+)==(\S+)$", flags=re.MULTILINE)
ANYWHERE, CUDA_TORCH = (ROOT / "constraints.txt").read_text(encoding="utf-8").split("# Brought by the CUDA build of torch only.\n")


def closed(extras: list[str]) -> list[str]:
    """Requirements of the core and of these extras, those of extras that they take in included."""
    own = [Requirement(line) for extra in extras for line in EXTRAS[extra]]
    taken_in = sorted({extra for one in own if one.name == PROJECT["name"] for extra in one.extras})
    foreign = [str(one) for one in own if one.name != PROJECT["name"]]
    return [*(closed(taken_in) if taken_in else PROJECT["dependencies"]), *foreign]


@pytest.mark.parametrize("extras", [[], *([extra] for extra in EXTRAS)], ids=lambda extras: "+".join(extras) or "core")
def test_every_package_that_an_install_brings_is_pinned_at_the_version_at_hand(extras: list[str]) -> None:
    pins = dict(PIN.findall(ANYWHERE)) | dict(PIN.findall(CUDA_TORCH))
    found = {name: Version(version(name)).public for name in brought_by(closed(extras))}
    assert found.items() - pins.items() == set()


def test_nothing_is_pinned_that_no_install_brings() -> None:
    needed = brought_by(closed(list(EXTRAS)))
    assert [name for name, _ in PIN.findall(ANYWHERE) if name not in needed] == []


def test_pins_are_sorted_under_their_canonical_names_and_carry_no_local_version() -> None:
    for part in (ANYWHERE, CUDA_TORCH):
        names, versions = zip(*PIN.findall(part))
        assert list(names) == sorted({canonicalize_name(name) for name in names})
        assert [text for text in versions if Version(text).local] == []


def test_what_is_pinned_satisfies_what_is_asked_for() -> None:
    pins = dict(PIN.findall(ANYWHERE))
    asked = [Requirement(line) for line in closed(list(EXTRAS))]
    assert [str(one) for one in asked if not one.specifier.contains(pins[canonicalize_name(one.name)])] == []


def test_the_tests_bring_every_other_extra() -> None:
    assert {extra for line in EXTRAS["test"] for extra in Requirement(line).extras} == set(EXTRAS) - {"test"}

"""The public surface: listed, sorted, bound, and cheap to import."""

from __future__ import annotations

import importlib
import subprocess
import sys
from types import ModuleType

import pytest

import akd_sdk

PUBLIC = ("akd_sdk", "akd_sdk.exporters", "akd_sdk.schemas")
HEAVY = ("torch", "warp", "pxr", "diffusers", "scipy", "PIL", "newton")


@pytest.fixture(params=PUBLIC)
def module(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(request.param)


def test_the_list_of_public_names_is_sorted_and_each_is_bound(module: ModuleType) -> None:
    assert list(module.__all__) == sorted(set(module.__all__))
    assert [name for name in module.__all__ if getattr(module, name, None) is None] == []


def test_dir_shows_every_public_name() -> None:
    assert set(akd_sdk.__all__) <= set(dir(akd_sdk))


def test_nothing_is_public_that_is_not_listed(module: ModuleType) -> None:
    bound = {name for name, value in vars(module).items() if not name.startswith("_") and not isinstance(value, ModuleType)}
    assert bound - {"TYPE_CHECKING", "annotations"} <= set(module.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Animatro'"):
        _ = akd_sdk.Animatro  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["akd_sdk", "akd_sdk.schemas", "akd_sdk.cli"])
def test_importing_loads_no_heavy_library(name: str) -> None:
    program = f"import sys, {name}; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


def test_the_engines_of_the_simulation_are_loaded_only_where_something_is_tracked() -> None:
    program = "import sys, akd_sdk.animator, akd_sdk.physics; print(*[m for m in ('newton', 'mujoco', 'warp') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


def test_every_listed_name_appears_once_only() -> None:
    names = [name for module in PUBLIC for name in importlib.import_module(module).__all__]
    assert sorted(names) == sorted(set(names))

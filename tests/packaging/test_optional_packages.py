"""Large packages are imported where they belong and nowhere else; those of extras only once they are used."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator

import pytest
from packaging.requirements import Requirement
from packaging_tree import ROOT

HOMES: dict[str, str | tuple[str, ...]] = {
    "diffusers": "akd_sdk/priors/video/",
    "transformers": "akd_sdk/priors/video/",
    "accelerate": "akd_sdk/priors/video/",
    "huggingface_hub": "akd_sdk/priors/video/",
    "sentencepiece": "akd_sdk/priors/video/",
    "google": "akd_sdk/priors/video/",
    "gsplat": "akd_sdk/splat/",
    "warp": ("akd_sdk/splat/", "akd_sdk/physics/", "exporters/reduction/"),
    "newton": "akd_sdk/physics/",
    "mujoco": "akd_sdk/physics/",
    "mujoco_warp": "akd_sdk/physics/",
    "igl": "akd_sdk/bodies/",
    "meshoptimizer": ("akd_sdk/formats/gltf/", "exporters/reduction/meshopt/"),
}
"""Where each may be imported; `google` is what protobuf is imported as."""

OPTIONAL = sorted(HOMES.keys() - {"warp", "newton", "mujoco", "mujoco_warp", "igl"})
FILES = sorted(file for folder in ("akd_sdk", "exporters", "schemas") for file in (ROOT / folder).rglob("*.py") if not file.is_symlink())


def imports(tree: ast.AST) -> Iterator[str]:
    """Top-level names of the packages that the import statements in a tree name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("package", sorted(HOMES))
def test_it_is_imported_in_its_home_only(package: str) -> None:
    users = {file.relative_to(ROOT).as_posix() for file in FILES if package in imports(ast.parse(file.read_text(encoding="utf-8")))}
    assert [user for user in sorted(users) if not user.startswith(HOMES[package])] == []


def test_all_modules_import_without_any_extra() -> None:
    """One interpreter in which the packages of the extras cannot be found imports every module of the package."""
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    program = f"""
import importlib, pkgutil, sys
for name in {OPTIONAL!r}:
    sys.modules[name] = None
for package in {packages!r}:
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__, package + "."):
        importlib.import_module(module.name)
print(len([name for name in sys.modules if name.startswith("akd_sdk.")]))
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) == len(FILES) - 1  # all but akd_sdk itself


def test_a_video_prior_asks_for_every_package_of_its_extra() -> None:
    from akd_sdk.priors.video.load import EXTRA

    extra = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]["video"]
    assert [Requirement(line).name for line in extra] == [name.rpartition(".")[2] for name in EXTRA]

"""The package is whole and its own, however it is run: uninstalled, editable, from a wheel, with namesakes in the way."""

from __future__ import annotations

import shutil
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging_tree import LIBRARIES, ROOT, Seen, call

pytestmark = [pytest.mark.xdist_group("packaging"), pytest.mark.timeout(300)]

BARE = (sys.executable, "-S")
"""An interpreter that reads no path files, so that an editable install of this environment has no effect."""


def package_files(root: Path) -> set[str]:
    """Files of the packages of a source tree by their installed names."""
    folders = {"akd_sdk": "akd_sdk", "exporters": "akd_sdk/exporters", "schemas": "akd_sdk/schemas"}
    return {
        f"{target}/{file.relative_to(root / source).as_posix()}"
        for source, target in folders.items()
        for file in (root / source).rglob("*")
        if file.is_file() and not file.is_symlink()
    }


def package_names(root: Path) -> set[str]:
    files = {name for name in package_files(root) if name.endswith("/__init__.py")}
    return {name.removesuffix("/__init__.py").replace("/", ".") for name in files}


def test_package_list_names_every_folder_with_an_init_file(tree: Path) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = settings["tool"]["setuptools"]["packages"]
    assert listed == sorted(listed)
    assert set(listed) == package_names(tree)


def test_folders_of_code_all_have_an_init_file(tree: Path) -> None:
    folders = {name.rpartition("/")[0].replace("/", ".") for name in package_files(tree) if name.endswith(".py")}
    assert folders == package_names(tree)


def test_the_two_links_are_links() -> None:
    for name in ("exporters", "schemas"):
        assert (ROOT / "akd_sdk" / name).is_symlink()
        assert (ROOT / "akd_sdk" / name).resolve() == (ROOT / name).resolve()


def test_uninstalled_from_the_root_all_modules_are_the_trees(tree: Path) -> None:
    seen = Seen.by(BARE, cwd=tree, path=[LIBRARIES])
    assert seen.all_below(tree)
    assert package_names(tree) <= set(seen.modules)


def test_uninstalled_elsewhere_namesakes_first_are_left_alone(tree: Path, decoys: Path, tmp_path: Path) -> None:
    seen = Seen.by(BARE, cwd=tmp_path, path=[decoys, tree, LIBRARIES])
    assert seen.all_below(tree)
    assert seen.exporters.is_relative_to(decoys.resolve())


def test_a_checkout_without_links_runs(tree: Path, decoys: Path, tmp_path: Path) -> None:
    copy = tmp_path / "checkout"
    shutil.copytree(tree, copy, symlinks=True)
    for name in ("exporters", "schemas"):
        (copy / "akd_sdk" / name).unlink()
        (copy / "akd_sdk" / name).write_text(f"../{name}")
    program = "import akd_sdk.exporters, akd_sdk.schemas; print(akd_sdk.exporters.__file__); print(akd_sdk.schemas.__file__)"
    printed = call([*BARE, "-c", program], cwd=tmp_path, path=[decoys, copy, LIBRARIES]).splitlines()
    assert [Path(line).resolve() for line in printed] == [(copy / name / "__init__.py").resolve() for name in ("exporters", "schemas")]


def test_wheel_holds_what_the_tree_holds(tree: Path, wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == package_files(tree)
    assert {"akd_sdk/py.typed", "akd_sdk/priors/mini/words.json"} <= names


def test_wheel_carries_weights_and_model_card(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"akd_sdk/priors/mini/mini.safetensors", "akd_sdk/priors/mini/CARD.md"} <= names


def test_wheel_carries_the_licence(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith("/LICENSE"))
    assert "Apache License" in archive.read(name).decode()


def test_source_distribution_holds_the_same_files_as_the_wheel(distributions: Path, wheel: Path) -> None:
    (source,) = distributions.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    below = {name for name in names if name.startswith(("akd_sdk/", "exporters/", "schemas/"))}
    moved = {name if name.startswith("akd_sdk/") else f"akd_sdk/{name}" for name in below}
    assert moved == {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}


def test_wheel_elsewhere_is_the_installed_one_with_namesakes_first(from_wheel: Path, tree: Path, decoys: Path, tmp_path: Path) -> None:
    seen = Seen.by([from_wheel / "python", "-P"], cwd=tmp_path, path=[decoys])
    assert seen.all_below(from_wheel.parent)
    assert set(Seen.by(BARE, cwd=tree, path=[LIBRARIES]).modules) == set(seen.modules)
    assert seen.exporters.is_relative_to(decoys.resolve())


def test_from_the_root_the_script_takes_the_wheel(from_wheel: Path, tree: Path) -> None:
    assert call([from_wheel / "akd", "--version"], cwd=tree).startswith("akd-sdk ")
    program = "import akd_sdk, akd_sdk.exporters; print(akd_sdk.__file__, akd_sdk.exporters.__file__)"
    (tree / "where.py").write_text(program)
    try:
        files = call([from_wheel / "python", "-P", "where.py"], cwd=tree).split()
    finally:
        (tree / "where.py").unlink()
    assert all(Path(file).resolve().is_relative_to(from_wheel.parent.resolve()) for file in files)


def test_from_the_root_a_command_takes_all_modules_from_the_tree(from_wheel: Path, tree: Path) -> None:
    assert Seen.by([from_wheel / "python"], cwd=tree).all_below(tree)


def test_editable_elsewhere_is_the_tree_with_namesakes_first(editable: Path, tree: Path, decoys: Path, tmp_path: Path) -> None:
    program = "import akd_sdk.exporters as e, akd_sdk.schemas as s, exporters; print(e.__file__, s.__file__, exporters.__file__)"
    found = [Path(file).resolve() for file in call([editable / "python", "-c", program], cwd=tmp_path, path=[decoys]).split()]
    assert found[:2] == [(tree / name / "__init__.py").resolve() for name in ("exporters", "schemas")]
    assert found[2].is_relative_to(decoys.resolve())
    assert call([editable / "akd", "--version"], cwd=tmp_path).startswith("akd-sdk ")

"""A copy of the source tree, the distributions built from it, and small environments to install them into."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from packaging_tree import LIBRARIES, ROOT, call

PARTS = ("akd_sdk", "exporters", "schemas", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parts of the checkout that a distribution is made from, links kept as links."""
    root = tmp_path_factory.mktemp("tree")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, root / part, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(ROOT / part, root / part)
    return root


@pytest.fixture(scope="session")
def decoys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with packages of other people that have the names of the two top-level folders."""
    folder = tmp_path_factory.mktemp("decoys")
    for name in ("exporters", "schemas"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise_if_used = True\n")
    return folder


@pytest.fixture(scope="session")
def distributions(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution and the wheel built from it."""
    output = tmp_path_factory.mktemp("dist")
    call([sys.executable, "-m", "build", "--no-isolation", "--outdir", output, tree], cwd=output)
    return output


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    (found,) = distributions.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Sequence[str | Path]], Path]:
    """Makes an environment that sees the libraries of this one, but not akd-sdk, and installs what `pip install` is told -> its bin folder.

    The libraries come by a path file: path files inside them, such as that of an editable install, have no effect there.
    """

    def make(name: str, what: Sequence[str | Path]) -> Path:
        home = tmp_path_factory.mktemp(name)
        call([sys.executable, "-m", "venv", "--without-pip", home], cwd=home)
        python = home / "bin" / "python"
        site = call([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], cwd=home).strip()
        Path(site, "libraries.pth").write_text(LIBRARIES + "\n")
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "--ignore-installed"]
        call([sys.executable, "-m", "pip", "--python", python, "install", *options, *what], cwd=home)
        return python.parent

    return make


@pytest.fixture(scope="session")
def from_wheel(environment: Callable[[str, Sequence[str | Path]], Path], wheel: Path) -> Path:
    return environment("wheel", [wheel])


@pytest.fixture(scope="session")
def editable(environment: Callable[[str, Sequence[str | Path]], Path], tree: Path) -> Path:
    return environment("editable", ["-e", tree])

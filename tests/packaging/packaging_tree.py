"""Where the checkout is, what an install brings, and probes that tell from which place an interpreter takes the package."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = sysconfig.get_path("purelib")


def call(command: Sequence[str | Path], *, cwd: Path, path: Sequence[Path | str] = ()) -> str:
    """Standard output of a command that has to succeed, with `path` as PYTHONPATH."""
    env = {key: value for key, value in os.environ.items() if key not in {"PYTHONPATH", "PYTHONHOME"}}
    env |= {"PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def brought_by(requirements: Sequence[str]) -> set[str]:
    """Canonical names of the packages that these requirements bring on this machine, their own requirements included."""
    waiting = [Requirement(line) for line in requirements]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted = waiting.pop()
        key = (canonicalize_name(wanted.name), frozenset(wanted.extras))
        if key in seen:
            continue
        seen.add(key)
        for line in distribution(wanted.name).requires or ():
            further = Requirement(line)
            if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras)):
                waiting.append(further)
    return {name for name, _ in seen}


PROBE = """
import importlib.util, json, pkgutil
import akd_sdk, akd_sdk.schemas

found = {"akd_sdk": akd_sdk.__file__, "akd_sdk.schemas": akd_sdk.schemas.__file__}

def walk(path, prefix):
    for module in pkgutil.iter_modules(path, prefix):
        spec = module.module_finder.find_spec(module.name)
        found.setdefault(module.name, spec.origin)
        walk(spec.submodule_search_locations or (), module.name + ".")

walk(akd_sdk.__path__, "akd_sdk.")
found["akd_sdk.exporters"] = importlib.util.find_spec("akd_sdk.exporters").origin
print(json.dumps({"modules": found, "exporters": importlib.util.find_spec("exporters").origin}))
"""


@dataclass(frozen=True)
class Seen:
    """Where one interpreter found things: every module of the package, and what the bare names of the two folders gave."""

    modules: dict[str, Path]
    exporters: Path

    @classmethod
    def by(cls, command: Sequence[str | Path], *, cwd: Path, path: Sequence[Path | str] = ()) -> Seen:
        answer = json.loads(call([*command, "-c", PROBE], cwd=cwd, path=path))
        return cls({name: Path(file).resolve() for name, file in answer["modules"].items()}, Path(answer["exporters"]).resolve())

    def all_below(self, folder: Path) -> bool:
        return all(file.is_relative_to(folder.resolve()) for file in self.modules.values())

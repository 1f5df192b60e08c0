"""Engines in Node that play and check exported files: three.js and the Khronos validator."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

PROBES = Path(__file__).resolve().parents[1] / "engines"


def installed_engines() -> Path:
    """The node_modules folder with the engines; FileNotFoundError says what is missing."""
    given = os.environ.get("ENGINE_MODULES")
    folder = (Path(given) if given else PROBES) / "node_modules"
    if shutil.which("node") is None:
        raise FileNotFoundError("Node is not here (node, on the PATH)")
    if not (folder / "three").is_dir() or not (folder / "gltf-validator").is_dir():
        raise FileNotFoundError("the engines are not here: npm install --prefix tests/engines --ignore-scripts --no-audit --no-fund")
    return folder


def engine_modules() -> Path:
    """`installed_engines`; tests that need them are skipped where they, or Node, are absent."""
    try:
        return installed_engines()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))


def _node(script: str, modules: Path, *arguments: str, given: str = "") -> Any:
    command = ["node", str(PROBES / script), str(modules), *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@dataclass(frozen=True)
class Play:
    """What three.js is to play: an animation by name, positions of nodes at times in seconds."""

    file: Path
    animation: str
    nodes: NDArray[np.int64]
    times: NDArray[np.float64]


def three_positions(modules: Path, plays: Sequence[Play]) -> list[tuple[float, NDArray[np.float64]]]:
    """Each play's duration in seconds and world positions (times, nodes, 3) in the file's space."""
    tasks = [
        {"file": str(play.file), "animation": play.animation, "nodes": play.nodes.tolist(), "times": play.times.tolist()} for play in plays
    ]
    results = _node("three_positions.mjs", modules, given=json.dumps(tasks))
    return [(result["duration"], np.array(result["positions"])) for result in results]


def validator_errors(modules: Path, files: Sequence[Path]) -> list[dict[str, int]]:
    """How often each error of the Khronos validator occurs, file by file."""
    return [report["errors"] for report in _node("validate.mjs", modules, *map(str, files))]


def new_errors(modules: Path, source: Path, made: Path) -> int:
    """How many errors the Khronos validator finds in a file that it does not find in its source."""
    before, after = validator_errors(modules, [source, made])
    return sum(max(0, count - before.get(code, 0)) for code, count in after.items())


def three_bvh_positions(modules: Path, file: Path, times: NDArray[np.float64]) -> tuple[list[str], NDArray[np.float64]]:
    """Names and positions (times, joints, 3), in the file's unit, of a BVH that three.js plays."""
    (result,) = _node("three_bvh.mjs", modules, given=json.dumps([{"file": str(file), "times": times.tolist()}]))
    return result["names"], np.array(result["positions"])

"""What the reduction tools of others reach: run from npm over their settings, and their files measured."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from akd_sdk.exporters.reduction.meshopt import codec
from akd_sdk.exporters.reduction.meshopt.filters import decode_quaternions, decode_steps
from tests.bench.reduction_set import Case, dense_glb
from tests.support.reduction_oracle import Channel, played

Array = NDArray[np.float64]
PACKAGES = (
    "gltfpack",
    "@gltf-transform/core",
    "@gltf-transform/functions",
    "@gltf-transform/extensions",
    "keyframe-resample",
    "meshoptimizer",
)
SCRIPT = Path(__file__).with_name("reduction_peers.mjs")
TOLERANCES = tuple(float(f"{10.0**exponent:.3g}") for exponent in np.arange(-8.0, -0.99, 1.0 / 3.0))
RATES = (0, 30, 24, 20, 15, 12, 10, 8, 6, 5)
FINER = (1.2, 1.45, 1.8)
WORST = 6e-3
"""A setting off by more is not refined further, metres."""
CHAINS = 3
"""Thinned settings of each tolerance that are compressed, the smallest first."""
TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


@dataclass(frozen=True)
class Result:
    """One setting: bytes of accessors, of JSON, of compressed views (0: none is), the worst error (metres), seconds."""

    tool: str
    setting: str
    accessors: int
    json: int
    compressed: int
    worst: float
    seconds: float

    @property
    def plain(self) -> int:
        return self.accessors + self.json


def missing(folder: Path | None) -> str | None:
    """Why the tools cannot be run; None if they can."""
    if shutil.which("node") is None:
        return "node is not installed"
    if folder is None:
        return f"no folder of npm packages (--npm or AKD_NPM; npm install {' '.join(PACKAGES)})"
    absent = [name for name in PACKAGES if not (folder / "node_modules" / name).is_dir()]
    return f"{folder} lacks {', '.join(absent)}" if absent else None


class Peers:
    """The tools' settings on one clip."""

    def __init__(self, case: Case, folder: Path, npm: Path) -> None:
        self.case = case
        self.folder = folder / case.label.replace(" ", "_").replace("/", "_")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.script = self.folder / SCRIPT.name  # where node finds the packages
        shutil.copy(SCRIPT, self.script)
        (self.folder / "node_modules").symlink_to((npm / "node_modules").resolve())
        self.source = self.folder / "dense.glb"
        self.source.write_bytes(dense_glb(case))
        clip = case.clip
        self.time = np.arange(4 * (clip.frames - 1) + 1) / (4.0 * clip.fps)
        self.true = file_world(self.source, case.rig.skeleton.names, self.time)
        self.results: dict[tuple[str, str], Result] = {}

    def run(self) -> list[Result]:
        """All settings that may be the best of a tolerance."""
        plain = [("gltfpack", f"-af {rate}", [["pack", "-af", f"{rate}"]]) for rate in RATES]
        plain += self._thinned(TOLERANCES)
        self._do(plain)
        for tolerance in (1e-4, 1e-3, 5e-3):
            self._do(self._thinned(self._nearby(tolerance)))
        self._compress()
        return list(self.results.values())

    def _thinned(self, tolerances: tuple[float, ...]) -> list[tuple[str, str, list[list[Any]]]]:
        jobs: list[tuple[str, str, list[list[Any]]]] = []
        for value in tolerances:
            jobs.append(("resample", f"{value:g}", [["resample", value]]))
            jobs.append(("chain", f"{value:g} -af 0", [["resample", value], ["pack", "-af", "0"]]))
        return jobs

    def _nearby(self, tolerance: float) -> tuple[float, ...]:
        """Settings of `resample` a little beyond the widest that stays within a tolerance."""
        kept = [float(r.setting.split()[0]) for r in self.results.values() if r.tool == "chain" and r.worst <= tolerance]
        return tuple(float(f"{max(kept) * factor:.3g}") for factor in FINER) if kept else ()

    def _compress(self) -> None:
        """The compressed forms of every plain setting near a tolerance, and all bits at the source's rate."""
        jobs: list[tuple[str, str, list[list[Any]]]] = []
        for result in self._worth_compressing():
            words = result.setting.split()
            before: list[list[Any]] = [["resample", float(words[0])]] if result.tool == "chain" else []
            rate = words[-1]
            jobs.append((f"{result.tool} -c", result.setting, [*before, ["pack", "-c", "-af", rate]]))
            whole = result.tool == "gltfpack" and rate == "0"
            turns = range(8, 17) if whole else (8, 10, 12, 13, 14, 16)
            for bits in turns:
                for vector in range(9, 17) if whole else (12, 16):
                    pack = ["pack", "-cc", "-af", rate, "-ar", f"{bits}", "-at", f"{vector}", "-as", f"{vector}"]
                    jobs.append((f"{result.tool} -cc", f"{result.setting} -ar {bits} -at {vector}", [*before, pack]))
        for value in TOLERANCES:
            for level in ("medium", "high"):
                jobs.append(("resample + meshopt", f"{value:g} {level}", [["resample", value], ["meshopt", level]]))
        self._do(jobs)

    def _worth_compressing(self) -> list[Result]:
        """All resampling that comes near a tolerance, and of thinning the widest settings that stay within each."""
        out = [result for result in self.results.values() if result.tool == "gltfpack" and result.worst <= WORST]
        chains = sorted((result for result in self.results.values() if result.tool == "chain"), key=lambda result: result.plain)
        for tolerance in (1e-4, 1e-3, 5e-3):
            out += [result for result in chains if result.worst <= tolerance][:CHAINS]
        return list(dict.fromkeys(out))

    def _do(self, jobs: list[tuple[str, str, list[list[Any]]]]) -> None:
        """Runs jobs that were not run yet and measures their files."""
        new = [job for job in jobs if job[:2] not in self.results]
        if not new:
            return
        output = self.folder / "out.glb"
        outputs = [output.with_name(f"{n}.glb") for n in range(len(new))]
        rows = [{"input": str(self.source), "output": str(out), "steps": job[2]} for job, out in zip(new, outputs, strict=True)]
        listing = self.folder / "jobs.json"
        listing.write_text(json.dumps(rows))
        subprocess.run(["node", str(self.script), str(listing)], check=True, capture_output=True)
        for (tool, setting, _), out, seconds in zip(new, outputs, json.loads(listing.read_text()), strict=True):
            self.results[tool, setting] = self._measured(tool, setting, out, seconds)
            out.unlink()

    def _measured(self, tool: str, setting: str, path: Path, seconds: float) -> Result:
        found = file_world(path, self.case.rig.skeleton.names, self.time)
        return Result(tool, setting, *file_bytes(path), point_error(self.true, found), seconds)


def best(results: list[Result], tolerance: float, size: Callable[[Result], int]) -> Result | None:
    """The smallest of those within a tolerance."""
    return min((result for result in results if result.worst <= tolerance), key=size, default=None)


def point_error(true: Array, found: Array) -> float:
    """The largest displacement of points 3 cm around the joints, of transforms (n, joints, 4, 4)."""
    length = np.linalg.norm(true[..., :3, :3], axis=-2)
    apart = (found - true)[..., :3, :3] * (0.03 / length)[..., None, :] + (found - true)[..., :3, 3:]
    return float(np.linalg.norm(apart, axis=-2).max())


def opened(path: Path) -> tuple[dict[str, Any], bytes]:
    """JSON and bytes of a GLB."""
    data = path.read_bytes()
    length = int.from_bytes(data[12:16], "little")
    content: dict[str, Any] = json.loads(data[20 : 20 + length])
    return content, data[28 + length :]


def compressed_view(view: dict[str, Any]) -> dict[str, Any] | None:
    return next((view["extensions"][name] for name in codec.VERSIONS if name in view.get("extensions", {})), None)


def file_bytes(path: Path) -> tuple[int, int, int]:
    """Bytes of the animation's accessors, of its JSON, and of its buffer views where they are compressed."""
    content, _ = opened(path)
    used = sorted({sampler[key] for item in content.get("animations", []) for sampler in item["samplers"] for key in ("input", "output")})
    accessors = [content["accessors"][i] for i in used]
    size = 0
    for item in accessors:
        length = item["count"] * WIDTHS[item["type"]] * np.dtype(TYPES[item["componentType"]]).itemsize
        size += length + -length % 4
    views = [content["bufferViews"][i] for i in sorted({item["bufferView"] for item in accessors if "bufferView" in item})]
    text = sum(len(json.dumps(item, separators=(",", ":"))) + 1 for item in [*accessors, *views])
    text += len(json.dumps(content.get("animations", []), separators=(",", ":"))) if accessors else 0
    packed = [compressed_view(view) for view in views]
    return size, text, sum(view["byteLength"] for view in packed if view) if packed and all(packed) else 0


def file_world(path: Path, names: tuple[str, ...], time: Array) -> Array:
    """(n, joints, 4, 4) transforms of the nodes of these names, as a slerp player shows them."""
    content, data = opened(path)
    nodes = content["nodes"]
    parents = {child: j for j, node in enumerate(nodes) for child in node.get("children", [])}
    local: dict[tuple[int, str], Array] = {}
    for animation in content.get("animations", []):
        for item in animation["channels"]:
            sampler, target = animation["samplers"][item["sampler"]], item["target"]
            held = sampler.get("interpolation", "LINEAR") == "STEP"
            keys = Channel(
                target["node"], target["path"], rows(content, data, sampler["input"])[:, 0], rows(content, data, sampler["output"]), held
            )
            local[target["node"], target["path"]] = played(keys, time, False)
    world: dict[int, Array] = {}

    def place(j: int) -> Array:
        if j not in world:
            node = nodes[j]
            own = np.zeros((len(time), 4, 4))
            turn = local.get((j, "rotation"), np.array([node.get("rotation", [0.0, 0.0, 0.0, 1.0])]))
            scale = local.get((j, "scale"), np.array([node.get("scale", [1.0, 1.0, 1.0])]))
            own[:, :3, :3] = Rotation.from_quat(turn).as_matrix() * scale[:, None, :]
            own[:, :3, 3] = local.get((j, "translation"), np.array([node.get("translation", [0.0, 0.0, 0.0])]))
            own[:, 3, 3] = 1.0
            world[j] = place(parents[j]) @ own if j in parents else own
        return world[j]

    index = {node.get("name"): j for j, node in enumerate(nodes)}
    return np.stack([place(index[name]) for name in names], axis=1)


def rows(content: dict[str, Any], data: bytes, accessor: int) -> Array:
    """An accessor's decoded rows (count, width)."""
    item = content["accessors"][accessor]
    dtype, width = np.dtype(TYPES[item["componentType"]]), WIDTHS[item["type"]]
    raw = view_bytes(content, data, item["bufferView"])
    values = np.frombuffer(raw, dtype, item["count"] * width, item.get("byteOffset", 0)).reshape(-1, width).astype(np.float64)
    return np.maximum(values / np.iinfo(dtype).max, -1.0) if item.get("normalized") else values


def view_bytes(content: dict[str, Any], data: bytes, index: int) -> bytes:
    """The bytes of a buffer view, decompressed."""
    view = content["bufferViews"][index]
    packed = compressed_view(view)
    place = packed or view
    raw = data[place.get("byteOffset", 0) : place.get("byteOffset", 0) + place["byteLength"]]
    if packed is None:
        return raw
    decoded = codec.decode(raw, packed["count"], packed["byteStride"])
    if packed.get("filter") == "QUATERNION":
        return decode_quaternions(np.frombuffer(decoded, "<i2").reshape(-1, 4)).tobytes()
    if packed.get("filter") == "EXPONENTIAL":
        return decode_steps(np.frombuffer(decoded, "<u4")).tobytes()
    return decoded

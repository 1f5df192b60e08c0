"""glTF files with one fault of their clips each, made from one that has none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from gltf_build import Post, pack_glb, turn

NODES = {"low": 0, "middle": 1, "high": 2}


@dataclass
class Track:
    """Keys of one property; `dtype` of what is stored, `rows` where that is not `values`."""

    values: Any
    times: Any = (0.0, 0.5, 1.0)
    mode: str = "LINEAR"
    dtype: str = "f4"


def swing(degrees: float, axis: str = "x") -> list[list[float]]:
    """Out and back."""
    return [turn(axis, 0.0), turn(axis, degrees), turn(axis, 0.0)]


@dataclass
class Walk:
    """A post that walks, sways and looks about: a loop of a second at 30 frames a second."""

    tracks: dict[tuple[str, str], Track] = field(
        default_factory=lambda: {
            ("low", "translation"): Track([[0.0, 0.0, 0.0], [0.0, 0.1, 0.5], [0.0, 0.0, 1.0]]),
            ("low", "rotation"): Track(swing(10.0, "y")),
            ("middle", "rotation"): Track(swing(20.0)),
            ("high", "rotation"): Track(swing(-30.0)),
        }
    )
    name: str | None = "walk-loop"
    extras: dict[str, Any] = field(default_factory=lambda: {"fps": 30.0, "loop": True})
    post: Post = field(default_factory=Post)
    unpacked_bytes: int = 0

    def add_clip(self, name: str | None = None) -> None:
        """The clip as it is now becomes an animation of the file."""
        item: dict[str, Any] = {"channels": [], "samplers": [], "extras": self.extras}
        called = name or self.name
        if called is not None:
            item["name"] = called
        for (node, path), track in self.tracks.items():
            rows = np.asarray(track.values, dtype=float)
            more: dict[str, Any] = {}
            if track.dtype != "f4":
                more, rows = {"normalized": True}, np.round(rows * np.iinfo("<" + track.dtype).max)
            output = self.post.accessor(rows, track.dtype, **more)
            item["samplers"].append({"input": self.post.accessor(track.times), "output": output, "interpolation": track.mode})
            item["channels"].append({"sampler": len(item["samplers"]) - 1, "target": {"node": NODES[node], "path": path}})
        self.post.add("animations", item)

    def node(self, name: str) -> dict[str, Any]:
        node: dict[str, Any] = self.post.json["nodes"][NODES[name]]
        return node

    def compress(self, view_filter: str = "NONE", *, plain: bool = True) -> None:
        """Say of the last track's values that they are compressed; `plain`: the bytes as they were lie beside."""
        output = self.post.json["accessors"][self.post.json["animations"][0]["samplers"][-1]["output"]]
        view = self.post.json["bufferViews"][output["bufferView"]]
        size = {"byteOffset": view["byteOffset"], "byteLength": view["byteLength"]}
        made = {"buffer": 0, **size, "byteStride": 16, "count": 3, "mode": "ATTRIBUTES", "filter": view_filter}
        view["extensions"] = {"EXT_meshopt_compression": made}
        if not plain:
            view |= {"buffer": 1, "byteOffset": 0}
            self.unpacked_bytes = view["byteLength"]

    def save(self, path: Path) -> Path:
        buffers: list[dict[str, Any]] = [{"byteLength": len(self.post.data)}]
        if self.unpacked_bytes:
            buffers.append({"byteLength": self.unpacked_bytes, "extensions": {"EXT_meshopt_compression": {"fallback": True}}})
        path.write_bytes(pack_glb(json.dumps({**self.post.json, "buffers": buffers}).encode(), bytes(self.post.data)))
        return path

    def bones(self, names: list[str]) -> None:
        """More joints of the skin, each below the one before."""
        above = NODES["high"]
        for name in names:
            above = self.post.node(above, name=name, translation=[0.0, 0.01, 0.0])
            self.post.json["skins"][0]["joints"].append(above)


Change = Callable[[Walk], object]


@dataclass(frozen=True)
class Fault:
    """How to make a fault: before the clip is written (`keys`) or after (`file`); the profile that minds it; a package that is absent."""

    keys: Change | None = None
    file: Change | None = None
    profile: str | None = None
    absent: str | None = None

    def save(self, folder: Path) -> Path:
        walk = Walk()
        if self.keys is not None:
            self.keys(walk)
        walk.add_clip()
        if self.file is not None:
            self.file(walk)
        return walk.save(folder / "walk.glb")


def _high(**changes: Any) -> Change:
    """Other keys of the last joint's rotation."""

    def change(walk: Walk) -> None:
        walk.tracks["high", "rotation"] = Track(**({"values": swing(-30.0)} | changes))

    return change


def _all_times(times: list[float]) -> Change:
    def change(walk: Walk) -> None:
        for track in walk.tracks.values():
            track.times = times

    return change


def _rename(**names: str) -> Change:
    def change(walk: Walk) -> None:
        for old, new in names.items():
            walk.node(old)["name"] = new

    return change


def _clip_name(name: str | None) -> Change:
    return lambda walk: setattr(walk, "name", name)


def _astray(walk: Walk) -> None:
    walk.post.add("animations", {"name": "none", "samplers": [], "channels": []})
    output = walk.post.json["animations"][0]["samplers"][0]
    lost = {"sampler": 0, "target": {"path": "pointer"}}
    walk.post.json["animations"][1] |= {"samplers": [output], "channels": [lost]}


def _two_tops(walk: Walk) -> None:
    walk.node("middle")["children"].remove(NODES["high"])
    walk.post.json["scenes"][0]["nodes"].append(NODES["high"])


def _more_influences(walk: Walk) -> None:
    attributes = walk.post.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["JOINTS_1"] = walk.post.accessor(walk.post.influences, "u1")
    attributes["WEIGHTS_0"] = attributes["WEIGHTS_1"] = walk.post.accessor(np.full((24, 4), 0.125))


def _far(walk: Walk) -> None:
    walk.tracks["low", "translation"].values = [[0.0, 0.0, 0.0], [0.0, 1e20, 0.0], [0.0, 0.0, 1.0]]


def _pointer(walk: Walk) -> None:
    _astray(walk)
    target = walk.post.json["animations"][1]["channels"][0]["target"]
    target["extensions"] = {"KHR_animation_pointer": {"pointer": "/materials/0/emissiveFactor"}}


def _hips_go(walk: Walk) -> None:
    """The travel is on a joint with a moving one above it, and does not close; nor does the turn with it."""
    walk.tracks["middle", "translation"] = Track([[0.0, 0.6, 0.0], [0.0, 0.6, 0.5], [0.0, 0.6, 1.0]])
    walk.tracks["middle", "rotation"] = Track([turn("y", 0.0), turn("y", 20.0), turn("y", 40.0)])


SPLINE = [row for key in swing(-30.0) for row in ([0.0] * 4, key, [0.0] * 4)]
SIDES = ("Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot")
HEADLESS = ["mixamorig:Hips", "mixamorig:Spine", *(f"mixamorig:{side}{limb}" for side in ("Left", "Right") for limb in SIDES)]

GLTF_FAULTS: dict[str, Fault] = {
    "key-unreadable": Fault(_high(values=swing(-30.0)[:2])),
    "key-not-finite": Fault(_high(values=[turn("x", 0.0), [np.nan] * 4, turn("x", 0.0)])),
    "key-huge": Fault(_far),
    "key-time": Fault(_high(times=[0.0, 1.0, 1.0])),
    "key-not-unit": Fault(_high(values=1.3 * np.array(swing(-30.0)))),
    "key-antipodal": Fault(_high(values=np.array(swing(-30.0)) * [[1.0], [-1.0], [1.0]])),
    "key-apart": Fault(_high(values=swing(-61.0))),
    "key-8-bit": Fault(_high(dtype="i1")),
    "key-compressed": Fault(file=lambda walk: walk.compress(plain=False), absent="meshoptimizer"),
    "clip-empty": Fault(file=_astray),
    "clip-unnamed": Fault(_clip_name(None)),
    "clip-same-name": Fault(file=lambda walk: walk.add_clip()),
    "clip-lead-in": Fault(_all_times([1 / 30, 0.5, 1.0])),
    "clip-starts-apart": Fault(_high(times=[1 / 30, 0.5, 1.0])),
    "clip-ends-apart": Fault(_high(times=[0.0, 0.5, 29 / 30])),
    "clip-ghost-keys": Fault(_high(values=swing(0.0))),
    "clip-seam": Fault(_high(values=[*swing(-30.0)[:2], turn("x", 1.0)])),
    "joint-same-name": Fault(_rename(high="low")),
    "name-collides": Fault(_rename(high="lo.w"), profile="web"),
    "name-collides-older": Fault(_rename(high="Low"), profile="godot"),
    "loop-name": Fault(_clip_name("walk"), profile="godot"),
    "root-several": Fault(file=_two_tops, profile="unreal"),
    "bone-count": Fault(file=lambda walk: walk.bones([f"bone{i}" for i in range(300)]), profile="unreal"),
    "influence-count": Fault(file=_more_influences, profile="unity"),
    "extension-unread": Fault(file=lambda walk: walk.post.json.update(extensionsRequired=["EXT_meshopt_compression"]), profile="godot"),
    "key-interpolation": Fault(_high(values=SPLINE, mode="CUBICSPLINE"), profile="godot"),
    "key-16-bit": Fault(_high(dtype="i2"), profile="web"),
    "key-off-grid": Fault(_high(times=[0.0, 0.1 * np.pi, 1.0]), profile="godot"),
    "import-rate": Fault(_all_times([0.0, 11 / 24, 1.0]), profile="godot"),
    "joint-scale": Fault(file=lambda walk: walk.node("middle").update(scale=[1.0, 2.0, 1.0]), profile="unity"),
    "humanoid-bones": Fault(file=lambda walk: walk.bones(HEADLESS), profile="unity"),
    "sign-dropped": Fault(file=lambda walk: walk.compress("QUATERNION"), profile="unity"),
    "format-unread": Fault(profile="omniverse"),
}
"""By code, a file that has it."""

NO_FAULTS: dict[str, Fault] = {
    "60 degrees apart": Fault(_high(values=swing(60.0))),
    "60 degrees apart, in 16 bits": Fault(_high(values=swing(60.0), dtype="i2")),
    "signs that change where keys are held": Fault(_high(values=np.array(swing(-30.0)) * [[1.0], [-1.0], [1.0]], mode="STEP")),
    "all signs negative": Fault(_high(values=-np.array(swing(-30.0)))),
    "one key": Fault(_high(values=[turn("x", 5.0)], times=[0.0])),
    "a first key within rounding of 0": Fault(_all_times([5e-4, 0.5, 1.0])),
    "a spline": Fault(_high(values=SPLINE, mode="CUBICSPLINE"), profile="web"),
    "an extension's clip": Fault(file=_pointer),
    "hips that travel and turn under a moving root": Fault(_hips_go),
    "no word of a loop": Fault(lambda walk: (walk.extras.clear(), _high(values=[*swing(-30.0)[:2], turn("x", 20.0)])(walk))),
    "25 joints by other names": Fault(file=lambda walk: walk.bones([f"limb{i}" for i in range(25)]), profile="unity"),
    "a humanoid that is whole": Fault(file=lambda walk: walk.bones([*HEADLESS, "mixamorig:Head"]), profile="unity"),
    "names that differ by what three.js keeps": Fault(_rename(high="low_"), profile="web"),
    "equal names under different parents": Fault(_rename(high="low"), profile="unity"),
}
"""What is close to a fault, and none."""

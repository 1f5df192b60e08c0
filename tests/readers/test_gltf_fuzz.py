"""Damaged files: whatever is changed in a good one, it is read or refused with an `AkdError`, and soon.

More cases than the suite runs: `python tests/readers/test_gltf_fuzz.py CASES [FIRST_SEED]`.
"""

from __future__ import annotations

import copy
import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from gltf_build import Post, pack_glb, turn

from akd_sdk.errors import AkdError
from akd_sdk.readers import open_rig

ODD_VALUES: list[Any] = [
    None, True, -1, 0, 1, 2, 5, 255, 65536, 2**31, 2**53, 10**40, 0.5, -1e-30, 1e15, 1e308, "", "x", "../x", "\u0000", [], [1], {},
    {"a": 1}, [0.0] * 3, [1e14] * 3, [1e-20] * 3, [0, 0, 0, 1], 5126, 5121, "VEC3", "SCALAR", "MAT4", "CUBICSPLINE",
]  # fmt: skip
SLOWEST_S = 5.0  # of processor time, so that a busy machine changes nothing


def good_file() -> Post:
    """A post with an armature, a helper, morphs, a material, sparse values and clips of all interpolations."""
    file = Post(build=False)
    armature = file.node(name="Armature", rotation=turn("x", -90), scale=[0.5] * 3)
    helper = file.node(armature, name="helper", rotation=turn("x", 90), scale=[2.0] * 3)
    file.chain(helper)
    file.dress()
    primitive = file.json["meshes"][0]["primitives"][0]
    primitive["attributes"]["NORMAL"] = file.accessor(file.positions)
    primitive["attributes"]["COLOR_0"] = file.accessor(np.zeros((24, 4)), "u1", normalized=True)
    primitive["targets"] = [{"POSITION": file.add("accessors", {"componentType": 5126, "count": 24, "type": "VEC3"})}]
    file.json["accessors"][-1]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": file.view(b"\x03\0\0\0"), "componentType": 5121},
        "values": {"bufferView": file.view(bytes(12))},
    }
    primitive["material"] = file.add("materials", {"pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1, 1]}})
    turns = [turn("x", 0), turn("x", 60), turn("x", 0)]
    cubic = np.stack([np.zeros((3, 3)), np.tile([0.0, 0.6, 0.0], (3, 1)), np.zeros((3, 3))], axis=1).reshape(9, 3)
    file.animation(
        [
            (file.joints[1], "rotation", [0.0, 0.5, 1.0], turns, "LINEAR"),
            (file.joints[2], "translation", [0.0, 0.5, 1.0], cubic, "CUBICSPLINE"),
            (file.joints[0], "scale", [0.0, 0.5], np.ones((2, 3)), "STEP"),
            (file.body, "weights", [0.0, 1.0], [[0.0], [1.0]], "LINEAR"),
        ],
        name="nod",
    )
    return file


def slots(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    found = [(value, key) for key in keys]
    for key in keys:
        found += slots(value[key])
    return found


def damaged_json(content: dict[str, Any], generator: np.random.Generator) -> dict[str, Any]:
    content = copy.deepcopy(content)
    for _ in range(int(generator.integers(1, 4))):
        places = slots(content)
        holder, key = places[int(generator.integers(len(places)))]
        what = generator.random()
        if what < 0.15:
            del holder[key]
        elif what < 0.3:
            other = places[int(generator.integers(len(places)))]
            holder[key] = copy.deepcopy(other[0][other[1]])
        else:
            holder[key] = copy.deepcopy(ODD_VALUES[int(generator.integers(len(ODD_VALUES)))])
    return content


def damaged(file: Post, seed: int) -> bytes:
    """Bytes flipped or cut, floats replaced, or JSON changed."""
    generator = np.random.default_rng(seed)
    kind = generator.random()
    if kind < 0.6:
        content = {**file.json, "buffers": [{"byteLength": len(file.data)}]}
        return pack_glb(json.dumps(damaged_json(content, generator)).encode(), bytes(file.data))
    data = bytearray(file.glb())
    if kind < 0.8:  # numbers of the buffer
        start = len(data) - len(file.data)
        odd = np.array([np.nan, np.inf, -1e38, 1e38, 1e-38, 0.0, -1.0, 1e12], dtype="<f4")
        for _ in range(int(generator.integers(1, 4))):
            at = start + 4 * int(generator.integers(len(file.data) // 4))
            data[at : at + 4] = odd[generator.integers(len(odd))].tobytes()
    elif kind < 0.9:
        for _ in range(int(generator.integers(1, 6))):
            data[int(generator.integers(len(data)))] = int(generator.integers(256))
    else:
        del data[int(generator.integers(len(data))) :]
    return bytes(data)


def attempt(path: Path, data: bytes) -> str:
    """The kind of answer; anything but a rig or an AkdError is raised on."""
    path.write_bytes(data)
    started = time.process_time()
    rig, refusal = None, None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            rig = open_rig(path)
        except AkdError as fault:
            refusal = fault
    assert time.process_time() - started < SLOWEST_S
    if rig is None:
        assert str(refusal).startswith(str(path))
        assert "\n" not in str(refusal)
        return type(refusal).__name__
    assert np.isfinite(rig.skeleton.rest_world).all()
    assert all(np.isfinite(skin.inverse_binds).all() and np.isfinite(skin.vertices).all() for skin in rig.skins)
    assert rig.height > 0.0
    return "read"


def attempts(path: Path, first: int, count: int) -> dict[str, int]:
    """How often each answer came; a fault names its seed."""
    counts: dict[str, int] = {}
    file = good_file()
    for seed in range(first, first + count):
        try:
            answer = attempt(path, damaged(file, seed))
        except Exception as fault:
            raise AssertionError(f"seed {seed}: {type(fault).__name__}: {fault}") from fault
        counts[answer] = counts.get(answer, 0) + 1
    return counts


def test_the_file_that_is_damaged_is_good(tmp_path: Path) -> None:
    assert attempt(tmp_path / "good.glb", good_file().glb()) == "read"


@pytest.mark.parametrize("first", range(0, 240, 60))
def test_damaged_files_are_read_or_refused(tmp_path: Path, first: int) -> None:
    answers = attempts(tmp_path / "damaged.glb", first, 60)
    assert answers["ReadError"] > 10
    assert answers["read"] > 2


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(attempts(Path(folder) / "damaged.glb", int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[1])))

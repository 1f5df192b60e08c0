"""What a rig is found to be does not depend on names, order, facing in the file, or unit."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from disguise import Disguise, bare_copy, disguise
from numpy.typing import NDArray
from opened import opened

from akd_sdk.readers import open_rig
from akd_sdk.rig import Anatomy, complete
from akd_sdk.views.rig_tokens import tokens_of

Array = NDArray[np.float64]

FIVE = (
    "khronos/Fox.glb",
    "quaternius/animals_pack/Wolf.glb",
    "quaternius/animals_pack/Deer.glb",
    "khronos/CesiumMan.glb",
    "kaykit_adventurers/Knight.glb",
)
SAME_SHARE = 1e-5
"""Of the body's height: two ways of rounding, no more."""
TURNS = ((0, 0.7, 3.0), (1, -1.9, 0.01))


def check_same(found: Anatomy, again: Anatomy, worn: Disguise) -> None:
    """`again`, found of the disguise, is `found` in new places."""
    new_of, old, new = worn.new_of, found.skeleton, again.skeleton
    assert again.body == found.body
    assert [new.groups[j] for j in new_of] == list(old.groups)
    assert [new.roles[j] for j in new_of] == list(old.roles)
    np.testing.assert_array_equal(new.sides[new_of], old.sides)
    hung = np.where(old.solve_parents >= 0, new_of[np.maximum(old.solve_parents, 0)], -1)
    np.testing.assert_array_equal(new.solve_parents[new_of], hung)
    assert new.pelvis == new_of[old.pelvis]
    expected = {(c.kind, c.side, tuple(int(new_of[j]) for j in c.joints)) for c in old.chains}
    assert {(c.kind, c.side, c.joints) for c in new.chains} == expected
    check_same_places(found, again, worn)


def check_same_places(found: Anatomy, again: Anatomy, worn: Disguise) -> None:
    """Facing, lengths, tips, soles and frames agree after the turn and the scale."""
    old, new = found.skeleton, again.skeleton
    tall = float(np.ptp(old.rest_world[:, 1, 3]))
    np.testing.assert_allclose(again.forward, worn.turn @ found.forward, atol=1e-5)
    assert again.leg_length == pytest.approx(found.leg_length * worn.scale, rel=1e-6)
    assert again.human_scale == pytest.approx(found.human_scale / worn.scale, rel=1e-5)
    at_rest, there = sole_places(found), sole_places(again)
    assert set(at_rest) == set(there)
    for key, place in at_rest.items():
        np.testing.assert_allclose(there[key], worn.scale * worn.turn @ place, atol=SAME_SHARE * tall * worn.scale)
    for chain in old.chains:
        if chain.tip < 0:
            continue
        tip = old.tips[chain.tip]
        twin = next(t for t in new.tips if t.joint == worn.new_of[tip.joint] and t.kind == tip.kind)
        a = old.points_at_rest(np.array([tip.joint]), tip.offset[None])[0]
        b = new.points_at_rest(np.array([twin.joint]), twin.offset[None])[0]
        np.testing.assert_allclose(b, worn.scale * worn.turn @ a, atol=SAME_SHARE * tall * worn.scale)
    np.testing.assert_allclose(np.abs(np.sum(new.frames[worn.new_of] * old.frames, axis=1)), 1.0, atol=1e-8)
    np.testing.assert_allclose(new.limits[worn.new_of], old.limits, atol=1e-4)


def sole_places(anatomy: Anatomy) -> dict[tuple[str, str], Array]:
    skeleton = anatomy.skeleton
    return {
        (p.limb, p.kind): skeleton.points_at_rest(np.array([p.joint]), p.offset[None])[0] for p in anatomy.contact_points
    }  # fmt: skip


@pytest.mark.parametrize("name", FIVE)
def test_shared_rig_is_found_the_same_in_disguise(shared: Path, name: str) -> None:
    rig = opened(shared / "data" / "rigs" / name)
    bare = bare_copy(rig.skeleton)
    found = complete(bare, rig.skins)
    for seed, angle, scale in TURNS:
        worn = disguise(bare, rig.skins, np.random.default_rng(seed), angle, scale)
        check_same(found, complete(worn.skeleton, worn.skins), worn)


@pytest.mark.parametrize("name", ["quadruped", "biped"])
def test_sample_is_found_the_same_in_disguise(samples: Path, name: str) -> None:
    rig = opened(samples / f"{name}.glb")
    bare = bare_copy(rig.skeleton)
    found = complete(bare, rig.skins)
    worn = disguise(bare, rig.skins, np.random.default_rng(5), 1.1, 0.3)
    check_same(found, complete(worn.skeleton, worn.skins), worn)


def disguised_file(path: Path, folder: Path, rng: np.random.Generator, angle_rad: float, scale: float) -> tuple[Path, dict[str, str]]:
    """A copy of a GLB whose nodes are renamed and reordered and hang on a turned and scaled node; and the new name of each old one."""
    raw = path.read_bytes()
    length = struct.unpack_from("<I", raw, 12)[0]
    document = json.loads(raw[20 : 20 + length])
    rest = raw[20 + length :]
    count = len(document["nodes"])
    place = rng.permutation(count).tolist()  # old index -> new index
    nodes = [None] * count
    names = {}
    for old, node in enumerate(document["nodes"]):
        names[node.get("name", "")] = node["name"] = f"n{int(rng.integers(1 << 40)):x}"
        if "children" in node:
            node["children"] = [place[c] for c in node["children"]][::-1]
        nodes[place[old]] = node
    for scene in document["scenes"]:
        top = {"name": "top", "children": [place[n] for n in scene["nodes"]], "scale": [scale] * 3}
        top["rotation"] = [0.0, float(np.sin(angle_rad / 2)), 0.0, float(np.cos(angle_rad / 2))]
        scene["nodes"] = [len(nodes)]
        nodes.append(top)
    document["nodes"] = nodes
    for skin in document["skins"]:
        skin["joints"] = [place[j] for j in skin["joints"]]
        skin.pop("skeleton", None)
    for animation in document.get("animations", []):
        for channel in animation["channels"]:
            channel["target"]["node"] = place[channel["target"]["node"]]
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    out = folder / path.name
    head = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A)
    out.write_bytes(head + text + rest)
    return out, names


@pytest.mark.parametrize("name", ["samples/quadruped.glb", "samples/biped.glb", *FIVE])
def test_a_renamed_reordered_turned_and_rescaled_file_reads_the_same(tmp_path: Path, request: pytest.FixtureRequest, name: str) -> None:
    sample = name.startswith("samples/")
    folder = request.getfixturevalue("samples").parent if sample else request.getfixturevalue("shared") / "data" / "rigs"
    before = opened(folder / name)
    path, names = disguised_file(folder / name, tmp_path, np.random.default_rng(11), 2.2, 7.0)
    after = open_rig(path, height=before.height)
    at = {source: j for j, source in enumerate(after.skeleton.source_names)}
    new_of = np.array([at[names[source or ""]] for source in before.skeleton.source_names])
    s, c = np.sin(2.2), np.cos(2.2)
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    assert [after.skeleton.groups[j] for j in new_of] == list(before.skeleton.groups)
    np.testing.assert_array_equal(after.skeleton.sides[new_of], before.skeleton.sides)
    assert after.skeleton.pelvis == new_of[before.skeleton.pelvis]
    assert after.body == before.body
    np.testing.assert_allclose(after.forward, turn @ before.forward, atol=1e-4)
    assert after.leg_length == pytest.approx(before.leg_length, rel=1e-3)
    there, here = tokens_of(after), tokens_of(before)
    assert there.names == here.names
    np.testing.assert_allclose(there.rest, here.rest, atol=2e-3)

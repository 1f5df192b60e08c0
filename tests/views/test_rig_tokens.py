"""Tokens of rigs: order, conventions, and against the bodies that were labelled by hand."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opened import opened

from akd_sdk.errors import RigError
from akd_sdk.rig import Rig
from akd_sdk.views.rig_tokens import tokens_of
from akd_sdk.views.tokens import GROUPS, MAX_TOKENS, Tokens

SAME = 0.01
"""Hip heights: a joint is a joint."""
TIP = 0.08
"""Hip heights: tips were taken from end nodes or single vertices by hand."""

FIVE = {
    "Fox": "khronos/Fox.glb",
    "Wolf": "quaternius/animals_pack/Wolf.glb",
    "Deer": "quaternius/animals_pack/Deer.glb",
    "CesiumMan": "khronos/CesiumMan.glb",
    "Knight": "kaykit_adventurers/Knight.glb",
}


@pytest.fixture(scope="module", params=["quadruped", "biped"])
def rig(request: pytest.FixtureRequest, samples: Path) -> Rig:
    return opened(samples / f"{request.param}.glb")


def test_tokens_keep_the_conventions_of_bodies(rig: Rig) -> None:
    tokens = tokens_of(rig)
    assert tokens.count <= MAX_TOKENS
    assert tokens.parents[0] == -1
    assert tokens.groups[0] == GROUPS.index("root")
    assert (tokens.parents[1:] < np.arange(1, tokens.count)).all()
    assert (tokens.parents[1:] >= 0).all()
    assert ((tokens.chain >= 0.0) & (tokens.chain <= 1.0)).all()
    np.testing.assert_allclose(tokens.rest[0, [0, 2]], 0.0, atol=1e-9)
    limbs = {"LH", "RH", "LF", "RF"} if rig.body == "quadruped" else {"LH", "RH"}
    assert set(tokens.feet) == set(tokens.hips) == limbs
    assert np.mean([tokens.rest[tokens.hips[k], 1] for k in ("LH", "RH")]) == pytest.approx(1.0)
    for limb in limbs:
        assert tokens.rest[tokens.feet[limb], 1] == pytest.approx(0.0, abs=0.02)
        assert tokens.rest[tokens.feet[limb], 0] * (1 if limb[0] == "L" else -1) > 0.02
        assert tokens.chain[tokens.hips[limb]] == 0.0
        assert tokens.chain[tokens.feet[limb]] == 1.0


def test_tokens_stand_where_the_rig_has_them(rig: Rig) -> None:
    tokens, skeleton = tokens_of(rig), rig.skeleton
    offsets = np.array([skeleton.tips[t].offset if t >= 0 else np.zeros(3) for t in tokens.tips])
    places = skeleton.points_at_rest(tokens.joints, offsets) @ rig.facing
    height = np.linalg.norm(places[5] - places[0]) / np.linalg.norm(tokens.rest[5] - tokens.rest[0])
    np.testing.assert_allclose((places - places[0]) / height, tokens.rest - tokens.rest[0], atol=1e-9)


def test_many_joints_are_thinned_to_what_a_prior_takes(rig: Rig) -> None:
    spine = next(c for c in rig.skeleton.chains if c.kind == "spine")
    crowded = tuple(
        replace(c, joints=c.joints * 3) if c.kind in ("spine", "neck", "tail") else c for c in rig.skeleton.chains
    )  # fmt: skip
    tokens = tokens_of(replace(rig, skeleton=replace(rig.skeleton, chains=crowded)))
    assert tokens.count <= MAX_TOKENS
    assert (tokens.groups == GROUPS.index("spine")).sum() < 3 * len(spine.joints)


def test_an_unknown_body_is_refused_with_the_reason(rig: Rig) -> None:
    with pytest.raises(RigError, match="no pair of legs was found") as refused:
        tokens_of(replace(rig, body="unknown", notes=("height 1 m, the file's own", "no pair of legs was found")))
    assert "height" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("quaternius/easy_enemies_pack/Snake.glb", "legs"),
        ("quaternius/fish_pack/Dolphin.glb", "legs"),
        ("quaternius/tank_pack/Tank.glb", "pairs of legs were found"),
        ("vrm/addon_non_humanoid.vrm", "which way the character faces"),
    ],
)
def test_what_cannot_walk_is_refused_with_the_reason(shared: Path, name: str, reason: str) -> None:
    path = shared / "data" / "rigs" / name
    with pytest.raises(RigError, match=reason) as refused:
        tokens_of(opened(path))
    assert str(path) in str(refused.value)


@contextmanager
def _prototype(shared: Path) -> Iterator[Any]:
    folder = shared / "prototypes" / "prior"
    if not (folder / "rigs.py").is_file():
        pytest.skip("the prototype of the prior is not here")
    before, writing = Path.cwd(), sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    os.chdir(folder)
    try:
        yield importlib.import_module("rigs")
    finally:
        os.chdir(before)
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = writing


def _same_place(tokens: Tokens, place: np.ndarray, group: int) -> float:
    apart = np.linalg.norm(tokens.rest - place, axis=1)
    return float(apart[tokens.groups == group].min())


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", sorted(FIVE))
def test_tokens_of_the_five_rigs_are_those_labelled_by_hand(shared: Path, name: str) -> None:
    tokens = tokens_of(opened(shared / "data" / "rigs" / FIVE[name]))
    with _prototype(shared) as rigs:
        body = rigs.load(name)
    tips = {i for i in range(len(body.names)) if not (body.par == i).any()}
    for i, label in enumerate(body.names):
        if label.startswith("t"):  # which of many tail joints are tokens is free
            continue
        far = _same_place(tokens, body.rest[i], int(body.grp[i]))
        limit = SAME if i not in tips else 0.16 if label.endswith("A3") and name == "Knight" else TIP  # its hand slot was taken as tip
        assert far < limit, f"{label}: {far:.3f} hip heights"
    for limb, foot in body.feet.items():
        assert np.linalg.norm(tokens.rest[tokens.feet[limb]] - body.rest[foot]) < TIP

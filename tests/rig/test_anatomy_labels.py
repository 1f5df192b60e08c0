"""Groups against the labels written by hand: the five rigs and the samples exactly, the others at least not wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from label_table import Score, score, shared_labels, truth_of
from opened import opened

from akd_sdk.errors import ReadError

EXACT = (
    "rigs/khronos/Fox.glb",
    "rigs/quaternius/animals_pack/Wolf.glb",
    "rigs/quaternius/animals_pack/Deer.glb",
    "rigs/khronos/CesiumMan.glb",
    "rigs/kaykit_adventurers/Knight.glb",
)
MOST_WRONG = 0.05
"""Share of the limb joints of all other labelled rigs that may be wrong."""
LEAST_RIGHT = 0.9
"""Share that must be right: saying unknown is no way out."""


@pytest.mark.parametrize("key", EXACT)
def test_groups_of_the_five_rigs_equal_their_labels(shared: Path, key: str) -> None:
    rig = opened(shared / "data" / key)
    truth = truth_of(rig, shared_labels(shared)[key])
    found = rig.skeleton.groups
    assert {rig.skeleton.names[j]: found[j] for j in truth} == {rig.skeleton.names[j]: group for j, group in truth.items()}
    assert {found[j] for j in range(rig.skeleton.count) if j not in truth} <= {"none"}


@pytest.mark.parametrize("name", ["quadruped", "biped"])
def test_groups_of_the_samples_equal_their_labels(samples: Path, name: str) -> None:
    rig = opened(samples / f"{name}.glb")
    entry = json.loads((samples / f"{name}.labels.json").read_text(encoding="utf-8"))
    truth = truth_of(rig, entry)
    assert {rig.skeleton.names[j]: rig.skeleton.groups[j] for j in truth} == {
        rig.skeleton.names[j]: group for j, group in truth.items()
    }  # fmt: skip
    assert rig.body == {"humanoid": "biped"}.get(entry["kind"], entry["kind"])
    assert rig.skeleton.names[rig.skeleton.pelvis] == entry["pelvis"]


def test_limb_joints_of_all_labelled_rigs_are_right_or_said_to_be_unknown(shared: Path) -> None:
    scores: dict[str, Score] = {}
    for key, entry in shared_labels(shared).items():
        try:
            rig = opened(shared / "data" / key)
        except ReadError as fault:
            if "compression" not in str(fault):
                raise
            continue
        scores[key] = score(rig, entry)
        if scores[key].unknown:
            assert any("no " in note or "could not" in note for note in rig.notes), "unknown without a reason"
    print(f"\n{'rig':62} limb right wrong unknown elsewhere")
    for key, s in scores.items():
        print(f"{key:62} {s.limb:4} {s.right:5} {len(s.wrong):5} {len(s.unknown):7} {len(s.elsewhere):9}  {'; '.join(s.wrong[:2])}")
    others = [s for key, s in scores.items() if key not in EXACT]
    limb = sum(s.limb for s in others)
    assert len(scores) >= 40
    assert sum(len(s.wrong) for s in others) <= MOST_WRONG * limb
    assert sum(s.right for s in others) >= LEAST_RIGHT * limb

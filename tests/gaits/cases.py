"""The rigs and gaits of the acceptance table, with what a person knows of them: legs, feet and pelvis by node name, all facing +Z."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("AKD_SHARED", ROOT.parent / "shared"))
GAITS = {"quadruped": ("walk", "trot", "pace", "gallop"), "biped": ("walk", "run")}
SENTENCES = {
    "quadruped": {"walk": "a dog walking", "trot": "a dog trotting", "pace": "a dog pacing", "gallop": "a dog galloping"},
    "biped": {"walk": "a person walking", "run": "a person running"},
}


@dataclass(frozen=True)
class RigCase:
    """A rig of the table: its file, kind of body, pelvis node and for each leg the nodes from hip to foot (the last two carry the sole)."""

    name: str
    path: Path
    body: str
    pelvis: str
    legs: dict[str, tuple[str, ...]]
    anatomy: tuple[str, ...]


def _sided(limbs: dict[str, tuple[str, ...]], left: str, right: str) -> dict[str, tuple[str, ...]]:
    return {side + end: tuple(n.format(s) for n in names) for side, s in (("L", left), ("R", right)) for end, names in limbs.items()}


def _anatomy(groups: dict[str, list[str]]) -> tuple[str, ...]:
    return tuple(name for names in groups.values() for name in names)


QUATERNIUS = _sided(
    {
        "H": ("BackLeg.{}", "BackUpperLeg.{}", "BackLowerLeg.{}", "IKBackLeg.{}", "FFB.{}"),
        "F": ("FrontUpperLeg.{}", "FrontLowerLeg.{}", "IKFrontLeg.{}", "FF.{}"),
    },
    "L",
    "R",
)
FOX = {
    "LH": ("b_LeftLeg01_015", "b_LeftLeg02_016", "b_LeftFoot01_017", "b_LeftFoot02_018"),
    "RH": ("b_RightLeg01_019", "b_RightLeg02_020", "b_RightFoot01_021", "b_RightFoot02_022"),
    "LF": ("b_LeftUpperArm_09", "b_LeftForeArm_010", "b_LeftHand_011"),
    "RF": ("b_RightUpperArm_06", "b_RightForeArm_07", "b_RightHand_08"),
}
CESIUM = _sided({"H": ("leg_joint_{}_1", "leg_joint_{}_2", "leg_joint_{}_3", "leg_joint_{}_5")}, "L", "R")
KNIGHT = _sided({"H": ("upperleg.{}", "lowerleg.{}", "foot.{}", "toes.{}")}, "l", "r")
DOG = _sided(
    {
        "H": ("hindleg_upper_{}", "hindleg_lower_{}", "hindleg_hock_{}", "hindleg_paw_{}"),
        "F": ("foreleg_upper_{}", "foreleg_lower_{}", "foreleg_pastern_{}", "foreleg_paw_{}"),
    },
    "l",
    "r",
)
MAN = _sided({"H": ("thigh_{}", "shin_{}", "foot_{}", "toes_{}")}, "l", "r")

HAND_MADE = {
    "Fox": ("rigs/khronos/Fox.glb", "quadruped", "b_Hip_01", FOX),
    "Wolf": ("rigs/quaternius/animals_pack/Wolf.glb", "quadruped", "Back", QUATERNIUS),
    "Deer": ("rigs/quaternius/animals_pack/Deer.glb", "quadruped", "Back", QUATERNIUS),
    "CesiumMan": ("rigs/khronos/CesiumMan.glb", "biped", "Skeleton_torso_joint_1", CESIUM),
    "Knight": ("rigs/kaykit_adventurers/Knight.glb", "biped", "hips", KNIGHT),
}


def sample_rigs() -> list[RigCase]:
    found = []
    for name, body, legs in (("quadruped", "quadruped", DOG), ("biped", "biped", MAN)):
        labels = json.loads((ROOT / "samples" / f"{name}.labels.json").read_text())
        found.append(RigCase(name, ROOT / "samples" / f"{name}.glb", body, "hips", legs, _anatomy(labels["groups"])))
    return found


def shared_rigs() -> list[RigCase]:
    """The five rigs of others, none where the shared data are not there."""
    labels = SHARED / "data" / "labels.json"
    if not labels.is_file():
        return []
    rigs = json.loads(labels.read_text())["rigs"]
    return [
        RigCase(name, SHARED / "data" / path, body, pelvis, legs, _anatomy(rigs[path]["groups"]))
        for name, (path, body, pelvis, legs) in HAND_MADE.items()
    ]

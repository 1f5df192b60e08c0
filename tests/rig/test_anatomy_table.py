"""Pelvis, anatomical tree, limbs, tips and facing of the five rigs, against a table written by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from opened import opened

from akd_sdk.rig import Rig

PLACE = 0.03
"""Body heights: how near a tip lies to where a person puts it on the model."""
FACING = 0.01
"""Radians."""


@dataclass(frozen=True)
class Expected:
    """Names by chain: (kind, side) -> joints; tips: (kind, side) -> (left, up, ahead) in body heights from the ground at the origin.

    `moved` are the joints that do not hang on their parent in the file, with the joint that they hang on.
    """

    pelvis: str
    body: str
    chains: dict[tuple[str, int], str]
    moved: dict[str, str]
    tips: dict[tuple[str, int], tuple[float, float, float]]


def _animal(tail: str) -> dict[tuple[str, int], str]:
    chains = {("spine", 0): "Torso Torso2 Torso3", ("neck", 0): "Neck1 Neck2 Neck3 Head", ("tail", 0): tail}
    for side, letter in ((1, "L"), (2, "R")):
        chains["foreleg", side] = f"FrontUpperLeg.{letter} FrontLowerLeg.{letter} IKFrontLeg.{letter} FF.{letter}"
        chains["leg", side] = f"BackLeg.{letter} BackUpperLeg.{letter} BackLowerLeg.{letter} IKBackLeg.{letter} FFB.{letter}"
    return chains


PAWS = {f"IK{end}Leg.{side}": f"{end}LowerLeg.{side}" for end in ("Back", "Front") for side in "LR"}

TABLE = {
    "khronos/Fox.glb": Expected(
        "b_Hip_01",
        "quadruped",
        {
            ("spine", 0): "b_Spine01_02 b_Spine02_03",
            ("neck", 0): "b_Neck_04 b_Head_05",
            ("tail", 0): "b_Tail01_012 b_Tail02_013 b_Tail03_014",
            ("leg", 1): "b_LeftLeg01_015 b_LeftLeg02_016 b_LeftFoot01_017 b_LeftFoot02_018",
            ("leg", 2): "b_RightLeg01_019 b_RightLeg02_020 b_RightFoot01_021 b_RightFoot02_022",
            ("foreleg", 1): "b_LeftUpperArm_09 b_LeftForeArm_010 b_LeftHand_011",
            ("foreleg", 2): "b_RightUpperArm_06 b_RightForeArm_07 b_RightHand_08",
        },
        {},
        {("head", 0): (0.0, 0.70, 0.84), ("toe", 1): (0.09, 0.0, -0.35), ("tail", 0): (0.0, 0.18, -1.09)},
    ),
    "quaternius/animals_pack/Wolf.glb": Expected(
        "Back",
        "quadruped",
        _animal("Tail1 Tail2 Tail3 Tail4 Tail5 Tail6 Tail7 Tail8"),
        PAWS,
        {("head", 0): (-0.01, 0.81, 0.94), ("toe", 1): (0.13, 0.0, -0.26), ("tail", 0): (0.0, 0.48, -1.0)},
    ),
    "quaternius/animals_pack/Deer.glb": Expected(
        "Back",
        "quadruped",
        _animal("Tail1 Tail2 Tail3"),
        PAWS,
        {("head", 0): (-0.02, 0.87, 0.64), ("toe", 1): (0.08, 0.0, -0.28), ("tail", 0): (0.0, 0.55, -0.36)},
    ),
    "khronos/CesiumMan.glb": Expected(
        "Skeleton_torso_joint_1",
        "biped",
        {
            ("spine", 0): "Skeleton_torso_joint_2 torso_joint_3",
            ("neck", 0): "Skeleton_neck_joint_1 Skeleton_neck_joint_2",
            ("leg", 1): "leg_joint_L_1 leg_joint_L_2 leg_joint_L_3 leg_joint_L_5",
            ("leg", 2): "leg_joint_R_1 leg_joint_R_2 leg_joint_R_3 leg_joint_R_5",
            ("arm", 1): "Skeleton_arm_joint_L__4_ Skeleton_arm_joint_L__3_ Skeleton_arm_joint_L__2_",
            ("arm", 2): "Skeleton_arm_joint_R Skeleton_arm_joint_R__2_ Skeleton_arm_joint_R__3_",
        },
        {},
        {("head", 0): (0.0, 1.0, 0.0), ("toe", 1): (0.06, 0.0, 0.12), ("hand", 1): (0.38, 0.52, 0.11)},
    ),
    "kaykit_adventurers/Knight.glb": Expected(
        "hips",
        "biped",
        {
            ("spine", 0): "spine chest",
            ("neck", 0): "head",
            ("leg", 1): "upperleg.l lowerleg.l foot.l toes.l",
            ("leg", 2): "upperleg.r lowerleg.r foot.r toes.r",
            ("arm", 1): "upperarm.l lowerarm.l wrist.l hand.l",
            ("arm", 2): "upperarm.r lowerarm.r wrist.r hand.r",
        },
        {},
        {("head", 0): (0.0, 0.94, 0.0), ("toe", 1): (0.07, 0.0, 0.12), ("hand", 1): (0.39, 0.43, 0.0)},  # its helmet reaches 1,
    ),
}


@pytest.fixture(scope="module", params=sorted(TABLE))
def case(request: pytest.FixtureRequest, shared: Path) -> tuple[Rig, Expected]:
    return opened(shared / "data" / "rigs" / request.param), TABLE[request.param]


def test_pelvis_body_and_facing_are_the_table_s(case: tuple[Rig, Expected]) -> None:
    rig, expected = case
    assert rig.skeleton.names[rig.skeleton.pelvis] == expected.pelvis
    assert rig.body == expected.body
    assert np.arccos(np.clip(rig.forward @ np.array([0.0, 0.0, 1.0]), -1.0, 1.0)) < FACING


def test_chains_are_the_table_s(case: tuple[Rig, Expected]) -> None:
    rig, expected = case
    names = rig.skeleton.names
    found = {(c.kind, c.side): " ".join(names[j] for j in c.joints) for c in rig.skeleton.chains if c.kind not in ("finger", "other")}
    assert found == expected.chains


def test_tree_is_the_file_s_but_for_the_table_s_joints(case: tuple[Rig, Expected]) -> None:
    rig, expected = case
    skeleton = rig.skeleton
    moved = {}
    for j, role in enumerate(skeleton.roles):
        if role == "anatomy" and j != skeleton.pelvis and skeleton.solve_parents[j] != skeleton.parents[j]:
            moved[skeleton.names[j]] = skeleton.names[skeleton.solve_parents[j]]
    assert moved == expected.moved
    assert skeleton.solve_parents[skeleton.pelvis] == -1


def test_tips_lie_where_a_person_sees_them(case: tuple[Rig, Expected]) -> None:
    rig, expected = case
    skeleton = rig.skeleton
    points = np.concatenate([skin.at_rest(skeleton.rest_world) for skin in rig.skins])
    low, tall = points[:, 1].min(), np.ptp(points[:, 1])
    chains = {(skeleton.tips[c.tip].kind, c.side): skeleton.tips[c.tip] for c in skeleton.chains if c.tip >= 0 and c.kind != "foreleg"}
    for key, place in expected.tips.items():
        tip = chains[key]
        found = skeleton.points_at_rest(np.array([tip.joint]), tip.offset[None])[0]
        np.testing.assert_allclose((found - [0.0, low, 0.0]) / tall, place, atol=PLACE)


def test_every_foot_has_a_heel_behind_its_toe_on_the_ground(case: tuple[Rig, Expected]) -> None:
    rig, _ = case
    skeleton = rig.skeleton
    places = {
        (p.limb, p.kind): skeleton.points_at_rest(np.array([p.joint]), p.offset[None])[0] for p in rig.contact_points
    }  # fmt: skip
    limbs = ("LH", "RH", "LF", "RF") if rig.body == "quadruped" else ("LH", "RH")
    assert set(places) == {(limb, kind) for limb in limbs for kind in ("heel", "toe")}
    ground = min(place[1] for place in places.values())
    for limb in limbs:
        heel, toe = places[limb, "heel"], places[limb, "toe"]
        assert (toe - heel) @ rig.forward > 0.03 * rig.leg_length
        assert max(heel[1], toe[1]) - ground < 0.02 * rig.leg_length
        assert (heel @ np.cross([0.0, 1.0, 0.0], rig.forward) > 0.0) == (limb[0] == "L")

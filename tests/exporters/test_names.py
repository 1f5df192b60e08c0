"""Names that differ after an engine's filter, and loop marks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akd_sdk.exporters.names import _loop_name, distinct_names, engine_name, node_names
from akd_sdk.exporters.profiles import load_profile
from akd_sdk.schemas import Naming

WEB, GODOT, BLENDER, UNITY = (load_profile(name).naming for name in ("web", "godot", "blender", "unity"))


@pytest.mark.parametrize(
    ("naming", "names", "wanted"),
    [
        (WEB, ["Arm.L", "Arm:L", "ArmL", "Leg"], ["Arm.L", "Arm:L_2", "ArmL_3", "Leg"]),
        (WEB, ["a b", "a_b"], ["a b", "a_b_2"]),
        (WEB, ["a", "a", "a_2"], ["a", "a_3", "a_2"]),
        (WEB, ["[]", "..."], ["unnamed_2", "unnamed_3"]),
        (GODOT, ["mixamorig:Hips", "mixamorig_Hips"], ["mixamorig:Hips", "mixamorig_Hips_2"]),
        (BLENDER, ["x" * 70, "x" * 80], ["x" * 70, "x" * 61 + "_2"]),
    ],
)
def test_only_names_that_would_collide_are_changed(naming: Naming, names: list[str], wanted: list[str]) -> None:
    assert distinct_names(names, naming) == wanted


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("b_Root_00", "b_root_0"),  # these two as Godot 3.2.3 was seen to make them
        ("mixamorig:Hips", "mixamorig_hips"),
        ("Bone001.L", "bone_1_l"),
        ("LeftUpLeg", "left_up_leg"),
        ("already_snake", "already_snake"),
        ("a é b", "a_b"),
        ("狐", ""),
    ],
)
def test_snake_names_are_those_of_godot_3(name: str, wanted: str) -> None:
    assert engine_name(name, load_profile("godot").older_naming["Godot 3"]) == wanted


@given(st.lists(st.text("ab .:/[]_2é", max_size=6), max_size=12), st.sampled_from([WEB, GODOT, UNITY, Naming(longest=5, unique="file")]))
def test_names_differ_after_the_filter(names: list[str], naming: Naming) -> None:
    made = [engine_name(name, naming) for name in distinct_names(names, naming)]
    assert len(set(made)) == len(names)
    assert all(made)


def test_siblings_differ_for_what_binds_by_path() -> None:
    names, parents = ["root", "a", "a", "a", "b"], [-1, 0, 0, 1, 1]
    assert node_names(names, parents, UNITY) == {2: "a_2"}
    assert node_names(names, parents, WEB) == {2: "a_2", 3: "a_3"}
    assert node_names(names, parents, Naming()) == {}


def test_nodes_that_must_be_found_get_a_name() -> None:
    assert node_names([None, "a", None], [-1, 0, 1], WEB, [0]) == {0: "node_0"}


@pytest.mark.parametrize(
    ("name", "loop", "wanted"),
    [
        ("walk", True, "walk-loop"),
        ("walk_loop", True, "walk_loop"),
        ("WalkCycle", True, "WalkCycle"),
        ("walk", False, "walk"),
        ("jump_loop", False, "jump_loop_once"),
        ("Cycle start", False, "once_Cycle start"),
        ("loop", False, "once_loop_once"),
    ],
)
def test_godot_loops_what_loops_and_nothing_else(name: str, loop: bool, wanted: str) -> None:
    assert _loop_name(name, loop, GODOT) == wanted
    assert _loop_name(name, loop, WEB) == name

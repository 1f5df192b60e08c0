"""How tall a character is taken to be."""

from __future__ import annotations

import pytest

from akd_sdk.rig.scale import guess_height


def test_plausible_metres_of_the_file_are_kept() -> None:
    assert guess_height("biped", 1.82, ["knight"])[0] == 1.82
    assert guess_height("quadruped", 0.9, ["Wolf"])[0] == 0.9


@pytest.mark.parametrize(("in_file", "metres"), [(182.0, 1.82), (71.6, 1.82), (18.2, 1.82), (1820.0, 1.82)])
def test_common_units_are_recognised(in_file: float, metres: float) -> None:
    height, said = guess_height("biped", in_file, ["x"])
    assert height == pytest.approx(metres, rel=0.01)
    assert "read as" in said


def test_a_species_named_in_the_file_decides_where_its_metres_are_implausible() -> None:
    height, said = guess_height("quadruped", 79.0, ["Fox", "b_Hip_01"])
    assert height == 0.5
    assert "fox" in said
    assert guess_height("quadruped", 4.8, ["Horse"])[0] == 2.0


def test_a_name_inside_a_word_is_no_species() -> None:
    assert guess_height("quadruped", 0.9, ["scatter", "foxtrot"]) == (0.9, "height 0.9 m, the file's own")


def test_nothing_known_falls_back_to_the_usual_height_of_the_body() -> None:
    height, said = guess_height("biped", 1e-7, ["x"])
    assert height == 1.7
    assert "usual" in said

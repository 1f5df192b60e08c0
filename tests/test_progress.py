"""Progress reports: shares stay in 0..1, parts map into the whole."""

import pytest

from akd_sdk.progress import Progress, between, ignore


@pytest.mark.parametrize("fraction", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_share_outside_zero_to_one_is_refused(fraction: float) -> None:
    with pytest.raises(ValueError, match="expected 0 to 1"):
        Progress("distilling", fraction)


def test_a_part_of_the_work_reports_its_place_in_the_whole() -> None:
    seen: list[Progress] = []
    part = between(seen.append, 0.5, 0.9, "feet")
    for fraction in (0.0, 0.25, 1.0):
        part(Progress("inner", fraction, "x"))
    assert [(p.stage, round(p.fraction, 12), p.detail) for p in seen] == [("feet", 0.5, "x"), ("feet", 0.6, "x"), ("feet", 0.9, "x")]


def test_a_part_without_a_name_keeps_its_own() -> None:
    seen: list[Progress] = []
    between(seen.append, 0.0, 0.5)(Progress("inner", 1.0))
    assert seen == [Progress("inner", 0.5)]


def test_nobody_has_to_listen() -> None:
    assert ignore(Progress("distilling", 0.5)) is None

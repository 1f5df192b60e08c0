"""The page on video models says of memory and arithmetic what the code says."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
import torch

from akd_sdk.priors.video.families import FAMILIES
from akd_sdk.priors.video.memory import plan
from tests.bench import arithmetic
from tests.bench.video_memory import built

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "cogvideox-to-clip.md").read_text(encoding="utf-8")


def rows(start: str, cells: int) -> list[tuple[str, tuple[int, int, int], list[float]]]:
    """Model, clip and numbers of the table rows that begin with `start`, where MODEL and CLIP stand for themselves."""
    pattern = start.replace("MODEL", r"`([\w.-]+)`").replace("CLIP", r"(\d+)x(\d+)x(\d+)") + cells * r" ([\d.]+) \|" + "$"
    found = re.findall(pattern, PAGE, flags=re.MULTILINE)
    return [(row[0], (int(row[1]), int(row[2]), int(row[3])), [float(cell) for cell in row[4:]]) for row in found]


MEMORY = rows(r"^\| MODEL \| CLIP \|", 4)
COUNTS = rows(r"^\| MODEL, CLIP \|", 6)


def peaks(model: str, clip: tuple[int, int, int]) -> list[float]:
    """Peaks of the ways to take a step, GiB, from the quickest on: what is chosen as the budget falls."""
    found, budget = [], math.inf
    while True:
        chosen = plan(model, clip[1:], clip[0], budget)
        found.append(round(chosen.estimate_gib, 1))
        if chosen.leaner_gib is None:
            return found
        budget = chosen.leaner_gib


def test_both_tables_name_every_published_model() -> None:
    published = {name for family in FAMILIES.values() for name in family.published}
    assert {model for model, _, _ in MEMORY} == {model for model, _, _ in COUNTS} == published


@pytest.mark.parametrize(("model", "clip", "cells"), MEMORY, ids=lambda value: str(value).replace(" ", ""))
def test_memory_is_what_the_plan_estimates(model: str, clip: tuple[int, int, int], cells: list[float]) -> None:
    ways = peaks(model, clip)
    assert cells[0] == max(ways)
    assert set(cells[:3]) <= set(ways)
    assert cells[3] == pytest.approx(min(ways), abs=0.11)  # guided answers together; one after the other may take a little less


def test_gigabytes_to_fetch_are_those_that_are_told_when_weights_are_missing() -> None:
    told = {round(row.download_gb) for family in FAMILIES.values() for row in family.published.values()}
    fetched = re.findall(r"^\| [\w .,-]+ \| `\w+` \| [\d.]+ \| [\d.]+ \| (\d+) \|", PAGE, flags=re.MULTILINE)
    assert {int(gb) for gb in fetched} == told


def test_every_published_checkpoint_can_be_found() -> None:
    assert [row.repository for family in FAMILIES.values() for row in family.published.values() if f"`{row.repository}`" not in PAGE] == []


def test_sums_and_hours_follow_from_the_counts() -> None:
    hours = dict(re.findall(r"^\| (`[\w.-]+`, [\dx]+) \| [^|]+ \| ([\d.]+ (?:h|min)) \|", PAGE, flags=re.MULTILINE))
    for model, clip, (guess, once, back, recomputed, quickest, leanest) in COUNTS:
        assert (quickest, leanest) == (pytest.approx(guess + back, abs=2e-3), pytest.approx(guess + once + recomputed, abs=2e-3))
        told, unit = hours[f"`{model}`, {'x'.join(map(str, clip))}"].split()
        taken = 400 * 2 * leanest * 1000 / 180 / 3600
        assert float(told) == pytest.approx(taken if unit == "h" else 60 * taken, abs=0.06 if unit == "h" else 0.6)


def test_counts_are_those_of_the_models() -> None:
    """On the smallest of them; the others take minutes."""
    row = next(row for row in arithmetic.ROWS if row.model == "ltx-2b")
    transformer = built(row.model, arithmetic.MODELS)
    with torch.no_grad():
        guess = arithmetic.counted(lambda: transformer(**arithmetic.call(row, transformer), return_dict=False))
    (told,) = (cells for model, clip, cells in COUNTS if (model, clip) == (row.model, row.clip))
    assert [round(value, 3) for value in (guess, *arithmetic.encoder_counts(row))] == told[:4]

"""Reports and summaries survive JSON, refuse what they do not know, and read well."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from akd_sdk.schemas import (
    AnimateOptions,
    Character,
    ClipFacts,
    Distillation,
    GaitFit,
    HelpUsed,
    Metrics,
    OutputFile,
    Report,
    Schema,
    SourceFile,
    Tracking,
    Understanding,
)


@pytest.fixture
def report() -> Report:
    metrics = Metrics(
        planted_share=0.4,
        contact_duty=0.5,
        skate_mm=1.25,
        penetration_mean_percent=0.1,
        penetration_worst_percent=0.625,
        jitter=30.0,
        gaits={"trot": GaitFit(coherence=0.98, swing=1.1)},
    )
    return Report(
        source=SourceFile(path="fox.glb", bytes=12, sha256="0" * 64),
        character=Character(name="fox", body="quadruped", height_m=0.78, joints=24, forward=(0.0, 0.0, 1.0)),
        options=AnimateOptions(prior="mini", seconds=2.0, loop=True, fps=30.0),
        prompt=Understanding(
            sentence="a fox trotting", body="quadruped", action="trot", styles=("slow",), unknown=("purple",), guidance=2.0
        ),
        seed=7,
        warnings=("nothing is known of 'purple'",),
        clip=ClipFacts(name="trot", frames=61, fps=30.0, seconds=2.0, loop=True, travel_m=3.5),
        distillation=Distillation(
            observes="tracks",
            mode="mas",
            steps=40,
            inner=12,
            views=6,
            guidance=2.5,
            rate=0.04,
            rate_decay=0.02,
            bandwidth_hz=5.5,
            t_range=(1.0, 0.0),
            weights={"twist": 0.02},
        ),
        after=metrics,
        versions={"akd-sdk": "0.1.0"},
        files=(OutputFile(path="out/fox_trot.glb", bytes=1000),),
        seconds={"animate": 9.5},
    )


def test_a_report_comes_back_from_its_own_json(report: Report) -> None:
    assert Report.model_validate_json(report.to_json()) == report


def test_the_json_is_plain_and_ends_with_a_new_line(report: Report) -> None:
    text = report.to_json()
    assert text.endswith("}\n")
    assert json.loads(text)["after"]["gaits"] == {"trot": {"coherence": 0.98, "swing": 1.1}}


def test_what_is_no_text_becomes_an_escape(report: Report) -> None:
    text = report.model_copy(update={"character": report.character.model_copy(update={"name": "d\udcffg 狐"})}).to_json()
    assert "d\\udcffg 狐" in text
    assert json.loads(text)["character"]["name"] == "d\udcffg 狐"


def test_unknown_fields_are_refused(report: Report) -> None:
    with pytest.raises(ValidationError, match="forbidden"):
        Report.model_validate({**report.model_dump(), "mood": "good"})


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused(value: float) -> None:
    with pytest.raises(ValidationError, match="finite"):
        GaitFit(coherence=value, swing=1.0)


def test_values_cannot_be_changed_afterwards(report: Report) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        report.seed = 8  # type: ignore[misc]


def test_as_text_a_report_says_what_was_understood_made_and_warned_of(report: Report) -> None:
    assert str(report).splitlines() == [
        "fox: quadruped, 0.78 m, 24 joints",
        "'a fox trotting' understood as: slow trot",
        "trot: 61 frames, 2.00 s at 30 fps, loop, 3.50 m over the ground, seed 7",
        "skate 1.2 mm per 1/30 s, penetration at worst 0.62 % of the leg",
        "warning: nothing is known of 'purple'",
    ]


def used(cap: float) -> HelpUsed:
    return HelpUsed(cap=cap, mean=0.3 * cap, peak=0.9 * cap)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            Tracking(effort="default", friction=0.8, kept=True, force=used(0.1), torque=used(0.05), alone_s=1.03),
            "tracked with help of 0.030 body weights on average, 0.090 at most (torque 0.015 and 0.045 of weight times pelvis height); "
            "without help it falls after 1.03 s",
        ),
        (
            Tracking(effort="default", friction=0.8, kept=True, force=used(0.1), torque=used(0.05)),
            "tracked with help of 0.030 body weights on average, 0.090 at most (torque 0.015 and 0.045 of weight times pelvis height); "
            "without help it stays up, but slips or strays",
        ),
        (
            Tracking(effort="default", friction=0.0, kept=True, force=used(0.1), torque=used(0.05), alone_s=0.0),
            "tracked with help of 0.030 body weights on average, 0.090 at most (torque 0.015 and 0.045 of weight times pelvis height); "
            "without help it falls at once",
        ),
        (Tracking(effort="best", friction=0.8, kept=True, force=used(0.0), torque=used(0.0)), "tracked without any help"),
        (Tracking(effort="default", friction=0.8, kept=False, fault="walk: it falls"), "not tracked: walk: it falls"),
    ],
)
def test_a_tracking_is_said_in_one_line(found: Tracking, said: str) -> None:
    assert found.summary() == said


def test_what_is_delivered_is_the_tracked_motion_only_where_it_was_kept(report: Report) -> None:
    assert report.after is not None
    after = report.after.model_copy(update={"skate_mm": 7.0})
    kept = report.model_copy(update={"physics": Tracking(effort="default", friction=0.8, kept=True, after=after)})
    assert kept.delivered == after
    assert "skate 7.0 mm" in kept.summary()
    failed = report.model_copy(update={"physics": Tracking(effort="default", friction=0.8, kept=False, fault="it falls")})
    assert failed.delivered == report.after
    assert str(failed).splitlines()[-2:] == ["warning: nothing is known of 'purple'", "not tracked: it falls"]
    assert report.delivered == report.after


def test_a_report_of_a_tracked_clip_has_no_sentence(report: Report) -> None:
    plain = report.model_copy(update={"options": None, "prompt": None, "distillation": None, "warnings": ()})
    assert Report.model_validate_json(plain.to_json()) == plain
    assert str(plain).splitlines()[1].startswith("trot: 61 frames")


def test_every_schema_describes_itself() -> None:
    for schema in Schema.__subclasses__():
        assert schema.__doc__
        assert schema.model_json_schema()["additionalProperties"] is False

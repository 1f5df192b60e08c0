"""`akd metrics`: how good the clips of a file are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from akd_sdk.cli.arguments import Clip, File, Height, Json
from akd_sdk.cli.terminal import results, say_json, table
from akd_sdk.schemas import ClipMetrics, FileMetrics, Metrics

EXAMPLE: Final = "akd metrics fox.glb --clip Walk"

UNKNOWN: Final = "-"

RUN_DUTY: Final = 0.5

LEAST_COHERENCE: Final = 0.8
"""Below it the feet keep no gait's phases well enough to be called by its name."""


def metrics(file: File, clip: Clip = None, height: Height = None, json: Json = False) -> None:
    """Measure the clips of a file: feet, ground, gait.

    All of them, or the one that --clip names. Lengths are at human size (1.7 m), times at 30 frames a second.
    """
    from akd_sdk import reporting
    from akd_sdk.cli.clips import chosen
    from akd_sdk.gait import measure
    from akd_sdk.readers import open_rig

    rig = open_rig(file, height=height)
    measured = tuple(
        ClipMetrics(clip=motion.name, metrics=reporting.metrics(measure(rig, motion))) for motion in chosen(rig, clip)
    )
    if json:
        say_json(FileMetrics(source=str(file), clips=measured))
        return
    console = results()
    console.print(table(("clip", *(title for title, _ in cells(measured[0].metrics))), (_row(one) for one in measured)))


def _row(one: ClipMetrics) -> tuple[str, ...]:
    return (one.clip, *(cell for _, cell in cells(one.metrics)))


def cells(found: Metrics) -> Iterable[tuple[str, str]]:
    """Titles and cells of a row."""
    gait = best_gait(found)
    best = max(found.gaits.values(), key=lambda fit: fit.coherence, default=None) if gait is None else found.gaits[gait]
    yield "planted %", f"{100 * found.planted_share:.0f}"
    yield "duty %", f"{100 * found.contact_duty:.0f}"
    yield "skate mm", _number(found.skate_mm, ".1f")
    yield "depth % leg", f"{found.penetration_mean_percent:.2f}"
    yield "worst", f"{found.penetration_worst_percent:.2f}"
    yield "jitter m/s³", f"{found.jitter:.0f}"
    yield "strides/s", _number(found.frequency_hz, ".2f")
    yield "gait", gait or UNKNOWN
    yield "coherence", _number(None if best is None else best.coherence, ".2f")
    yield "swing", _number(None if best is None else best.swing, ".2f")


def best_gait(found: Metrics) -> str | None:
    """The gait whose phases the feet keep, None where they keep none.

    Two legs walk and run in the same phases: there it is a run where a foot stands for less than half of its cycle.
    """
    highest = max((fit.coherence for fit in found.gaits.values()), default=0.0)
    if highest < LEAST_COHERENCE:
        return None
    best = [name for name, fit in found.gaits.items() if fit.coherence == highest]
    if len(best) > 1 and "run" in best and found.duty is not None and found.duty < RUN_DUTY:
        return "run"
    return next((name for name in best if name != "run"), best[0])


def _number(value: float | None, style: str) -> str:
    return UNKNOWN if value is None else format(value, style)

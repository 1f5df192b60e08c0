"""The stage of a USD file: its metadata, rates of its layers, its range of time codes, what it refers to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from akd_sdk.exporters.check.codes import found
from akd_sdk.exporters.check.findings import Finding
from akd_sdk.exporters.check.usd_source import UsdSource

METADATA: Final = {"upAxis": "stage-up-axis", "metersPerUnit": "stage-unit", "defaultPrim": "stage-default-prim"}
WHOLE: Final = 1e-6
"""Of time codes."""
MOVED: Final = ("translations", "rotations", "scales", "blendShapeWeights")


def stage_findings(source: UsdSource) -> Iterable[Finding]:
    """What is wrong with a stage."""
    stage = source.stage
    for error in stage.GetCompositionErrors():
        yield found("stage-broken", "the file", " ".join(str(error).split()).rstrip("."))
    root = stage.GetRootLayer().pseudoRoot
    for key, code in METADATA.items():
        if not root.HasInfo(key):
            yield found(code, "the file", f"{key} is not authored")
    codes = sample_codes(source)
    yield from _rates(source, bool(codes))
    if codes:
        yield from _range(stage, codes)


def sample_codes(source: UsdSource) -> list[float]:
    """Time codes at which animations have samples, in order."""
    codes: set[float] = set()
    for prim in source.animations:
        for name in MOVED:
            codes.update(prim.GetAttribute(name).GetTimeSamples())
    return sorted(codes)


def _rates(source: UsdSource, moves: bool) -> Iterable[Finding]:
    root = source.stage.GetRootLayer()
    for layer in source.stage.GetUsedLayers():
        if layer.anonymous or layer.HasTimeCodesPerSecond():
            continue
        if (layer == root and moves) or layer.ListAllTimeSamples():
            yield found("stage-rate", Path(layer.realPath).name or layer.identifier, "timeCodesPerSecond is not authored")


def _range(stage: Any, codes: list[float]) -> Iterable[Finding]:
    if not stage.HasAuthoredTimeCodeRange():
        yield found("stage-no-range", "the file", "startTimeCode or endTimeCode is not authored")
        return
    start, end = stage.GetStartTimeCode(), stage.GetEndTimeCode()
    first, last = codes[0], codes[-1]
    moves = len(codes) > 1
    if first < start - WHOLE or last > end + WHOLE or (moves and (first > start + WHOLE or last < end - WHOLE)):
        yield found("stage-range", "the file", f"samples from {first:g} to {last:g}, the stage plays from {start:g} to {end:g}")

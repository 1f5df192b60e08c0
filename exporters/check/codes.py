"""All kinds of faults that the checker knows, with what comes of each and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from akd_sdk.exporters.check.bvh_codes import BVH
from akd_sdk.exporters.check.engine_codes import ANY, ENGINES
from akd_sdk.exporters.check.findings import Code, Finding, Row
from akd_sdk.exporters.check.gltf_codes import CLIPS, KEYS
from akd_sdk.exporters.check.usd_codes import ANIMATIONS, SKELETONS, STAGE

SHARED: Final = {
    "root-several": "glTF, USD",
    "bone-count": "glTF, USD",
    "influence-count": "glTF, USD",
    "format-unread": "glTF, USD, BVH",
    "articulation-missing": "USD",
}
"""Kinds of faults that files of several formats have."""


def _codes(rows: Iterable[Row], formats: str, profiled: bool = False) -> Iterable[Code]:
    for name, severity, fault, why, remedy in rows:
        yield Code(name, severity, SHARED.get(name, formats), profiled, fault, why, remedy)


CODES: Final = {
    code.name: code
    for group in (
        _codes(KEYS, "glTF"),
        _codes(CLIPS, "glTF"),
        _codes(ANY, "glTF", True),
        _codes(ENGINES, "glTF", True),
        _codes(STAGE, "USD"),
        _codes(SKELETONS, "USD"),
        _codes(ANIMATIONS, "USD"),
        _codes(BVH, "BVH"),
    )
    for code in group
}
"""All codes by name."""


def found(code: str, where: str, fault: str, remedy: str | None = None) -> Finding:
    """A finding of this code; `remedy` where there is a more exact one than the code's."""
    kind = CODES[code]
    return Finding(code, kind.severity, where, fault, remedy or kind.remedy)

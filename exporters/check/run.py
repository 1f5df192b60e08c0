"""The checker: a file is read by the grammar of its format, and everything known to go wrong with it is looked for."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Final

from akd_sdk.errors import ReadError
from akd_sdk.exporters.check.bvh import bvh_findings
from akd_sdk.exporters.check.codes import CODES, found
from akd_sdk.exporters.check.engine import engine_findings
from akd_sdk.exporters.check.findings import SEVERITIES, Finding
from akd_sdk.exporters.check.gltf_clips import clip_findings, same_names
from akd_sdk.exporters.check.gltf_keys import key_findings
from akd_sdk.exporters.check.gltf_source import read_gltf
from akd_sdk.exporters.check.usd_animation import animation_findings
from akd_sdk.exporters.check.usd_skeleton import skeleton_findings, skeleton_limits
from akd_sdk.exporters.check.usd_source import opened
from akd_sdk.exporters.check.usd_stage import stage_findings
from akd_sdk.exporters.profiles import load_profile
from akd_sdk.formats.bvh_text import read_bvh_text
from akd_sdk.formats.usd import SUFFIXES as USD
from akd_sdk.schemas.profile import Profile

GLTF: Final = (".glb", ".gltf", ".vrm")
BVH: Final = (".bvh",)
LAYERS: Final = (".usd", ".usda", ".usdc")
"""Suffixes of one grammar, whichever of them a profile names; so are those of GLTF."""


def check(path: str | PathLike[str], profile: Profile | str | None = None) -> tuple[Finding, ...]:
    """What is wrong with the motion in a .glb, .gltf, .vrm, USD or BVH file, the worst first; empty where nothing is.

    It sees what validators of the formats do not: whether players will show the clip that is meant. `profile` (a name, a file or a
    `Profile`) adds what its engine takes. Values are judged as they lie in the file; nothing is repaired on the way.
    Raises ReadError: no such file, or one that is damaged beyond its clips. ExportError: an unknown profile.
    """
    path = Path(path)
    chosen = load_profile(profile) if isinstance(profile, str) else profile
    suffix = path.suffix.lower()
    if suffix in GLTF:
        made = list(_gltf(path, chosen))
    elif suffix in USD:
        made = _usd(path, chosen)
    elif suffix in BVH:
        made = list(bvh_findings(read_bvh_text(path)))
    else:
        raise ReadError("is no file of clips by its name", path, f"checked are {', '.join((*GLTF, *USD, *BVH))}")
    if chosen is not None and not _takes(chosen, suffix):
        made.append(found("format-unread", "the file", f"{chosen.title} takes {', '.join(chosen.suffixes)}"))
    order = list(CODES)
    return tuple(sorted(made, key=lambda finding: (SEVERITIES.index(finding.severity), order.index(finding.code))))


def _takes(profile: Profile, suffix: str) -> bool:
    same: tuple[str, ...] = next((family for family in (GLTF, LAYERS) if suffix in family), (suffix,))
    return not set(same).isdisjoint(profile.suffixes)


def _gltf(path: Path, profile: Profile | None) -> Iterable[Finding]:
    source = read_gltf(path)
    try:
        for clip in source.clips:
            yield from key_findings(clip)
        yield from clip_findings(source)
        if profile is None:
            yield from same_names(source)
        else:
            yield from engine_findings(source, profile)
    except ReadError as fault:
        raise fault.at(path) from fault


def _usd(path: Path, profile: Profile | None) -> list[Finding]:
    with opened(path) as source:
        made = [*stage_findings(source), *skeleton_findings(source), *animation_findings(source)]
        if profile is not None:
            made += skeleton_limits(source, profile)
    return made

"""Which exporter writes which suffix: the SDK's own, and those of installed packages."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import cast

from akd_sdk.errors import ExportError
from akd_sdk.exporters.bvh import export_bvh
from akd_sdk.exporters.gltf import export_gltf
from akd_sdk.exporters.isaac import export_isaac
from akd_sdk.exporters.options import Exporter
from akd_sdk.exporters.usd import export_usd
from akd_sdk.formats.usd import SUFFIXES as USD_SUFFIXES
from akd_sdk.schemas.profile import Profile

GROUP = "akd_sdk.exporters"


_OWN: dict[str, Exporter] = {".glb": export_gltf, **dict.fromkeys(USD_SUFFIXES, export_usd), ".bvh": export_bvh}


def known_suffixes() -> tuple[str, ...]:
    """What is written: its own formats, then those of installed packages."""
    return (*_OWN, *(suffix for suffix in _others() if suffix not in _OWN))


def exporter_of(path: Path, profile: Profile | None = None) -> Exporter:
    """What writes a file of this suffix, for this engine. Raises ExportError: nothing does."""
    suffix = path.suffix.lower()
    if profile is not None and profile.articulation and suffix in USD_SUFFIXES:
        return export_isaac
    if suffix in _OWN:
        return _OWN[suffix]
    entry = _others().get(suffix)
    if entry is None:
        what = f"unknown format {suffix}" if suffix else "the name has no suffix"
        raise ExportError(what, path, f"known: {', '.join(known_suffixes())}")
    try:
        return cast(Exporter, entry.load())
    except (ImportError, AttributeError) as error:
        raise ExportError(f"the exporter for {suffix} cannot be loaded ({error})", path, f"repair the package of {entry.value}") from error


def _others() -> dict[str, EntryPoint]:
    return {f".{entry.name.lower()}": entry for entry in entry_points(group=GROUP)}

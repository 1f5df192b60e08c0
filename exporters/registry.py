"""One call for all formats: the suffix of the path chooses the exporter."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from os import PathLike
from pathlib import Path
from typing import cast

from akd_sdk.errors import ExportError
from akd_sdk.exporters.bvh import export_bvh
from akd_sdk.exporters.clip import Clip
from akd_sdk.exporters.gltf import export_gltf
from akd_sdk.exporters.options import PLAIN, Exporter, ExportOptions
from akd_sdk.exporters.usd import export_usd
from akd_sdk.formats.usd import SUFFIXES as USD_SUFFIXES
from akd_sdk.rig import Rig

GROUP = "akd_sdk.exporters"


_OWN: dict[str, Exporter] = {".glb": export_gltf, **dict.fromkeys(USD_SUFFIXES, export_usd), ".bvh": export_bvh}


def known_suffixes() -> tuple[str, ...]:
    """What `export` writes: its own formats, then those of installed packages."""
    return (*_OWN, *(suffix for suffix in _others() if suffix not in _OWN))


def export(
    rig: Rig, clips: Clip | Sequence[Clip], path: str | PathLike[str], *, force: bool = False, options: ExportOptions = PLAIN
) -> Path:
    """Write one clip, or several where the format holds several, by the suffix of `path`; the path written.

    Nothing is left behind where it fails, and without `force` nothing that exists is replaced.
    Raises ExportError: unknown suffix, no clip, a clip of another character, options that the format cannot do, a file that exists or
    cannot be written.
    """
    chosen = (clips,) if isinstance(clips, Clip) else tuple(clips)
    if not chosen:
        raise ExportError("there is no clip to write", path)
    exporter = _exporter(Path(path))
    try:
        return exporter(rig, chosen, path, force=force, options=options)
    except ExportError as fault:
        raise fault.at(path) from fault


def _exporter(path: Path) -> Exporter:
    suffix = path.suffix.lower()
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

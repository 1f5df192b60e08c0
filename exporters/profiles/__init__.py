"""Profiles of engines: one JSON file each, read when asked for."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from akd_sdk.errors import ExportError
from akd_sdk.schemas.profile import Profile

_FOLDER = files(__name__)


def known_profiles() -> tuple[str, ...]:
    """Names of the profiles that come with the SDK."""
    return tuple(sorted(item.name.removesuffix(".json") for item in _FOLDER.iterdir() if item.name.endswith(".json")))


def load_profile(name: str) -> Profile:
    """The profile of that name, or of a JSON file of one's own (a name that ends in .json).

    Raises ExportError: unknown; the file cannot be read or is no profile.
    """
    if name.endswith(".json"):
        return _read(Path(name))
    known = known_profiles()
    if name not in known:
        raise ExportError(f"unknown profile {name!r}", "--profile", f"known: {', '.join(known)}, or a .json of your own")
    return Profile.model_validate_json(_FOLDER.joinpath(f"{name}.json").read_bytes())


def _read(path: Path) -> Profile:
    try:
        return Profile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ExportError(f"cannot be read ({error.strerror or error})", path, "give a profile's name or its file") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ExportError(f"is no profile ({where}: {first['msg']})", path, "see the profiles that come with the SDK") from error

"""akd-sdk: a rigged character and a sentence become animation clips that engines play."""

from pathlib import Path as _Path

# A checkout without symbolic links (git on Windows, a zip download) has text files in place of the two links: the
# top-level folders are found through the package path instead.
_here = _Path(__file__).resolve().parent
if not (_here / "exporters").is_dir() and (_here.parent / "pyproject.toml").is_file():
    __path__.append(str(_here.parent))

__version__ = "0.1.0"

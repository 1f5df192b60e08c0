"""Which of a file's clips a command is about."""

from __future__ import annotations

from akd_sdk.errors import RigError
from akd_sdk.motion import Motion
from akd_sdk.rig import Rig


def chosen(rig: Rig, name: str | None) -> tuple[Motion, ...]:
    """The clip called `name`, or all of them.

    Raises:
        RigError: the file holds no clip, or none of that name.
    """
    if not rig.clips:
        raise RigError("holds no clip", rig.source.path, "akd animate makes one")
    found = rig.clips if name is None else tuple(clip for clip in rig.clips if clip.name == name)
    if not found:
        raise RigError(f"holds no clip called {name!r}", rig.source.path, f"there are {', '.join(clip.name for clip in rig.clips)}")
    return found


def single(rig: Rig, name: str | None) -> Motion:
    """The clip called `name`, or the only one.

    Raises:
        RigError: none of that name, or several and no name given.
    """
    found = chosen(rig, name)
    if len(found) > 1 and name is None:
        raise RigError(f"holds {len(found)} clips", rig.source.path, f"choose with --clip: {', '.join(clip.name for clip in found)}")
    return found[0]

"""What was written: a file with its clips, their keys and errors, and what had to be named otherwise."""

from __future__ import annotations

from pydantic import Field

from akd_sdk.schemas.base import Schema


class ExportedClip(Schema):
    """A clip in a file.

    Attributes:
        name: in the file.
        fps: frames a second of what it was made of.
        seconds: from the first key to the last.
        loop: whether it repeats without a seam.
        root_mode: "hips", "root" or "in_place".
        root_joint: the joint that carries the travel; None: no joint does.
        sway_mm, bob_mm: what the pelvis keeps over a root, or in place, sideways and up and down; None: the mode changes nothing.
        root_error_mm: how far the root mode moves any joint from where the motion has it.
        channels: joints and properties that move, and meshes that morph.
        keys: of all channels.
        keys_before: with a key at every frame; None: keys were not reduced.
        bytes: of the clip in the file, keys and JSON (of compressed keys their views alone); None where the format does not tell.
        worst_mm, p99_mm: how far reduced keys stray, millimetres at human size: at worst, and the 99th percentile over joints and times.
        worst_joint, worst_time_s: where and when the worst is.
        feet_worst_mm: of planted feet; None: nothing is planted, or not known.
    """

    name: str
    fps: float
    seconds: float
    loop: bool
    root_mode: str
    root_joint: str | None = None
    sway_mm: float | None = None
    bob_mm: float | None = None
    root_error_mm: float | None = None
    channels: int
    keys: int
    keys_before: int | None = None
    bytes: int | None = None
    worst_mm: float | None = None
    p99_mm: float | None = None
    worst_joint: str | None = None
    worst_time_s: float | None = None
    feet_worst_mm: float | None = None


class ExportedFile(Schema):
    """A file of clips.

    Attributes:
        path: of the file.
        bytes: its size.
        profile: the engine it is for; None: none in particular.
        clips: in it, by this writing.
        renamed: what is called otherwise than in the source, by its name there: joints, nodes, clips.
        import_fps: the rate to set where the engine imports it; None: it keeps the keys.
        notes: what a user has to do or know, one line each.
    """

    path: str
    bytes: int
    profile: str | None = None
    clips: tuple[ExportedClip, ...]
    renamed: dict[str, str] = Field(default_factory=dict)
    import_fps: float | None = None
    notes: tuple[str, ...] = ()

"""CharacterSummary: what `akd inspect` says of a file."""

from __future__ import annotations

from akd_sdk.schemas.base import Schema


class JointSummary(Schema):
    """A joint: its `name` (unique), the `source_name` in the file, file `parent` and `solve_parent` by name (None for a root), anatomical
    `group`, `side` ("middle", "left", "right") and `role`."""

    name: str
    source_name: str | None
    parent: str | None
    solve_parent: str | None
    group: str
    side: str
    role: str


class ChainSummary(Schema):
    """Joints of a limb or a part of the axis from its base outwards; `tip` is the kind of its virtual end."""

    kind: str
    side: str
    joints: tuple[str, ...]
    tip: str | None


class ClipSummary(Schema):
    """A clip of the file: frames, frames a second, seconds from first to last, whether first and last pose agree."""

    name: str
    frames: int
    fps: float
    seconds: float
    loop: bool


class CharacterSummary(Schema):
    """A character as the program sees it.

    Attributes:
        path: the file.
        name: of the character.
        format: of the file.
        body: kind of body.
        height_m: at rest, metres.
        metres_per_unit: what file lengths are multiplied by.
        forward: where it faces, a unit vector.
        leg_length_m: hip to sole, 0 without legs.
        pelvis: name of the joint where trunk and hind legs meet, None if not found.
        vertices: of all skins.
        triangles: of all skins.
        joints: all of the file's tree.
        chains: limbs and parts of the axis.
        contact_points: joints of the soles' lowest points, as "limb kind: joint".
        clips: the file's own motions.
        notes: what was guessed, with the reason.
        repairs: what was mended in the file.
    """

    path: str
    name: str
    format: str
    body: str
    height_m: float
    metres_per_unit: float
    forward: tuple[float, float, float]
    leg_length_m: float
    pelvis: str | None
    vertices: int
    triangles: int
    joints: tuple[JointSummary, ...]
    chains: tuple[ChainSummary, ...]
    contact_points: tuple[str, ...]
    clips: tuple[ClipSummary, ...]
    notes: tuple[str, ...]
    repairs: tuple[str, ...]

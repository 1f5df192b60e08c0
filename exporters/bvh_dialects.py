"""Dialects of BVH: what programs expect that the file itself cannot say, as data with their sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from akd_sdk.errors import ExportError


@dataclass(frozen=True)
class Dialect:
    """How a BVH is written for one kind of reader.

    Attributes:
        name: how it is chosen.
        title: what it is for.
        metres_per_unit: of the file.
        order: of the rotation channels.
        faces_z: the character is turned about the vertical so that it faces +Z; else it faces where its source does.
        t_pose: the zero pose is a T pose where the character can take one, whether asked or not.
        first_frame: a frame before the clip shows the T pose, or the rest pose where the character cannot take one.
        human_names: joints of bipeds get the names that MotionBuilder characterises by.
        ascii: letters, digits and underlines are all that names hold.
        longest: bytes of a name; None: any number.
        decimals: of all numbers.
        notes: what a user has to do or know.
        sources: where each choice comes from, by attribute.
    """

    name: str
    title: str
    metres_per_unit: float = 0.01
    order: Literal["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"] = "ZXY"
    faces_z: bool = False
    t_pose: bool = False
    first_frame: bool = False
    human_names: bool = False
    ascii: bool = False
    longest: int | None = None
    decimals: int = 7
    notes: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)


_CENTIMETRES: Final = "most readers take a unit for a centimetre (SlimeVR/SlimeVR-Server#1021)"
_MOTIONBUILDER: Final = "Autodesk MotionBuilder help: a T-stance that faces +Z is needed to characterise"
_CGSPEED: Final = "cgspeed.com, README of the MotionBuilder-friendly conversion of the CMU motions, 2008 and 2010"

DIALECTS: Final[Mapping[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            name="biovision",
            title="the format as it was first described; any reader that keeps to it",
            sources={"order": "the format's description by BioVision: Z, X, Y", "metres_per_unit": _CENTIMETRES},
        ),
        Dialect(
            name="blender",
            title="Blender's importer with its defaults",
            metres_per_unit=1.0,
            order="XYZ",
            longest=63,
            decimals=9,
            notes=("import with Scale 1, -Z forward, Y up (the defaults), and Update Scene FPS to take over the rate",),
            sources={
                "metres_per_unit": "io_anim_bvh 5.0: Scale is 1 by default, a unit of Blender a metre (read, and imported with bpy 5.0.1)",
                "order": "io_anim_bvh 5.0: its own export of bones without another order",
                "longest": "Blender: names of bones have 63 bytes",
                "decimals": "as fine as 7 of centimetres",
            },
        ),
        Dialect(
            name="motionbuilder",
            title="MotionBuilder, to be characterised",
            faces_z=True,
            t_pose=True,
            human_names=True,
            ascii=True,
            notes=("characterise on the zero pose: select all joints and set their rotations to 0",),
            sources={
                "metres_per_unit": "MotionBuilder's unit is the centimetre",
                "faces_z": _MOTIONBUILDER,
                "t_pose": _MOTIONBUILDER,
                "human_names": _CGSPEED + ": joints named as MotionBuilder maps them",
                "ascii": "a colon parts namespaces in MotionBuilder",
                "order": "MotionBuilder's own export: Z, X, Y (YoungSeng/FreeTalker#5)",
            },
        ),
        Dialect(
            name="cgspeed",
            title="readers of B. Hahne's MotionBuilder-friendly conversion of the CMU motions",
            order="ZYX",
            faces_z=True,
            first_frame=True,
            human_names=True,
            ascii=True,
            notes=("the first frame is the T pose that those files begin with: the clip begins at the second",),
            sources={
                "order": "files of the conversion: Z, Y, X for every joint",
                "faces_z": _CGSPEED + ": T poses face +Z",
                "first_frame": _CGSPEED + ": a T pose is the new first frame of every file",
                "human_names": _CGSPEED + ": joints renamed as MotionBuilder calls them",
                "metres_per_unit": _CENTIMETRES + "; the files themselves are in units of 5.3 to 5.6 cm, which only they share",
                "ascii": "names of the files",
            },
        ),
    )
}
"""By name; the first is what is written unless somebody says otherwise."""
PLAIN_DIALECT: Final = "biovision"


def dialect_named(name: str) -> Dialect:
    """The dialect of that name. Raises ExportError: unknown."""
    if name not in DIALECTS:
        raise ExportError(f"unknown BVH dialect {name!r}", "--dialect", f"known: {', '.join(DIALECTS)}")
    return DIALECTS[name]

"""Faults of keys and clips in glTF files."""

from __future__ import annotations

from typing import Final

from akd_sdk.exporters.check.findings import Row

KEYS: Final[tuple[Row, ...]] = (
    (
        "key-unreadable",
        "error",
        "keys of a channel cannot be read",
        "Counts, types or places of its accessors are wrong: players refuse the file or drop the channel.",
        "write the clip anew",
    ),
    (
        "key-not-finite",
        "error",
        "key times or values are no numbers (NaN or infinite)",
        "The joint and all below it vanish, in some engines the whole character.",
        "find the frame in the source that has no pose, and write the clip anew",
    ),
    (
        "key-huge",
        "error",
        "key values beyond ten million",
        "Damage rather than a place: matrices overflow and the character vanishes.",
        "find the frame in the source, and write the clip anew",
    ),
    (
        "key-time",
        "error",
        "key times lie before 0 or do not increase",
        "Engines skip such keys, refuse the clip or divide by zero.",
        "sort the keys, one a time, from 0 on",
    ),
    (
        "key-not-unit",
        "error",
        "rotation keys are no unit quaternions",
        "three.js and Babylon.js scale and shear the joint by them (metres off); others normalise.",
        "normalise the rotations",
    ),
    (
        "key-antipodal",
        "warning",
        "neighbouring rotation keys have opposite signs",
        "Players that interpolate components go the long way round: turns of up to 360 degrees within a frame.",
        "negate the later key of each pair whose dot product is negative, in order",
    ),
    (
        "key-apart",
        "warning",
        "neighbouring rotation keys are more than 60 degrees apart",
        "Engines that slerp and those that interpolate components differ by centimetres there; beyond 180 degrees the turn is lost.",
        "set keys between them, from the source",
    ),
    (
        "key-8-bit",
        "warning",
        "rotations are stored in 8 bits",
        "Off by centimetres in engines that do not normalise them (three.js and Babylon.js, measured).",
        "store float32, or 16 bits for engines that read them",
    ),
    (
        "key-compressed",
        "note",
        "keys are compressed by what is not installed here, and were not looked at",
        "Faults in them go unseen.",
        "pip install 'akd-sdk[compress]', or check the file before it is compressed",
    ),
)

CLIPS: Final[tuple[Row, ...]] = (
    (
        "clip-empty",
        "error",
        "the clip moves nothing",
        "It has no channel that glTF knows; importers drop it with a warning or without.",
        "write its motion, or leave it out",
    ),
    (
        "clip-unnamed",
        "warning",
        "the clip has no name",
        "Engines choose and play clips by name; each invents another.",
        "name it",
    ),
    (
        "clip-same-name",
        "warning",
        "several clips have one name",
        "Engines choose clips by name: only one of them can be played, others are renamed.",
        "give each a name of its own",
    ),
    (
        "clip-lead-in",
        "warning",
        "the first key comes after 0",
        "The first pose is held until then: every loop pauses, and importers that bake put the corner between two frames.",
        "shift the keys so that the first is at 0",
    ),
    (
        "clip-starts-apart",
        "warning",
        "some tracks begin later than the clip",
        "What they move is held until then, while the rest plays.",
        "begin every track at 0, held where it does not move yet",
    ),
    (
        "clip-ends-apart",
        "warning",
        "some tracks end before the clip",
        "The clip is as long as its longest track: a loop of the others stops and waits, most often for one frame.",
        "end every track at the clip's duration",
    ),
    (
        "clip-ghost-keys",
        "note",
        "joints are keyed at rest all the time",
        "Such keys cost bytes and hold joints still that another clip, layered over this one, means to move.",
        "leave out channels that stay at rest",
    ),
    (
        "clip-seam",
        "warning",
        "the clip says that it loops, and its last pose is not its first",
        "The loop jumps.",
        "end with the first pose, or do not mark it as a loop",
    ),
    (
        "joint-same-name",
        "warning",
        "joints have one name",
        "Engines that bind by name move the wrong one.",
        "give each a name of its own",
    ),
)

"""Faults of BVH files."""

from __future__ import annotations

from typing import Final

from akd_sdk.exporters.check.findings import Row

BVH: Final[tuple[Row, ...]] = (
    (
        "bvh-frame-time",
        "error",
        "the frame time is no positive number",
        "Importers divide by it: infinite or no key times.",
        "write the seconds of a frame, such as 0.0333333333",
    ),
    (
        "bvh-channels",
        "error",
        "a frame has not one number a channel",
        "Every number after it means another joint.",
        "write one number for each channel of the hierarchy in every frame",
    ),
    (
        "bvh-frames",
        "error",
        "the number of frames is not what the file says",
        "Readers stop early, or wait for more.",
        "write the number of lines that follow",
    ),
    (
        "bvh-not-finite",
        "error",
        "a frame holds what is no number (NaN or infinite)",
        "The joint and all below it vanish.",
        "find the frame in the source that has no pose, and write the clip anew",
    ),
    (
        "bvh-huge",
        "error",
        "a frame holds numbers beyond ten million",
        "Damage rather than a place or an angle.",
        "find the frame in the source, and write the clip anew",
    ),
    ("bvh-same-name", "warning", "joints have one name", "Programs that bind by name move the wrong one.", "give each a name of its own"),
    (
        "bvh-jump",
        "warning",
        "an angle jumps by more than 180 degrees between two frames",
        "Between frames, at other rates, and after filters the joint spins.",
        "unwrap the angles, and choose continuous ones near gimbal lock",
    ),
)

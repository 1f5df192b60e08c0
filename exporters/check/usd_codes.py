"""Faults of UsdSkel files."""

from __future__ import annotations

from typing import Final

from akd_sdk.exporters.check.findings import Row

STAGE: Final[tuple[Row, ...]] = (
    (
        "stage-broken",
        "error",
        "a layer refers to what is not there",
        "Part of the character or the motion is missing.",
        "put the files together, or mend the path",
    ),
    (
        "stage-up-axis",
        "warning",
        "the stage does not say which axis is up",
        "Y is assumed; tools of Z up lay the character on its face.",
        "author upAxis",
    ),
    (
        "stage-unit",
        "warning",
        "the stage does not say its unit",
        "Centimetres are assumed: a character in metres is two centimetres tall.",
        "author metersPerUnit",
    ),
    (
        "stage-rate",
        "warning",
        "time codes without a rate",
        "24 a second are assumed: clips of another rate play too slowly or too fast.",
        "author timeCodesPerSecond in every layer that holds time samples",
    ),
    (
        "stage-default-prim",
        "warning",
        "the stage has no default prim",
        "It cannot be referenced without naming one.",
        "author defaultPrim: the prim above the SkelRoot or itself",
    ),
    (
        "stage-no-range",
        "warning",
        "the stage does not say from when to when it plays",
        "Players play nothing, or frames of their own choice.",
        "author startTimeCode and endTimeCode",
    ),
    (
        "stage-range",
        "warning",
        "samples of the motion and the stage's time range do not agree",
        "Frames are cut off, or a pose is held before or after the motion.",
        "let the range begin with the first sample and end with the last",
    ),
)

SKELETONS: Final[tuple[Row, ...]] = (
    (
        "skel-type",
        "error",
        "joints or transforms have another type than UsdSkel's",
        "They are not read: the skeleton is invalid, or has no pose to start from.",
        "write token[] joints, matrix4d[] bindTransforms and restTransforms",
    ),
    (
        "skel-no-root",
        "error",
        "a skeleton is not below a SkelRoot",
        "Nothing below it is skinned.",
        "put skeleton and meshes below a SkelRoot",
    ),
    (
        "skel-joint-order",
        "error",
        "a joint comes before its parent in the skeleton",
        "The skeleton is invalid: no pose at all.",
        "sort the joints, parents first, and all arrays with them",
    ),
    (
        "skel-joint-parent",
        "error",
        "a joint's parent is not among the skeleton's joints",
        "The joint hangs on nothing, or on the nearest one that is there.",
        "list every joint of the path",
    ),
    ("skel-joint-twice", "error", "a joint is listed twice", "Poses cannot be told apart.", "list each joint once"),
    (
        "skel-no-bind",
        "error",
        "bind transforms are missing, or not one a joint",
        "Skinning has no pose to start from.",
        "author bindTransforms, in the space of the skeleton, one a joint",
    ),
    (
        "skel-no-rest",
        "error",
        "rest transforms are missing, or not one a joint",
        "Joints that no clip moves have no pose; some players put them at identity.",
        "author restTransforms, local to the parent, one a joint",
    ),
    (
        "skel-source-nowhere",
        "error",
        "an animation source leads to no SkelAnimation",
        "The character stays at rest, without a word.",
        "let skel:animationSource target the SkelAnimation",
    ),
    (
        "skel-source-place",
        "warning",
        "the animation source is not on the SkelRoot",
        "One release of USD does not find it below the skeleton.",
        "author skel:animationSource on the SkelRoot, too",
    ),
    (
        "skel-unplayed",
        "warning",
        "no skeleton plays this SkelAnimation",
        "The motion is in the file, and nothing moves.",
        "bind it: skel:animationSource on the SkelRoot",
    ),
)

ANIMATIONS: Final[tuple[Row, ...]] = (
    (
        "anim-channel",
        "error",
        "translations, rotations or scales are not authored",
        "Without all three the whole animation is ignored: the character stays at rest, without a word.",
        "author translations, rotations and scales of all its joints",
    ),
    (
        "anim-type",
        "error",
        "a value has another type than UsdSkel's",
        "It is not read.",
        "write float3[] translations, quatf[] rotations, half3[] scales",
    ),
    (
        "anim-length",
        "error",
        "an array has not one value a joint",
        "Near that sample the character stands in its rest pose, without a word.",
        "write one value a joint at every sample",
    ),
    (
        "anim-joint-order",
        "warning",
        "a joint comes before its parent in the animation",
        "Players that take its list for a tree get no pose.",
        "list joints as the skeleton does",
    ),
    (
        "anim-joint-unknown",
        "warning",
        "the animation moves joints that the skeleton has not",
        "Their motion is dropped.",
        "use the skeleton's joint paths",
    ),
    (
        "anim-joint-missing",
        "warning",
        "the animation leaves out joints of the skeleton",
        "Some players put them at identity in place of rest.",
        "author all joints, those that do not move at rest",
    ),
    (
        "anim-not-finite",
        "error",
        "values are no numbers (NaN or infinite)",
        "The joint and all below it vanish.",
        "find the frame in the source that has no pose, and write the clip anew",
    ),
    (
        "anim-huge",
        "error",
        "values beyond ten million",
        "Damage rather than a place: matrices overflow.",
        "find the frame in the source, and write the clip anew",
    ),
    (
        "anim-not-unit",
        "error",
        "rotations are no unit quaternions",
        "Players that do not normalise them scale and shear the joint.",
        "normalise the rotations",
    ),
    (
        "anim-antipodal",
        "warning",
        "neighbouring rotations have opposite signs",
        "Players that interpolate components go the long way round.",
        "negate the later one of each pair whose dot product is negative, in order",
    ),
    (
        "anim-apart",
        "warning",
        "neighbouring rotations are more than 60 degrees apart",
        "Players that slerp and those that interpolate components differ by centimetres there.",
        "write samples between them, from the source",
    ),
)

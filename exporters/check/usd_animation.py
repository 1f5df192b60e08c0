"""SkelAnimations of a USD file: channels, joints, lengths of arrays, and the values themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from akd_sdk.exporters.check.codes import found
from akd_sdk.exporters.check.findings import Finding, some
from akd_sdk.exporters.check.keys import LARGEST, degrees_apart, flipped, off_unit, too_far
from akd_sdk.exporters.check.usd_skeleton import joints_of, order_fault, played
from akd_sdk.exporters.check.usd_source import TYPES, UsdSource, values, wrong_type

Array = NDArray[np.float64]

CHANNELS: Final = ("translations", "rotations", "scales")
WIDTHS: Final = {"translations": 3, "rotations": 4, "scales": 3}


def animation_findings(source: UsdSource) -> Iterable[Finding]:
    """What is wrong with the animations of a stage."""
    from pxr import UsdSkel

    for skeleton, animation in played(source):
        yield from _joints(joints_of(UsdSkel.Skeleton(skeleton)), joints_of(UsdSkel.Animation(animation)), str(animation.GetPath()))
    for prim in source.animations:
        where = str(prim.GetPath())
        fault = order_fault(joints_of(UsdSkel.Animation(prim)))
        if fault is not None:
            yield found("anim-joint-order", where, fault)
        missing = [name for name in CHANNELS if not prim.GetAttribute(name).HasAuthoredValue()]
        only_shapes = len(missing) == len(CHANNELS) and prim.GetAttribute("blendShapes").HasAuthoredValue()
        if missing and not only_shapes:
            yield found("anim-channel", where, f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not authored")
        for name in CHANNELS:
            if name not in missing:
                yield from _channel(prim.GetAttribute(name), joints_of(UsdSkel.Animation(prim)), where)
        yield from _weights(prim, where)


def _joints(skeleton: Sequence[str], animation: Sequence[str], where: str) -> Iterable[Finding]:
    unknown = [joint for joint in animation if joint not in set(skeleton)]
    if unknown:
        yield found("anim-joint-unknown", where, some(unknown))
    missing = [joint for joint in skeleton if joint not in set(animation)]
    if missing:
        yield found("anim-joint-missing", where, f"{len(missing)} of {len(skeleton)}: {some(missing)}")


def _channel(attribute: Any, joints: Sequence[str], where: str) -> Iterable[Finding]:
    """One of translations, rotations and scales."""
    from pxr import Usd

    name = attribute.GetName()
    other = wrong_type(attribute)
    if other is not None:
        yield found("anim-type", where, f"{name} is {other}, not {TYPES[name]}")
        return
    codes = attribute.GetTimeSamples() or [Usd.TimeCode.Default()]
    samples = [np.array(values(attribute, code), dtype=np.float64).reshape(-1, WIDTHS[name]) for code in codes]
    wrong = [i for i, sample in enumerate(samples) if len(sample) != len(joints)]
    if wrong:
        yield found("anim-length", where, f"{name} has {len(samples[wrong[0]])} values for {len(joints)} joints at {codes[wrong[0]]}")
    whole = [i for i in range(len(samples)) if i not in set(wrong)]
    if not whole or not joints:
        return
    yield from _value_findings(np.stack([samples[i] for i in whole]), [codes[i] for i in whole], joints, (where, name))


def _value_findings(held: Array, codes: Sequence[Any], joints: Sequence[str], called: tuple[str, str]) -> Iterable[Finding]:
    """Of values held at samples (samples, joints, width)."""
    where, name = called
    wrong = np.asarray(~np.isfinite(held).all(axis=-1))
    if wrong.any():
        yield found("anim-not-finite", where, f"{name} of {_place(wrong, codes, joints)}")
        return
    huge = np.abs(held).max(axis=-1) > LARGEST
    if huge.any():
        yield found("anim-huge", where, f"{name} of {_place(huge, codes, joints)}: {np.abs(held).max():.3g}")
    if name != "rotations":
        return
    odd = off_unit(held)
    if odd.any():
        yield found("anim-not-unit", where, _place(odd, codes, joints))
    if flipped(held).any():
        yield found("anim-antipodal", where, _place(flipped(held), codes[1:], joints))
    if too_far(held).any():
        yield found("anim-apart", where, f"{_place(too_far(held), codes[1:], joints)}: up to {degrees_apart(held).max():.1f} degrees")


def _place(wrong: NDArray[np.bool_], codes: Sequence[Any], joints: Sequence[str]) -> str:
    """The first of (samples, joints) flags, in words, and how many there are."""
    sample, joint = (int(i[0]) for i in np.nonzero(wrong))
    others = "" if wrong.sum() == 1 else f", {int(wrong.sum())} in all"
    return f"{joints[joint]} at {codes[sample]}{others}"


def _weights(prim: Any, where: str) -> Iterable[Finding]:
    """Blend shapes: one weight each at every sample."""
    from pxr import UsdSkel

    animation = UsdSkel.Animation(prim)
    shapes, attribute = values(animation.GetBlendShapesAttr()), animation.GetBlendShapeWeightsAttr()
    other = wrong_type(attribute)
    if other is not None:
        yield found("anim-type", where, f"blendShapeWeights is {other}, not {TYPES['blendShapeWeights']}")
        return
    for code in attribute.GetTimeSamples():
        count = len(values(attribute, code))
        if count != len(shapes):
            yield found("anim-length", where, f"blendShapeWeights has {count} values for {len(shapes)} shapes at {code:g}")
            return

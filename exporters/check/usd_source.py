"""A USD file as it is checked: its stage, with the prims that have to do with skeletons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from akd_sdk.errors import ReadError
from akd_sdk.formats.gltf.container import read_bytes
from akd_sdk.formats.usd import load


@dataclass(frozen=True)
class UsdSource:
    """A stage; Any, because pxr has no types.

    Attributes:
        stage: the Usd.Stage.
        skeletons: prims that are a UsdSkel.Skeleton.
        animations: prims that are a UsdSkel.Animation.
    """

    stage: Any
    skeletons: tuple[Any, ...]
    animations: tuple[Any, ...]


TYPES: Final = {
    "joints": "token[]",
    "bindTransforms": "matrix4d[]",
    "restTransforms": "matrix4d[]",
    "translations": "float3[]",
    "rotations": "quatf[]",
    "scales": "half3[]",
    "blendShapes": "token[]",
    "blendShapeWeights": "float[]",
}
"""Attributes of UsdSkel, and what it has them be."""


def wrong_type(attribute: Any) -> str | None:
    """Types that a file gives an attribute of TYPES in place of its own; None where it gives none."""
    from pxr import Usd

    specs = attribute.GetPropertyStack(Usd.TimeCode.Default()) if attribute else []
    others = {str(getattr(spec, "typeName", "no attribute")) for spec in specs} - {TYPES[attribute.GetName()]}
    return " and ".join(sorted(others)) or None


def values(attribute: Any, code: Any = None) -> Sequence[Any]:
    """An attribute's array at a time code (None: the default value); empty where there is none, or one of another type."""
    if not attribute or wrong_type(attribute) is not None:
        return ()
    found = attribute.Get() if code is None else attribute.Get(code)
    return () if found is None else found


@contextmanager
def opened(path: Path) -> Iterator[UsdSource]:
    """The stage of a file; what USD would say of it on standard error stays unsaid. ReadError where USD cannot read it."""
    read_bytes(path)  # names what is missing, a folder or empty
    load()
    from pxr import Tf, Usd, UsdSkel, UsdUtils

    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        stage = Usd.Stage.Open(str(path))
        prims = list(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()))
        skeletons = tuple(prim for prim in prims if prim.IsA(UsdSkel.Skeleton))
        animations = tuple(prim for prim in prims if prim.IsA(UsdSkel.Animation))
        yield UsdSource(stage, skeletons, animations)
    except Tf.ErrorException as error:
        raise ReadError("USD cannot read it", path, "it is damaged, or no USD file") from error
    finally:
        delegate.TakeUncoalescedDiagnostics()

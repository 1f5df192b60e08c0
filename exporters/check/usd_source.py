"""A USD file as it is checked: its stage, with the prims that have to do with skeletons."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@contextmanager
def opened(path: Path) -> Iterator[UsdSource]:
    """The stage of a file; what USD would say of it on standard error stays unsaid. ReadError where USD cannot read it."""
    read_bytes(path)  # names what is missing, a folder or empty
    load()
    from pxr import Tf, Usd, UsdSkel, UsdUtils

    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        try:
            stage = Usd.Stage.Open(str(path))
        except Tf.ErrorException as error:
            raise ReadError("USD cannot read it", path, "it is damaged, or no USD file") from error
        prims = list(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()))
        skeletons = tuple(prim for prim in prims if prim.IsA(UsdSkel.Skeleton))
        animations = tuple(prim for prim in prims if prim.IsA(UsdSkel.Animation))
        yield UsdSource(stage, skeletons, animations)
    finally:
        delegate.TakeUncoalescedDiagnostics()

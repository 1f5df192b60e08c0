"""The grammar of USD: identifiers, paths of joints, matrices on rows, and layers written whole."""

from __future__ import annotations

import importlib
import re
import signal
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from akd_sdk.errors import ExportError

if TYPE_CHECKING:
    from pxr import Sdf, Vt

Array = NDArray[np.float64]

SUFFIXES = (".usda", ".usdc", ".usd", ".usdz")
CANNOT_WRITE = ("USD cannot write it", None, "choose a folder that can be written and has room")
HALF_LARGEST = float(np.finfo(np.float16).max)


MODULES = ("Tf", "Gf", "Vt", "Sdf", "Kind", "Usd", "UsdGeom", "UsdShade", "UsdSkel", "UsdPhysics", "UsdUtils")


def load() -> None:
    """Load USD's modules. An interruption waits until they are there: while they load, they swallow it and are left half made."""
    previous = signal.getsignal(signal.SIGINT)
    held: list[int] = []

    def hold(number: int, _: FrameType | None) -> None:
        held.append(number)

    holding = threading.current_thread() is threading.main_thread() and previous is not None  # None: not set from Python
    if holding:
        signal.signal(signal.SIGINT, hold)
    try:
        for name in MODULES:
            importlib.import_module(f"pxr.{name}")
    finally:
        if holding:
            signal.signal(signal.SIGINT, previous)
    if held:
        signal.raise_signal(held[0])


def identifier(name: str) -> str:
    """A name that every version of USD takes for a prim: ASCII letters, digits and underlines, no digit first."""
    cleaned = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
    return f"_{cleaned}" if cleaned[0].isdigit() else cleaned


def identifiers(names: Iterable[str], taken: set[str] | None = None) -> list[str]:
    """An identifier for each name, all different; they are added to `taken`."""
    taken = set() if taken is None else taken
    found = []
    for name in names:
        base = new = identifier(name)
        number = 2
        while new in taken:
            new, number = f"{base}_{number}", number + 1
        taken.add(new)
        found.append(new)
    return found


def joint_paths(names: Sequence[str], parents: NDArray[np.int64]) -> list[str]:
    """What UsdSkel calls joints: identifiers joined by slashes from the root down. Parents come first."""
    paths: list[str] = []
    for name, parent in zip(identifiers(names), parents, strict=True):
        paths.append(name if parent < 0 else f"{paths[int(parent)]}/{name}")
    return paths


def row_matrices(matrices: Array) -> Vt.Matrix4dArray:
    """Matrices on columns (n, 4, 4) as USD's, which act on rows."""
    from pxr import Vt

    return Vt.Matrix4dArray.FromNumpy(np.ascontiguousarray(matrices.swapaxes(-1, -2), dtype=np.float64))


def float3(values: Array) -> Vt.Vec3fArray:
    """(n, 3) as float3[]; ExportError where float32 does not hold them."""
    from pxr import Vt

    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(values, dtype=np.float32)
    if not np.isfinite(single).all():
        raise ExportError("values are too large for float32")
    return Vt.Vec3fArray.FromNumpy(single)


def half3(values: Array) -> Vt.Vec3hArray:
    """(n, 3) as half3[]; ExportError where half precision does not hold them."""
    from pxr import Vt

    if np.abs(values).max(initial=0.0) > HALF_LARGEST:
        raise ExportError(f"scales beyond {HALF_LARGEST:g} do not fit into UsdSkel's half precision")
    return Vt.Vec3hArray.FromNumpy(np.ascontiguousarray(values, dtype=np.float16))


def quatf(quat_xyzw: Array) -> Vt.QuatfArray:
    """(n, 4) xyzw as quatf[], whose memory is xyzw too (its text is w first)."""
    from pxr import Vt

    return Vt.QuatfArray.FromNumpy(np.ascontiguousarray(quat_xyzw, dtype=np.float32))


def save(layer: Sdf.Layer, path: Path) -> None:
    """Write a layer by the suffix of `path`: .usda text, .usdc and .usd crate, .usdz a package of a crate and what it refers to beside it.

    Raises ExportError, without a path, where USD cannot write it.
    """
    from pxr import Sdf, Tf, UsdUtils

    crate = path.with_suffix(".usdc") if path.suffix.lower() == ".usdz" else path
    try:
        done = bool(layer.Export(str(crate)))
        if done and crate != path:
            done = bool(UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(str(crate)), str(path)))
    except Tf.ErrorException as error:  # its text names places inside USD; what a user can do is in the hint
        raise ExportError(*CANNOT_WRITE) from error
    if not done or not path.is_file() or not path.stat().st_size:
        raise ExportError(*CANNOT_WRITE)
    if crate != path:
        crate.unlink()

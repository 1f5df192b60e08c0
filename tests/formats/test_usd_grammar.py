"""Names and arrays of USD."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np
import pytest
from pxr import Sdf, Tf

from akd_sdk.errors import ExportError
from akd_sdk.formats import usd
from akd_sdk.formats.usd import float3, half3, identifiers, joint_paths, quatf, row_matrices


@pytest.mark.skipif(sys.platform == "win32", reason="signals are Unix's")
def test_an_interruption_waits_until_all_modules_are_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def load_and_interrupt(name: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        loaded.append(name)

    monkeypatch.setattr(usd.importlib, "import_module", load_and_interrupt)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        usd.load()
    assert loaded == [f"pxr.{name}" for name in usd.MODULES]
    assert signal.getsignal(signal.SIGINT) is before


ODD = ["a b", "a_b", "1st", "", "Bip01:L Foot", "骨", "é", "a.b", "_"]


def test_identifiers_are_valid_and_different() -> None:
    found = identifiers(ODD)
    assert all(Tf.IsValidIdentifier(name) and name.isascii() for name in found)
    assert len(set(found)) == len(ODD)


def test_joint_paths_are_paths_with_their_parents_before_them() -> None:
    parents = np.array([-1, 0, 0, 1, 3, 3, 3, -1, 7])
    paths = joint_paths(ODD, parents)
    assert all(Sdf.Path.IsValidPathString(path) for path in paths)
    for path, parent in zip(paths, parents, strict=True):
        assert path.rpartition("/")[0] == ("" if parent < 0 else paths[parent])


def test_arrays_keep_their_order() -> None:
    quaternion = quatf(np.array([[0.1, 0.2, 0.3, 0.9]]))[0]
    assert (quaternion.real, *quaternion.imaginary) == pytest.approx((0.9, 0.1, 0.2, 0.3))
    matrix = np.eye(4)[None].copy()
    matrix[0, :3, 3] = 1.0, 2.0, 3.0
    assert tuple(row_matrices(matrix)[0].ExtractTranslation()) == (1.0, 2.0, 3.0)


def test_values_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ExportError, match="float32"):
        float3(np.full((1, 3), 1e39))
    with pytest.raises(ExportError, match="half precision"):
        half3(np.full((1, 3), 7e4))

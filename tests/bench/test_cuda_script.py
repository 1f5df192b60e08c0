"""The script for CUDA machines works before it meets one: what it compares also runs on the CPU, and can fail."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from akd_sdk.splat import Cloud, load_splatter
from akd_sdk.views.pinhole import Pinhole
from tests.bench import cuda

ROOT = Path(__file__).resolve().parents[2]
SCENES = [(name, scene) for name, scene in cuda.awkward_scenes() if len(scene.colours) < 1000]
"""All but the large one, which takes the twin half a minute."""


class Altered:
    """The Warp kernels with something done to their pictures."""

    name = "altered"

    def __init__(self, change: Callable[[Tensor], Tensor]) -> None:
        self.change, self.warp = change, load_splatter("warp")

    def __call__(self, cloud: Cloud, camera: Pinhole, background: Tensor) -> Tensor:
        return self.change(self.warp(cloud, camera, background))


def test_warp_holds_every_mark_on_the_cpu_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert cuda.agreement([load_splatter("warp")], "cpu", SCENES)
    assert "MISSED" not in capsys.readouterr().out


@pytest.mark.parametrize("change", [lambda x: x * 1.003, lambda x: x.detach() + 0.0 * x, lambda x: x.flip(2), lambda x: x * float("nan")])
def test_pictures_and_gradients_that_are_off_miss_their_marks(
    change: Callable[[Tensor], Tensor], capsys: pytest.CaptureFixture[str]
) -> None:
    assert not cuda.agreement([Altered(change)], "cpu", SCENES)
    assert capsys.readouterr().out.count("MISSED") == len(SCENES)


def test_films_are_drawn_and_timed(capsys: pytest.CaptureFixture[str]) -> None:
    cuda.films([load_splatter("warp")], "cpu", (50,), ((5, 32, 48),))
    assert "5x32x48" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is here")
def test_without_a_cuda_device_it_says_so_in_one_line_with_status_2() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.cuda"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.skipif(sys.platform == "darwin", reason="Warp has no CUDA compiler on macOS")
def test_the_warp_kernels_compile_for_gpus_of_2018_and_2022_without_one(tmp_path: Path) -> None:
    import warp as wp

    from akd_sdk.splat import kernels

    load_splatter("warp")
    wp.compile_aot_module(kernels, arch=[75, 90], module_dir=tmp_path, use_ptx=True)
    made = {path.suffixes[-2]: path.read_text() for path in tmp_path.glob("*.ptx")}
    assert made.keys() == {".sm75", ".sm90"}
    assert all(code.count(".visible .entry") >= 2 for code in made.values())

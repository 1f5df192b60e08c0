"""Loading backends: what is taken, and how what is missing or wrong is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from splat_scenes import random_scene

from akd_sdk.errors import AkdError, BackendError
from akd_sdk.splat import SPLATTERS, Cloud, Splatter, load_splatter
from akd_sdk.splat.memory import told_what_fits
from akd_sdk.views.pinhole import Pinhole

WITHOUT_CUDA = pytest.mark.skipif(torch.cuda.is_available(), reason="a CUDA device is here")


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False)


def test_every_backend_has_its_name_and_auto_is_warp_on_the_cpu() -> None:
    assert SPLATTERS == ("auto", "warp", "torch", "gsplat")
    assert load_splatter().name == load_splatter("warp").name == "warp"
    assert load_splatter("torch").name == "torch"
    assert isinstance(load_splatter(), Splatter)


@pytest.mark.parametrize("name", ["auto", "warp", "torch"])
def test_the_cpu_may_have_a_number(name: str) -> None:
    assert load_splatter(name, "cpu:0").device == "cpu"  # type: ignore[attr-defined]  # of the backends, not of the protocol


@pytest.mark.parametrize(
    ("name", "device", "fault"),
    [
        ("nerf", "cpu", "no splatting backend is called 'nerf'; known are auto, warp, torch, gsplat"),
        ("warp", "abacus", "there is no device 'abacus'"),
        ("torch", "meta", "nothing is splatted on the device 'meta'"),
        ("gsplat", "cpu", "gsplat draws on CUDA devices only"),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_line(name: str, device: str, fault: str) -> None:
    with pytest.raises(BackendError) as caught:
        load_splatter(name, device)
    assert fault in str(caught.value)
    assert "\n" not in str(caught.value)


@WITHOUT_CUDA
@pytest.mark.parametrize("name", SPLATTERS)
def test_a_missing_cuda_device_is_refused_when_loading(name: str) -> None:
    with pytest.raises(BackendError, match="'cuda:0' is not available; this needs an NVIDIA GPU"):
        load_splatter(name, "cuda:0")


def test_importing_splat_loads_neither_warp_nor_gsplat() -> None:
    done = python("import sys, akd_sdk.splat; print(sorted({'warp', 'gsplat'} & set(sys.modules)))")
    assert done.stdout.strip() == "[]", done.stderr


@WITHOUT_CUDA
def test_loading_warp_on_the_cpu_prints_nothing() -> None:
    done = python("import torch; from akd_sdk.splat import load_splatter; load_splatter('warp')")
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


def test_a_missing_warp_is_named() -> None:
    done = python("import sys; sys.modules['warp'] = None\nfrom akd_sdk.splat import load_splatter\nload_splatter('warp')")
    assert "BackendError: warp: the package warp-lang is not installed; pip install warp-lang" in done.stderr


def test_a_folder_of_kernels_that_cannot_be_written_is_named_with_the_way_out(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    done = python("from akd_sdk.splat import load_splatter\nload_splatter('warp')", WARP_CACHE_PATH=str(in_the_way / "kernels"))
    last = done.stderr.strip().splitlines()[-1]
    assert "BackendError: warp: the splatting kernels cannot be compiled" in last
    assert "WARP_CACHE_PATH" in last


@pytest.mark.parametrize("name", ["warp", "torch"])
@pytest.mark.parametrize("leaf", ["means", "covariances", "colours", "opacities", "view", "background", "focal"])
@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused_by_name(name: str, leaf: str, number: float) -> None:
    scene = random_scene(2, 5, (8, 8))
    spoilt = getattr(scene, leaf).detach().clone()
    spoilt.view(-1)[0] = number
    with pytest.raises(AkdError, match=f"{'camera_from_world' if leaf == 'view' else leaf} hold numbers that are not finite"):
        replace(scene, **{leaf: spoilt}).draw(load_splatter(name))


@pytest.mark.parametrize("name", ["warp", "torch"])
def test_huge_numbers_leave_pictures_finite_and_the_gradients_of_warp_too(name: str) -> None:
    scene = random_scene(1, 6, (8, 8))
    means, covariances = scene.means.detach().clone(), scene.covariances.detach().clone()
    means[0, 0], means[0, 1, 0], covariances[0, 2], covariances[0, 3] = 1e30, 1e12, covariances[0, 2] * 1e30, covariances[0, 3] * -1e3
    pictures, gradients = replace(scene, means=means.requires_grad_(), covariances=covariances.requires_grad_()).draw_and_differentiate(
        load_splatter(name)
    )
    assert bool(torch.isfinite(pictures).all())
    assert name == "torch" or all(bool(torch.isfinite(gradient).all()) for gradient in gradients.values())


def test_shapes_that_do_not_fit_are_refused() -> None:
    scene = random_scene(2, 5, (8, 8))
    with pytest.raises(AkdError, match="covariances of shape"):
        Cloud(scene.means, scene.covariances[:, :4], scene.colours, scene.opacities)
    with pytest.raises(AkdError, match="means of shape"):
        Cloud(scene.means[0], scene.covariances, scene.colours, scene.opacities)
    with pytest.raises(AkdError, match="3 cameras cannot look at 2 frames"):
        replace(scene, view=scene.view[:1].repeat(3, 1, 1), focal=scene.focal[:1].repeat(3)).draw(load_splatter())
    with pytest.raises(AkdError, match="a background of shape"):
        replace(scene, background=scene.background[:, :4]).draw(load_splatter())


def test_tensors_of_another_device_are_refused() -> None:
    scene = random_scene(2, 5, (8, 8))
    with pytest.raises(AkdError, match="means on meta cannot be drawn on cpu"):
        replace(scene, means=scene.means.to("meta")).draw(load_splatter())


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
        MemoryError(),
    ],
)
def test_running_out_of_memory_is_told_with_what_would_fit(error: Exception) -> None:
    camera = Pinhole(torch.zeros(16, 3, 4), torch.ones(16), (1000, 1000))
    with (
        pytest.raises(BackendError, match=r"16 pictures of 1000 x 1000 with 2000 Gaussians do not fit.*at most 8 at once"),
        told_what_fits(camera, 2000),
    ):
        raise error


def test_other_errors_pass_by() -> None:
    camera = Pinhole(torch.zeros(1, 3, 4), torch.ones(1), (10, 10))
    with pytest.raises(RuntimeError, match="something else"), told_what_fits(camera, 1):
        raise RuntimeError("something else")

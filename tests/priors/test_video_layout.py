"""Lengths and sizes of videos, and the noise of schedules, against the models' own rules and diffusers' schedulers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from akd_sdk.errors import AkdError, PriorError, PromptError
from akd_sdk.priors.video.layout import Layout
from akd_sdk.priors.video.schedule import Flow, VPrediction
from akd_sdk.priors.video.text import described, understood

COG = Layout("CogVideoX", 49, (480, 720), 8.0, 4, 5, 16)
COG_15 = Layout("CogVideoX 1.5", 85, (768, 1360), 16.0, 8, 5, 16, (2400, 2400))
LTX = Layout("LTX-Video", 49, (480, 704), 25.0, 8, 9, 32)


@pytest.mark.parametrize(
    ("layout", "frames", "words"),
    [
        (COG, 20, "20 frames, but of 4 k + 1; give 17 or 21"),
        (COG, 48, "give 45 or 49"),
        (COG, 0, "give 5"),
        (COG, -3, "give 5"),
        (COG, 1, "give 5"),
        (COG_15, 81, "of 8 k + 5; give 77 or 85"),
        (LTX, 21, "of 8 k + 1; give 17 or 25"),
    ],
)
def test_lengths_that_a_model_cannot_take_name_the_nearest(layout: Layout, frames: int, words: str) -> None:
    with pytest.raises(AkdError) as refused:
        layout.chosen(frames, None)
    assert words in str(refused.value)
    assert str(refused.value).startswith("frames: ")


@pytest.mark.parametrize(
    ("layout", "size", "words"),
    [
        (COG, (0, 0), "give 16 x 16"),
        (COG, (480, 721), "721 x 480 pixels, but sides that are multiples of 16; give 720 x 480"),
        (COG, (-16, 32), "give 32 x 16"),
        (LTX, (480, 720), "multiples of 32; give 704 x 480"),
        (COG_15, (3200, 320), "up to 2400 x 2400; give 320 x 2400"),
    ],
)
def test_sizes_that_a_model_cannot_take_name_the_nearest(layout: Layout, size: tuple[int, int], words: str) -> None:
    with pytest.raises(AkdError) as refused:
        layout.chosen(None, size)
    assert words in str(refused.value)


@pytest.mark.parametrize("layout", [COG, COG_15, LTX])
def test_what_is_named_as_nearest_is_taken(layout: Layout) -> None:
    for k in range(4):
        assert layout.chosen(layout.frame_first + k * layout.frame_step, (layout.multiple, 2 * layout.multiple)).fps == layout.fps
    assert layout.chosen(None, None) == layout


def test_tokens_are_counted_as_the_models_do() -> None:
    assert COG.tokens == 13 * 30 * 45  # 17,550; with 226 of the text 17,776
    assert COG_15.tokens == 11 * 48 * 85
    assert LTX.chosen(None, (480, 736)).tokens == 2415


def scheduler(**changes: Any) -> Any:
    from diffusers import CogVideoXDDIMScheduler

    config = {"prediction_type": "v_prediction", "rescale_betas_zero_snr": True, "timestep_spacing": "trailing", "clip_sample": False}
    return CogVideoXDDIMScheduler(**{**config, **changes})


@pytest.mark.parametrize("shift", [1.0, 3.0])
@pytest.mark.parametrize("step", [1, 500, 999])
def test_clean_latents_of_v_equal_those_of_diffusers_scheduler(shift: float, step: int) -> None:
    theirs = scheduler(snr_shift_scale=shift)
    ours = VPrediction.of(dict(theirs.config), Path("scheduler_config.json"))
    np.testing.assert_allclose(ours.alphas_cumprod, theirs.alphas_cumprod.numpy(), atol=1e-12)
    generator = torch.Generator().manual_seed(0)
    clean, noise, answer = torch.randn(3, 1, 3, 2, 4, 5, generator=generator, dtype=torch.float64)
    t = step / 999
    assert ours.timestep(t) == step
    alpha, sigma = ours.alpha_sigma(t)
    times = torch.tensor([step])
    noisy = alpha * clean + sigma * noise
    torch.testing.assert_close(noisy, theirs.add_noise(clean, noise, times), rtol=0, atol=1e-12)
    theirs.set_timesteps(1000)
    torch.testing.assert_close(ours.clean(noisy, answer, t), theirs.step(answer, step, noisy).pred_original_sample, rtol=0, atol=1e-12)
    torch.testing.assert_close(ours.clean(noisy, theirs.get_velocity(clean, noise, times), t), clean, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("t", "expected"), [(20, 0.944), (100, 0.728), (250, 0.389), (500, 0.095), (750, 0.011), (999, 0.0)])
def test_signal_of_the_published_schedule(t: int, expected: float) -> None:
    """Squared signal weights of the 2B model, from its own scheduler."""
    config = {"prediction_type": "v_prediction", "rescale_betas_zero_snr": True, "snr_shift_scale": 3.0}
    alpha, sigma = VPrediction.of(config, Path("x")).alpha_sigma(t / 999)
    assert alpha**2 == pytest.approx(expected, abs=5e-4)
    assert alpha**2 + sigma**2 == pytest.approx(1.0, abs=1e-12)


def test_flow_equals_diffusers_scheduler_at_every_level() -> None:
    from diffusers import FlowMatchEulerDiscreteScheduler

    theirs = FlowMatchEulerDiscreteScheduler(shift=3.0)
    ours = Flow.of(dict(theirs.config), tokens=100)
    clean, noise = torch.randn(2, 1, 3, 2, 4, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for i in (0, 400, 900):
        time, sigma = float(theirs.timesteps[i]), float(theirs.sigmas[i])
        t = sigma / (3.0 - 2.0 * sigma)
        assert ours.timestep(t) == pytest.approx(time, rel=1e-6)
        alpha, weight = ours.alpha_sigma(t)
        noisy = alpha * clean + weight * noise
        torch.testing.assert_close(noisy, theirs.scale_noise(clean, theirs.timesteps[i : i + 1], noise), rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(ours.clean(noisy, noise - clean, t), clean, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("kind", ["exponential", "linear"])
def test_flow_shifts_by_the_number_of_tokens_as_the_sampler_does(kind: str) -> None:
    from diffusers import FlowMatchEulerDiscreteScheduler
    from diffusers.pipelines.ltx.pipeline_ltx import calculate_shift

    theirs = FlowMatchEulerDiscreteScheduler(use_dynamic_shifting=True, base_shift=0.95, max_shift=2.05, time_shift_type=kind)
    theirs.set_timesteps(sigmas=np.linspace(1.0, 0.1, 10), mu=calculate_shift(2415, base_shift=0.95, max_shift=2.05))
    ours = Flow.of(dict(theirs.config), tokens=2415)
    for u, sigma in zip(np.linspace(1.0, 0.1, 10), theirs.sigmas):
        assert ours.alpha_sigma(float(u))[1] == pytest.approx(float(sigma), rel=1e-5)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({}, "predicts 'epsilon', not 'v_prediction'"),
        ({"prediction_type": "sample"}, "predicts 'sample'"),
        ({"prediction_type": "v_prediction", "beta_schedule": "linear"}, "none that CogVideoX was published with"),
    ],
)
def test_other_noise_is_refused(config: dict[str, Any], words: str) -> None:
    with pytest.raises(PriorError, match=r"scheduler_config\.json") as refused:
        VPrediction.of(config, Path("scheduler_config.json"))
    assert words in str(refused.value)


@pytest.mark.parametrize("t", [-0.1, 1.1, float("nan")])
def test_times_outside_the_noise_are_refused(t: float) -> None:
    with pytest.raises(AkdError, match="outside 0 to 1"):
        Flow(3.0).alpha_sigma(t)


def test_diffusers_is_loaded_by_no_import_of_ours() -> None:
    code = "import sys, akd_sdk.priors.video; print({'diffusers', 'transformers', 'huggingface_hub'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_sentence_is_kept_whole_and_names_the_action_where_it_is_known() -> None:
    known = understood("a fox trots through high grass", "quadruped", 12.0)
    assert (known.sentence, known.action, known.guidance) == ("a fox trots through high grass", "trot", 12.0)
    unknown = understood("a fox plays the violin", "quadruped", 12.0)
    assert (unknown.action, unknown.unknown) == ("motion", ())
    text = described("  a fox  trots. ", ground=True)
    assert text.startswith("a fox trots. ")
    assert "\n" not in text


@pytest.mark.parametrize("sentence", ["", "   ", "a" * 1001])
def test_sentences_that_say_nothing_or_too_much_are_refused(sentence: str) -> None:
    with pytest.raises(PromptError):
        understood(sentence, "quadruped", 12.0)

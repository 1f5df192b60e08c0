"""Video priors of the real classes at a tiny size against diffusers' own pipelines, schedulers and central differences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_video import MODELS, SIZES, tiny_checkpoint
from torch import Tensor

from akd_sdk.errors import AkdError, BackendError, PriorError
from akd_sdk.priors.prior import VideoPrior
from akd_sdk.priors.prompt import Prompt
from akd_sdk.priors.video import LatentVideoPrior, MemoryPlan, VideoOptions, load_video_prior
from akd_sdk.priors.video import base as video_base
from akd_sdk.priors.video.checkpoint import Checkpoint
from akd_sdk.priors.video.text import Embedding, described
from akd_sdk.views.camera import Cameras
from akd_sdk.views.shot import Shot

FAMILIES = ("cogvideox", "ltx", "wan")
PLAIN = MemoryPlan(False, False, False, False, True, True, 1.0, 0.5, ("plain",))
LEAN = MemoryPlan(True, True, True, False, False, True, 0.8, 0.5, ("lean",))
LEANEST = MemoryPlan(True, True, True, True, False, False, 0.5, None, ("leanest",))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("checkpoints")
    return {model: tiny_checkpoint(model, root / model) for model in MODELS}


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def loaded(folders: dict[str, Path], model: str, **changes: Any) -> LatentVideoPrior:
    frames, size = SIZES[model]
    options = replace(VideoOptions(device="cpu", frames=frames, size=size, memory_gb=64.0), **changes)
    return load_video_prior(model.split("-")[0], folders[model], options)


def videos(prior: LatentVideoPrior, views: int = 1, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.rand(views, prior.frames, *prior.size, 3, generator=torch.Generator().manual_seed(7), dtype=dtype)


def noise_like(latents: Tensor, seed: int = 3) -> Tensor:
    return torch.randn(latents.shape, generator=torch.Generator().manual_seed(seed), dtype=latents.dtype)


def shot_of(prior: LatentVideoPrior, views: int = 1, tile_m: float | None = 0.5) -> Shot:
    cameras = Cameras(torch.zeros(views), torch.zeros(views))
    return Shot(cameras, torch.arange(prior.frames) / prior.fps, prior.size, tile_m)


def prompt_of(prior: LatentVideoPrior, guidance: float = 5.0) -> Prompt:
    return replace(prior.parse("a fox trots", "quadruped"), guidance=guidance)


@pytest.mark.parametrize("model", MODELS)
def test_latents_are_the_encoders_modes_as_the_pipeline_normalises_them(folders: dict[str, Path], model: str) -> None:
    import diffusers

    prior = loaded(folders, model)
    pixels = videos(prior, views=2)
    vae = getattr(diffusers, MODELS[model]["vae"][0]).from_pretrained(folders[model] / "vae")
    with torch.no_grad():
        raw = vae.encode((2.0 * pixels - 1.0).permute(0, 4, 1, 2, 3)).latent_dist.mode()
        latents = prior.encode(pixels)
    if model.startswith("ltx"):
        expected = diffusers.LTXPipeline._normalize_latents(raw, vae.latents_mean, vae.latents_std, vae.config.scaling_factor)
    elif model.startswith("wan"):
        mean, std = (torch.tensor(value).view(1, -1, 1, 1, 1) for value in (vae.config.latents_mean, vae.config.latents_std))
        expected = (raw - mean) / std
    else:
        expected = raw * vae.config.scaling_factor
    assert latents.shape[0] == 2
    assert len(set(latents.shape[1:])) == 4, "axes of equal length would hide a swap"
    torch.testing.assert_close(latents, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_estimate_is_what_diffusers_pipeline_believes_on_its_way(folders: dict[str, Path], model: str) -> None:
    """The whole path at four times: text, layout, positions, guidance, noise. The pipeline's clean latents follow from two of its steps."""
    prior = loaded(folders, model)
    start = noise_like(prior.encode(videos(prior)))
    path, levels = pipeline_path(folders[model], model, prior, start, guidance=5.0)
    for i, (now, t) in enumerate(zip(path[:-1], levels[:-1])):
        (a, s), (next_a, next_s) = prior.alpha_sigma(t), prior.alpha_sigma(levels[i + 1]) if i + 2 < len(path) else (1.0, 0.0)
        # a step without fresh noise: now = a x0 + s eps, next = next_a x0 + next_s eps
        expected = (s * path[i + 1] - next_s * now) / (next_a * s - next_s * a)
        believed = prior.estimate(now, t, prompt_of(prior), shot_of(prior))
        assert believed.shape == now.shape
        torch.testing.assert_close(believed, expected, rtol=1e-4, atol=1e-4)


def pipeline_path(folder: Path, model: str, prior: LatentVideoPrior, start: Tensor, guidance: float) -> tuple[list[Tensor], list[float]]:
    """Latents before each of four steps of diffusers' own sampler, and after the last, with the times of the prior that they stand for."""
    import diffusers

    pipe = getattr(diffusers, MODELS[model]["pipeline"]).from_pretrained(folder)
    pipe.set_progress_bar_config(disable=True)
    if model.startswith("cogvideox"):
        pipe.scheduler = diffusers.CogVideoXDDIMScheduler.from_config(pipe.scheduler.config)
        into, back = (lambda z: z.transpose(1, 2)), (lambda z: z.transpose(1, 2))
    elif model.startswith("ltx"):
        into, back = pipe._pack_latents, (lambda z: pipe._unpack_latents(z, *start.shape[2:]))
    else:  # the sampler that takes times between whole numbers
        pipe.scheduler = diffusers.FlowMatchEulerDiscreteScheduler(shift=pipe.scheduler.config.flow_shift)
        into, back = (lambda z: z), (lambda z: z)
    seen = [start]

    def keep(_pipe: Any, _step: int, _time: Any, values: dict[str, Tensor]) -> dict[str, Tensor]:
        seen.append(back(values["latents"]).clone())
        return values

    height, width = prior.size
    extra = {"frame_rate": prior.fps} if model.startswith("ltx") else {}
    pipe(
        prompt=described("a fox trots", ground=True), negative_prompt="", height=height, width=width, num_frames=prior.frames,
        num_inference_steps=4, guidance_scale=guidance, latents=into(start), output_type="latent", callback_on_step_end=keep, **extra,
    )  # fmt: skip
    if model.startswith("cogvideox"):
        return seen, [float(t) / 999 for t in pipe.scheduler.timesteps] + [0.0]
    k = prior._schedule.shift
    return seen, [s / (k - (k - 1) * s) for s in map(float, pipe.scheduler.sigmas)]


@pytest.mark.parametrize("model", ["cogvideox", "cogvideox-1.5", "ltx", "wan", "wan-2.2"])
def test_gradient_of_latents_agrees_with_central_differences(folders: dict[str, Path], model: str) -> None:
    """J^T g through a moving picture of two numbers and through pixels; LTX's norms are float32 inside, so its step is larger."""
    prior = loaded(folders, model, dtype=torch.float64)
    step, bound = (1e-3, 1e-2) if model == "ltx" else (1e-6, 1e-5)
    theta = torch.tensor([0.3, -0.2], dtype=torch.float64, requires_grad=True)
    latents = prior.encode(moving_spot(prior, theta))
    assert latents.dtype == torch.float64
    weights = noise_like(latents).detach()
    (gradient,) = torch.autograd.grad(latents, theta, grad_outputs=weights)
    for axis in range(2):
        ends = []
        for sign in (1.0, -1.0):
            moved = theta.detach().clone()
            moved[axis] += sign * step
            with torch.no_grad():
                ends.append(float((weights * prior.encode(moving_spot(prior, moved))).sum()))
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(float(gradient[axis]), rel=bound)


def moving_spot(prior: LatentVideoPrior, theta: Tensor) -> Tensor:
    """A soft spot that travels: theta is its place and its speed."""
    height, width = prior.size
    time = torch.linspace(-1, 1, prior.frames, dtype=theta.dtype)
    y, x = torch.linspace(-1, 1, height, dtype=theta.dtype), torch.linspace(-1, 1, width, dtype=theta.dtype)
    across = x[None, :] - (theta[0] + theta[1] * time)[:, None]
    bright = torch.exp(-4 * (across[:, None, :] ** 2 + y[None, :, None] ** 2))
    return torch.stack([bright, 0.5 * bright, 1 - bright], -1)[None]


@pytest.mark.parametrize("model", FAMILIES)
@pytest.mark.parametrize("plan", [LEAN, LEANEST], ids=["recomputed", "from CPU memory"])
@pytest.mark.parametrize("views", [1, 2])
def test_leaner_ways_give_the_same_gradient_to_the_last_bit(
    folders: dict[str, Path], model: str, plan: MemoryPlan, views: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for chosen in (PLAIN, plan):
        monkeypatch.setattr(video_base, "plan_for", lambda *_, chosen=chosen: chosen)
        prior = loaded(folders, model)
        assert (prior.two_pass, prior.plan.lines) == (chosen.two_pass, chosen.lines)
        pixels = videos(prior, views).requires_grad_()
        latents = prior.encode(pixels)
        (gradient,) = torch.autograd.grad(latents, pixels, noise_like(latents))
        found.append((latents.detach(), gradient))
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])


def test_out_of_memory_on_the_way_back_is_told_too(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    prior = loaded(folders, "wan")
    for views in (1, 2):  # a graph that was kept, and one that is made again
        pixels = videos(prior, views).requires_grad_()
        latents = prior.encode(pixels)
        with monkeypatch.context() as exhausted:
            exhausted.setattr(torch.autograd, "grad", out_of_memory)
            with pytest.raises(BackendError, match=r"out of memory while encoding videos; give --memory [\d.]+"):
                latents.sum().backward()


def out_of_memory(*_: object, **__: object) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


@pytest.mark.parametrize("model", FAMILIES)
def test_two_passes_give_the_gradient_of_one(folders: dict[str, Path], model: str) -> None:
    prior = loaded(folders, model)
    theta = torch.tensor([0.3, -0.2], requires_grad=True)
    pixels = moving_spot(prior, theta)
    latents = prior.encode(pixels)
    weights = noise_like(latents.detach())
    (once,) = torch.autograd.grad(latents, theta, weights, retain_graph=True)
    with torch.no_grad():
        first = prior.encode(pixels)
    leaf = pixels.detach().requires_grad_()
    second = prior.encode(leaf)
    (of_pixels,) = torch.autograd.grad(second, leaf, weights)
    (twice,) = torch.autograd.grad(pixels, theta, of_pixels)
    assert torch.equal(first, second)
    assert torch.equal(once, twice)


@pytest.mark.parametrize("model", FAMILIES)
def test_views_do_not_see_each_other(folders: dict[str, Path], model: str) -> None:
    prior = loaded(folders, model)
    pixels = videos(prior, views=2).requires_grad_()
    latents = prior.encode(pixels)
    (gradient,) = torch.autograd.grad(latents[1].square().sum(), pixels)
    alone = pixels.detach()[1:].requires_grad_()
    (own,) = torch.autograd.grad(prior.encode(alone).square().sum(), alone)
    assert torch.equal(gradient[0], torch.zeros_like(gradient[0]))
    assert torch.equal(gradient[1:], own)
    both = prior.estimate(latents.detach(), 0.6, prompt_of(prior), shot_of(prior, 2))
    one = prior.estimate(latents.detach()[1:], 0.6, prompt_of(prior), shot_of(prior))
    assert torch.equal(both[1:], one)


@pytest.mark.parametrize("model", FAMILIES)
def test_guidance_is_the_same_together_and_one_after_the_other(
    folders: dict[str, Path], model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    believed = []
    for chosen in (PLAIN, LEANEST):
        monkeypatch.setattr(video_base, "plan_for", lambda *_, chosen=chosen: chosen)
        prior = loaded(folders, model)
        noisy = noise_like(prior.encode(videos(prior)))
        believed.append(prior.estimate(noisy, 0.6, prompt_of(prior), shot_of(prior)))
    torch.testing.assert_close(*believed, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("model", FAMILIES)
def test_guidance_moves_along_the_sentences_difference(folders: dict[str, Path], model: str) -> None:
    prior = loaded(folders, model)
    noisy = noise_like(prior.encode(videos(prior)))

    def believed(guidance: float) -> Tensor:
        return prior.estimate(noisy, 0.6, prompt_of(prior, guidance), shot_of(prior))

    free, asked, pushed = believed(0.0), believed(1.0), believed(4.0)
    assert float((asked - free).abs().max()) > 1e-2, "the sentence must matter"
    torch.testing.assert_close(pushed, free + 4.0 * (asked - free), rtol=1e-3, atol=1e-4)


def test_text_is_encoded_once_a_sentence(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    encode = video_base.encode_texts

    def counted(checkpoint: Checkpoint, texts: list[str], *rest: Any) -> list[Embedding]:
        asked.append(texts)
        return encode(checkpoint, texts, *rest)

    monkeypatch.setattr(video_base, "encode_texts", counted)
    prior = loaded(folders, "wan")
    noisy = noise_like(prior.encode(videos(prior)))
    for tile in (0.5, 0.5, None):
        prior.estimate(noisy, 0.6, prompt_of(prior), shot_of(prior, tile_m=tile))
    floor, plain = described("a fox trots", ground=True), described("a fox trots", ground=False)
    assert asked == [[floor, plain, ""]]
    assert "checkerboard" in floor
    assert "checkerboard" not in plain


@pytest.mark.parametrize("model", FAMILIES)
def test_half_precision_calls_leave_latents_in_float32(folders: dict[str, Path], model: str) -> None:
    full, half = loaded(folders, model), loaded(folders, model, dtype=torch.bfloat16)
    pixels = videos(full).requires_grad_()
    latents, coarse = full.encode(pixels).detach(), half.encode(pixels)
    (gradient,) = torch.autograd.grad(coarse.square().sum(), pixels)
    believed = half.estimate(coarse.detach(), 0.5, prompt_of(half), shot_of(half))
    assert coarse.dtype == gradient.dtype == believed.dtype == torch.float32
    assert float((coarse.detach() - latents).norm() / latents.norm()) < 0.1, "bfloat16 has three digits"
    assert half.plan.estimate_gib < full.plan.estimate_gib


@pytest.mark.parametrize("model", FAMILIES)
def test_prior_offers_what_distillation_asks_for(folders: dict[str, Path], model: str) -> None:
    prior = loaded(folders, model)
    frames, size = SIZES[model]
    assert isinstance(prior, VideoPrior)
    assert (prior.name, prior.observes, prior.frames, prior.size, prior.device) == (model, "pixels", frames, size, "cpu")
    assert prior.fps > 0
    assert not prior.two_pass
    assert prior.alpha_sigma(0.0)[0] > prior.alpha_sigma(0.5)[0] > prior.alpha_sigma(1.0)[0] == pytest.approx(0.0, abs=1e-9)


def test_videos_of_another_length_are_refused(folders: dict[str, Path]) -> None:
    prior = loaded(folders, "wan")
    with pytest.raises(AkdError, match="none of 9 frames of 48 x 32"):
        prior.encode(torch.zeros(1, 5, 32, 48, 3))


def test_answers_that_are_not_finite_are_refused(folders: dict[str, Path]) -> None:
    prior = loaded(folders, "wan")
    noisy = noise_like(prior.encode(videos(prior)))
    prior._transformer.proj_out.weight.fill_(float("nan"))
    with pytest.raises(PriorError, match=r"not finite at t = 0\.6"):
        prior.estimate(noisy, 0.6, prompt_of(prior), shot_of(prior))


@pytest.mark.parametrize(("part", "what"), [("_transformer", "asking the model"), ("_vae", "encoding videos")])
def test_out_of_memory_names_a_budget_that_fits(folders: dict[str, Path], part: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video_base, "plan_for", lambda *_: LEAN)
    prior = loaded(folders, "ltx")
    noisy = noise_like(prior.encode(videos(prior)))
    module = getattr(prior, part)
    monkeypatch.setattr(module if part == "_transformer" else module.encoder, "forward", out_of_memory)
    pixels, prompt, shot = videos(prior), prompt_of(prior), shot_of(prior)
    with pytest.raises(BackendError, match=rf"memory: out of memory while {what}; give --memory 0\.5"):
        _ = prior.encode(pixels) if part == "_vae" else prior.estimate(noisy, 0.6, prompt, shot)

"""Checkpoints that cannot be used, and machines that lack something: each refused in one line that names it."""

from __future__ import annotations

import importlib.util
import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_video import SIZES, tiny_checkpoint

from akd_sdk.errors import AkdError, BackendError, PriorError
from akd_sdk.priors.video import LatentVideoPrior, VideoOptions, load_video_prior
from akd_sdk.priors.video.load import EXTRA

WEIGHTS = "diffusion_pytorch_model.safetensors"
INDEX = "model_index.json"
CONFIG = "transformer/config.json"
TEXT = "text_encoder/model.safetensors"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint("wan", tmp_path_factory.mktemp("whole") / "wan")


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "wan"))


def load(folder: Path | None, family: str = "wan", **changes: Any) -> LatentVideoPrior:
    frames, size = SIZES["wan"]
    return load_video_prior(family, folder, VideoOptions(**{"device": "cpu", "frames": frames, "size": size, "memory_gb": 64.0, **changes}))


def edit(path: Path, **changes: Any) -> None:
    content = json.loads(path.read_text())
    content.update(changes)
    path.write_text(json.dumps(content))


def cut(path: Path, keep: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(keep * len(data))])


def drop_tensor(path: Path) -> None:
    tensors = load_file(path)
    tensors.pop("proj_out.weight")
    save_file(tensors, path)


def reshape_tensor(path: Path) -> None:
    tensors = load_file(path)
    tensors["proj_out.weight"] = torch.zeros(3, 3)
    save_file(tensors, path)


def shard(folder: Path) -> None:
    """Turn a part's weights into two shards, of which the second is not there."""
    (folder / WEIGHTS).rename(folder / "diffusion_pytorch_model-00001-of-00002.safetensors")
    names = {"a": "diffusion_pytorch_model-00001-of-00002.safetensors", "b": "diffusion_pytorch_model-00002-of-00002.safetensors"}
    (folder / f"{WEIGHTS}.index.json").write_text(json.dumps({"weight_map": names}))


ENDLESS = b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 1e400]}}'

FAULTS: list[tuple[str, Callable[[Path], object], str, str]] = [
    ("empty folder", lambda at: (shutil.rmtree(at), at.mkdir()), INDEX, "lacks this file"),
    ("index of no checkpoint", lambda at: (at / INDEX).write_text("{"), INDEX, "cannot be read"),
    ("index that is a list", lambda at: (at / INDEX).write_text("[]"), INDEX, "holds no object"),
    ("another pipeline", lambda at: edit(at / INDEX, _class_name="LTXPipeline"), INDEX, "give --prior ltx"),
    ("pictures to videos", lambda at: edit(at / INDEX, _class_name="WanImageToVideoPipeline"), INDEX, "videos of text"),
    ("two transformers", lambda at: edit(at / INDEX, transformer_2=["diffusers", "W"]), INDEX, "two transformers"),
    ("index of no sense", lambda at: edit(at / INDEX, transformer_2=5), INDEX, "two transformers"),
    ("index without end", lambda at: (at / INDEX).write_text("[" * 100_000), INDEX, "cannot be read"),
    ("architecture of no sense", lambda at: edit(at / "text_encoder/config.json", architectures=5), "text_encoder/config.json", "a None"),
    (
        "another transformer",
        lambda at: edit(at / CONFIG, _class_name="CogVideoXTransformer3DModel"),
        CONFIG,
        "describes a CogVideoXTransformer3DModel, not a WanTransformer3DModel; give --prior cogvideox",
    ),
    ("more channels", lambda at: edit(at / CONFIG, in_channels=36), CONFIG, "takes 36 channels, the encoder makes 5"),
    ("text of another width", lambda at: edit(at / "text_encoder/config.json", d_model=64), CONFIG, "reads text of width 32"),
    (
        "a part that says too little",
        lambda at: (at / CONFIG).write_text('{"_class_name": "WanTransformer3DModel"}'),
        "",
        "KeyError: 'in_channels'",
    ),
    ("no weights", lambda at: (at / "vae" / WEIGHTS).unlink(), f"vae/{WEIGHTS}", "lacks this file"),
    ("cut short", lambda at: cut(at / "transformer" / WEIGHTS, 0.9), f"transformer/{WEIGHTS}", "cut short or damaged"),
    ("cut in the header", lambda at: cut(at / TEXT, 0.001), TEXT, "no safetensors file"),
    (
        "pointer in place of weights",
        lambda at: (at / "vae" / WEIGHTS).write_text("version https://git-lfs\noid sha256:0\n"),
        f"vae/{WEIGHTS}",
        "no safetensors file",
    ),
    ("empty weights", lambda at: (at / "vae" / WEIGHTS).write_bytes(b""), f"vae/{WEIGHTS}", "no safetensors file"),
    (
        "header that is no header",
        lambda at: (at / "vae" / WEIGHTS).write_bytes((8).to_bytes(8, "little") + b'{"a": 1}'),
        f"vae/{WEIGHTS}",
        "no safetensors file",
    ),
    (
        "an endless length",
        lambda at: (at / "vae" / WEIGHTS).write_bytes(struct.pack("<Q", len(ENDLESS)) + ENDLESS),
        f"vae/{WEIGHTS}",
        "no safetensors file",
    ),
    ("an option that diffusers cannot take", lambda at: edit(at / CONFIG, num_layers=[1]), "transformer", "do not fit"),
    (
        "a shard missing",
        lambda at: shard(at / "transformer"),
        "transformer/diffusion_pytorch_model-00002-of-00002.safetensors",
        "1 of 2 shards",
    ),
    ("a tensor missing", lambda at: drop_tensor(at / "transformer" / WEIGHTS), "transformer", "first at 'proj_out.weight'"),
    ("a tensor of another shape", lambda at: reshape_tensor(at / "transformer" / WEIGHTS), "transformer", "do not fit"),
    ("no tokenizer", lambda at: shutil.rmtree(at / "tokenizer"), "tokenizer", "tokenizer is missing"),
    ("no scheduler", lambda at: shutil.rmtree(at / "scheduler"), "scheduler/scheduler_config.json", "lacks this file"),
]


@pytest.mark.parametrize(("spoil", "file", "words"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_checkpoints_that_cannot_be_used_name_the_file_and_its_fault(
    folder: Path, spoil: Callable[[Path], object], file: str, words: str
) -> None:
    spoil(folder)
    with pytest.raises(PriorError) as refused:
        load(folder)
    text = str(refused.value)
    assert text.startswith(f"{folder / file if file else folder}: ")
    assert words in text
    assert "\n" not in text


def test_a_broken_tokenizer_is_told_when_the_sentence_is_read(folder: Path) -> None:
    (folder / "tokenizer" / "spiece.model").write_bytes(b"nothing")
    prior = load(folder)
    with pytest.raises(PriorError, match="tokenizer: the tokenizer cannot be read"):
        prior.parse("a fox trots", "quadruped")


def test_a_tokenizer_without_its_vocabulary_is_refused(folder: Path) -> None:
    (folder / "tokenizer" / "spiece.model").unlink()  # transformers makes one that knows no word of it
    with pytest.raises(PriorError, match="tokenizer: the tokenizer knows no words"):
        load(folder).parse("a fox trots", "quadruped")


def test_a_text_encoder_with_an_option_of_no_sense_is_refused(folder: Path) -> None:
    edit(folder / "text_encoder/config.json", dropout_rate="x")
    with pytest.raises(PriorError, match="text_encoder: weights do not fit their configuration"):
        load(folder).parse("a fox trots", "quadruped")


def test_memory_that_runs_out_while_the_model_is_read_is_told(monkeypatch: pytest.MonkeyPatch, whole: Path) -> None:
    def exhausted(*_: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr("akd_sdk.priors.video.checkpoint.Checkpoint.load", exhausted)
    with pytest.raises(BackendError, match="out of memory while reading the model"):
        load(whole)


def test_sentences_longer_than_a_model_reads_are_told(whole: Path, caplog: pytest.LogCaptureFixture) -> None:
    load(whole).parse("a fox trots " * 80, "quadruped")
    assert any("reads 512 words" in record.message and "its end is cut" in record.message for record in caplog.records)


@pytest.mark.parametrize("change", [{"guidance": float("nan")}, {"memory_gb": 0.0}, {"memory_gb": float("nan")}])
def test_numbers_that_are_none_are_refused(whole: Path, change: dict[str, float]) -> None:
    with pytest.raises(AkdError, match="is no number that can be used"):
        load(whole, **change)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"frames": 20}, "give 17 or 21"), ({"size": (0, 0)}, "give 16 x 16"), ({"frames": 0}, "give 5")],
)
def test_lengths_and_sizes_are_judged_before_weights_are_read(whole: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(AkdError) as refused:
        load(whole, **change)
    assert words in str(refused.value)


def test_too_small_a_budget_names_the_least(whole: Path) -> None:
    with pytest.raises(BackendError, match=r"memory: Wan 2\.1 needs \d\.\d GiB for 9 frames of 48 x 32, more than 0\.1"):
        load(whole, memory_gb=0.1)


def test_nothing_is_fetched_unless_it_is_allowed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("nothing may be fetched")

    monkeypatch.setattr("huggingface_hub.snapshot_download", forbidden)
    with pytest.raises(BackendError, match=r"weights: CogVideoX comes without weights; give --weights FOLDER .*21 GB.*--allow-download"):
        load(None, "cogvideox")
    with pytest.raises(BackendError, match=r"no such folder of weights; give the folder of a checkpoint such as .*15 GB"):
        load(tmp_path / "missing")
    with pytest.raises(BackendError, match="no such folder of weights"):
        load(tmp_path / ("y" * 5000))


def test_what_is_fetched_is_what_is_read(monkeypatch: pytest.MonkeyPatch, whole: Path) -> None:
    asked: list[tuple[str, list[str]]] = []

    def fetch(name: str, allow_patterns: list[str], ignore_patterns: list[str]) -> str:
        asked.append((name, allow_patterns))
        assert "*.bin" in ignore_patterns
        return str(whole)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    assert load(None, allow_download=True).name == "wan"
    assert load(Path("someone/wan-tuned"), allow_download=True).name == "wan"
    assert [name for name, _ in asked] == ["Wan-AI/Wan2.1-T2V-1.3B-Diffusers", "someone/wan-tuned"]
    assert "model_index.json" in asked[0][1]


def test_fetching_that_fails_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub.errors import LocalEntryNotFoundError

    def unreachable(*_: object, **__: object) -> None:
        raise LocalEntryNotFoundError("no network\nand no cache")

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(BackendError, match=r"Lightricks/LTX-Video: cannot be fetched \(no network\); fetch it another way"):
        load(None, "ltx", allow_download=True)
    with pytest.raises(PriorError, match="give owner/name"):
        load(Path("/no/such/folder"), "ltx", allow_download=True)


@pytest.mark.parametrize("package", EXTRA)
def test_missing_packages_name_the_extra(monkeypatch: pytest.MonkeyPatch, whole: Path, package: str) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == package else find(name, *rest))
    words = rf"video priors need {package}; install the extra: pip install 'akd-sdk\[video\]' \(about 260 MB\)"
    with pytest.raises(BackendError, match=words):
        load(whole)


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")
def test_a_missing_device_is_told_at_construction(whole: Path) -> None:
    with pytest.raises(BackendError, match="device: no CUDA device"):
        load(whole, device="cuda")


@pytest.mark.parametrize("device", ["meta", "tpu", ""])
def test_unknown_devices_are_refused(whole: Path, device: str) -> None:
    with pytest.raises(BackendError, match="give cuda"):
        load(whole, device=device)


def test_unknown_families_are_refused(whole: Path) -> None:
    with pytest.raises(PriorError, match="no video prior is called 'sora'; known are cogvideox, ltx, wan"):
        load(whole, "sora")


def test_loading_says_nothing_on_its_own(whole: Path, capfd: pytest.CaptureFixture[str]) -> None:
    load(whole)
    assert capfd.readouterr() == ("", "")

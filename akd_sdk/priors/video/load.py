"""A video prior by name: what it needs is checked in the order in which a user can mend it."""

from __future__ import annotations

import importlib.util
import logging
import math
import os
from pathlib import Path
from typing import Final

import torch

from akd_sdk.errors import AkdError, BackendError, PriorError
from akd_sdk.priors.video.base import LatentVideoPrior, VideoOptions
from akd_sdk.priors.video.checkpoint import Checkpoint
from akd_sdk.priors.video.cogvideox import CogVideoXPrior
from akd_sdk.priors.video.families import Family, family_of
from akd_sdk.priors.video.ltx import LtxPrior
from akd_sdk.priors.video.wan import WanPrior

_LOG: Final = logging.getLogger(__name__)

EXTRA: Final = ("diffusers", "transformers", "accelerate", "sentencepiece", "google.protobuf")
"""Packages of the extra `video`, as they are imported; tokenizers that are published as `spiece.model` alone are read through the last."""

_PRIORS: Final[dict[str, type[LatentVideoPrior]]] = {prior.family.name: prior for prior in (CogVideoXPrior, LtxPrior, WanPrior)}
_GIB: Final = 2**30


def load_video_prior(family: str, weights: str | Path | None = None, options: VideoOptions | None = None) -> LatentVideoPrior:
    """A video prior with the weights of a checkpoint.

    Args:
        family: "cogvideox", "ltx" or "wan".
        weights: folder of a checkpoint in the layout of diffusers (`model_index.json`, `transformer/`, `vae/`, `text_encoder/`,
            `tokenizer/`, `scheduler/`); where `options.allow_download` is set also owner and name of a published one, or None for
            the family's first.
        options: device, memory, length and size, guidance; the defaults where None.

    Raises:
        PriorError: the family is unknown; a file of the checkpoint is missing, cut short or of another model; names the file.
        BackendError: packages, weights or the device are missing, or the memory budget fits nothing.
        AkdError: length or size are none that the model takes (names the nearest), guidance or memory are no numbers.
    """
    chosen = options or VideoOptions()
    kind = family_of(family)
    if not math.isfinite(chosen.guidance) or (chosen.memory_gb is not None and not chosen.memory_gb > 0.0):
        wrong = "guidance" if not math.isfinite(chosen.guidance) else "memory"
        raise AkdError("is no number that can be used", wrong, "give GiB over 0" if wrong == "memory" else "give a number such as 15")
    _check_packages(kind)
    device = _check_device(chosen.device)
    folder = _folder(kind, weights, chosen.allow_download)
    checkpoint = Checkpoint.open(folder, kind)
    memory_gb = _free_gib(device) if chosen.memory_gb is None else chosen.memory_gb
    return _PRIORS[kind.name](checkpoint, chosen, memory_gb)


def _check_packages(family: Family) -> None:
    missing = [name for name in EXTRA if not _is_installed(name)]
    if missing:
        least = min(row.download_gb for row in family.published.values())
        hint = f"install the extra: pip install 'akd-sdk[video]' (about 260 MB); weights ({least:.0f} GB or more) and a GPU are needed, too"
        raise BackendError(f"video priors need {', '.join(missing)}", hint=hint)


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # not even the package that it lies in
        return False


def _check_device(name: str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError as fault:
        raise BackendError(f"no device is called {name!r}", "device", "give cuda, cuda:0 or cpu") from fault
    if device.type not in ("cuda", "cpu"):
        raise BackendError(f"video priors do not run on {name!r}", "device", "give cuda or cpu")
    if device.type == "cuda" and not torch.cuda.is_available():
        build = "this torch is built without CUDA (a build with it is about 3 GB)" if torch.version.cuda is None else "torch finds none"
        hint = "by estimate LTX-Video wants a GPU of 12 GB, the other video models one of 24; with --device cpu a step takes hours"
        raise BackendError(f"no CUDA device: {build}", "device", hint)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise BackendError(f"no device {name!r}: there are {torch.cuda.device_count()}", "device", "give cuda:0")
    return device


def _free_gib(device: torch.device) -> float:
    """Memory that nothing holds yet, on a GPU; all of it, on a CPU, where the system tells."""
    if device.type == "cuda":
        return float(torch.cuda.mem_get_info(device)[0]) / _GIB
    if not hasattr(os, "sysconf"):
        return math.inf
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) / _GIB


def _folder(family: Family, weights: str | Path | None, allow_download: bool) -> Path:
    """Where the checkpoint lies, fetched first where that is allowed."""
    first = next(iter(family.published.values()))
    have = ", ".join(f"{row.repository} ({row.download_gb:.0f} GB)" for row in family.published.values())
    if weights is None and not allow_download:
        hint = f"give --weights FOLDER with a checkpoint such as {have}, or --allow-download to fetch the first"
        raise BackendError(f"{family.title} comes without weights", "weights", hint)
    if weights is not None and os.path.isdir(weights):  # not Path.is_dir, which raises for names that are too long
        return Path(weights)
    name = first.repository if weights is None else Path(weights).as_posix()
    if not allow_download:
        raise BackendError("no such folder of weights", name, f"give the folder of a checkpoint such as {have}, or --allow-download")
    if name.count("/") != 1 or name.startswith(("/", ".", "~")):
        raise PriorError("no such folder, and no published checkpoint", name, f"give owner/name, such as {have}")
    return _fetched(name, family)


def _fetched(name: str, family: Family) -> Path:
    """The folder of a published checkpoint, from the local cache or the network."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    size = next((f", about {row.download_gb:.0f} GB" for row in family.published.values() if row.repository == name), "")
    _LOG.warning("fetching %s%s", name, size)
    parts = ("transformer", "vae", "text_encoder", "tokenizer", "scheduler")
    wanted = ["model_index.json", *(f"{part}/*" for part in parts)]
    try:
        return Path(snapshot_download(name, allow_patterns=wanted, ignore_patterns=["*.bin", "*.fp16.*"]))
    except (HfHubHTTPError, LocalEntryNotFoundError, HFValidationError, OSError) as fault:
        raise BackendError(
            f"cannot be fetched ({str(fault).strip().splitlines()[0]})", name, "fetch it another way and give its folder with --weights"
        ) from fault

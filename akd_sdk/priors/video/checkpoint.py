"""A checkpoint folder in the layout of diffusers: judged by its small files first, then loaded part by part."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from akd_sdk.errors import PriorError
from akd_sdk.priors.video.families import FAMILIES, Family
from akd_sdk.priors.video.memory import is_out_of_memory

if TYPE_CHECKING:
    import torch

_NAMES: Final = {"text_encoder": "model"}
_STEM: Final = "diffusion_pytorch_model"
_LONGEST_HEADER: Final = 1 << 28


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint whose files are whole and belong to one family; its weights are not yet in memory.

    Attributes:
        folder: where it lies.
        family: what it is.
        index: content of `model_index.json`.
        configs: content of each part's configuration, the scheduler's too.
        parameters: numbers in each part's weights.
    """

    folder: Path
    family: Family
    index: Mapping[str, Any]
    configs: Mapping[str, Mapping[str, Any]]
    parameters: Mapping[str, int]

    @classmethod
    def open(cls, folder: Path, family: Family) -> Checkpoint:
        """The checkpoint in a folder.

        Raises:
            PriorError: a file is missing, cut short or no safetensors file, or the checkpoint is of another model; names the file.
        """
        index = _read_json(folder / "model_index.json")
        kind = index.get("_class_name")
        if kind not in family.pipelines:
            raise _stranger(f"is a checkpoint of {kind}", kind, family, folder / "model_index.json")
        second = index.get("transformer_2")
        if second and not (isinstance(second, list) and second[0] is None):
            fault = f"the checkpoint has two transformers, which take turns; {family.title} is read with one"
            raise PriorError(fault, folder / "model_index.json", f"use one of {', '.join(family.published)}")
        configs = {"scheduler": _read_json(folder / "scheduler" / "scheduler_config.json")}
        parameters = {}
        for part, kinds in family.parts.items():
            path = folder / part / "config.json"
            configs[part] = _read_json(path)
            found = _class_in(configs[part])
            if found not in kinds:
                raise _stranger(f"describes a {found}, not a {kinds[0]}", found, family, path)
            parameters[part] = sum(_count(file) for file in _weights(folder / part, _NAMES.get(part, _STEM)))
        if not (folder / "tokenizer").is_dir():
            raise PriorError("the folder of the tokenizer is missing", folder / "tokenizer", "fetch the whole checkpoint")
        return cls(folder, family, index, configs, parameters)

    def load(self, part: str, dtype: torch.dtype) -> Any:  # a module of diffusers or transformers, which are not typed
        """A part's model with its weights, ready for use, without gradients, in CPU memory; PriorError where weights do not fit."""
        import diffusers
        import transformers

        path = self.folder / part
        theirs = part == "text_encoder"
        kind = getattr(transformers if theirs else diffusers, str(_class_in(self.configs[part])))
        named = {"dtype": dtype} if theirs else {"torch_dtype": dtype}
        try:
            with quiet():
                model, info = kind.from_pretrained(path, local_files_only=True, use_safetensors=True, output_loading_info=True, **named)
        except Exception as fault:  # what broken configurations make of these libraries has no end
            if is_out_of_memory(fault):
                raise
            raise PriorError(f"weights do not fit their configuration ({_first_line(fault)})", path) from fault
        odd = sorted(str(key) for kind_of in ("missing_keys", "mismatched_keys") for key in info[kind_of])
        if odd:
            raise PriorError(f"weights do not fit their configuration, first at {odd[0]!r}", path, "fetch the whole checkpoint")
        return model.eval().requires_grad_(False)


@contextmanager
def quiet() -> Iterator[None]:
    """Progress bars and remarks of diffusers and transformers held back: faults are raised, and progress is shown by the caller."""
    from diffusers.utils import logging as ours
    from transformers.utils import logging as theirs

    levels = ours.get_verbosity(), theirs.get_verbosity()
    bars = ours.is_progress_bar_enabled(), theirs.is_progress_bar_enabled()
    for part in (ours, theirs):
        part.set_verbosity_error()
        part.disable_progress_bar()
    try:
        yield
    finally:
        for part, level, bar in zip((ours, theirs), levels, bars, strict=True):
            part.set_verbosity(level)
            if bar:
                part.enable_progress_bar()


def _class_in(config: Mapping[str, Any]) -> object:
    """What a configuration says that it is of, None where it does not."""
    names = config.get("architectures")
    return config.get("_class_name") or (names[0] if isinstance(names, list) and names else None)


def _first_line(fault: Exception) -> str:
    lines = [line.strip() for line in str(fault).splitlines() if line.strip()] or [type(fault).__name__]
    return lines[1] if len(lines) > 1 and lines[0].endswith(":") else lines[0]


def _stranger(what: str, kind: object, family: Family, path: Path) -> PriorError:
    """Whose it is, where that is known, with the prior to ask for it."""
    owner = next((f for f in FAMILIES.values() if kind in (*f.pipelines, f.transformer, f.vae)), None)
    if owner is not None and owner is not family:
        return PriorError(what, path, f"give --prior {owner.name} for it, or a checkpoint of {family.title}")
    wanted = " or ".join(row.repository for row in family.published.values())
    return PriorError(what, path, f"{family.title} is read from a checkpoint that makes videos of text, such as {wanted}")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError as fault:
        raise PriorError("the checkpoint lacks this file", path, "give the folder of a whole checkpoint of diffusers") from fault
    except (OSError, ValueError, RecursionError) as fault:
        raise PriorError(f"cannot be read ({_first_line(fault)})", path) from fault
    if not isinstance(content, dict):
        raise PriorError("holds no object", path)
    return content


def _weights(folder: Path, stem: str) -> list[Path]:
    """Files that hold a part's weights: one, or the shards that its index names."""
    whole, index = folder / f"{stem}.safetensors", folder / f"{stem}.safetensors.index.json"
    if whole.is_file():
        return [whole]
    if not index.is_file():
        hint = "fetch its weights as safetensors, in the precision they come in by default"
        raise PriorError("the checkpoint lacks this file", whole, hint)
    names = _read_json(index).get("weight_map")
    if not isinstance(names, dict) or not names:
        raise PriorError("names no shards", index)
    shards = [folder / name for name in sorted({str(name) for name in names.values()})]
    lost = [shard for shard in shards if not os.path.isfile(shard)]  # not Path.is_file, which raises for names that are too long
    if lost:
        raise PriorError(f"{len(lost)} of {len(shards)} shards are missing, this one first", lost[0], "fetch the whole checkpoint")
    return shards


def _count(path: Path) -> int:
    """Numbers in a safetensors file, whose header and length are judged."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= min(size - 8, _LONGEST_HEADER):
                raise PriorError(f"is no safetensors file, or is cut short at {size} bytes", path, "fetch it again")
            header = json.loads(file.read(length))
        rows = [row for name, row in header.items() if name != "__metadata__"]
        end = max((int(row["data_offsets"][1]) for row in rows), default=0)
        numbers = sum(math.prod(map(int, row["shape"])) for row in rows)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as fault:
        raise PriorError(f"is no safetensors file ({_first_line(fault)})", path, "fetch it again") from fault
    if size != 8 + length + end:
        raise PriorError(f"is cut short or damaged: {size} bytes, not {8 + length + end}", path, "fetch it again")
    return numbers

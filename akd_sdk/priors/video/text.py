"""What a video model is told: the sentence, how it is filmed, and the encoder that reads it once and is freed."""

from __future__ import annotations

import gc
import html
import logging
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor

from akd_sdk.errors import PriorError, PromptError
from akd_sdk.priors.mini.lexicon import parse as parse_words
from akd_sdk.priors.prompt import Prompt
from akd_sdk.priors.video.checkpoint import Checkpoint, quiet
from akd_sdk.priors.video.memory import MemoryPlan, out_of_memory_told

_LOG: Final = logging.getLogger(__name__)

FILMED: Final = (
    "A computer animated character, alone and seen whole from head to foot, filmed by a steady camera that keeps it in the middle of "
    "the picture, even light, sharp details, smooth and natural motion"
)
GROUND: Final = "on a checkerboard floor"
NO_GROUND: Final = "on a plain background"
"""How a shot is filmed, with and without a floor to see."""

UNASKED: Final = ""
"""What the model is told where nothing is asked."""

_MOST_UNKNOWN: Final = 0.25
"""Share of the pieces of FILMED that a tokenizer may not know: one without its vocabulary knows none, and all texts are one to it."""
_UNNAMED: Final = "motion"
_LONGEST_SENTENCE: Final = 1000


def described(sentence: str, *, ground: bool) -> str:
    """The text given to a model: the sentence and how it is filmed."""
    asked = " ".join(html.unescape(sentence).split()).rstrip(".")
    return f"{asked}. {FILMED}, {GROUND if ground else NO_GROUND}."


def understood(sentence: str, body: str, guidance: float) -> Prompt:
    """The sentence for a model that reads every word of it; what it calls the action names the clip and its gait.

    Raises PromptError: the sentence is empty or longer than a model reads.
    """
    if not sentence.strip():
        raise PromptError("the sentence is empty", hint="say what the character does")
    if len(sentence) > _LONGEST_SENTENCE:
        raise PromptError(f"the sentence has {len(sentence)} letters", hint=f"give {_LONGEST_SENTENCE} at most")
    try:
        known = parse_words(sentence, body)
    except PromptError:  # a video model may know actions that the word list does not
        return Prompt(sentence, body, _UNNAMED, guidance=guidance)
    return Prompt(sentence, body, known.action, known.styles, guidance=guidance)


@dataclass(frozen=True)
class Embedding:
    """A text as a model takes it.

    Attributes:
        hidden: (1, tokens, width).
        mask: (1, tokens), 1 where there is text.
    """

    hidden: Tensor
    mask: Tensor

    def to(self, device: torch.device) -> Embedding:
        return Embedding(self.hidden.to(device), self.mask.to(device))


def encode_texts(checkpoint: Checkpoint, texts: list[str], device: torch.device, dtype: torch.dtype, plan: MemoryPlan) -> list[Embedding]:
    """Embeddings of texts, on `device`; the encoder is read from the checkpoint and freed again.

    Raises:
        PriorError: tokenizer or encoder cannot be used.
        BackendError: out of memory.
    """
    family = checkpoint.family
    place = device if plan.text_on_device else torch.device("cpu")
    tokenizer = _tokenizer(checkpoint)
    tokens = tokenizer(
        texts, padding="max_length", max_length=family.text_tokens, truncation=True, add_special_tokens=True, return_tensors="pt"
    )
    longest = max(len(row) for row in tokenizer(texts).input_ids)
    if longest > family.text_tokens:
        _LOG.warning("%s reads %d words and parts of words, the sentence has %d: its end is cut", family.title, family.text_tokens, longest)
    with out_of_memory_told(plan, "encoding the sentence"), torch.no_grad():
        encoder = checkpoint.load("text_encoder", dtype).to(place)
        ids, mask = tokens.input_ids.to(place), tokens.attention_mask.to(place)
        table = int(encoder.get_input_embeddings().num_embeddings)
        if int(ids.max()) >= table:
            raise PriorError(f"the tokenizer names word {int(ids.max())} of the text encoder's {table}", checkpoint.folder / "tokenizer")
        if family.text_masked:
            hidden = encoder(ids, mask).last_hidden_state * mask[..., None].to(dtype)
        else:
            hidden = encoder(ids).last_hidden_state
        rows = [Embedding(hidden[i : i + 1].to(device, dtype), mask[i : i + 1].to(device)) for i in range(len(texts))]
    del encoder
    gc.collect()
    if place.type == "cuda":
        torch.cuda.empty_cache()
    return rows


def _tokenizer(checkpoint: Checkpoint) -> Any:  # transformers chooses the class
    from transformers import AutoTokenizer

    path = checkpoint.folder / "tokenizer"
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
        pieces = tokenizer(FILMED, add_special_tokens=False).input_ids
    except Exception as fault:  # what broken files make of that library has no end
        reason = (str(fault).strip() or type(fault).__name__).splitlines()[0]
        raise PriorError(f"the tokenizer cannot be read ({reason})", path, "fetch the whole checkpoint") from fault
    if pieces.count(tokenizer.unk_token_id) >= _MOST_UNKNOWN * len(pieces):
        raise PriorError("the tokenizer knows no words: its vocabulary is missing", path, "fetch the whole checkpoint")
    return tokenizer

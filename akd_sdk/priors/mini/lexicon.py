"""The text encoder of the embedded prior: a table of words, so that it never pretends to understand one that it does not."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from textwrap import shorten
from typing import Final

from akd_sdk.errors import PromptError
from akd_sdk.priors.mini.vocabulary import ACTIONS, BODIES, STYLES
from akd_sdk.priors.prompt import Prompt

_READINGS: Final = {
    "quadruped": {"run": "gallop", "jog": "trot"},
    "biped": {"jog": "run"},
    "bird": {"jog": "run"},
}
"""What a word means for a body where that differs: a dog that runs gallops, one that jogs trots."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_STOP: Final = "stop"
_LONGEST_QUOTE: Final = 80
_LONGEST_WORD: Final = 24


@cache
def _table() -> dict[str, str]:
    """Every known word and its canonical word."""
    groups: dict[str, str] = json.loads(files(__package__).joinpath("words.json").read_text(encoding="utf-8"))
    return {word: canonical for canonical, words in groups.items() for word in words.split()}


def _stems(word: str) -> Iterator[str]:
    """The word and what it may be an inflection of, likeliest first."""
    yield word
    for ending in ("'s", "’s"):
        if word.endswith(ending):
            yield word[: -len(ending)]
    for ending, tails in (("ing", ("", "e")), ("ed", ("", "e")), ("es", ("", "e")), ("s", ("",)), ("ly", ("",))):
        stem = word[: -len(ending)]
        if word.endswith(ending) and len(stem) > 1:
            yield from (stem + tail for tail in tails)
            if len(stem) > 2 and stem[-1] == stem[-2]:
                yield stem[:-1]


def _meaning(word: str) -> str | None:
    table = _table()
    for stem in _stems(word):
        if stem in table:
            return table[stem]
    parts = re.split(r"['’-]", word)
    if len(parts) > 1 and all(_meaning(part) == _STOP for part in parts):
        return _STOP
    return {"ran": "run", "stood": "idle", "leapt": "jump", "sprang": "jump"}.get(word)


@dataclass
class _Reading:
    """What was found in a sentence so far, in its order."""

    bodies: list[tuple[str, str]]
    actions: list[tuple[str, str]]
    styles: list[tuple[str, str]]
    unknown: list[str]


def _read(sentence: str, body: str) -> _Reading:
    reading = _Reading([], [], [], [])
    for word in _WORD.findall(sentence.lower()):
        meaning = _meaning(word)
        if meaning is None:
            if word not in reading.unknown:
                reading.unknown.append(word)
        elif meaning in BODIES:
            reading.bodies.append((word, meaning))
        elif meaning in STYLES:
            reading.styles.append((word, meaning))
        elif meaning != _STOP:
            reading.actions.append((word, _READINGS[body].get(meaning, meaning)))
    others = [pair for pair in reading.actions if pair[0] != "pace"]
    # "walking at a slow pace" speaks of the speed, not of the gait.
    reading.actions = others or reading.actions
    return reading


def parse(sentence: str, body: str) -> Prompt:
    """The sentence as understood for a body.

    Args:
        sentence: English words, one action.
        body: "quadruped", "biped" or "bird", the rig's own.

    Raises:
        PromptError: the sentence is empty, or names no action that this body was taught.
    """
    if body not in ACTIONS:
        raise PromptError(f"no actions are known for a body of type {body!r}", hint=f"known are {', '.join(BODIES)}")
    if not sentence.strip():
        raise PromptError("the sentence is empty", hint=f"a {body} can {_listed(ACTIONS[body])}")
    reading = _read(sentence, body)
    possible = [pair for pair in reading.actions if pair[1] in ACTIONS[body]]
    if not possible:
        raise _refusal(sentence, body, reading)
    action = possible[0][1]
    styles = tuple(dict.fromkeys(meaning for _, meaning in reading.styles[-1:]))
    return Prompt(
        sentence=sentence,
        body=body,
        action=action,
        styles=styles if action not in ("jump", "idle") else (),
        unknown=tuple(reading.unknown),
        notes=tuple(_notes(reading, body, action, styles)),
    )


def _notes(reading: _Reading, body: str, action: str, styles: tuple[str, ...]) -> Iterator[str]:
    for word, meaning in reading.bodies:
        if meaning != body:
            yield f"{word!r} is a {meaning}, the character is a {body}: the character counts"
    for word, meaning in reading.actions:
        if meaning != action:
            yield f"one action a clip: {action!r} is made, {word!r} is left out"
    for word, meaning in reading.styles:
        if meaning not in styles:
            yield f"{word!r} contradicts what follows and is left out"
    if styles and action in ("jump", "idle"):
        yield f"{styles[0]!r} has no meaning for {action!r} and is left out"


def _refusal(sentence: str, body: str, reading: _Reading) -> PromptError:
    can = f"a {body} can {_listed(ACTIONS[body])}"
    quoted = shorten(sentence, _LONGEST_QUOTE, placeholder=" ...") if len(sentence) > _LONGEST_QUOTE else " ".join(sentence.split())
    if reading.actions:
        word, meaning = reading.actions[0]
        return PromptError(f"a {body} was not taught to {meaning} ({word!r} in {quoted!r})", hint=can)
    known = [word for word, meaning in _table().items() if meaning not in BODIES and meaning != _STOP and meaning not in STYLES]
    stems = [stem for word in reading.unknown for stem in _stems(word) if len(word) <= _LONGEST_WORD]
    near = list(dict.fromkeys(match for stem in stems for match in difflib.get_close_matches(stem, known, n=2, cutoff=0.6)))
    return PromptError(f"no known action in {quoted!r}", hint=f"nearest are {_listed(near[:3])}; {can}" if near else can)


def _listed(words: list[str] | tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]

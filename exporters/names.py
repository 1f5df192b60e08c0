"""Names as an engine makes them: what its filters leave, renamed only where two would become one; and the loop mark of clips."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from akd_sdk.exporters.clip import Clip
from akd_sdk.schemas.profile import Naming


def engine_name(name: str, naming: Naming) -> str:
    """What the engine calls something of this name."""
    for character, instead in naming.replace.items():
        name = name.replace(character, instead)
    if naming.case == "snake":
        name = _snake(name)
    return name if naming.longest is None else _cut(name, naming.longest)


def _snake(name: str) -> str:
    """As Godot 3 writes names: words and numbers parted by underlines, in small letters; zeros before numbers and all else dropped."""
    parted = re.sub(r"(?<![A-Z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|(?<![0-9])(?=[0-9])", "_", name).lower().removeprefix("_")
    merged = re.sub(r"[_ ]+", "_", re.sub(r"[^a-z0-9_ ]+", "", parted))
    return re.sub(r"0+([0-9])", r"\1", merged)


def _cut(name: str, longest: int) -> str:
    """The beginning of a name that fits into so many bytes."""
    return name.encode("utf-8", "surrogatepass")[:longest].decode("utf-8", "ignore")


def distinct_names(names: Sequence[str], naming: Naming) -> list[str]:
    """The names, those changed by a number behind them that the engine would take for one before them (or for nothing)."""
    wanted = {engine_name(name, naming) for name in names}
    taken: set[str] = set()
    made = []
    for name in names:
        new, number = name, 2
        while not (called := engine_name(new, naming)) or called in taken or (new != name and called in wanted):
            tail = f"_{number}"
            base = name if engine_name(name, naming) else "unnamed"
            new, number = (base if naming.longest is None else _cut(base, naming.longest - len(tail))) + tail, number + 1
        taken.add(called)
        made.append(new)
    return made


def node_names(names: Sequence[str | None], parents: Sequence[int], naming: Naming, needed: Collection[int] = ()) -> dict[int, str]:
    """New names of the nodes of a file whose own would not tell them apart in the engine.

    names, parents: of all nodes, -1 for a root. needed: nodes that have to be found by name; they get one where they have none.
    """
    if naming.unique == "none":
        return {}
    filled = {i: name if name else f"node_{i}" for i, name in enumerate(names) if name or i in needed}
    together: dict[int, list[int]] = {}
    for i in filled:
        together.setdefault(int(parents[i]) if naming.unique == "path" else 0, []).append(i)
    made = {}
    for group in together.values():
        for i, new in zip(group, distinct_names([filled[i] for i in group], naming), strict=True):
            if new != names[i]:
                made[i] = new
    return made


def named_for_loops(clips: Sequence[Clip], naming: Naming) -> list[Clip]:
    """The clips with names that make the engine loop those that loop, and none that does not."""
    return [replace(clip, name=_loop_name(clip.name, clip.loop, naming)) for clip in clips]


def _loop_name(name: str, loop: bool, naming: Naming) -> str:
    if not naming.loop_words:
        return name
    low, words = name.lower(), naming.loop_words
    begins, ends = low.startswith(words), low.endswith(words)
    if loop:
        return name if begins or ends else name + naming.loop_token
    return f"{'once_' if begins else ''}{name}{'_once' if ends else ''}"

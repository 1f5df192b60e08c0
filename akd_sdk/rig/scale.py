"""Physical scale: how tall a character is, from the height in its file, its body type and words in its names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

PLAUSIBLE_M: Final = {"biped": (0.5, 3.0), "quadruped": (0.2, 4.0), "bird": (0.1, 3.0), "unknown": (0.05, 20.0)}
"""Heights from sole to crown that a body of each type may have, metres."""

TYPICAL_M: Final = {"biped": 1.75, "quadruped": 0.8, "bird": 0.5, "unknown": 1.0}
"""Where neither the file nor a name says anything."""

SPECIES_M: Final = {
    "alpaca": 1.5, "antelope": 1.3, "apatosaurus": 8.0, "bear": 1.4, "bull": 1.7, "camel": 2.1, "cat": 0.35, "cheetah": 0.9,
    "chicken": 0.45, "cow": 1.6, "crow": 0.35, "deer": 1.5, "dog": 0.7, "donkey": 1.5, "duck": 0.4, "eagle": 0.8, "elephant": 3.2,
    "fox": 0.6, "giraffe": 5.0, "goat": 1.0, "goose": 0.8, "hen": 0.4, "hippo": 1.6, "horse": 2.0, "husky": 0.75, "leopard": 0.8,
    "lion": 1.3, "llama": 1.7, "monkey": 0.7, "moose": 2.2, "mouse": 0.06, "ostrich": 2.5, "owl": 0.4, "panda": 0.9, "panther": 0.8,
    "parasaurolophus": 4.5, "penguin": 0.8, "pig": 0.8, "pigeon": 0.3, "pony": 1.5, "pug": 0.4, "puppy": 0.35, "rabbit": 0.3,
    "raptor": 1.6, "rat": 0.12, "raven": 0.45, "rhino": 1.8, "rooster": 0.5, "sheep": 1.0, "shiba": 0.5, "stag": 1.8,
    "stegosaurus": 4.0, "tiger": 1.1, "trex": 4.5, "triceratops": 3.0, "velociraptor": 1.0, "wolf": 0.95, "zebra": 1.8,
}  # fmt: skip
"""Heights of animals with heads up, ears and antlers aside, metres."""

SPREAD: Final = 2.0
"""An animal of a known species may be this factor larger or smaller than its kind."""

_UNITS: Final = ((1.0, "metres"), (0.01, "centimetres"))
_WORD: Final[re.Pattern[str]] = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def guess_height(body: str, file_height_m: float, names: Iterable[str] = ()) -> tuple[float, str]:
    """How tall the character is, metres, and how that was decided, one line for the report.

    The file's own height counts where it is plausible, in metres or in centimetres; else a species that a name tells, else the body type.

    Args:
        body: "biped", "quadruped", "bird" or "unknown".
        file_height_m: from sole to crown at rest, the file's unit taken for metres.
        names: of file, nodes and meshes.
    """
    species = None if body == "biped" else _species(names)
    typical = SPECIES_M[species] if species else TYPICAL_M[body]
    low, high = (typical / SPREAD, typical * SPREAD) if species else PLAUSIBLE_M[body]
    what = species or {"unknown": "a body of unknown kind"}.get(body, f"a {body}")
    for unit, name in _UNITS:
        if low <= file_height_m * unit <= high:
            height = file_height_m * unit
            return height, f"height {height:.3g} m, the file's own in {name} (plausible for {what}); --height overrides it"
    why = f"{file_height_m:.3g} m in the file is not plausible"
    return typical, f"height {typical:.3g} m, guessed for {what}: {why}; --height overrides it"


def _species(names: Iterable[str]) -> str | None:
    for name in names:
        for match in _WORD.finditer(name):
            word = match.group().lower()
            for known in (word, word.rstrip("s")):
                if known in SPECIES_M:
                    return known
    return None

"""Scale: how tall a character is, in metres."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

PLAUSIBLE_M: Final = {"biped": (0.9, 2.6), "quadruped": (0.2, 3.2), "bird": (0.15, 6.0), "unknown": (0.05, 30.0)}
"""Heights, sole to crown, that a file's own metres are believed in, by body."""

USUAL_M: Final = {"biped": 1.7, "quadruped": 0.8, "bird": 1.0, "unknown": 1.0}
"""Height of a body of which no more is known."""

UNITS: Final = ((0.01, "centimetres"), (0.0254, "inches"), (0.1, "decimetres"), (0.001, "millimetres"), (100.0, "hundreds of metres"))
"""Units that exporters leave in files, likeliest first."""

SPECIES_M: Final = {
    "fox": 0.5, "wolf": 0.9, "dog": 0.65, "husky": 0.65, "shiba": 0.5, "cat": 0.35, "deer": 1.5, "stag": 1.9, "horse": 2.0, "donkey": 1.5,
    "cow": 1.5, "bull": 1.6, "alpaca": 1.5, "pig": 0.8, "sheep": 0.9, "goat": 0.9, "lion": 1.2, "tiger": 1.1, "bear": 1.3, "elephant": 3.2,
    "rat": 0.15, "mouse": 0.05, "rabbit": 0.3, "trex": 4.0, "raptor": 1.0, "velociraptor": 1.0, "triceratops": 2.5, "apatosaurus": 6.0,
    "stegosaurus": 3.5, "parasaurolophus": 4.0, "bat": 0.3, "dragon": 2.0, "chicken": 0.4, "bird": 0.3,
}  # fmt: skip
"""Usual height of a species named in the file, metres; used only where the file's own metres are implausible or a unit fits."""

SPREAD: Final = 1.8
"""A species is believed between its usual height over this and times this."""


def guess_height(body: str, in_file: float, names: Sequence[str]) -> tuple[float, str]:
    """Height of a character in metres and how it was found.

    The file's own metres where they are plausible for the body, else the usual height of a species that the file's names tell, else the
    nearest common unit that makes it plausible, else the usual height of the body.

    Args:
        body: "biped", "quadruped", "bird" or "unknown".
        in_file: height at rest in the file's unit.
        names: of the file, its joints and meshes.
    """
    low, high = PLAUSIBLE_M.get(body, PLAUSIBLE_M["unknown"])
    species = _species(names)
    if species is not None and body in ("quadruped", "bird"):
        usual = SPECIES_M[species]
        low, high = usual / SPREAD, usual * SPREAD
    if low <= in_file <= high:
        return in_file, f"height {in_file:.3g} m, the file's own"
    if species is not None and body in ("quadruped", "bird"):
        return SPECIES_M[species], f"height {SPECIES_M[species]:g} m, usual for a {species}: the file's own {in_file:.3g} is implausible"
    for unit, name in UNITS:
        if low <= in_file * unit <= high:
            return in_file * unit, f"height {in_file * unit:.3g} m: the file's {in_file:.4g} read as {name}"
    usual = USUAL_M.get(body, USUAL_M["unknown"])
    kind = "character" if body == "unknown" else body
    return usual, f"height {usual:g} m, usual for a {kind}: the file's own {in_file:.3g} is implausible"


def _species(names: Sequence[str]) -> str | None:
    """The first species whose name is a word of one of the names."""
    for name in names:
        word = "".join(c if c.isalpha() else " " for c in name).lower().split()
        for species in SPECIES_M:
            if species in word:
                return species
    return None

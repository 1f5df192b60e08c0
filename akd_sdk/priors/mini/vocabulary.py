"""The canonical words that the embedded prior was trained on, in the order of their vectors."""

from __future__ import annotations

from typing import Final

CANONICAL: Final = (
    "",
    "quadruped",
    "biped",
    "bird",
    "walk",
    "trot",
    "pace",
    "gallop",
    "run",
    "jump",
    "idle",
    "slow",
    "fast",
)
"""Index 0 is no word."""

BODIES: Final = ("quadruped", "biped", "bird")

ACTIONS: Final = {
    "quadruped": ("walk", "trot", "pace", "gallop", "jump", "idle"),
    "biped": ("walk", "run", "jump", "idle"),
    "bird": ("walk", "run", "jump", "idle"),
}
"""What each body was taught to do."""

STYLES: Final = ("slow", "fast")

CYCLIC: Final = ("walk", "trot", "pace", "gallop", "run")
"""Actions made of strides."""


def index(word: str) -> int:
    """Index of a canonical word."""
    return CANONICAL.index(word)

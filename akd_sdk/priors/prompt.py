"""A sentence as a prior understood it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Prompt:
    """The sentence as understood.

    Attributes:
        sentence: what the user wrote.
        body: "quadruped", "biped" or "bird": the rig's own, whatever the sentence calls it.
        action: canonical word of what to do.
        styles: canonical words of how.
        groups: text for single kinematic groups; empty, kept for priors that take it.
        unknown: words that were neither understood nor empty of meaning, in their order.
        notes: remarks for the report, one line each.
        guidance: weight of the sentence against the unconditioned prior; 1 is none.
    """

    sentence: str
    body: str
    action: str
    styles: tuple[str, ...] = ()
    groups: Mapping[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    guidance: float = 2.5

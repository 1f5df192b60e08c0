"""What is found in a file: a code, where, what is there, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""The worst first: an error plays as something else or not at all, a warning does in some engines, a note is worth knowing."""


Row = tuple[str, Severity, str, str, str]
"""A line of a table of codes: name, severity, fault, why, remedy."""


@dataclass(frozen=True)
class Code:
    """A kind of fault.

    Attributes:
        name: how it is called.
        severity: of each finding of it.
        formats: which files may have it: "glTF", "USD", "BVH", or several with commas.
        profiled: it depends on what the engine of a profile takes, and is looked for with a profile only.
        fault: what is wrong, a clause.
        why: what comes of it, a sentence.
        remedy: what to do, one line.
    """

    name: str
    severity: Severity
    formats: str
    profiled: bool
    fault: str
    why: str
    remedy: str


@dataclass(frozen=True)
class Finding:
    """A fault of a file.

    Attributes:
        code: its kind, explained by `akd check --explain CODE`.
        severity: "error", "warning" or "note".
        where: the part of the file: a clip, a joint, the file itself.
        fault: what is there.
        remedy: what to do.
    """

    code: str
    severity: Severity
    where: str
    fault: str
    remedy: str


def some(items: list[str], most: int = 3) -> str:
    """A list in words, its end counted."""
    shown = ", ".join(items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"

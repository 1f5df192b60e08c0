"""What `akd check` reports."""

from __future__ import annotations

from typing import Literal

from akd_sdk.schemas.base import Schema

Severity = Literal["error", "warning", "note"]


class FoundFault(Schema):
    """A fault of a file: its code, how bad it is, where it is, what is there, what to do."""

    code: str
    severity: Severity
    where: str
    fault: str
    remedy: str


class CheckedFile(Schema):
    """A file that was checked, for the engine of a profile or (null) for none in particular; its faults, the worst first, counted."""

    path: str
    profile: str | None
    errors: int
    warnings: int
    notes: int
    findings: tuple[FoundFault, ...]


class FaultKind(Schema):
    """A code explained: how bad, in which formats, whether it takes a profile to find it, what is wrong, what comes of it, what to do."""

    code: str
    severity: Severity
    formats: str
    profiled: bool
    fault: str
    why: str
    remedy: str


class FaultKinds(Schema):
    """Codes explained; what `akd check --explain` says."""

    codes: tuple[FaultKind, ...]

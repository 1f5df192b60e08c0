"""What the smaller commands report."""

from __future__ import annotations

from akd_sdk.schemas.base import Schema
from akd_sdk.schemas.exports import ExportedFile
from akd_sdk.schemas.metrics import Metrics
from akd_sdk.schemas.report import OutputFile


class Conversion(Schema):
    """A file written by `akd convert` or `akd sheet`: from which source, which clips; of clips also what is in it."""

    source: str
    clips: tuple[str, ...]
    file: OutputFile
    exported: ExportedFile | None = None


class ClipMetrics(Schema):
    """Metrics of one clip of a file."""

    clip: str
    metrics: Metrics


class FileMetrics(Schema):
    """Metrics of the clips of a file; what `akd metrics` says."""

    source: str
    clips: tuple[ClipMetrics, ...]


class Training(Schema):
    """A prior trained by `akd train`: its weight file, optimiser steps, minutes and the last smoothed loss."""

    prior: str
    seed: int
    steps: int
    minutes: float
    loss: float
    file: OutputFile

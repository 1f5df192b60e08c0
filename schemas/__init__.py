"""What crosses the border as JSON: reports, metrics, summaries of characters."""

from akd_sdk.schemas.base import Schema
from akd_sdk.schemas.character import ChainSummary, CharacterSummary, ClipSummary, JointSummary
from akd_sdk.schemas.checks import CheckedFile, FaultKind, FaultKinds, FoundFault
from akd_sdk.schemas.exports import ExportedClip, ExportedFile
from akd_sdk.schemas.metrics import GaitFit, Metrics
from akd_sdk.schemas.profile import Naming, Profile
from akd_sdk.schemas.report import (
    AnimateOptions,
    Character,
    ClipFacts,
    Distillation,
    Filming,
    OutputFile,
    Report,
    SourceFile,
    Understanding,
)
from akd_sdk.schemas.results import ClipMetrics, Conversion, FileMetrics, Training
from akd_sdk.schemas.tracking import HelpUsed, Tracking

__all__ = [
    "AnimateOptions",
    "ChainSummary",
    "Character",
    "CharacterSummary",
    "CheckedFile",
    "ClipFacts",
    "ClipMetrics",
    "ClipSummary",
    "Conversion",
    "Distillation",
    "ExportedClip",
    "ExportedFile",
    "FaultKind",
    "FaultKinds",
    "FileMetrics",
    "Filming",
    "FoundFault",
    "GaitFit",
    "HelpUsed",
    "JointSummary",
    "Metrics",
    "Naming",
    "OutputFile",
    "Profile",
    "Report",
    "Schema",
    "SourceFile",
    "Tracking",
    "Training",
    "Understanding",
]

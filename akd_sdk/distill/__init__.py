"""Distillation: joint curves become what a prior believes a sentence looks like."""

from akd_sdk.distill.distill import Distilled, distill
from akd_sdk.distill.options import DistillOptions, PixelOptions, Stage

__all__ = ["DistillOptions", "Distilled", "PixelOptions", "Stage", "distill"]

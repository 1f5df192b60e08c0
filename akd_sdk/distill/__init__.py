"""Distillation: joint curves become what a prior believes a sentence looks like."""

from akd_sdk.distill.distill import Distilled, distill
from akd_sdk.distill.options import DistillOptions

__all__ = ["DistillOptions", "Distilled", "distill"]

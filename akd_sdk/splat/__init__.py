"""Differentiable Gaussian splatting: one call, three backends."""

from akd_sdk.splat.choose import SPLATTERS, load_splatter
from akd_sdk.splat.cloud import Cloud, Splatter

__all__ = ["SPLATTERS", "Cloud", "Splatter", "load_splatter"]

"""Differentiable Gaussian splatting: one call, three backends; and the filming of characters with it."""

from akd_sdk.splat.choose import SPLATTERS, load_splatter
from akd_sdk.splat.cloud import Cloud, Splatter
from akd_sdk.splat.film import Scene
from akd_sdk.splat.ground import GroundColours, checkerboard

__all__ = ["SPLATTERS", "Cloud", "GroundColours", "Scene", "Splatter", "checkerboard", "load_splatter"]

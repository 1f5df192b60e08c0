"""Gaussians on a rig: on its skin, along its bones, and how joints carry them."""

from akd_sdk.gaussians.bones import bone_gaussians
from akd_sdk.gaussians.boxes import BoneBoxes, bone_boxes
from akd_sdk.gaussians.gaussians import Gaussians
from akd_sdk.gaussians.poser import GaussianPoser, world_of
from akd_sdk.gaussians.surface import surface_gaussians

__all__ = ["BoneBoxes", "GaussianPoser", "Gaussians", "bone_boxes", "bone_gaussians", "surface_gaussians", "world_of"]

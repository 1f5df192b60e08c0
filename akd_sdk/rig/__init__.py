"""Rigs: skeletons with anatomy, skins, and what the program finds out about them."""

from akd_sdk.rig.anatomy import Anatomy, complete
from akd_sdk.rig.rig import Material, Rig, Skin, Source
from akd_sdk.rig.skeleton import Chain, ContactPoint, Skeleton, Tip, Transforms

__all__ = ["Anatomy", "Chain", "ContactPoint", "Material", "Rig", "Skeleton", "Skin", "Source", "Tip", "Transforms", "complete"]

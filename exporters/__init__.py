"""Exporters: clips become files that engines play; the suffix chooses the format.

Formats of others are found as entry points of the group `akd_sdk.exporters`: the name is the suffix without its dot, the object a
function like `export_gltf`.
"""

from akd_sdk.exporters.bvh import export_bvh
from akd_sdk.exporters.check import Finding, check
from akd_sdk.exporters.clip import Clip, Track
from akd_sdk.exporters.delivery import Delivery, deliver, export
from akd_sdk.exporters.gltf import export_gltf
from akd_sdk.exporters.isaac import export_isaac
from akd_sdk.exporters.options import Exporter, ExportOptions
from akd_sdk.exporters.profiles import known_profiles, load_profile
from akd_sdk.exporters.registry import known_suffixes
from akd_sdk.exporters.root_bone import RootBone, with_root_bone
from akd_sdk.exporters.usd import export_usd

__all__ = [
    "Clip",
    "Delivery",
    "ExportOptions",
    "Exporter",
    "Finding",
    "RootBone",
    "Track",
    "check",
    "deliver",
    "export",
    "export_bvh",
    "export_gltf",
    "export_isaac",
    "export_usd",
    "known_profiles",
    "known_suffixes",
    "load_profile",
    "with_root_bone",
]

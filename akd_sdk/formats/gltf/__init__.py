"""The grammar of glTF 2.0: container, accessors, node tree, animations, pictures."""

from akd_sdk.formats.gltf.accessors import floats, integers
from akd_sdk.formats.gltf.animation import Animation, Channel, read_animations
from akd_sdk.formats.gltf.container import Document, load
from akd_sdk.formats.gltf.scene import Scene, read_scene

__all__ = ["Animation", "Channel", "Document", "Scene", "floats", "integers", "load", "read_animations", "read_scene"]
